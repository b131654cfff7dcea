"""Fold flags: write a source as it reads where some attributes are known to be true, and others to be false.

    if self.CALLS and (kind or self.HAS_REASONING): …   with CALLS on and HAS_REASONING off   →   if kind: …
    if self.HEAD and head is None: …                    with HEAD filled, such as a tuple       →   if head is None: …
    lead = 0 if self.TEXT_MARKERS and literal else end   with TEXT_MARKERS off                  →   lead = end

    if kind in ("stray", "end"): …   with no marker of the kind "stray"   →   if kind == "end": …

Statements, conditions and `X if … else Y` are folded; everything else stays as it is written.  Kinds of markers count
as flags: `kind == "stray"` is the flag "kind: stray".
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from tplc.backends.python.literals import WIDTH, literal
from tplc.backends.python.nodes import walk

_GONE = "\0"
_KIND = "kind: "
_LOOSE = (ast.IfExp, ast.NamedExpr, ast.Lambda)  # these need brackets inside of a condition


def fold(source: str, known: Callable[[str], bool | None], filled: Collection[str] = ()) -> str:
    """Return the source without what flags decide.  `known`: the value of an attribute by its name, None if unknown.
    `filled`: attributes that are true in conditions, but hold another value than True."""
    lines = source.splitlines()
    return "\n".join(fold_lines(lines, 0, len(lines), conditions(walk(ast.parse(source))), known, filled))


def fold_lines(
    lines: list[str],
    start: int,
    stop: int,
    found: Iterable[ast.If | ast.expr],
    known: Callable[[str], bool | None],
    filled: Collection[str] = (),
) -> list[str]:
    """Return some lines of a source without what flags decide.  `found`: the conditions in these lines."""
    folder = _Folder(lines, lambda name: True if name in filled else known(name), filled)
    for node in found:
        if isinstance(node, ast.If | ast.IfExp):
            folder.add_test(node.test)
        if isinstance(node, ast.If):
            folder.fold_if(node)
        else:
            folder.fold_expression(node)
    return folder.folded(start, stop)


def conditions(walked: Iterable[ast.AST]) -> Iterator[ast.If | ast.expr]:
    """Yield the nodes that can depend on a flag: statements, conditions and `X if … else Y` that contain a flag."""
    kinds = (ast.If, ast.BoolOp, ast.IfExp, ast.UnaryOp, ast.Compare)
    return (node for node in walked if isinstance(node, kinds) and any(_flags(node)))


def flags_in(found: Iterable[ast.If | ast.expr]) -> frozenset[str]:
    """Return the flags that conditions ask for."""
    return frozenset(name for node in found for name in _flags(node))


def flag_of_kind(kind: str) -> str:
    """Return the flag that is off if a format has no marker of this kind."""
    return _KIND + kind


def _flags(node: ast.If | ast.expr) -> Iterator[str]:
    """Yield the attributes that a condition contains, and the kinds of markers, with those of each `elif`."""
    while isinstance(node, ast.If):
        yield from _flags(node.test)
        if not node.orelse or not isinstance(node.orelse[0], ast.If):
            return
        node = node.orelse[0]
    for item in walk(node):
        if isinstance(item, ast.Attribute):
            yield item.attr
        elif isinstance(item, ast.Compare):
            yield from map(flag_of_kind, _kinds(item))


def _kinds(node: ast.Compare) -> list[str]:
    """Return the kinds that a marker's kind is compared with, if the comparison is nothing else."""
    left, right = node.left, node.comparators[0]
    name = left.id if isinstance(left, ast.Name) else left.attr if isinstance(left, ast.Attribute) else ""
    items = right.elts if isinstance(right, ast.Tuple) else [right]
    kinds = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return kinds if name == "kind" and len(node.ops) == 1 and len(kinds) == len(items) else []


@dataclass(frozen=True, slots=True)
class _Branch:
    """A condition with its value; the lines from `start` hold it, those from `body` to `stop` what it guards."""

    test: ast.expr | None
    value: bool | None
    start: int
    body: int
    stop: int


@dataclass(slots=True)
class _Folder:
    lines: list[str]
    known: Callable[[str], bool | None]
    filled: Collection[str]
    tests: set[int] = field(default_factory=set)  # expressions of which only the truth counts
    edits: list[tuple[int, int, int, str]] = field(default_factory=list)  # line, columns, new text
    done: set[int] = field(default_factory=set)  # expressions inside of edited ones
    dedented: list[tuple[int, int]] = field(default_factory=list)  # lines that are one level higher
    gone: list[tuple[int, int]] = field(default_factory=list)

    def folded(self, first: int, last: int) -> list[str]:
        lines = self.lines[:]
        for line, start, end, text in sorted(self.edits, reverse=True):
            lines[line] = lines[line][:start] + text + lines[line][end:]
        for start, end in self.dedented:
            lines[start:end] = [line.removeprefix("    ") for line in lines[start:end]]
        for start, end in self.gone:
            lines[start:end] = [_GONE] * (end - start)
        return [line for line in lines[first:last] if line != _GONE]

    def add_test(self, test: ast.expr) -> None:
        """Note that only the truth of an expression counts, and of what it consists of."""
        self.tests.add(id(test))
        if isinstance(test, ast.BoolOp):
            for operand in test.values:
                self.add_test(operand)

    def fold_if(self, node: ast.If) -> None:
        """Fold a statement with all of its `elif` and `else`."""
        if self.is_elif(node):
            return
        branches = [*self.branches(node)]
        for branch in branches:
            if branch.test is not None and branch.value is not None:
                self.done.update(id(item) for item in walk(branch.test))
        kept = [branch for branch in branches if branch.value is not False]
        true = [at for at, branch in enumerate(kept) if branch.value]
        kept = kept[: true[0] + 1] if true else kept
        if kept == branches and (not true or branches[true[0]].test is None):
            return
        start, end = node.lineno - 1, node.end_lineno or node.lineno
        if not kept:
            self.gone.append((start - self.comments(start), end))
            return
        self.gone += [(branch.start, branch.stop) for branch in branches if branch not in kept]
        first, last = kept[0], kept[-1]
        if first.value:
            self.gone.append((first.start, first.body))
            self.dedented.append((first.body, first.stop))
        elif first is not branches[0]:
            self.edits.append((first.start, node.col_offset, node.col_offset + 2, ""))  # elif → if
        if last.value and last is not first and last.test is not None:
            self.edits.append((last.start, node.col_offset, len(self.lines[last.start]), "else:"))

    def branches(self, node: ast.If) -> Iterator[_Branch]:
        """Yield the branches of a statement; the last one has no condition if there is an `else`."""
        body, stop = self.after_colon(node.test), node.body[-1].end_lineno or node.lineno
        yield _Branch(node.test, self.value(node.test), node.lineno - 1, body, stop)
        if node.orelse and isinstance(node.orelse[0], ast.If) and self.is_elif(node.orelse[0]):
            yield from self.branches(node.orelse[0])
        elif node.orelse:
            body = (
                next(line for line in range(stop, len(self.lines)) if self.lines[line].lstrip().startswith("else")) + 1
            )
            yield _Branch(None, True, stop, body, node.end_lineno or node.lineno)

    def after_colon(self, test: ast.expr) -> int:
        """Return the first line after the condition of a statement, which may be followed by a bracket."""
        line, column = (test.end_lineno or test.lineno) - 1, test.end_col_offset or 0
        while ":" not in self.lines[line][column:]:
            line, column = line + 1, 0
        return line + 1

    def comments(self, line: int) -> int:
        """Return how many lines of comments precede a line."""
        start = line
        while start and self.lines[start - 1].lstrip().startswith("#"):
            start -= 1
        return line - start

    def is_elif(self, node: ast.If) -> bool:
        return self.lines[node.lineno - 1].lstrip().startswith("elif")

    def fold_expression(self, node: ast.expr) -> None:
        """Fold a condition, or `X if … else Y`, unless it is part of one that was folded."""
        if id(node) in self.done:
            return
        if all(self.known(flag) is None for flag in _flags(node)):
            return
        value = self.value(node)
        if value and not self.is_bool(node) and not (isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)):
            return
        text = self.text(node) if value is None or not self.is_bool(node) else str(value)
        if text == self.segment(node):
            return
        self.done.update(id(item) for item in walk(node))
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        columns = node.col_offset, node.end_col_offset or 0
        before, after = self.lines[start][: columns[0]], self.lines[end][columns[1] :]
        bracketed = before.endswith(" (") and after.startswith(")")
        if bracketed and not isinstance(self.left(node), (ast.BoolOp, *_LOOSE)):
            before, after = before[:-1], after[1:]
        if start == end:
            self.edits.append((start, len(before), len(self.lines[start]) - len(after), text))
        elif isinstance(node, ast.BoolOp) and value is None and before.isspace() and after == "":
            self.fold_lines(node, start, end)
        else:
            self.edits.append((start, len(before), len(self.lines[start]), text + after))
            self.gone.append((start + 1, end + 1))

    def fold_lines(self, node: ast.BoolOp, start: int, end: int) -> None:
        """Fold a condition that is on lines of its own, between brackets."""
        before, after = self.lines[start - 1], self.lines[end + 1].lstrip()
        joined = before[:-1] + self.text(node) + after[1:]
        if len(joined) <= WIDTH and before.endswith("(") and after.startswith(")"):
            self.edits.append((start - 1, 0, len(before), joined))
            self.gone.append((start, end + 2))
            return
        operands, space = self.operands(node), " " * node.col_offset
        word = "or " if isinstance(node.op, ast.Or) else "and "
        for at, operand in enumerate(operands):
            text = space + word * (at > 0) + self.operand(operand)
            self.edits.append((start + at, 0, len(self.lines[start + at]), text))
        self.gone.append((start + len(operands), end + 1))

    def value(self, node: ast.expr) -> bool | None:
        """Return whether the condition is true, None if that isn't known."""
        if isinstance(node, ast.Attribute):
            return self.known(node.attr)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self.value(node.operand)
            return None if value is None else not value
        if isinstance(node, ast.BoolOp):
            values = [self.value(operand) for operand in node.values]
            decisive = isinstance(node.op, ast.Or)
            return decisive if decisive in values else None if None in values else not decisive
        if isinstance(node, ast.Compare) and _kinds(node) and not self.kinds_left(node):
            return isinstance(node.ops[0], ast.NotEq | ast.NotIn)
        return None

    def kinds_left(self, node: ast.Compare) -> list[str]:
        """Return the kinds of a comparison that markers of the format have."""
        return [kind for kind in _kinds(node) if self.known(flag_of_kind(kind)) is not False]

    def operands(self, node: ast.BoolOp) -> list[ast.expr]:
        """Return the operands that aren't known, or that the value of the whole may be."""
        may_be_value = node.values if isinstance(node.op, ast.Or) else node.values[-1:]
        may_be_value = [] if id(node) in self.tests else may_be_value
        return [
            operand
            for operand in node.values
            if (value := self.value(operand)) is None
            or (value and operand in may_be_value and not self.is_bool(operand))
        ]

    def is_bool(self, node: ast.expr) -> bool:
        """Return whether an expression that is known is True or False itself."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return self.value(node) is False or self.is_bool(node.values[-1])
        return isinstance(node, ast.UnaryOp) or not any(name in self.filled for name in _flags(node))

    def left(self, node: ast.expr) -> ast.expr:
        """Return the expression that is left of one."""
        if isinstance(node, ast.IfExp) and (value := self.value(node.test)) is not None:
            return self.left(node.body if value else node.orelse)
        if isinstance(node, ast.BoolOp) and len(operands := self.operands(node)) == 1:
            return self.left(operands[0])
        return node

    def text(self, node: ast.expr) -> str:
        """Return the folded source of an expression."""
        node = self.left(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return "not " + self.operand(node.operand)
        if isinstance(node, ast.BoolOp):
            return (" or " if isinstance(node.op, ast.Or) else " and ").join(map(self.operand, self.operands(node)))
        if isinstance(node, ast.IfExp):
            body, test = (self.in_brackets(one, _LOOSE) for one in (node.body, node.test))
            return f"{body} if {test} else {self.text(node.orelse)}"
        if isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Tuple) and _kinds(node):
            left = self.kinds_left(node)
            if len(left) < len(_kinds(node)):
                words = (" == ", " in ") if isinstance(node.ops[0], ast.In) else (" != ", " not in ")
                listed = f"({', '.join(map(literal, left))})" if len(left) > 1 else literal(left[0])
                return self.segment(node.left) + words[len(left) > 1] + listed
        return self.segment(node)

    def segment(self, node: ast.expr) -> str:
        """Return the source of an expression."""
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        return "\n".join([lines[0][node.col_offset :], *lines[1:]])

    def operand(self, node: ast.expr) -> str:
        """Return the folded source with the brackets that it needs inside of a condition."""
        return self.in_brackets(node, (ast.BoolOp, *_LOOSE))

    def in_brackets(self, node: ast.expr, kinds: tuple[type[ast.expr], ...]) -> str:
        """Return the folded source, in brackets if it is of one of these kinds."""
        return f"({self.text(node)})" if isinstance(self.left(node), kinds) else self.text(node)
