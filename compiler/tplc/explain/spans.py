"""Locate the parts of a raw output by the deltas that a parser made of it.

    "<r>Hm</r>Hi"  →  marker "<r>", reasoning "Hm", marker "</r>", content "Hi"

A parser says what a text means, not where it read it.  Its deltas come in the order of the text, as soon as it has
read the value: each is looked for after the one before, from the end of what was read.  The text between is marker
text.  Arguments may have been rewritten (a raw value becomes a JSON string): then their keys and values are looked for
one by one.  If one of them isn't there, all that was read since counts as arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

_JSON_PUNCTUATION = '{}[]",: \n'
Kind = Literal["marker", "reasoning", "content", "name", "id", "key", "arguments"]


@dataclass(frozen=True, slots=True)
class ValueSpan:
    kind: Kind
    start: int
    text: str


def spans(text: str, fed: Sequence[tuple[int, Sequence[dict[str, Any]]]]) -> list[ValueSpan]:
    """Return spans that make up the whole text.  `fed` lists how far the parser had read, with the deltas at that
    point."""
    found: list[ValueSpan] = []
    at, members = 0, _Members()
    for read, deltas in fed:
        pieces = [part for delta in deltas for part in _pieces(delta)]
        parts: list[tuple[Kind, str]] = []
        for kind, piece in _as_written(pieces, text, at, read):
            written = members.parted(piece) if kind == "arguments" else []
            if not written or text.find(piece, at, read) >= 0:  # arguments that are written as JSON
                written = [(kind, piece)]
            parts += written
        last = found[-1].kind if found else None
        for kind, start, stop in _places(parts, text, at, read, last):
            _add(found, "marker", at, text[at:start])
            _add(found, kind, start, text[start:stop])
            at = stop
    _add(found, "marker", at, text[at:])
    return found


def _places(
    parts: list[tuple[Kind, str]], text: str, at: int, read: int, last: Kind | None
) -> list[tuple[Kind, int, int]]:
    """Return the places of the parts that were reported when the text up to `read` was known, in order.

    A parser reports a value as soon as it has read it.  So a value goes on at `at`, or it is the last text that reads
    so: the same letters may be in the marker before it.
    """
    found: list[tuple[Kind, int, int]] = []
    while parts and parts[0][0] == last and text.startswith(parts[0][1], at):
        (kind, part), *parts = parts
        found.append((kind, at, at + len(part)))
        at += len(part)
    rest: list[tuple[Kind, int, int]] = []
    is_rewritten = False  # the arguments after the next place are not in the text
    for kind, part in reversed(parts):
        if kind == "arguments" and not part.strip('"'):
            continue  # the quote that closes a string of the JSON is in the text where it goes on at `at` only
        place = _place(kind, part, text, at, read)
        if place is not None:
            rest += [("arguments", place[1], read)] * is_rewritten
            rest.append((kind, *place))
            read, is_rewritten = place[0], False
        elif kind in ("key", "arguments") and part.strip(_JSON_PUNCTUATION):
            is_rewritten = True
    rest += [("arguments", at, read)] * is_rewritten
    return found + rest[::-1]


class _Members:
    """Parts the arguments' JSON, as it comes, into its keys and values."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = self._is_escaped = False
        self._kind: Kind = "key"

    def parted(self, piece: str) -> list[tuple[Kind, str]]:
        parts: list[tuple[Kind, str]] = [(self._kind, "")]
        for char in piece:
            if self._separates(char):
                self._kind = "key" if char in "{," else "arguments" if char == ":" else self._kind
                parts.append((self._kind, ""))
            else:
                parts[-1] = (self._kind, parts[-1][1] + char)
        return [part for part in parts if part[1]]

    def _separates(self, char: str) -> bool:
        """Return whether the next character is between keys and values of the outer object."""
        if self._in_string:
            self._in_string = char != '"' or self._is_escaped
            self._is_escaped = char == "\\" and not self._is_escaped
            return False
        self._in_string = char == '"'
        depth = self._depth
        self._depth += (char in "{[") - (char in "}]")
        return min(depth, self._depth) == 0 or (depth == 1 and (char in ",:" or char.isspace()))


def _place(kind: Kind, piece: str, text: str, at: int, read: int) -> tuple[int, int] | None:
    """Return the start and the end of a piece; None if it isn't there."""
    words = [piece.strip('"'), piece] if kind == "key" else [piece, piece.strip('"')]
    if kind in ("key", "arguments"):
        # Formats may write the words for true, false and null as Python does.
        words += [piece.capitalize(), "None" * (piece == "null")]
    places = ((_last(word, text, at, read, whole=kind == "name"), len(word)) for word in words if word)
    place = next(((place, place + size) for place, size in places if place >= 0), None)
    return _corrected(piece, text, at, read) if place is None and kind == "name" else place


def _corrected(name: str, text: str, at: int, read: int) -> tuple[int, int] | None:
    """Return the place of a name that the parser corrected: it has other separators between its words, or case."""
    letters = re.sub(r"[\s_.-]", "", name)
    pattern = re.compile(r"[\s_.-]*".join(map(re.escape, letters)), re.IGNORECASE)
    places = [match.span() for match in pattern.finditer(text, at, read)] if letters else []
    return places[-1] if places else None


def _last(word: str, text: str, at: int, read: int, *, whole: bool) -> int:
    """Return the start of the last place with this text, -1 without any.  `whole`: prefer places between no letters."""
    last = place = text.rfind(word, at, read)
    while whole and place >= 0:
        if not any(map(str.isalnum, text[max(place - 1, 0) : place] + text[place + len(word) :][:1])):
            return place
        place = text.rfind(word, at, place + len(word) - 1)
    return last


def _as_written(pieces: list[tuple[Kind, str]], text: str, at: int, read: int) -> list[tuple[Kind, str]]:
    """Return the pieces in the order of the text: arguments before their name are reported after it, all at once."""
    kinds = [kind for kind, _ in pieces]
    if "name" not in kinds or kinds[-1] != "arguments" or kinds.count("name") > 1:
        return pieces
    name, arguments = pieces[kinds.index("name")][1], pieces[-1][1]
    before = text.find(arguments, at, read)
    if text.find(arguments, text.find(name, at, read) + len(name), read) >= 0 or before < 0:
        return pieces
    return [pieces[-1], *pieces[:-1]] if text.find(name, before + len(arguments), read) >= 0 else pieces


def _pieces(delta: dict[str, Any]) -> Iterator[tuple[Kind, str]]:
    """Yield the pieces of a delta, in the order of the text."""
    if delta.get("reasoning_content"):
        yield "reasoning", delta["reasoning_content"]
    if delta.get("content"):
        yield "content", delta["content"]
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        if function.get("name"):
            yield "name", function["name"]
        if call.get("id"):
            yield "id", call["id"]
        if function.get("arguments"):
            yield "arguments", function["arguments"]


def _add(found: list[ValueSpan], kind: Kind, start: int, text: str) -> None:
    if not text:
        return
    last = found[-1] if found else None
    if last is not None and last.kind == kind:
        found[-1] = ValueSpan(kind, last.start, last.text + text)
    else:
        found.append(ValueSpan(kind, start, text))
