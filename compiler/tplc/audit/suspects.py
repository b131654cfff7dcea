"""Find suspicious parts of a template's source, with their places.

    {% if "deploy now" in m.content %}{% include "x" %}
    →  phrases [("deploy now", 1:7)], reaches [(1:39, "includes another template")]

Phrases decide nothing by themselves: `warnings` tries each of them.  What a template accesses is reported even if no
render reaches that code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jinja2 import TemplateError, nodes

from tplc.learn.candidates import SourceEnvironment, read_source

_LOADS: tuple[tuple[type[nodes.Node], str], ...] = (
    (nodes.Include, "includes another template"),
    (nodes.Import, "imports another template"),
    (nodes.FromImport, "imports from another template"),
    (nodes.Extends, "extends another template"),
)
# Functions in the environment of chat templates; the last ones come with the tags that define them.
_FUNCTIONS = frozenset(
    "raise_exception strftime_now range namespace dict lipsum cycler joiner caller loop super self".split()
)


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Line and column, both from 1; column 0 where only the line is known."""

    line: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Suspects:
    phrases: tuple[tuple[str, SourcePosition], ...]
    reaches: tuple[tuple[SourcePosition, str], ...]
    chance: tuple[SourcePosition, ...]  # filters and functions that draw lots
    clock: tuple[SourcePosition, ...]


def suspects(source: str) -> Suspects:
    reader = SourceEnvironment()
    try:
        found = read_source(source).nodes
        tokens = list(_tokens(reader, source))
    except (TemplateError, RecursionError):  # the renderer has reported it already, or its parser has more tags
        return Suspects((), (), (), ())
    return Suspects(
        phrases=tuple((text, place) for text, place in _strings(tokens)),
        reaches=tuple(_at(tokens, line, word, what) for line, word, what in sorted(set(_reaches(found)))),
        chance=tuple(_named(tokens, ("random", "lipsum"))),
        clock=tuple(_named(tokens, ("strftime_now",))),
    )


@dataclass(frozen=True, slots=True)
class _Token:
    place: SourcePosition
    kind: str
    text: str


def _tokens(reader: SourceEnvironment, source: str) -> Iterator[_Token]:
    """Yield Jinja's own tokens. Jinja strips white space from the source, so each token is searched for."""
    text = "\n".join(source.splitlines())
    position, line, line_start = 0, 1, 0
    for _, kind, value in reader.lexer.tokeniter(text, None):
        found = text.find(value, position)
        if found < 0 or kind in ("whitespace", "data"):
            position = found + len(value) if found >= 0 else position
            continue
        newlines = text.count("\n", line_start, found)
        if newlines:
            line += newlines
            line_start = text.rfind("\n", 0, found) + 1
        yield _Token(SourcePosition(line, found - line_start + 1), kind, value)
        position = found + len(value)


def _strings(tokens: Sequence[_Token]) -> Iterator[tuple[str, SourcePosition]]:
    for token in tokens:
        if token.kind == "string":
            try:
                value = ast.literal_eval(token.text)
            except (ValueError, SyntaxError):
                value = token.text[1:-1]
            yield str(value), token.place


def _named(tokens: Sequence[_Token], names: Sequence[str]) -> Iterator[SourcePosition]:
    return (token.place for token in tokens if token.kind == "name" and token.text in names)


def _reaches(found: Sequence[nodes.Node]) -> Iterator[tuple[int, str, str]]:
    """Yield the line, a word of it, and a description of the access."""
    known = _defined(found)
    for node in found:
        for kind, what in _LOADS:
            if isinstance(node, kind):
                yield node.lineno, kind.__name__.lower().replace("fromimport", "from"), what
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name not in known:
            name = node.node.name
            yield node.lineno, name, f"calls {name}, which is not a function of chat templates"
        elif isinstance(node, nodes.Getattr):
            yield from _private(node.lineno, node.attr)
        elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
            yield from _private(node.lineno, node.arg.value)


def _private(line: int, key: str) -> Iterator[tuple[int, str, str]]:
    if key.startswith("__"):
        yield line, key, f"reaches for {key}, which belongs to Python objects, not to messages"


def _defined(found: Sequence[nodes.Node]) -> set[str]:
    """Return what a template may call: functions of the environment, macros, and the names that it defines."""
    names = {node.name for node in found if isinstance(node, nodes.Macro)}
    names |= {node.name for node in found if isinstance(node, nodes.Name) and node.ctx in ("store", "param")}
    return names | _FUNCTIONS


def _at(tokens: Sequence[_Token], line: int, word: str, what: str) -> tuple[SourcePosition, str]:
    for token in tokens:
        if token.place.line == line and token.text.strip("'\"") == word:
            return token.place, what
    return SourcePosition(line), what
