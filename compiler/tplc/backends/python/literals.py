(
    r"""Python's literals and calls as ruff formats them; nothing in a text can end its literal.

    "a\nb"  →  "a\nb"        '"""
    "  →  "
    """'        U+202E  →  "\u202e"
"""
)

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from unicodedata import combining, east_asian_width

WIDTH = 120
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def literal(text: str) -> str:
    """Return a string literal, in the quotes that need fewer escapes (double quotes if equal)."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(_escaped(char, quote) for char in text) + quote


def raw(pattern: str, name: str = "") -> Raw:
    return Raw(pattern, name and f"{name}=")


def _escaped(char: str, quote: str) -> str:
    if char == quote:
        return "\\" + char
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@dataclass(frozen=True, slots=True)
class Bracketed:
    """`function(items)`, a tuple where there is no function, a mapping where it is "{"."""

    function: str
    items: tuple[Expression, ...]
    name: str = ""  # as an argument: name=function(items)
    packed: bool = False  # as many items in a line as fit

    def __str__(self) -> str:
        items = ", ".join(map(str, self.items))
        if self.function == "{":
            return f"{self.name}{{{items}}}"
        return f"{self.name}{self.function}({items}{',' * (not self.function and len(self.items) == 1)})"


@dataclass(frozen=True, slots=True)
class Raw:
    """A pattern as a raw string, if that can be; a long one in several."""

    pattern: str
    name: str = ""  # as an argument

    def __str__(self) -> str:
        return self.name + _raw(self.pattern)

    def lines(self, width: int) -> list[str]:
        return [_raw(part) for part in _parts(self.pattern, width)]


Expression = str | Bracketed | Raw


def _raw(pattern: str) -> str:
    plain = pattern.isprintable() and not ('"' in pattern and "'" in pattern)
    if not plain or "\\" not in pattern:
        return literal(pattern)
    return f"r'{pattern}'" if '"' in pattern else f'r"{pattern}"'


def _parts(pattern: str, width: int) -> Iterator[str]:
    """Yield the pattern in parts of about this width, without splitting an escape."""
    tokens = re.findall(r"\\.|[^\\]", pattern, re.DOTALL)
    part, taken = "", 0
    for token in tokens:
        wide = _width(token)
        if taken + wide > width:
            yield part
            part, taken = "", 0
        part, taken = part + token, taken + wide
    yield part


def texts(items: Iterable[str], name: str = "") -> Bracketed:
    """Return a tuple of string literals."""
    return Bracketed("", tuple(literal(item) for item in items), name and f"{name}=")


def called(function: str, items: Iterable[Expression], name: str = "") -> Bracketed:
    return Bracketed(function, tuple(items), name)


def mapping(pairs: Iterable[tuple[object, object]], *, packed: bool = False) -> Bracketed:
    return Bracketed("{", tuple(f"{key}: {value}" for key, value in pairs), packed=packed)


def assignment(name: str, value: Expression, indent: int = 0) -> list[str]:
    """Return `name = value`, on several lines if one would be too long."""
    return lines_of(f"{name} = ", value, "", indent)


def lines_of(before: str, value: Expression, after: str, indent: int) -> list[str]:
    """Return the value between two texts, on several lines if one would be too long."""
    space = " " * indent
    line = f"{space}{before}{value}{after}"
    if isinstance(value, Raw):
        if _width(line) <= WIDTH:
            return [line]
        parts = value.lines(WIDTH - indent - 8)
        return [f"{space}{before}{value.name}(", *(f"{space}    {part}" for part in parts), f"{space}){after}"]
    if _width(line) <= WIDTH or isinstance(value, str) or not value.items:
        return [line]
    opened, closed = "{}" if value.function == "{" else "()"
    function = "" if value.function == "{" else value.function
    together = f"{space}    {', '.join(map(str, value.items))}"
    first, last = f"{space}{before}{value.name}{function}{opened}", f"{space}{closed}{after}"
    alone = len(value.items) == 1 and isinstance(value.items[0], str)
    if function and (_width(together) <= WIDTH or alone):
        return [first, together, last]
    if len(value.items) == 1 and isinstance(value.items[0], Raw) and function:
        return [first, *(f"{space}    {part}" for part in value.items[0].lines(WIDTH - indent - 4)), last]
    if value.packed:
        return [first, *filled(value.items, indent + 4), last]
    return [first, *(line for item in value.items for line in lines_of("", item, ",", indent + 4)), last]


def filled(items: Iterable[Expression], indent: int) -> list[str]:
    """Return items with a comma after each, as many in a line as fit."""
    lines: list[str] = []
    for item in items:
        text = f"{item},"
        if lines and _width(f"{lines[-1]} {text}") <= WIDTH:
            lines[-1] += f" {text}"
        else:
            lines += lines_of("", item, ",", indent)
    return lines


def _width(text: str) -> int:
    """Return the columns that a text takes: wide characters take two, as the formatter counts them."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


@cache
def _columns(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
