"""Find the text around content, and the place of content in turns with calls.

without reasoning  "{say}zqcontent0x{/say}{end}"
calls alone        "{call}…{/call}{end}"
→  start "{say}", end "{/say}", mode always_wrapped
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tplc.ir.markers import common_prefix, common_suffix
from tplc.ir.nodes import Content, ContentPlace, Tools
from tplc.learn.align import cut_right, reads_well
from tplc.learn.arguments import generalise
from tplc.learn.outline import probe_call
from tplc.learn.probe import (
    CONTENT,
    Prober,
    Refusal,
    Setup,
    after_content,
    asks,
    assistant,
    name_of,
    own_id,
)
from tplc.learn.reasoning import ReasoningMarkers
from tplc.learn.turn import TurnFacts

_QUESTION = "What surrounds content, and where is content in turns with calls?"
Ends = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContentPlacement:
    """The place of a message's content in a turn with calls, the text between the two, and the text after both.  `lead`
    opens the first call in a turn of calls only."""

    place: ContentPlace
    gap: str = ""
    rest: str = ""
    lead: str = ""


@asks("content", _QUESTION)
def learn_content(prober: Prober, base: Setup, turn: TurnFacts, markers: ReasoningMarkers) -> Content:
    """Return the opener and the end of content: the lead of a plain turn, or the text between reasoning and content."""
    if markers.opens_content.strip():
        return Content("always_wrapped", markers.opens_content)
    plain_end = (after_content(prober, base) or "") if markers.shown else ""
    for s in markers.shown:
        if s.then == CONTENT:
            rest = s.after[len(markers.end) :] if s.after.startswith(markers.end) else ""
            header = turn.header.strip()
            if header and header in rest:
                rest = rest[rest.index(header) + len(header) :]
            if rest.strip():
                closing = s.rest[: len(s.rest) - len(plain_end)] if s.rest.endswith(plain_end) else ""
                return Content("wrapped_with_reasoning", rest, closing)
    return Content("plain", markers.opens_content)


@asks("content", _QUESTION)
def split_end_of_content(
    prober: Prober, base: Setup, turn: TurnFacts, markers: ReasoningMarkers, content: Content, ends: Ends
) -> tuple[Content, Ends]:
    """Return the end of content apart from the end of the turn: the latter is all that a turn without content has."""
    if content.mode != "always_wrapped" or not ends:
        return content, ends
    setup = replace(base, follow="none")
    tail = prober.tail([assistant(setup, content="")], setup)
    rest = "" if isinstance(tail, Refusal) else markers.without_blank(turn.turn_text(tail))
    own = ends[0].removesuffix(rest)
    if not rest.strip() or own == ends[0] or not own.strip():
        return content, ends
    return replace(content, end=own), (rest, *ends[1:])


@asks("content", _QUESTION)
def learn_content_placement(prober: Prober, turn: TurnFacts, setup: Setup, lead: str) -> ContentPlacement:
    call = probe_call(0)
    tail = prober.tail([assistant(setup, content=CONTENT, calls=[call])], setup, calls=[call])
    if isinstance(tail, Refusal) or CONTENT not in tail or name_of(0) not in tail:
        return ContentPlacement("none", lead=lead)
    text = turn.turn_text(tail)
    first = min(text.index(s) for s in (name_of(0), own_id(0, setup)) if s and s in text)
    at = text.index(CONTENT)
    if at < first:
        return ContentPlacement("before", generalise(text[at + len(CONTENT) : first], setup), lead=lead)
    rest = text[at + len(CONTENT) :] if setup.follow == "none" else ""
    return ContentPlacement("after", text[len(text[:at].rstrip()) : at], rest, lead)


def split_end_before_calls(
    turn: TurnFacts, content: Content, placement: ContentPlacement, tools: Tools, ends: Ends
) -> tuple[Content, Tools, Ends]:
    """Return the end of content apart from the end of the turn: the former is before calls as well, the latter
    after them."""
    if content.mode != "always_wrapped" or content.end or not ends:
        return content, tools, ends
    own = _before_calls(turn, placement, ends[0])
    if own:
        return replace(content, end=own), tools, _unique(ends[0][len(own) :], *ends[1:])
    closing = tools.section_end
    shared = common_suffix(ends[0], closing)
    shared = closing[cut_right(closing, len(closing) - len(shared)) :]
    own = ends[0][: len(ends[0]) - len(shared)]
    if not shared.strip() or not own.strip() or shared == closing:
        return content, tools, ends
    tools = replace(tools, section_end=closing[: len(closing) - len(shared)])
    return replace(content, end=own), tools, _unique(shared, *ends[1:])


def _before_calls(turn: TurnFacts, placement: ContentPlacement, end: str) -> str:
    """Return the end of content before a call that also comes at the end of its turn; "" if that is nothing or all."""
    gap = placement.gap if placement.place == "before" else ""
    if gap.endswith(placement.lead):
        own = gap.removesuffix(placement.lead)
        own = own.removesuffix(turn.header) if turn.header.strip() else own
        if own.strip() and end.startswith(own) and own != end:
            return own
    shared = common_prefix(end, gap)
    while shared and not (reads_well(end, len(shared)) and reads_well(gap, len(shared))):
        shared = shared[:-1]
    return shared if shared.strip() and end[len(shared) :].strip() else ""


def _unique(*ends: str) -> Ends:
    return tuple(dict.fromkeys(ends))
