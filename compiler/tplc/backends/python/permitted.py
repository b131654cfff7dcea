"""Check a generated parser before it is written: it compiles, and does nothing but parse.

What it imports, takes from a module, and uses of Python's own names is on a list of what parsers are made of; nothing
there runs text or reaches the system.  Only the command at the end of the file may open a file and print.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tplc.backends.python.nodes import walk
from tplc.code import code_of
from tplc.errors import TplcError
from tplc.ir.runtimes import RUNTIME

# None: all of the module is types, or turns into them.
MODULES: Mapping[str, frozenset[str] | None] = {
    "__future__": frozenset(["annotations"]),
    f".{RUNTIME}": None,
    RUNTIME: None,
    "argparse": frozenset(["ArgumentParser"]),
    "bisect": frozenset(["bisect_right"]),
    "collections": frozenset(["Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"]),
    "collections.abc": None,
    "functools": frozenset(["lru_cache"]),
    "json": frozenset(["JSONDecodeError", "JSONDecoder", "JSONEncoder", "dumps", "load", "loads"]),
    "json.encoder": frozenset(["encode_basestring"]),
    "operator": frozenset(["itemgetter"]),
    "re": frozenset(
        """ASCII DOTALL IGNORECASE MULTILINE Match Pattern compile escape findall finditer fullmatch match search split
        sub""".split()
    ),
    "sys": frozenset(["intern", "maxsize", "stderr", "stdin", "stdout"]),
    "time": frozenset(["time"]),
    "typing": None,
    "uuid": frozenset(["uuid4"]),
}
BUILTINS = frozenset(
    """AssertionError AttributeError BrokenPipeError ImportError IndexError KeyError NotImplementedError OSError
    OverflowError RecursionError StopIteration TypeError UnicodeError ValueError __all__ __name__ __package__
    __slots__ abs all any ascii bool bytes callable chr dict divmod enumerate filter float frozenset getattr
    hasattr hash hex id int isinstance issubclass iter len list map max min next object oct ord pow property
    range repr reversed round set setattr slice sorted staticmethod classmethod str sum super tuple type zip""".split()
)
COMMAND_ONLY = frozenset(["KeyboardInterrupt", "open", "print"])
PRIVATE = frozenset(
    """__class__ __dict__ __doc__ __init__ __iter__ __mro__ __mypyc_attrs__ __name__ __new__ __slots__""".split()
)


_KNOWN = frozenset(dir(builtins))
_BLOCK = re.compile(r"(?<=\n\n)(?=[^\s)\]}]|    (?:def |@))")
_OPEN_CLASS = re.compile(r"^class \w+.*:\s*\Z", re.M)


class BadArtifact(TplcError):
    """A generated parser that must not be written: a mistake of the compiler."""


@lru_cache(maxsize=16)
def check_permitted(text: str) -> None:
    """Raise BadArtifact for a text that doesn't pass the check."""
    try:
        code_of(text)
    except (SyntaxError, ValueError) as error:
        raise BadArtifact(f"the generated parser is not Python: {error}") from error
    for line, what in sorted(_breaches(text)):
        raise BadArtifact(f"the generated parser {what} (line {line})")


@dataclass(frozen=True, slots=True)
class _Looked:
    """Collects breaches in some statements. A breach by a name counts if a module of that name is imported."""

    imported: frozenset[str]
    breaches: tuple[tuple[int, str], ...]
    by_name: tuple[tuple[int, str, str], ...]


def _breaches(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines and descriptions of forbidden constructs.  Pieces are cached, because all parsers share most of
    the runtime."""
    looked, piece = [], ""
    for block in _blocks(text):
        piece += block
        try:
            looked.append((piece.count("\n"), _look(piece)))
        except SyntaxError:  # no whole statement: a text with an empty line in it
            continue
        piece = ""
    if piece:
        looked.append((0, _look(text)))
    imported = frozenset().union(*(one.imported for _, one in looked))
    line = 0
    for lines, one in looked:
        yield from ((line + at, what) for at, what in one.breaches)
        yield from ((line + at, what) for at, what, module in one.by_name if module in imported)
        line += lines


def _blocks(text: str) -> Iterator[str]:
    """Yield the text in pieces: top-level statements and the methods of classes. An empty line precedes each of
    them."""
    start = 0
    for match in _BLOCK.finditer(text):
        yield text[start : match.start()]
        start = match.start()
    yield text[start:]


@lru_cache(maxsize=2048)
def _look(text: str) -> _Looked:
    tree, above = _parsed(text)
    nodes = list(walk(tree))
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    commands = (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "run_command")
    command = {id(node) for function in commands for node in walk(function)}
    taken = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    found: list[tuple[int, str]] = []
    by_name: list[tuple[int, str, str]] = []
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found += _imports(node)
        elif isinstance(node, ast.Name):
            if id(node) not in taken and (node.id in MODULES or node.id in imported):
                by_name.append((node.lineno, f"passes on the module {node.id}", node.id))
            known = node.id in _KNOWN or node.id.startswith("__")
            if known and not _allowed(node.id, in_command=id(node) in command):
                found.append((node.lineno, f"uses {node.id}"))
        elif isinstance(node, ast.Attribute):
            if node.attr.startswith("__") and node.attr not in PRIVATE:
                found.append((node.lineno, f"uses .{node.attr}"))
            by_name += _attributes(node)
        elif isinstance(node, ast.Call):
            found += _by_name(node)
    return _Looked(
        frozenset(imported),
        tuple((line - above, what) for line, what in found),
        tuple((line - above, what, module) for line, what, module in by_name),
    )


def _parsed(text: str) -> tuple[ast.Module, int]:
    """Return the tree of a piece, and how many lines were put above it."""
    if text.startswith(" "):
        return ast.parse("class _:\n" + text), 1
    if _OPEN_CLASS.search(text):  # its first method is the next piece
        text = text.rstrip() + " pass\n"
    return ast.parse(text), 0


def _allowed(name: str, *, in_command: bool) -> bool:
    return name in BUILTINS or (in_command and name in COMMAND_ONLY)


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name not in MODULES or alias.asname:
                yield node.lineno, f"imports {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
        return
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        allowed = MODULES.get(module, frozenset())
        if module.startswith("tplc_runtime."):
            continue
        if module not in MODULES or (allowed is not None and alias.name not in allowed):
            yield node.lineno, f"imports {alias.name} from {module}"


def _attributes(node: ast.Attribute) -> Iterator[tuple[int, str, str]]:
    """Yield forbidden attributes of modules, and their names."""
    if isinstance(node.value, ast.Name):
        allowed = MODULES.get(node.value.id)
        if allowed is not None and node.attr not in allowed:
            yield node.lineno, f"uses {node.value.id}.{node.attr}", node.value.id


def _by_name(node: ast.Call) -> Iterator[tuple[int, str]]:
    """Yield attributes named by a text that isn't a member of a message or a state."""
    if isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr", "hasattr") and len(node.args) > 1:
        name = node.args[1]
        if (
            isinstance(name, ast.Constant)
            and isinstance(name.value, str)
            and name.value.startswith("__")
            and name.value not in PRIVATE
        ):
            yield node.lineno, f"uses .{name.value}"
