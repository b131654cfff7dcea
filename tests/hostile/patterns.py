"""The regular expressions of a module, and how it matches them.

uses_of(parser)  →  {Use(r"\\S|\\Z", "search"), Use(r"[^,\\n\\]}]+", "match"), …}

Which methods a pattern is matched with is read from the source, by the name that it goes by: `NON_SPACE.search(…)`,
`self.follow[final].match(…)`.  A pattern under a name that nothing is called on counts as matched in every way.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import ModuleType
from typing import NamedTuple

from tests.hostile.growth import METHODS
from tplc.backends.python.nodes import walk


class Use(NamedTuple):
    pattern: str
    method: str


def uses_of(module: ModuleType, source: str) -> set[Use]:
    pieces, methods = [*_pieces(source)], dict[str, set[str]]()
    for piece in pieces:
        for node in piece.matched:
            methods.setdefault(_name(node.value), set()).add(node.attr)
    uses = {
        Use(pattern, method)
        for name, pattern in _held(module)
        for method in methods.get(name) or METHODS
        if method != "split" or name in methods
    }
    return uses | set(_direct(pieces, module))


class Piece(NamedTuple):
    """Statements of a module; the attributes among their nodes that match something, and the calls of those."""

    body: list[ast.stmt]
    matched: list[ast.Attribute]
    calls: list[ast.Call]


def _pieces(source: str) -> Iterator[Piece]:
    text = ""
    for block in source.split("\n\n\n"):
        text += block + "\n\n\n"
        with suppress(SyntaxError):  # the middle of a statement
            yield _piece(text)
            text = ""
    assert not text


@cache  # parsers have most of the runtime alike
def _piece(text: str) -> Piece:
    tree = ast.parse(text)
    nodes = [*walk(tree)]
    matched = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in METHODS]
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.func in matched]
    return Piece(tree.body, matched, calls)


def _name(node: ast.expr) -> str:
    """Return x as the name of x, a.x and a.x[0]."""
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _held(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield every pattern in the module's values, with the name of the value."""
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = [*vars(module).items()]
    while waiting:
        name, value = waiting.pop()
        if id(value) in seen and not _is_pattern(value):
            continue
        seen.add(id(value))
        if _is_pattern(value):
            yield name, str(value.pattern)  # type: ignore[attr-defined]
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            waiting += zip(value._fields, value, strict=True)
        elif isinstance(value, (tuple, list, set, frozenset)):
            waiting += [(name, item) for item in value]
        elif isinstance(value, Mapping):
            waiting += [(name, item) for item in value.values()]
        elif hasattr(value, "__dict__") and module.__name__ in (
            type(value).__module__,
            getattr(value, "__module__", ""),
        ):
            waiting += vars(value).items()


def _is_pattern(value: object) -> bool:
    return isinstance(value, re.Pattern) or type(value).__name__ == "Pattern"


def _written_out(given: ast.expr, pieces: Sequence[Piece]) -> str:
    """Return the source of a pattern; for a call of a function of the same module, the source of what it returns."""
    called = given.func if isinstance(given, ast.Call) else None
    for node in [node for piece in pieces for node in piece.body]:
        if isinstance(node, ast.FunctionDef) and isinstance(called, ast.Name) and node.name == called.id:
            returned = [item for item in ast.walk(node) if isinstance(item, ast.Return)]
            return ast.unparse(returned[0]) if len(returned) == 1 else ""
    return ast.unparse(given)


def _direct(pieces: Sequence[Piece], module: ModuleType) -> Iterator[Use]:
    """Yield the pattern that is passed to `re` itself: a text, the name of one, or an alternation of escaped texts."""
    for node in [node for piece in pieces for node in piece.calls]:
        call = node.func
        if not (isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name) and call.value.id == "re"):
            continue
        given = node.args[0]
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            yield Use(given.value, call.attr)
        elif isinstance(given, ast.Name) and isinstance(getattr(module, given.id, None), str):
            yield Use(getattr(module, given.id), call.attr)
        elif "map(re.escape, " not in _written_out(given, pieces):
            raise AssertionError(f"which pattern is it? {ast.unparse(node)}")
