"""The parts of a turn: what opens and closes reasoning and content, where the turn starts and ends, what is dropped.

reasoning "<r>" … "</r>", end "<eos>"  →  "<r>" opens reasoning, "</r>" closes it and is dropped where none is open
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tplc.ir.forms import blanks_of
from tplc.ir.markers import (
    could_be_prose,
    ends_in_text,
    is_distinctive,
    is_unmistakable,
    without_last_piece,
)
from tplc.ir.nodes import Reasoning, TemplateIR
from tplc.ir.own_markers import own_markers
from tplc.ir.word_slots import slotted_heads
from tplc.lower.acceptor import Acceptor, Marker, TextEscapes
from tplc.lower.call_form import CallForm
from tplc.lower.layouts import not_blank, space_after_reasoning, unique
from tplc.lower.openers import CLOSING, distinctive_suffixes
from tplc.lower.tolerated import Tolerated


def turn_of(ir: TemplateIR, calls: CallForm | None, tolerated: Tolerated) -> Acceptor:
    trailing = tolerated.blank("content.end")
    ended = {end.strip() for end in ir.turn.ends}
    ends = tolerated.texts(tolerated.usual("reasoning.end")) if ir.reasoning.mode != "none" else ()
    starts = _reasoning_starts(ir.reasoning, tolerated)
    parts = [
        *(start.text for start in starts),
        *tolerated.of_role("content.start"),
        *(calls.opening.openers if calls else ()),
    ]
    headers = [text for header in tolerated.texts(ir.turn.header) for text in [header, *_rests(header, parts)]]
    special = _special_tokens(ir) if "end_tokens" in tolerated.kinds else ()
    no_parts = _no_parts(ir)
    anchors = [anchor for anchor in ir.turn.anchors if anchor]
    return Acceptor(
        anchors=(*anchors, *(anchor + head for anchor in anchors for head in no_parts)),
        heads=unique("" if head.strip() in ended or head in no_parts else head for head in slotted_heads(ir)) or ("",),
        # A header that people write as well ("Answer:") repeats no turn: words would be lost.
        headers=not_blank(header for header in headers if not could_be_prose(header)),
        prose_headers=tuple(text for text in [ir.turn.header] if is_distinctive(text) and could_be_prose(text)),
        ends=unique(trailing + end for end in ir.turn.ends if end.strip() and not ends_in_text(end)),
        last_ends=unique(
            [*(trailing + end for end in ir.turn.ends if ends_in_text(end)), *special, *_without_last_token(ir)]
        ),
        reasoning_starts=starts,
        reasoning_ends=ends,
        content_spaces=blanks_of(ir, "content.start"),
        # One that people also write counts only before content begins.
        content_starts=tuple(
            Marker(text, "before content" if could_be_prose(text) else "anywhere")
            for text in tolerated.of_role("content.start")
        ),
        content_ends=tolerated.of_role("content.end"),
        ignorable_closers=tuple(_ignorable_closers(ir, ends, tolerated)),
        calls=calls,
        in_messages=_in_messages(ir, ended),
        tolerances=tolerated.kinds,
        escapes=tuple(_escapes(ir)),
        after_reasoning=space_after_reasoning(ir, {"reasoning"}),
    )


def _no_parts(ir: TemplateIR) -> tuple[str, ...]:
    """Return the heads with no marker and no part of one: they are no part of the answer, which begins after them."""
    known = own_markers(ir)
    heads = [head for head in ir.turn.heads if head and not any(marker in head for marker in known)]
    return unique(head for head in heads if not head.strip() or not any(head.strip() in marker for marker in known))


def _escapes(ir: TemplateIR) -> Iterator[TextEscapes]:
    for slot, kind in (("content", "content"), ("reasoning", "reasoning_content")):
        replaced = tuple((one.text, one.char) for one in ir.escapes if one.slot == slot)
        if replaced:
            yield TextEscapes(kind, replaced)


def _special_tokens(ir: TemplateIR) -> tuple[str, ...]:
    """Return special tokens of the tokenizer that aren't markers: models write any of them at the output's end."""
    known = own_markers(ir)
    tokens = (text.strip() for _, text in ir.provenance.special_tokens)
    return unique(token for token in tokens if is_distinctive(token) and not any(token in text for text in known))


def _without_last_token(ir: TemplateIR) -> Iterator[str]:
    """Yield the ends of the turn without their last piece, if what is left is no text."""
    for rest in (without_last_piece(end).rstrip() for end in ir.turn.ends):
        if is_unmistakable(rest) and rest.endswith(CLOSING):
            yield rest


def _in_messages(ir: TemplateIR, ends: Collection[str]) -> bool:
    """Return whether an end also occurs inside a turn: it ends reasoning as well, or a header follows it."""
    header, tools = ir.turn.header.strip(), ir.tools
    if header and ir.reasoning.end.strip() in ends:
        return True
    texts = [
        tools.section_start,
        tools.separator,
        tools.section_end,
        ir.reasoning.end,
        ir.content.start,
        ir.content.end,
    ]
    texts += [form.text for form in ir.forms]
    before = [text.partition(header)[0] for text in texts if header and header in text]
    return any(end in text for text in before for end in ends if end)


def _rests(header: str, parts: Sequence[str]) -> list[str]:
    """Return the ends of a header that count by themselves, except those with which a part of the turn begins: most of
    those would be text."""
    return [
        rest
        for rest in distinctive_suffixes(header)
        if not any(part.strip().startswith(rest.strip()) for part in parts)
    ]


def _reasoning_starts(reasoning: Reasoning, tolerated: Tolerated) -> tuple[Marker, ...]:
    """Return the openers of reasoning. One that people also write is text in content, unless the format has reasoning
    after content."""
    if reasoning.mode in ("none", "delimiter"):
        return ()
    return tuple(
        Marker(text, "before content" if could_be_prose(text) and not reasoning.after_content else "anywhere")
        for text in tolerated.texts(tolerated.usual("reasoning.start"))
    )


def _ignorable_closers(ir: TemplateIR, ends: Sequence[str], tolerated: Tolerated) -> Iterator[Marker]:
    """Yield the closers of reasoning that are dropped if none is open. Words are dropped only at the turn's start.

    A generation prompt may begin with such a closer. That is what the template writes, and no slip.
    """
    opens_text = {text.strip() for role in ("content.start", "reasoning.start") for text in tolerated.of_role(role)}
    for end in ends:
        if end.strip() in opens_text:
            continue
        if "stray_closers" in tolerated.kinds:
            yield Marker(end, "turn start" if could_be_prose(end) else "anywhere")
        elif any(prompt.head.strip().startswith(end.strip()) for prompt in ir.turn.prompts):
            yield Marker(end, "turn start")
