"""Split the runtime's files into definitions, and classes into their members, as flags fold them.

    definitions("machine")  →  Definition("Machine", …, bases=("Slots",), …)
    Flags(off={"CALLS"}).folded(definition.statement.members[1])  →  Code(lines=(…), names={…}, attributes={…}, …)

The files are formatted, so their text shows where a statement begins.  No format needs all statements: each is parsed
when somebody asks what it refers to.  A member whose conditions ask for a flag is folded and parsed again for each set
of flags.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import takewhile

from tplc.backends.python.fold import conditions, flags_in, fold_lines
from tplc.backends.python.nodes import walk

_TRUE_OBJECTS = ("Pattern", "Scanner", "ExpectedText", "Escapes", "LookaheadEnd", "WholeCall")
# The beginning of a statement, with its decorators; texts of several lines match, so that nothing inside of them does.
_BEGINNING = r'"""[\s\S]*?"""|^(?:{0}@.*\n)*{0}(?!(?:else|elif|except|finally)\b)[A-Za-z_]'
_TOP, _MEMBER = (re.compile(_BEGINNING.format(indent), re.MULTILINE) for indent in ("", "    "))
_DEFINED = re.compile(r"(?: *@.*\n)* *(?:(class|def) (\w+)|(\w+(?:, \w+)*)(?:: | = ))")
_CLASS = re.compile(r"^class \w+\((.*)\):", re.MULTILINE)
_FLAG = re.compile(r"^    ([A-Z][A-Z0-9_]*): .*? = ((?:False|None|\"\"|\(\)|\{\})(?=$|  #))?", re.MULTILINE)
_ASSIGNED = re.compile(r"\.([A-Z][A-Z0-9_]*)\b(?=[^=\n]* = )")
Import = tuple[str, str]  # module and name; the name is "" for `import module`


@dataclass(frozen=True, eq=False)
class Code:
    """Lines with what they refer to.  `inherited`: the methods that they take from a base, with that base ("" for the
    next).  `method`: the syntax tree, if they are a method."""

    lines: tuple[str, ...]
    names: frozenset[str]
    attributes: frozenset[str] = frozenset()
    inherited: frozenset[tuple[str, str]] = frozenset()
    method: ast.FunctionDef | None = None

    @cached_property
    def declaration(self) -> Code | None:
        """Return what stands in place of a method that is always overridden."""
        return None if self.method is None or self.method.decorator_list else _declaration(self.method)


@dataclass(frozen=True, eq=False)
class Statement:
    """Lines of a file, with the comments above them: a statement, a member of a class, which has a name, or what is
    around the members."""

    lines: tuple[str, ...]
    names: tuple[str, ...] = ()
    member: str = ""
    is_class: bool = False
    is_method: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @cached_property
    def members(self) -> tuple[Statement, ...]:
        return tuple(_members(self.lines)) if self.is_class else (self,)

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        return _nodes(self.lines) if self.names else _bases(self.text)

    @cached_property
    def conditions(self) -> tuple[ast.If | ast.expr, ...]:
        return tuple(conditions(item for node in self.nodes for item in walk(node)))

    @cached_property
    def asked(self) -> frozenset[str]:
        """Return the flags that the conditions ask for."""
        return flags_in(self.conditions)

    @property
    def value(self) -> ast.expr | None:
        """Return what the statement assigns."""
        node = self.nodes[0]
        return node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None


@dataclass(frozen=True, eq=False)
class Fragment:
    """A part of a definition, as flags fold it: a member of a class, or what is around the members."""

    member: str
    code: Code
    is_method: bool = False


@dataclass(frozen=True, eq=False)
class Definition:
    """A statement of the runtime that defines names.  `flags`: of a class, those that are true or hold something."""

    name: str
    statement: Statement
    bases: tuple[str, ...]
    flags: frozenset[str]
    imports: tuple[tuple[str, Import], ...]
    type_imports: tuple[tuple[str, Import], ...]
    only_types: bool

    @property
    def names(self) -> tuple[str, ...]:
        return self.statement.names


@dataclass(frozen=True)
class Flags:
    """Attributes that are false, that are True, and that are true as they hold something."""

    off: frozenset[str] = frozenset()
    on: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()

    def folded(self, one: Statement) -> Code:
        """Return the code as the flags fold it."""
        return _folded(one, self.off & one.asked, self.on & one.asked, self.filled & one.asked)


@cache
def flags(file: str) -> frozenset[str]:
    """Return the attributes of classes that are false or empty by default."""
    return frozenset(match[1] for match in _FLAG.finditer(source(file)) if match[2])


@cache
def assigned(file: str) -> frozenset[str]:
    """Return the flags that code of the file assigns to objects."""
    return frozenset(_ASSIGNED.findall(source(file)))


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
def source(file: str) -> str:
    return (resources.files("tplc_runtime") / f"{file}.py").read_text(encoding="utf-8")


@cache  # formats that differ in flags have most members alike
def _folded(one: Statement, off: frozenset[str], on: frozenset[str], filled: frozenset[str]) -> Code:
    lines, nodes = one.lines, one.nodes
    if off or on or filled:
        known = {**dict.fromkeys(on, True), **dict.fromkeys(off, False)}
        numbered = ["", *lines]
        lines = tuple(fold_lines(numbered, 1, len(numbered), one.conditions, known.get, filled))
        nodes = _nodes(lines)
    walked = [item for node in nodes for item in walk(node)]
    method = nodes[0] if one.member and isinstance(nodes[0], ast.FunctionDef) else None
    is_local = one.member or any(isinstance(node, ast.FunctionDef) for node in nodes)
    taken = [item for item in walked if isinstance(item, ast.Attribute)]
    inherited = [(_base(item.value), item.attr) for item in taken]
    return Code(
        lines,
        names_in(walked) - (_local_names(walked) if is_local else frozenset()),
        frozenset([item.attr for item in taken]),
        frozenset((base, name) for base, name in inherited if base is not None),
        method,
    )


def _nodes(lines: Sequence[str]) -> list[ast.stmt]:
    """Return the syntax tree of a statement.  Its line numbers count from the line above the first one."""
    text = "\n".join(lines)
    is_member = text.lstrip("\n").startswith(" ")
    tree = ast.parse(("class _:\n" if is_member else "\n") + text)
    return tree.body[0].body if is_member and isinstance(tree.body[0], ast.ClassDef) else tree.body


@cache
def definitions(file: str) -> tuple[Definition, ...]:
    """Return the definitions of a file of the runtime."""
    body = tuple(_statements(source(file).splitlines(), _TOP))
    blocks = (one.lines[1:] for one in body if one.lines[0] == "if TYPE_CHECKING:")
    inside = [line[4:] for block in blocks for line in takewhile("else:".__ne__, block)]
    guarded = tuple(_statements(inside, _TOP))
    imports, type_imports = tuple(_imports(body)), tuple(_imports(guarded))
    found = []
    for one in [*guarded, *body]:
        if one.names and one.names != ("TYPE_CHECKING",):
            bases = tuple(base.id for base in _bases(one.text) if isinstance(base, ast.Name)) if one.is_class else ()
            on = frozenset(match[1] for match in _FLAG.finditer(one.text) if one.is_class and not match[2])
            found.append(Definition(one.names[0], one, bases, on, imports, type_imports, one in guarded))
    return tuple(found)


def _bases(text: str) -> Sequence[ast.expr]:
    """Return what a class is derived from, if the text is that of a class."""
    bases = _CLASS.search(text)
    tree = ast.parse(bases[1], mode="eval").body if bases else ast.Tuple([])
    return tree.elts if isinstance(tree, ast.Tuple) else [tree]


def _imports(body: Iterable[Statement]) -> Iterator[tuple[str, Import]]:
    lines = [line for one in body if one.lines[0].startswith(("import ", "from ")) for line in one.lines]
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.Import):
            yield from ((alias.name, (alias.name, "")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module and node.module != "__future__":
            yield from ((alias.name, (node.module, alias.name)) for alias in node.names)


def _statements(lines: Sequence[str], beginning: re.Pattern[str]) -> Iterator[Statement]:
    """Yield the statements of some lines, with the comments above them."""
    for first, stop, kind, names in _places(lines, beginning):
        yield Statement(tuple(lines[first:stop]), names, is_class=kind == "class")


def _members(lines: Sequence[str]) -> Iterator[Statement]:
    """Yield the members of a class, each with the empty lines above it, and what is between them."""
    start = 0
    for first, stop, kind, names in _places(lines, _MEMBER):
        while first > start and not lines[first - 1].strip():
            first -= 1
        if first > start:
            yield Statement(tuple(lines[start:first]))
        start = stop
        yield Statement(tuple(lines[first:stop]), names, names[0], is_method=kind == "def")
    if start < len(lines):
        yield Statement(tuple(lines[start:]))


def _places(lines: Sequence[str], beginning: re.Pattern[str]) -> Iterator[tuple[int, int, str, tuple[str, ...]]]:
    """Yield the first line of each statement, the line after it, "class" or "def", and the names that it defines."""
    text, line, at = "\n".join(lines), 0, 0
    starts = [match.start() for match in beginning.finditer(text) if not match.group().startswith('"')]
    for start, after in zip(starts, [*starts, len(text)][1:], strict=True):
        line, at = line + text.count("\n", at, start), start
        first, stop = line, line + text.count("\n", start, after) + (after == len(text))
        while first and _is_comment(lines[first - 1]):
            first -= 1
        while not lines[stop - 1].strip() or _is_comment(lines[stop - 1]):
            stop -= 1
        defined = _DEFINED.match(text, start)
        kind, name, variables = defined.groups(default="") if defined else ("", "", "")
        yield first, stop, kind, (name,) if name else tuple(filter(None, variables.split(", ")))


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _declaration(method: ast.FunctionDef) -> Code:
    """Return the line that declares a method, so that code of its class can call that of a derived class.

    def _reasoning(self) -> bool: …  →  _reasoning: ClassVar[Callable[[Any], bool]]
    """
    given = method.args
    types = ["Any", *(ast.unparse(one.annotation) for one in given.args[1:] if one.annotation is not None)]
    accepted = "..." if given.kwonlyargs or given.defaults else f"[{', '.join(types)}]"
    returned = ast.unparse(method.returns) if method.returns is not None else "Any"
    line = f"{method.name}: ClassVar[Callable[{accepted}, {returned}]]"
    return Code(("    " + line,), names_in(walk(ast.parse(line))) - {method.name})


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
