"""How does this template write a value?

    "a" → `'a'`, True → `True`, [1, 2] → `[1, 2]`, {"k": 1} → `{'k': 1}`, "it's" → `"it's"`
    →  strings '…' and "…" with Python escapes, words True/False/None, …

A position is a place where a value goes, as a function from a value to the text the template writes for it there.  The
same questions are asked at the top of an argument, inside a list and inside an object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise

from tplc.ir.markers import common_suffix
from tplc.ir.nodes import JSON_STYLE, Escape, Json, StringStyle, ValueStyle

Position = Callable[[Json], "str | None"]

_A, _B = 71001, 71002
_KA, _KB = "zqka0x", "zqkb0x"
_S = [f"zqs{i}x" for i in range(7)]
_SPECIAL = "\"'\n\\é"


def learn_style(position: Position) -> ValueStyle:
    """Return the style of values at one position; values that the template refuses there are assumed to be JSON."""
    strings = _strings(position)
    list_open, list_separator, list_close = _list(position)
    object_open, key_open, key_close, colon, object_separator, object_close = _object(position)
    return ValueStyle(
        strings=strings,
        true=_word(position, True) or JSON_STYLE.true,
        false=_word(position, False) or JSON_STYLE.false,
        null=_word(position, None),
        list_open=list_open,
        list_separator=list_separator,
        list_close=list_close,
        object_open=object_open,
        key_open=key_open,
        key_close=key_close,
        colon=colon,
        object_separator=object_separator,
        object_close=object_close,
    )


def in_list(position: Position) -> Position:
    """Return the position of an item of a list at `position`."""

    def item(value: Json) -> str | None:
        text = position([value, _B])
        opening, separator, closing = _list(position)
        return _strip(text, opening, f"{separator}{_B}{closing}")

    return item


def in_object(position: Position) -> Position:
    """Return the position of a member's value in an object at `position`."""

    def member(value: Json) -> str | None:
        text = position({_KA: value, _KB: _B})
        if text is None or _KA not in text or _KB not in text:
            return None
        opening, key_open, key_close, colon, separator, closing = _object(position)
        before = f"{opening}{key_open}{_KA}{key_close}{colon}"
        return _strip(text, before, f"{separator}{key_open}{_KB}{key_close}{colon}{_B}{closing}")

    return member


def _strip(text: str | None, before: str, after: str) -> str | None:
    if text is None:
        return None
    text, before, after = (re.sub(r"\n\s*", "\n", part) for part in (text, before, after))
    if not text.startswith(before) or not text.endswith(after):
        return None
    return text[len(before) : len(text) - len(after)]


def _word(position: Position, value: Json) -> str | None:
    text = position(value)
    if text is None:
        return None
    text = text.strip()
    return text or None


def _strings(position: Position) -> tuple[StringStyle, ...]:
    """Return the quotings in use; empty for raw text."""
    plain = position(_S[0])
    if plain is None or _S[0] not in plain:
        return ()
    opening, closing = plain[: plain.index(_S[0])], plain[plain.index(_S[0]) + len(_S[0]) :]
    escape, ascii_only = _escape(position)
    if not (opening.strip() and closing.strip()):
        return ()  # what only opens is a string as it is written: then verification says what is wrong
    styles = [StringStyle(opening, closing, escape, ascii_only)]
    for mark in "\"'":
        # a text that contains the usual quote may be quoted otherwise
        text = position(f"{_S[0]}{mark}{_S[1]}")
        if text is not None and _S[0] in text and _S[1] in text:
            other = StringStyle(text[: text.index(_S[0])], text[text.rindex(_S[1]) + len(_S[1]) :], escape, ascii_only)
            if other not in styles and other.open.strip() and other.close.strip():
                styles.append(other)
    return tuple(styles)


def _escape(position: Position) -> tuple[Escape, bool]:
    text = position("".join(a + b for a, b in zip(_S, _SPECIAL, strict=False)) + _S[5])
    if text is None or any(mark not in text for mark in _S[:6]):
        return "none", False
    written = [text[text.index(a) + len(a) : text.index(b)] for a, b in pairwise(_S[:6])]
    quote, apostrophe, newline, backslash, accent = written
    ascii_only = accent != "é"
    if newline == "\n" and backslash == "\\":
        return "none", ascii_only
    return ("python" if apostrophe != "'" or (quote == '"' and newline == "\\n") else "json"), ascii_only


def learn_wrap(position: Position) -> StringStyle | None:
    """Return the delimiters around a raw text that could not be bare; None if there are none."""
    if _is_json(position, f'{_S[0]} "{_S[1]}\\ \n{_S[2]}'):
        return StringStyle('"', '"', "json", _is_json(position, f"{_S[0]} é", ascii_only=True))
    for special in ("<", "&", "\n", "]", " "):
        text = f"{_S[0]}{special}{_S[1]}{special}" if special != " " else f" {_S[0]} "
        written = position(text)
        if written is not None and written != text and text in written:
            opening, _, closing = written.partition(text)
            if opening and closing:
                return StringStyle(opening, closing, "none")
    return None


def _is_json(position: Position, text: str, *, ascii_only: bool = False) -> bool:
    """Return whether the text is written as a JSON string."""
    return position(text) == json.dumps(text, ensure_ascii=ascii_only)


def _list(position: Position) -> tuple[str, str, str]:
    text = position([_A, _B])
    a, b = str(_A), str(_B)
    if text is None or a not in text or b not in text:
        return JSON_STYLE.list_open, JSON_STYLE.list_separator, JSON_STYLE.list_close
    return text[: text.index(a)], text[text.index(a) + len(a) : text.index(b)], text[text.index(b) + len(b) :]


def _object(position: Position) -> tuple[str, str, str, str, str, str]:
    text = position({_KA: _A, _KB: _B})
    marks = [_KA, str(_A), _KB, str(_B)]
    j = JSON_STYLE
    if text is None or any(mark not in text for mark in marks):
        return j.object_open, j.key_open, j.key_close, j.colon, j.object_separator, j.object_close
    ends = [text.index(mark) + len(mark) for mark in marks]
    begins = [text.index(mark) for mark in marks]
    before, between = text[: begins[0]], text[ends[1] : begins[2]]
    key_open = common_suffix(before.rstrip(), between.rstrip()) if before.rstrip() != between.rstrip() else ""
    if before.rstrip() != before:  # white space before the key is the separator's
        key_open = ""
    key_open = key_open.lstrip()
    if key_open and not key_open.strip("\"'`"):
        key_open = key_open[-1:]
    after_key = text[ends[0] : begins[1]]
    quotes = {style.open: style.close for style in _strings(position)}
    mirrored = quotes.get(key_open, key_open[::-1])
    key_close = mirrored if key_open and after_key.startswith(mirrored) else ""
    return (
        before[: len(before) - len(key_open)],
        key_open,
        key_close,
        after_key[len(key_close) :],
        between[: len(between) - len(key_open)],
        text[ends[3] :],
    )


def indent_of(style: ValueStyle) -> int | None:
    """Return the spaces per level for a style that breaks lines; None otherwise."""
    for opening, closing in ((style.list_open, style.list_close), (style.object_open, style.object_close)):
        if "\n" in opening:
            inner = len(opening) - opening.rindex("\n") - 1
            outer = len(closing) - len(closing.lstrip("\n")) and len(closing.lstrip("\n")) - len(closing.strip())
            return max(inner - outer, 0)
    return None


def on_one_line(style: ValueStyle) -> ValueStyle:
    """Return the style without its line breaks (they are `indent`)."""
    return ValueStyle(
        strings=style.strings,
        true=style.true,
        false=style.false,
        null=style.null,
        list_open=style.list_open.strip(),
        list_separator=style.list_separator.strip() if "\n" in style.list_separator else style.list_separator,
        list_close=style.list_close.strip(),
        object_open=style.object_open.strip(),
        key_open=style.key_open,
        key_close=style.key_close,
        colon=style.colon,
        object_separator=style.object_separator.strip() if "\n" in style.object_separator else style.object_separator,
        object_close=style.object_close.strip(),
    )
