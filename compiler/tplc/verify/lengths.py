"""Find markers with the length of a text or the number of arguments: such a marker differs from message to message.

<call f 26>{"city": "Oslo", "n": 1}</call>  →  the number in "26>" is the length of the object after it (26, 63, …)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from tplc.ir.nodes import TemplateIR
from tplc.ir.own_markers import own_markers
from tplc.ir.printed import quoted
from tplc.verify.battery import Case

_NUMBER = re.compile(r"\d+")
_DECODER = json.JSONDecoder()
_ARGUMENTS = "the number of arguments"
_MEASURED = ("the length of the object after it", "the length of the name", _ARGUMENTS)


def lengths(ir: TemplateIR, tried: Sequence[tuple[Case, str]]) -> Iterator[str]:
    """Yield the markers that contain a length.  `tried`: messages and their renders."""
    called = [(case, turn) for case, turn in tried if case.calls]
    for marker in own_markers(ir):
        for number in _NUMBER.finditer(marker):
            before, after = marker[: number.start()].lstrip(), marker[number.end() :].rstrip()
            pattern = re.compile(rf"{re.escape(before)}(?<!\d)(\d+){re.escape(after)}")
            for what in _MEASURED:
                counts = list(dict.fromkeys(_length(pattern, what, *one) for one in called))
                if len(counts) > 1 and -1 not in counts:
                    shown = f"{quoted(marker.strip())} is {what} ({counts[0]}, {counts[1]}, …)"
                    yield f"the number in {shown}, and a marker is the same text in every message"
                    return


def _length(pattern: re.Pattern[str], what: str, case: Case, turn: str) -> int:
    """Return the number in a marker if it is this of the first call, or -1."""
    call = case.calls[0]
    for match in pattern.finditer(turn):
        text = call.name if what.endswith("name") else _object_at(turn, match.end())
        found = (len(call.arguments),) if what == _ARGUMENTS else (len(text), len(text.encode())) if text else ()
        if int(match[1]) in found:
            return int(match[1])
    return -1


def _object_at(turn: str, at: int) -> str:
    start = len(turn) - len(turn[at:].lstrip())
    with suppress(ValueError):
        return turn[start : _DECODER.raw_decode(turn, start)[1]]
    return ""
