"""Find text outside the subset of GBNF that the engines share.

    "_a ::= a _a"  →  ['line 1: the name "_a" is not portable', …]

It reads the text, not the rules it was written from, so that it checks the writer as well.  An empty list is good.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tplc.grammars.regular.repetitions import LARGEST_PRODUCT

_NAME = re.compile(r"[a-z][a-z0-9-]*\Z")
_PART = r' +|"(?:[^"\\\n]|\\.)*"|\[(?:[^\]\\\n]|\\.)*\]|[*+?]|\{\d+(?:,\d*)?\}|[()|]|[A-Za-z0-9_-]+'
_PORTABLE, _WITH_TOKENS = re.compile(_PART), re.compile(_PART + r"|<\[\d+\]>")
# A hexadecimal digit after \\xHH is taken for more of the number by one engine.
_LITERAL_ESCAPE = re.compile(r'\\(?:[nrt"\\]|x[0-9A-F]{2}(?![0-9A-Fa-f]))|[^\\]')
_SET_ESCAPE = re.compile(r"\\(?:[nrt\\\]]|x[0-9A-F]{2}(?![0-9A-Fa-f]))|[^\\\]]")
_DEEPEST = 60


class _Node(NamedTuple):
    """What a piece of a rule may begin with, and whether it may be empty.

    `kind`: "text" (not empty), "name", "seq", "alt", "optional".  Of a sequence only the parts up to the first text.
    """

    kind: str
    parts: tuple[_Node, ...] = ()
    name: str = ""


class _Sized(NamedTuple):
    """A rule with its size. `size`: how much repeating it counts; `made`: how many rules one engine makes of it."""

    node: _Node
    size: int
    made: int


_TEXT = _Node("text")
_EMPTY_TEXT = _Node("seq")
_AFTER_SEQUENCE = ("", "|", ")")
_COUNTS = frozenset("*+?{")


def lint(text: str, *, has_tokens: bool = False) -> list[str]:
    """Return the problems of a grammar.  `has_tokens`: it may contain `<[ID]>`, which only llama.cpp reads."""
    return _Lint(text, _WITH_TOKENS if has_tokens else _PORTABLE).problems


class _Lint:
    def __init__(self, text: str, parts: re.Pattern[str]) -> None:
        self.problems: list[str] = []
        self._parts = parts
        self._line = 0
        self._names: dict[str, int] = {}
        self._used: dict[str, int] = {}
        self._rules: dict[str, _Node] = {}
        self._symbols: set[str] = set()
        # What a literal, class or name is that was met before, without a problem.
        self._known: dict[str, _Sized] = {}
        self._loops: list[tuple[int, _Node]] = []
        self._nullable: set[str] = set()
        if "\0" in text:
            self._problem("a NUL character")
        for number, line in enumerate(text.split("\n"), 1):
            self._line = number
            if line.strip() and not line.startswith("#"):
                self._rule(line)
        self._line = 0
        self._check_names()
        self._find_nullable()
        self._check_loops()
        self._check_left_recursion()

    def _problem(self, problem: str) -> None:
        self.problems.append(f"line {self._line}: {problem}" if self._line else problem)

    def _rule(self, line: str) -> None:
        name, arrow, body = line.partition(" ::= ")
        if not arrow or line[0] in " |":
            return self._problem("a rule has to be one line: name ::= …")
        if not _NAME.match(name) or name == "start":
            self._problem(f'the name "{name}" is not portable')
        if name in self._names:
            self._problem(f'the rule "{name}" is defined again')
        self._names[name] = self._line
        self._symbols.add(name)
        tokens: list[str] = self._parts.findall(body)
        if sum(map(len, tokens)) < len(body):
            return self._problem(f"not GBNF: {self._unread(body)[:20]}")
        self._tokens = [token for token in tokens if token[0] != " "]
        # An end to look at.
        self._tokens.append("")
        self._at = 0
        self._rules[name] = self._alternatives(0).node
        if self._tokens[self._at]:
            self._problem("a parenthesis that was not opened")

    def _alternatives(self, depth: int) -> _Sized:
        first = self._sequence(depth)
        if self._tokens[self._at] != "|":
            return first
        nodes, size, made = [first.node], first.size, first.made
        while self._tokens[self._at] == "|":
            self._at += 1
            more = self._sequence(depth)
            nodes.append(more.node)
            size += more.size
            made += more.made
        return _Sized(_TEXT if all(node is _TEXT for node in nodes) else _Node("alt", tuple(nodes)), size, made)

    def _sequence(self, depth: int) -> _Sized:
        nodes: list[_Node] = []
        size = made = count = 0
        tokens, known = self._tokens, self._known
        while (token := tokens[self._at]) not in _AFTER_SEQUENCE:
            # Most of what is in a sequence was met before and is not repeated.
            more = known.get(token)
            if more is None or tokens[self._at + 1][:1] in _COUNTS:
                more = self._repeated(depth)
            else:
                self._at += 1
            size += more.size
            made += more.made
            count += 1
            if not nodes or nodes[-1] is not _TEXT:
                nodes.append(more.node)
        if not count:
            self._problem('an empty alternative: write ""')
        return _Sized(nodes[0] if len(nodes) == 1 else _Node("seq", tuple(nodes)), size, made)

    def _repeated(self, depth: int) -> _Sized:
        token = self._tokens[self._at]
        part = self._known.get(token)
        if part is None:
            problems = len(self.problems)
            part = self._item(depth)
            if token != "(" and len(self.problems) == problems:
                self._known[token] = _Sized(part.node, part.size, 0) if part.made else part
        else:
            self._at += 1
        counts = self._tokens[self._at]
        if counts[:1] not in _COUNTS:
            return part
        self._at += 1
        low, high = _bounds(counts)
        if part.node is not _TEXT and (high is None or high > 1):
            self._loops.append((self._line, part.node))
        if high == 0:
            self._problem("a repetition of nothing: {0}")
        if high is not None and high < low:
            self._problem(f"the bounds of a repetition are the wrong way round: {counts}")
        most = high or low or 1
        if most * part.size > LARGEST_PRODUCT:
            self._problem(f"a repetition of {most} times {part.size} symbols: at most {LARGEST_PRODUCT}")
        if self._tokens[self._at][:1] in _COUNTS:
            self._problem("a repetition of a repetition without parentheses")
        made = part.made + (1 if high is None else high - low)
        return _Sized(_Node("optional", (part.node,)) if low == 0 else part.node, part.size, made)

    def _item(self, depth: int) -> _Sized:
        text = self._tokens[self._at]
        self._at += 1
        char = text[:1]
        if char == '"':
            inner = text[1:-1]
            if "\\" not in inner:
                return _Sized(_TEXT if inner else _EMPTY_TEXT, len(inner), 0)
            return _Sized(_TEXT, self._characters(inner, _LITERAL_ESCAPE), 0)
        if char == "[":
            inner = text[1:-1].removeprefix("^")
            if not inner or (inner.startswith(("^", "-")) and inner != "-"):
                self._problem(f"the class {text} is not portable")
            return _Sized(_TEXT, self._characters(inner, _SET_ESCAPE) + 1, 0)
        if char == "<":
            return _Sized(_TEXT, 1, 0)
        if char == "(":
            if depth > _DEEPEST:
                self._problem(f"groups nested more than {_DEEPEST} deep")
            inside = self._alternatives(depth + 1)
            if self._tokens[self._at] != ")":
                self._problem("a parenthesis that is not closed")
            else:
                self._at += 1
            # A group becomes a rule of its own, and is as large as the number of rules in it.
            return _Sized(inside.node, inside.made + 1, inside.made + 1)
        if char and char not in _COUNTS:
            self._used.setdefault(text, self._line)
            new = text not in self._symbols
            self._symbols.add(text)
            return _Sized(_Node("name", (), text), 1, int(new))
        self._problem(f"something to repeat is missing before {text}")
        return _Sized(_EMPTY_TEXT, 0, 0)

    def _characters(self, text: str, allowed: re.Pattern[str]) -> int:
        """Return how many the literal or class has."""
        found = allowed.findall(text)
        if sum(map(len, found)) != len(text):
            self._problem(f"an escape that is not portable in: {text}")
        return len(found)

    def _unread(self, body: str) -> str:
        """Return the body from where no part fits."""
        at = 0
        while match := self._parts.match(body, at):
            at = match.end()
        return body[at:]

    def _check_names(self) -> None:
        if "root" not in self._names:
            self._problem('no rule "root"')
        for name, line in self._used.items():
            if name not in self._names:
                self._problem(f'line {line}: the rule "{name}" is missing')
        for name, line in self._names.items():
            if name != "root" and name not in self._used:
                self._problem(f'line {line}: the rule "{name}" is not used')

    def _find_nullable(self) -> None:
        users: dict[str, list[str]] = {}
        for name, body in self._rules.items():
            for inner in _names(body):
                users.setdefault(inner, []).append(name)
        todo = list(self._rules)
        while todo:
            name = todo.pop()
            if name in self._rules and name not in self._nullable and self._is_nullable(self._rules[name]):
                self._nullable.add(name)
                todo += users.get(name, [])

    def _is_nullable(self, node: _Node) -> bool:
        if node.kind == "name":
            return node.name in self._nullable
        if node.kind == "alt":
            return any(map(self._is_nullable, node.parts))
        return node.kind == "optional" or (node.kind == "seq" and all(map(self._is_nullable, node.parts)))

    def _begins(self, node: _Node) -> set[str]:
        """Return the rules that a text of this node may begin with."""
        if node.kind == "name":
            return {node.name}
        found: set[str] = set()
        for part in node.parts:
            found |= self._begins(part)
            if node.kind == "seq" and not self._is_nullable(part):
                break
        return found

    def _check_loops(self) -> None:
        for line, part in self._loops:
            if self._is_nullable(part):
                self.problems.append(f"line {line}: something that may be empty is repeated")

    def _check_left_recursion(self) -> None:
        done: set[str] = set()
        for name in self._rules:
            on_path: dict[str, None] = {}
            todo = [(name, False)]
            while todo:
                current, leaving = todo.pop()
                if leaving:
                    del on_path[current]
                    done.add(current)
                elif current in on_path:
                    return self._problem(f'the rule "{current}" begins with itself')
                elif current not in done and current in self._rules:
                    on_path[current] = None
                    todo.append((current, True))
                    todo.extend((inner, False) for inner in sorted(self._begins(self._rules[current])))


def _names(node: _Node) -> set[str]:
    found = {node.name} if node.kind == "name" else set()
    return found.union(*map(_names, node.parts))


def _bounds(counts: str) -> tuple[int, int | None]:
    if counts in ("*", "+", "?"):
        return (1 if counts == "+" else 0), (1 if counts == "?" else None)
    low, comma, high = counts[1:-1].partition(",")
    return int(low), (int(high) if high else None) if comma else int(low)
