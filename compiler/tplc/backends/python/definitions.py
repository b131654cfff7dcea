"""Split the runtime's files into definitions, and classes into their members, as flags fold them.

    definitions("machine", off={"CALLS"})  →  Definition(("Machine",), ("Slots",), …, parts=(Fragment(…), …))

Each file is parsed once.  A member whose conditions ask for a flag is folded and parsed again for each set of flags.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib import resources

from tplc.backends.python.fold import conditions, flags_in, fold_lines
from tplc.backends.python.nodes import defined_names, targets_of, walk

_TRUE_OBJECTS = ("Pattern", "Scanner", "ExpectedText", "Escapes", "LookaheadEnd", "WholeCall")
Import = tuple[str, str]  # module and name; the name is "" for `import module`


@dataclass(frozen=True, eq=False)
class Fragment:
    """Lines of a definition: a member of a class, or what is around the members.  `inherited`: the methods that it
    takes from a base, of that base ("" for the next).  `method`: its syntax tree, if it is a method."""

    member: str
    lines: tuple[str, ...]
    names: frozenset[str]
    attributes: frozenset[str]
    inherited: frozenset[tuple[str, str]] = frozenset()
    method: ast.FunctionDef | None = None

    @property
    def is_method(self) -> bool:
        return self.method is not None

    @property
    def is_abstract(self) -> bool:
        """Return whether this is a method that only raises NotImplementedError."""
        return self.method is not None and _is_abstract(self.method)

    @cached_property
    def declaration(self) -> Fragment | None:
        """Return what stands in place of a method that is always overridden."""
        return None if self.method is None or self.method.decorator_list else _declaration(self.method)


@dataclass(frozen=True, eq=False)
class Definition:
    """A statement of the runtime that defines names, with what flags make of it.

    `flags`: of a class, those that are true or hold something.  `pieces`: its lines before any flag is known.
    """

    names: tuple[str, ...]
    bases: tuple[str, ...]
    flags: frozenset[str]
    imports: tuple[tuple[str, Import], ...]
    type_imports: tuple[tuple[str, Import], ...]
    only_types: bool
    pieces: Callable[[], Sequence[_Piece]]
    off: frozenset[str] = frozenset()
    on: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()

    @cached_property
    def parts(self) -> tuple[Fragment, ...]:
        """Return the lines as the flags fold them.  Most formats need few definitions, so this waits until it is
        asked for."""
        return tuple(
            _folded(one, self.off & one.asked, self.on & one.asked, self.filled & one.asked) for one in self.pieces()
        )


@cache
def flags(file: str) -> frozenset[str]:
    """Return the attributes of classes that are false or empty by default."""
    return frozenset(flag for node in tree(file).body for flag in _flags_of(node, on=False))


def _flags_of(node: ast.stmt, *, on: bool) -> Iterator[str]:
    for item in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
            if item.target.id.isupper() and is_off(item.value) != on:
                yield item.target.id


@cache
def assigned(file: str) -> frozenset[str]:
    """Return the attributes that code of the file assigns to objects."""
    targets = (item for target in targets_of(tree(file)) for item in walk(target))
    return frozenset(
        item.attr for item in targets if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store)
    )


def is_filled(value: ast.expr) -> bool:
    """Return whether a value is written as a text or a tuple that holds something, or as an object that is true."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in _TRUE_OBJECTS
    return (isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value != "") or (
        isinstance(value, ast.Tuple) and bool(value.elts)
    )


def is_off(value: ast.expr) -> bool:
    """Return whether a value is written as false, None, or empty."""
    if isinstance(value, ast.Constant):
        return value.value is False or value.value is None or value.value == ""
    return (isinstance(value, ast.Tuple) and not value.elts) or (isinstance(value, ast.Dict) and not value.keys)


@cache
def tree(file: str) -> ast.Module:
    return ast.parse(_source(file))


@cache
def _source(file: str) -> str:
    return (resources.files("tplc_runtime") / f"{file}.py").read_text(encoding="utf-8")


@cache
def _lines(file: str) -> list[str]:
    return _source(file).splitlines()


def definitions(
    file: str,
    off: frozenset[str] = frozenset(),
    on: frozenset[str] = frozenset(),
    filled: frozenset[str] = frozenset(),
) -> tuple[Definition, ...]:
    """Return the definitions of a file of the runtime.  `off`, `on` and `filled`: attributes that are false, that are
    True, and that are true as they hold something."""
    return tuple(replace(definition, off=off, on=on, filled=filled) for definition in _definitions(file))


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A fragment as the runtime has it, and its place in the file.  `asked`: the attributes that its conditions ask
    for."""

    fragment: Fragment
    file: str
    start: int
    stop: int
    indent: int
    conditions: tuple[ast.If | ast.expr, ...] = ()
    asked: frozenset[str] = frozenset()


@cache  # formats that differ in flags have most members alike
def _folded(piece: _Piece, off: frozenset[str], on: frozenset[str], filled: frozenset[str]) -> Fragment:
    if not off and not on and not filled:
        return piece.fragment
    known = {**dict.fromkeys(on, True), **dict.fromkeys(off, False)}
    lines = fold_lines(_lines(piece.file), piece.start, piece.stop, piece.conditions, known.get, filled)
    member = piece.fragment.member
    above = ["class _:"] if member or piece.indent else []
    parsed = ast.parse("\n".join([*above, *lines])).body[0]
    node = parsed.body[0] if above and isinstance(parsed, ast.ClassDef) else parsed
    return _part(member, lines, [node], piece.indent)


@cache
def _definitions(file: str) -> tuple[Definition, ...]:
    """Return the definitions of a file as the runtime has them."""
    body = tree(file).body
    guarded = [item for node in body if isinstance(node, ast.If) for item in node.body]
    imports, type_imports = tuple(_imports(body)), tuple(_imports(guarded))
    found = []
    for node in [*guarded, *body]:
        names = defined_names(node)
        if names and names != ("TYPE_CHECKING",):
            bases = tuple(base.id for base in getattr(node, "bases", ()) if isinstance(base, ast.Name))
            on, pieces = frozenset(_flags_of(node, on=True)), partial(_pieces, node, file)
            found.append(Definition(names, bases, on, imports, type_imports, node in guarded, pieces))
    return tuple(found)


def _imports(body: list[ast.stmt]) -> Iterator[tuple[str, Import]]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((alias.name, (alias.name, "")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module and node.module != "__future__":
            yield from ((alias.name, (node.module, alias.name)) for alias in node.names)


@cache
def _pieces(node: ast.stmt, file: str) -> tuple[_Piece, ...]:
    """Return the definition's lines, a piece for each member and for what is between."""
    return tuple(_pieces_in(node, file))


def _pieces_in(node: ast.stmt, file: str) -> Iterator[_Piece]:
    lines = _lines(file)
    start, stop = _first_line(node, lines), node.end_lineno or node.lineno
    if not isinstance(node, ast.ClassDef):
        yield _piece("", file, start, stop, node, node.col_offset)
        return
    between: list[ast.AST] = [*node.bases]
    for item in node.body:
        members = () if isinstance(item, ast.ClassDef) else defined_names(item)
        if members:
            first = _first_line(item, lines)
            while first > start and not lines[first - 1].strip():
                first -= 1
            if first > start:
                part = _part("", lines[start:first], between, node.col_offset)
                yield _Piece(part, file, start, first, node.col_offset)
            start, between = item.end_lineno or item.lineno, []
            yield _piece(members[0], file, first, start, item, node.col_offset)
        else:
            between.append(item)
    if start < stop:
        yield _Piece(_part("", lines[start:stop], between, node.col_offset), file, start, stop, node.col_offset)


def _piece(member: str, file: str, start: int, stop: int, node: ast.stmt, indent: int) -> _Piece:
    """Return the piece of one statement; other lines of a class have no conditions."""
    walked = [*walk(node)]
    part = _fragment(member, _lines(file)[start:stop], [node], walked, indent)
    found = tuple(conditions(walked))
    return _Piece(part, file, start, stop, indent, found, flags_in(found))


def _part(member: str, lines: list[str], nodes: list[ast.AST], indent: int) -> Fragment:
    return _fragment(member, lines, nodes, [item for node in nodes for item in walk(node)], indent)


def _fragment(
    member: str, lines: list[str], nodes: Sequence[ast.AST], walked: Sequence[ast.AST], indent: int
) -> Fragment:
    own = member or any(isinstance(node, ast.FunctionDef) for node in nodes)
    taken = [item for item in walked if isinstance(item, ast.Attribute)]
    inherited = [(_base(item.value), item.attr) for item in taken]
    method = nodes[0] if member and len(nodes) == 1 and isinstance(nodes[0], ast.FunctionDef) else None
    return Fragment(
        member,
        tuple(line[indent:] for line in lines),
        names_in(walked) - (_local_names(walked) if own else frozenset()),
        frozenset([item.attr for item in taken]),
        frozenset((base, name) for base, name in inherited if base is not None),
        method,
    )


def _declaration(method: ast.FunctionDef) -> Fragment:
    """Return the line that declares a method, so that code of its class can call that of a derived class.

    def _reasoning(self) -> bool: …  →  _reasoning: ClassVar[Callable[[Any], bool]]
    """
    given = method.args
    types = ["Any", *(ast.unparse(one.annotation) for one in given.args[1:] if one.annotation is not None)]
    accepted = "..." if given.kwonlyargs or given.defaults else f"[{', '.join(types)}]"
    returned = ast.unparse(method.returns) if method.returns is not None else "Any"
    line = f"{method.name}: ClassVar[Callable[{accepted}, {returned}]]"
    return Fragment(method.name, ("    " + line,), names_in(walk(ast.parse(line))) - {method.name}, frozenset())


def _is_abstract(method: ast.FunctionDef) -> bool:
    raised = method.body[-1].exc if isinstance(method.body[-1], ast.Raise) else None
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def names_in(walked: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(item.id for item in walked if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load))


def _local_names(walked: Sequence[ast.AST]) -> frozenset[str]:
    """Return the names that a function or a class defines locally."""
    stored = (item.id for item in walked if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store))
    return frozenset(stored).union(item.arg for item in walked if isinstance(item, ast.arg))


def attributes_in(walked: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(item.attr for item in walked if isinstance(item, ast.Attribute))


def _base(value: ast.expr) -> str | None:
    """Return the class of the member: "" for super(), None for a member of an object."""
    if isinstance(value, ast.Name):
        return value.id
    is_super = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
    return "" if is_super else None


def _first_line(node: ast.stmt, lines: list[str]) -> int:
    decorators = node.decorator_list if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
    start = min([node.lineno, *(item.lineno for item in decorators)]) - 1
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start
