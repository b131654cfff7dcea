"""Why could messages not come back?  What the failures have in common, told before them.

    <calls 1>…, <calls 2>…    →  the number of calls (3) stands in tools.section_start "<calls 3>", …
    run forecast city "Oslo"  →  only white space (" ") between the name and the first key: …

Looked for when something failed: a format with a weak place may still come back whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tplc.errors import BadMessage
from tplc.ir.nodes import Layout, PairArguments, Slot, TemplateIR, Text
from tplc.ir.write import write_message
from tplc.verify.battery import Case
from tplc.verify.compare import as_message

_AROUND = 24


@dataclass(frozen=True, slots=True)
class Tried:
    """A message, the turn that the template rendered of it, and whether it came back."""

    case: Case
    turn: str
    passed: bool


def causes(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    counted = [held for held in ir.held if held.by == "calls"]
    for held in counted:
        place = f"{held.marker} {_quoted(held.whole)}"
        yield f"the number of calls ({held.text}) stands in {place}, and a marker is the same text for any number"
    # What came back with arguments all the same was none.
    read = any(one.passed and any(call.arguments for call in one.case.calls) for one in tried)
    weak = [] if read else list(_weak_places(ir))
    yield from weak
    if not counted and not weak:
        yield from _unexplained(ir, tried)


def _weak_places(ir: TemplateIR) -> Iterator[str]:
    """Where a name, a key or an id has only white space, or nothing, to tell where it ends."""
    pairs, call = ir.tools.arguments, ir.tools.call
    if isinstance(pairs, PairArguments):
        gap = _text_after(call, "name") + pairs.start + _text_before(pairs.pair, "key")
        if not gap.strip():
            yield f"only white space ({_quoted(gap)}) between the name and the first key: nothing ends the name"
        gap = _text_after(pairs.pair, "key")
        if not gap.strip():
            yield f"only white space ({_quoted(gap)}) between a key and its value: nothing ends the key"
    if call[-1:] == (Slot("id"),):
        gap = _text_before(call, "id")
        if not gap.strip():
            yield f"only white space ({_quoted(gap)}) between the arguments and the id: it reads as content"
        else:
            yield "a call ends with its id: nothing ends the id"


def _text_after(layout: Layout, kind: str) -> str:
    at = next((i for i, item in enumerate(layout) if isinstance(item, Slot) and item.kind == kind), len(layout))
    return "".join(item.text for item in layout[at + 1 : at + 2] if isinstance(item, Text))


def _text_before(layout: Layout, kind: str) -> str:
    at = next((i for i, item in enumerate(layout) if isinstance(item, Slot) and item.kind == kind), 0)
    return "".join(item.text for item in layout[max(0, at - 1) : at] if isinstance(item, Text))


def _unexplained(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """The first place where a render that failed is not what the format says.  Renders that came back are: else such a
    place is no cause."""
    first = ""
    for one in tried:
        found = _difference(ir, one)
        if found and one.passed:
            return
        first = first or found
    if first:
        yield first


def _difference(ir: TemplateIR, one: Tried) -> str:
    try:
        said = write_message(ir, as_message(ir, one.case))
    except BadMessage:
        return ""
    if "".join(said.split()) == "".join(one.turn.split()):
        return ""
    pairs = enumerate(zip(said, one.turn, strict=False))
    at = next((i for i, (x, y) in pairs if x != y), min(len(said), len(one.turn)))
    start = max(0, at - _AROUND)
    return (
        f"the render is not what was learned: {one.case.title} has {_quoted(one.turn[start : at + _AROUND])} where the "
        f"format says {_quoted(said[start : at + _AROUND])}"
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
