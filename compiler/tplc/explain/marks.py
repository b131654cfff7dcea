"""Compare two texts: the common parts, and the parts that only one of them has.

"<c>x</c>", "<c>x</c><c>y</c>"  →  [("same", "<c>x</c>"), ("second", "<c>y</c>")]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

from tplc.ir.markers import common_prefix, common_suffix
from tplc.learn.align import cut_left, cut_right

Where = Literal["same", "first", "second"]
_WORD = re.compile(r"\w+|\s|[^\w\s]")


def marks(first: str, second: str) -> list[tuple[Where, str]]:
    """Return the pieces in reading order.  "same" and "first" make up the first text, "same" and "second" the
    second."""
    # Common ends first: the matcher would rather align words that happen to be the same further inside.
    start = _start(first, second)
    end = _end(first[start:], second[start:])
    found: list[tuple[Where, str]] = [("same", first[:start])]
    found += _inside(_WORD.findall(first[start : len(first) - end]), _WORD.findall(second[start : len(second) - end]))
    found.append(("same", first[len(first) - end :]))
    return list(_joined(found))


def _start(first: str, second: str) -> int:
    """Return the length of the common beginning, shortened to a readable place in both texts."""
    size = len(common_prefix(first, second))
    while size and (cut_left(first, size) != size or cut_left(second, size) != size):
        size -= 1
    return size


def _end(first: str, second: str) -> int:
    size = len(common_suffix(first, second))
    while size and (
        cut_right(first, len(first) - size) != len(first) - size
        or cut_right(second, len(second) - size) != len(second) - size
    ):
        size -= 1
    return size


def _inside(first: list[str], second: list[str]) -> Iterator[tuple[Where, str]]:
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "same", "".join(first[a:b])
        else:
            yield "first", "".join(first[a:b])
            yield "second", "".join(second[c:d])


def _joined(parts: list[tuple[Where, str]]) -> Iterator[tuple[Where, str]]:
    run: tuple[Where, str] | None = None
    for where, text in parts:
        if not text:
            continue
        if run is not None and run[0] == where:
            run = where, run[1] + text
        else:
            if run is not None:
                yield run
            run = where, text
    if run is not None:
        yield run
