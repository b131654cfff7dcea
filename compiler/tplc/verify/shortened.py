"""Find arguments that the template cuts off: nothing can restore what is left out.

<t>f{"city": "Os</t>, <t>g{"unit": "de</t>  →  the template shortens arguments, and what it leaves out is lost: …
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tplc.ir.markers import common_prefix, common_suffix
from tplc.ir.printed import quoted
from tplc.verify.battery import Case

_DOTS = ("...", "…")
_LONGEST = 160
_LONGEST_VARIANT = 80  # longer text contains values too
_LEAST = 8  # fewer characters of a text occur by chance
_SAME_END = 3
_MOST_AFTER = 4  # the characters after a text that are compared


def shortened(failed: Sequence[tuple[Case, str, str]]) -> Iterator[str]:
    """Yield the reason.  `failed`: messages that did not come back, their turns, and how the format writes them."""
    called = sorted((one for one in failed if one[0].calls), key=lambda one: len(one[1]))
    for turn in (*_cut_from_format(called), *_cut_texts(called)):
        yield f"the template shortens arguments, and what it leaves out is lost: {quoted(turn[:_LONGEST])}"
        return


def _cut_from_format(called: Sequence[tuple[Case, str, str]]) -> Iterator[str]:
    """Yield a turn where the format writes more: the template writes dots, or nothing after the same number of
    characters, or leaves out more than any marker has."""
    cut: dict[int, str] = {}  # what is left out after so many characters
    for case, turn, expected in called:
        start = len(common_prefix(expected, turn))
        if len(turn) >= len(expected):
            continue
        end = len(common_suffix(expected[start:], turn[start:]))
        names = [turn.rfind(call.name, 0, start) + len(call.name) for call in case.calls]
        lost, kept = expected[start : len(expected) - end], start - max(names)
        is_cut = start + end == len(turn) and kept > 0
        dots = turn.startswith(_DOTS, start) and expected[start] not in _DOTS
        if dots or (is_cut and (len(lost) > _LONGEST_VARIANT or cut.setdefault(kept, lost) != lost)):
            yield turn


def _cut_texts(called: Sequence[tuple[Case, str, str]]) -> Iterator[str]:
    """Yield a turn with the beginning of the arguments or of a value, as JSON or as text, if that of another message
    is cut off after as many characters, before the same text."""
    seen: dict[tuple[int, str], str] = {}
    for case, turn, _ in called:
        arguments = dict(case.calls[0].arguments)
        for value in (arguments, *arguments.values()) if len(case.calls) == 1 else ():
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            start = turn.find(written[:_LEAST])
            kept = len(common_prefix(written, turn[start:])) if start >= 0 else 0
            after = turn[start + kept :]
            # A text that is written differently has its last characters all the same.
            is_cut = _LEAST <= kept < len(written) and written[-_SAME_END:] not in after
            if is_cut and seen.setdefault((kept, after[:_MOST_AFTER]), written[:kept]) != written[:kept]:
                yield turn
