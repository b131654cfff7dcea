"""How are calls written: section, separators, the layout of one call?

one, two and three calls
`<all>[f {…}]</all>`, `<all>[f {…}] [g {…}]</all>`, …
→  section `<all>` … `</all>`, separator ` `, call `[` name ` ` arguments `]`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tplc.ir.markers import lead_of
from tplc.ir.nodes import JsonFields, Layout, ObjectArguments, Replaced, Slot, ToolFormat, Tools
from tplc.learn.align import Repetition, repetition
from tplc.learn.arguments import COUNT, INDEX, ArgumentFacts, merged, text_items
from tplc.learn.bare_call import learn_bare_call
from tplc.learn.call_ends import turn_end_after, without_turn_end
from tplc.learn.call_id import id_pattern, learn_call_id
from tplc.learn.call_object import json_fields
from tplc.learn.content import ContentPlacement, learn_content_placement
from tplc.learn.conversation import CallSetup
from tplc.learn.outline import MOST_CALLS, Outline, learn_outline
from tplc.learn.probe import Prober, asks
from tplc.learn.reasoning import ReasoningMarkers
from tplc.learn.turn import TurnFacts


@dataclass(frozen=True, slots=True)
class CallFacts:
    """`placement` says where content is, `ends` are turn ends seen after calls only."""

    tools: Tools
    placement: ContentPlacement
    ends: tuple[str, ...]


@asks("calls", "How are calls written: section, separators, the layout of one call?")
def learn_calls(
    prober: Prober,
    turn: TurnFacts,
    markers: ReasoningMarkers,
    called: CallSetup,
    arguments: ArgumentFacts,
    ends: tuple[str, ...],
) -> CallFacts:
    shown, first_index = learn_outline(prober, turn, markers, called, arguments)
    post = without_turn_end(prober, turn, markers, called, arguments, shown.post, ends)
    split = _with_whole_escapes(around_calls(shown, post), arguments.escapes)
    split, turn_end = turn_end_after(split, ends)
    placement = learn_content_placement(prober, turn, called.setup, lead=shown.pre)
    split, turn_end = _without_rest(split, placement, turn_end)
    split = _without_counts(_with_space_around(split, placement, first_index))
    pattern = id_pattern(prober, turn, called.setup)
    tools = written_calls(
        split, shown, arguments, first_index=first_index, parallel=called.parallel, id_pattern=pattern
    )
    tools = replace(tools, bare_call=learn_bare_call(prober, turn, markers, called, arguments, tools))
    return CallFacts(tools, placement, (turn_end,) if turn_end.strip() else ())


def written_calls(
    split: Repetition,
    shown: Outline,
    arguments: ArgumentFacts,
    *,
    parallel: bool,
    first_index: int = 0,
    id_pattern: str | None = None,
) -> Tools:
    """Return the calls of an outline, `split` at what opens, separates and closes them."""
    layout = _layout(split, shown)
    fields = json_fields(layout, arguments)
    return Tools(
        format=_format(fields, arguments),
        section_start=split.start,
        separator=split.separator,
        section_end=split.end,
        call=layout,
        json=fields,
        arguments=arguments.arguments,
        dialect=arguments.dialect,
        call_id=replace(learn_call_id(layout, fields), pattern=id_pattern),
        index_base=first_index,
        parallel=parallel,
    )


def around_calls(shown: Outline, post: str) -> Repetition:
    """Return what opens, separates and closes the calls; with a single call, the call can't be separated from its
    section."""
    return repetition(shown.pre, shown.mids[0], post) if shown.mids else Repetition("", shown.pre, post, "", "")


def _with_whole_escapes(split: Repetition, escapes: Sequence[Replaced]) -> Repetition:
    """Return the split with no escape cut in two: `}, ` and `}]` may begin alike up to inside of the second character,
    as `%7D%2C%20` and `%7D%5D` do."""
    texts = {one.text for one in escapes}
    halves = [(text[:at], text[at:]) for text in sorted(texts) for at in range(len(text) - 1, 0, -1)]
    for half, _ in halves:
        after = [half + split.separator, half + split.end]
        if split.close.endswith(half) and all(any(map(text.startswith, texts)) for text in after):
            split = replace(split, close=split.close.removesuffix(half), separator=after[0], end=after[1])
    for _, half in halves:
        before = [split.start + half, split.separator + half]
        if split.open.startswith(half) and all(any(map(text.endswith, texts)) for text in before):
            split = replace(split, open=split.open.removeprefix(half), start=before[0], separator=before[1])
    return split


def _without_rest(split: Repetition, placement: ContentPlacement, turn_end: str) -> tuple[Repetition, str]:
    """Return the split without text that follows content as well as calls: it ends the turn, not the calls."""
    if not placement.rest.strip() or not split.end.endswith(placement.rest) or split.end == placement.rest:
        return split, turn_end
    return replace(split, end=split.end.removesuffix(placement.rest)), placement.rest


def _without_counts(split: Repetition) -> Repetition:
    """Return the numbers of calls around and between the calls unchanged: only calls have a slot for them."""
    texts = (text.replace(COUNT, str(MOST_CALLS)) for text in (split.start, split.separator, split.end))
    start, separator, end = texts
    return replace(split, start=start, separator=separator, end=end)


def _with_space_around(split: Repetition, placement: ContentPlacement, first_index: int) -> Repetition:
    """Return the split with the white space between content and calls, which belongs to the calls."""
    if placement.place == "after":
        # The last closer has the white space before content, even if it has other white space at the end of a turn.
        return replace(split, end=split.end.rstrip() + placement.gap) if placement.gap.isspace() else split
    # The turn with content that was rendered has one call.
    lead = (split.start + split.open).replace(INDEX, str(first_index)).replace(COUNT, "1")
    gap = placement.gap
    space, others = lead_of(gap), lead.removesuffix(gap)
    if placement.place == "before" and gap.strip() and others.isspace() and split.start.startswith(others):
        return replace(split, start=split.start[len(others) :])  # that opens the turn, or its content
    if placement.place == "none" or not space:
        return split
    if gap.endswith(lead) and gap[: len(gap) - len(lead)].isspace():
        return replace(split, start=gap[: len(gap) - len(lead)] + split.start)
    own = bool(split.start.strip()) and not split.start[:1].isspace()
    return replace(split, start=space + split.start) if own else split


def _layout(split: Repetition, shown: Outline) -> Layout:
    items = text_items(split.open)
    for slot, text in zip(shown.kinds, (*shown.inner[0], split.close), strict=True):
        items += [Slot(slot), *text_items(text)]
    return merged(items)


def _format(fields: JsonFields | None, facts: ArgumentFacts) -> ToolFormat:
    if fields is not None:
        return "json_native"
    if isinstance(facts.arguments, ObjectArguments):
        return "tag_with_json"
    pairs = facts.arguments
    keyword = facts.dialect.top.strings or (len(pairs.pair) == 3 and pairs.separator.strip())
    return "keyword_arguments" if keyword and not facts.dialect.types else "tag_with_tagged"
