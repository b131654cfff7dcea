"""Which tokens of a conversation count, from the characters that each token has.

spans    content (4, 10) generated, end (10, 17) generated
offsets  [(0, 4), (4, 10), (10, 17)]
→  [0, 1, 1]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from tplc.conversations.template import Span
from tplc.errors import UsageError

MaskPart = Literal["reasoning", "content", "calls", "end"]
Straddling = Literal["inside", "outside", "error"]
PARTS: tuple[MaskPart, ...] = get_args(MaskPart)
_MEMBERS = {"call": "calls", "arguments": "calls"}
Range = tuple[int, int]


def token_mask(
    spans: Iterable[Span],
    offsets: Sequence[Range],
    parts: Sequence[MaskPart] = PARTS,
    *,
    straddling: Straddling = "inside",
) -> list[int]:
    """Return 1 for each token whose characters a model generates as one of these parts, and 0 for the others.

    `offsets` is the offset mapping of a fast tokenizer for the conversation's text: the characters of each token.
    `straddling` says what a token counts as that has characters of both kinds.  "inside" is what transformers does.
    A token without characters counts if the characters on both of its sides do.
    """
    straddling = straddling_in(straddling)
    ranges = selected(spans, parts)
    starts = [start for start, _ in offsets]
    stops = [stop for _, stop in offsets]
    if _is_sorted(starts) and _is_sorted(stops) and all(map(int.__lt__, starts, stops)):
        return _by_range(ranges, starts, stops, straddling)
    return [_counts(ranges, start, stop, straddling) for start, stop in offsets]


def straddling_in(given: str) -> Straddling:
    """Return the same text as a value of its type; raise where it is none."""
    known: tuple[Straddling, ...] = get_args(Straddling)
    found = next((one for one in known if one == given), None)
    if found is None:
        raise UsageError(f"straddling={given!r}: expected inside, outside or error")
    return found


def selected(spans: Iterable[Span], parts: Sequence[MaskPart] = PARTS) -> list[Range]:
    """Return the ranges of generated characters in these parts; ranges that touch are joined."""
    if isinstance(parts, str) or not set(parts) <= set(PARTS):
        raise UsageError(f"parts={parts!r}: expected some of {', '.join(PARTS)}")
    ranges: list[Range] = []
    for span in spans:
        if span.generated and _MEMBERS.get(span.part, span.part) in parts:
            if ranges and ranges[-1][1] == span.start:
                ranges[-1] = (ranges[-1][0], span.stop)
            else:
                ranges.append((span.start, span.stop))
    return ranges


def _is_sorted(numbers: list[int]) -> bool:
    return numbers == sorted(numbers)


def _by_range(ranges: Sequence[Range], starts: list[int], stops: list[int], straddling: Straddling) -> list[int]:
    mask = [0] * len(starts)
    for start, stop in ranges:
        # Tokens that have a character of the range, and those that have no other.
        first, last = bisect_right(stops, start), bisect_left(starts, stop)
        whole = bisect_left(starts, start), bisect_right(stops, stop)
        if straddling != "inside":
            if straddling == "error" and (first, last) != whole:
                at = first if first != whole[0] else last - 1
                raise _straddles(starts[at], stops[at])
            first, last = whole
        if last > first:
            mask[first:last] = [1] * (last - first)
    return mask


def _counts(ranges: Sequence[Range], start: int, stop: int, straddling: Straddling) -> int:
    at = bisect_right(ranges, start, key=lambda one: one[0]) - 1
    if start == stop:
        return int(at >= 0 and ranges[at][0] < start < ranges[at][1])
    if at >= 0 and stop <= ranges[at][1]:
        return 1
    touches = (at >= 0 and start < ranges[at][1]) or (at + 1 < len(ranges) and ranges[at + 1][0] < stop)
    if touches and straddling == "error":
        raise _straddles(start, stop)
    return int(touches and straddling == "inside")


def _straddles(start: int, stop: int) -> UsageError:
    return UsageError(
        f"the token of the characters {start} to {stop} straddles a border: choose straddling inside or outside, or a "
        "tokenizer that has the template's markers as tokens"
    )
