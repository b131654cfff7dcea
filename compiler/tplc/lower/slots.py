"""Where the slots of a call end: its name, its id, its index, before the arguments or after them.

name "\\n" arguments  →  the name ends at "\\n"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tplc.ir.markers import lead_of, pieces_of
from tplc.ir.nodes import Layout, PairArguments, Slot, TemplateIR, Text, Tools
from tplc.ir.write import escaped
from tplc.lower.call_form import LINE_END, WHITE_SPACE, PairForm, SlotEnd
from tplc.lower.following import IN_WORDS
from tplc.lower.layouts import not_blank, text_at, unique, with_any_language
from tplc.lower.tolerated import Tolerated

NO_END = SlotEnd("", ())


def header_of(
    layout: Layout, last_nexts: SlotEnd, tolerated: Tolerated, empty: SlotEnd = NO_END
) -> tuple[SlotEnd, ...]:
    """Return the slots before the arguments.  The last one may also end where the arguments begin (`last_nexts`), or as
    in a call without arguments (`empty`)."""
    places = [index for index, item in enumerate(layout) if isinstance(item, Slot)]
    slots = []
    for place in places:
        item, suffix = layout[place], text_at(layout, place + 1)
        without = empty if place == places[-1] else NO_END
        assert isinstance(item, Slot)
        if suffix.strip() or place != places[-1]:
            # Arguments with an opener of their own show where the name ended.
            shown = place == places[-1] and not (last_nexts.stops or tolerated.like_words)
            bare = last_nexts.nexts if shown and "omitted_openers" in tolerated.kinds else ()
            ends = tolerated.ends_of_name(suffix)
            if "marker_spelling" in tolerated.kinds:
                ends = unique([*ends, *map(with_any_language, ends)])
            slots.append(SlotEnd(item.kind, ends, without.nexts, stops_of(suffix) or without.stops, bare))
        else:
            nexts = unique([*last_nexts.nexts, *without.nexts])
            slots.append(SlotEnd(item.kind, last_nexts.suffixes, nexts, last_nexts.stops or without.stops))
    return tuple(slots)


def stops_of(text: str) -> str:
    """Return the characters that end a slot which only white space follows."""
    if not text or text.strip():
        return ""
    return LINE_END if "\n" in text else WHITE_SPACE


def before_object(tools: Tools, tolerated: Tolerated, between: str) -> SlotEnd:
    """Return the last slot before an object: it ends where the object begins.  After white space (`between`), models
    write the object in quotes, too; without it, the quote may belong to the slot."""
    assert tools.dialect is not None
    opened = escaped(tools.replaced, "value", tools.dialect.in_object.object_open)
    quoted = ('"' + opened,) if "other_forms" in tolerated.kinds and between.isspace() and not tools.replaced else ()
    return SlotEnd("", (), (opened, *quoted))


def before_pairs(space: str, pairs: PairArguments, form: PairForm, closers: Sequence[str]) -> SlotEnd:
    """Return the last slot before pairs: it ends where they begin, or where a call without arguments ends.

    If pairs begin with their key, only the white space before it marks them; `space` is the white space after the slot.
    """
    before = space + pairs.start + text_at(form.pair, 0)
    # A name contains such characters, as in ns:f: where white space is written after it, only that ends it.
    lead = lead_of(before)
    opens = [text for text in form.opens if not lead or text.strip().strip(IN_WORDS + ":")]
    nexts = not_blank([*opens, pairs.end, pairs.empty, *closers])
    shown = opens or not form.opens
    return SlotEnd("", not_blank([pairs.start]), nexts, stops_of(before if shown else lead) or LINE_END)


def closing_of_bare(tools: Tools) -> tuple[str, ...]:
    """Return the text that closes a call without arguments, if that has another form: after the last slot, or after
    what ends that slot in other calls, too."""
    closing = text_at(tools.bare_call, len(tools.bare_call) - 1)
    closing = closing.removeprefix(_end_of_last(tools))
    return (closing,) if closing else ()


def _end_of_last(tools: Tools) -> str:
    """Return the text between the last slot and the arguments; "" if it is only white space."""
    text = text_at(tools.call, tools.call.index(Slot("arguments")) - 1)
    return text if text.strip() else ""


def after_empty(ir: TemplateIR, closers: Sequence[str]) -> SlotEnd:
    """Return the end of the last slot before the arguments for a call without arguments, if that has another form: its
    closer, or without one the text that may follow, or the line's end if the template writes one."""
    tools = ir.tools
    if not tools.bare_call:
        return NO_END
    closing, end = "".join(closing_of_bare(tools)), _end_of_last(tools)
    if end and text_at(tools.bare_call, len(tools.bare_call) - 1).startswith(end):
        return NO_END
    if closing.strip():
        return SlotEnd("", (), (closing,))
    following = (tools.section_end, tools.separator + text_at(tools.call, 0))
    lines = any("\n" in closing + lead_of(text) for text in following)
    return SlotEnd("", (), not_blank([*following, *closers, *ir.turn.ends]), LINE_END * lines)


@dataclass(frozen=True, slots=True)
class AfterArguments:
    """Closing texts, and the slots among them after `slots_open`: an id, or the name again."""

    closing: tuple[str, ...]
    slots_open: str = ""
    slots: tuple[SlotEnd, ...] = ()

    @property
    def tail(self) -> tuple[str, tuple[SlotEnd, ...]] | None:
        return (self.slots_open, self.slots) if self.slots else None

    @property
    def ends(self) -> tuple[str, ...]:
        """Return all texts that may come next; the text before the slots comes last."""
        return (*self.closing, self.slots_open) if self.slots else self.closing


def after_arguments(layout: Layout) -> AfterArguments:
    slots = tuple(
        SlotEnd(item.kind, _ends_of_tail(item, text_at(layout, index + 1)))
        for index, item in enumerate(layout)
        if isinstance(item, Slot)
    )
    texts = tuple(item.text for item in layout if isinstance(item, Text))
    if not slots:
        return AfterArguments(texts)
    opened = text_at(layout, 0)
    return AfterArguments(texts[1:] if opened else texts, opened, slots)


def _ends_of_tail(slot: Slot, text: str) -> tuple[str, ...]:
    """Return the text after a slot; after a name, its first piece as well: the rest of a closer may be missing."""
    return unique([text, *(pieces_of(text)[:1] if slot.kind == "name" else ())]) if text else ()


def id_layout(tools: Tools, header: Layout) -> Layout:
    """Return the id as texts and slots if all its slots are before the arguments; otherwise ()."""
    slots = {item.kind for item in header if isinstance(item, Slot)}
    layout = tools.call_id.layout
    if tools.call_id.position == "none":
        return ()
    if not all(isinstance(item, Text) or item.kind in slots for item in layout):
        return ()
    return layout
