"""Sets of characters as sorted ranges of code points.

    [a-c] and [b-z]  →  union ((97, 122),), intersection ((98, 99),)

Surrogates are in no set: text that is UTF-8 can't contain them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

ALL: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))
NOTHING: Ranges = ()
_SURROGATE = re.compile("[\ud800-\udfff]")


def contains_surrogate(text: str) -> bool:
    """Return whether half of a pair is in the text: no text that is UTF-8 contains it, so no engine reads it."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def union(*sets: Iterable[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pair for ranges in sets for pair in ranges):
        # 0xD7FF and 0xE000 are neighbours: nothing that is written lies between them.
        if merged and low <= (0xE000 if merged[-1][1] == 0xD7FF else merged[-1][1] + 1):
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return _without_surrogates(merged)


def intersection(first: Ranges, second: Ranges) -> Ranges:
    found = []
    i = j = 0
    while i < len(first) and j < len(second):
        low, high = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if low <= high:
            found.append((low, high))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def complement(ranges: Ranges) -> Ranges:
    gaps, at = [], 0
    for low, high in ranges:
        if at < low:
            gaps.append((at, low - 1))
        at = high + 1
    if at <= 0x10FFFF:
        gaps.append((at, 0x10FFFF))
    return _without_surrogates(gaps)


def minus(first: Ranges, second: Ranges) -> Ranges:
    return intersection(first, complement(second))


@functools.lru_cache(maxsize=4096)
def of(text: str) -> Ranges:
    """Return the set of a text's characters."""
    return union((ord(character), ord(character)) for character in text)


def span(first: str, last: str) -> Ranges:
    return ((ord(first), ord(last)),)


def contains(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


def size(ranges: Ranges) -> int:
    return sum(high - low + 1 for low, high in ranges)


def _without_surrogates(ranges: list[tuple[int, int]]) -> Ranges:
    kept = []
    for low, high in ranges:
        if high < 0xD800 or low > 0xDFFF:
            kept.append((low, high))
            continue
        if low < 0xD800:
            kept.append((low, 0xD7FF))
        if high > 0xDFFF:
            kept.append((0xE000, high))
    return tuple(kept)
