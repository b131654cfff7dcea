(
    r"""Text and tuples as Python writes them, formatted as ruff does, and nothing in them can end the literal.

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


def sequence(items: Sequence[str]) -> str:
    """A tuple of expressions."""
    return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"


def texts(items: Iterable[str]) -> str:
    return sequence([literal(item) for item in items])


def statement(target: str, function: str, items: Sequence[str], indent: int = 0) -> list[str]:
    """`target = function(items)`, one item a line where it is too long."""
    space = " " * indent
    short = f"{space}{target}{function}({', '.join(items)})"
    if not function and len(items) == 1:
        short = short[:-1] + ",)"
    if len(short) <= WIDTH:
        return [short]
    inner = f"{space}    {', '.join(items)}"
    if function and len(inner) <= WIDTH:
        return [f"{space}{target}{function}(", inner, f"{space})"]
    return [f"{space}{target}{function}(", *(f"{space}    {item}," for item in items), f"{space})"]
