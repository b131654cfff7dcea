(
    r"""Python's literals and calls as ruff formats them; nothing in a text can end its literal.

    "a\nb"  →  "a\nb"        '"""
    "  →  "
    """'        U+202E  →  "\u202e"
"""
)

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH = 120
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def literal(text: str) -> str:
    """A string literal, in the quotes that need fewer escapes (double ones in doubt)."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(_escaped(char, quote) for char in text) + quote


def _escaped(char: str, quote: str) -> str:
    if char == quote:
        return "\\" + char
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def texts(items: Iterable[str]) -> str:
    """A tuple of string literals."""
    literals = [literal(item) for item in items]
    return called("", literals)


def called(function: str, items: Sequence[str]) -> str:
    """`function(items)`, or a tuple where there is no function."""
    return f"{function}({', '.join(items)}{',' * (not function and len(items) == 1)})"


def assignment(name: str, function: str, items: Sequence[str], indent: int = 0) -> list[str]:
    """`name = function(items)`, one item a line where it would be too long."""
    line = f"{name} = {called(function, items)}"
    if len(line) + indent <= WIDTH:
        return [line]
    inner = f"    {', '.join(items)}"
    if function and len(inner) + indent <= WIDTH:
        return [f"{name} = {function}(", inner, ")"]
    return [f"{name} = {function}(", *(f"    {item}," for item in items), ")"]
