"""Fit a render to the render of its shape, and find the place of each text of the messages.

    "<u>w0<end>", {w0: " hi "}, "<u>hi<end>"  →  [(0, 3), (3, 5), (5, 10)]

What is between the words is the same in both; in place of a word is its text, maybe without outer white space,
or escaped as in a JSON string.  Both renders are compared to the last character, so nothing is searched for: a text
that spells a marker is only a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tplc.conversations.shapes import WordSlot


@dataclass(frozen=True, slots=True)
class Misfit:
    """The place where two renders diverge: in the piece of this index, at this position of the text."""

    piece: int
    at: int


def split(text: str, pattern: re.Pattern[str], slots: Mapping[str, WordSlot]) -> tuple[str, ...]:
    """Return the pieces of a shape's render: odd ones are words.  What is cut off a word is no word."""
    for word, slot in slots.items():
        if slot.written:
            # As it is, or as a JSON string contains it.
            text = text.replace(slot.written, word).replace(json.dumps(slot.written)[1:-1], word)
    pieces = [""]
    for index, piece in enumerate(pattern.split(text)):
        if index % 2 and piece in slots:
            pieces += [piece, ""]
        else:
            pieces[-1] += piece
    return tuple(pieces)


def fit(pieces: Sequence[str], slots: Mapping[str, WordSlot], text: str) -> list[int] | Misfit:
    """Return where each piece starts in the text, followed by the text's end."""
    starts: list[int] = []
    at = 0
    for index, piece in enumerate(pieces):
        starts.append(at)
        if index % 2 == 0:
            if not text.startswith(piece, at):
                return Misfit(index, at)
            at += len(piece)
            continue
        end = _end(slots[piece], text, at, pieces[index + 1])
        if end is None:
            return Misfit(index, at)
        at = end
    if at != len(text):
        return Misfit(len(pieces) - 1, at)
    return [*starts, at]


def _end(slot: WordSlot, text: str, at: int, following: str) -> int | None:
    """Return where the slot's text ends if it starts here and `following` comes after it."""
    end = at + len(slot.text)
    if text.startswith(slot.text, at) and text.startswith(following, end):
        return end
    return next(
        (end for way in _ways(slot) for end in _ends(way, text, at) if text.startswith(following, end)),
        None,
    )


def _ways(slot: WordSlot) -> Iterator[str]:
    """Yield the ways to write a text."""
    if slot.is_number:
        yield str(json.loads(slot.text))
        return
    yield slot.text
    for ascii_only in (False, True):
        escaped = json.dumps(slot.text, ensure_ascii=ascii_only)[1:-1]
        if escaped != slot.text:
            yield escaped
    if any(char in slot.text for char in "&<>\"'"):
        yield escape(slot.text, quote=True).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
        yield escape(slot.text, quote=False)


def _ends(written: str, text: str, at: int) -> Iterator[int]:
    """Yield where the text may end, the longest first: a template may leave out white space around it."""
    core = written.strip()
    lead = len(written) - len(written.lstrip())
    before, after = written[:lead], written[lead + len(core) :]
    for skipped in range(len(before) + 1):
        if text.startswith(before[skipped:] + core, at):
            end = at + len(before) - skipped + len(core)
            for kept in range(len(after), -1, -1):
                if text.startswith(after[:kept], end):
                    yield end + kept
