"""Where the slots of a call end: its name, its id, its index, before the arguments or after them.

name "\\n" arguments  →  the name ends at "\\n"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tplc.ir.nodes import Layout, PairArguments, Slot, Text, Tools
from tplc.lower.acceptor import LINE_END, WHITE_SPACE, PairForm, SlotEnd
from tplc.lower.layouts import not_blank, text_at
from tplc.lower.tolerated import Tolerated


def header_of(layout: Layout, last_nexts: SlotEnd, tolerated: Tolerated) -> tuple[SlotEnd, ...]:
    """The slots before the arguments; the last of them may also end where the arguments begin (`last_nexts`)."""
    places = [index for index, item in enumerate(layout) if isinstance(item, Slot)]
    slots = []
    for place in places:
        item, suffix = layout[place], text_at(layout, place + 1)
        assert isinstance(item, Slot)
        if suffix.strip() or place != places[-1]:
            # Arguments with an opener of their own show where the name ended.
            shown = place == places[-1] and not (last_nexts.stops or tolerated.like_words)
            bare = last_nexts.nexts if shown and "omitted_openers" in tolerated.kinds else ()
            slots.append(SlotEnd(item.kind, tolerated.ends_of_name(suffix), stops=stops_of(suffix), bare=bare))
        else:
            slots.append(SlotEnd(item.kind, last_nexts.suffixes, last_nexts.nexts, last_nexts.stops))
    return tuple(slots)


def stops_of(text: str) -> str:
    """Return the characters that end a slot which only white space follows."""
    if not text or text.strip():
        return ""
    return LINE_END if "\n" in text else WHITE_SPACE


def before_object(tools: Tools) -> SlotEnd:
    """The last slot, where arguments are an object: it ends where that begins."""
    assert tools.dialect is not None
    return SlotEnd("", (), (tools.dialect.in_object.object_open,))


def before_pairs(space: str, pairs: PairArguments, form: PairForm, closers: Sequence[str]) -> SlotEnd:
    """The last slot, where arguments are pairs: it ends where they begin, or where the call ends without any.

    If pairs begin with their key, only the white space before it marks them; `space` is the white space after the slot.
    """
    nexts = not_blank([*form.opens, pairs.end, pairs.empty, *closers])
    stops = stops_of(space + pairs.start + text_at(form.pair, 0)) or LINE_END
    return SlotEnd("", not_blank([pairs.start]), nexts, stops)


@dataclass(frozen=True, slots=True)
class AfterArguments:
    """Closing texts, and the slots among them after `slots_open`: an id, or the name once more."""

    closing: tuple[str, ...]
    slots_open: str = ""
    slots: tuple[SlotEnd, ...] = ()

    @property
    def tail(self) -> tuple[str, tuple[SlotEnd, ...]] | None:
        return (self.slots_open, self.slots) if self.slots else None

    @property
    def ends(self) -> tuple[str, ...]:
        """All texts that may come next; what stands before the slots comes last."""
        return (*self.closing, self.slots_open) if self.slots else self.closing


def after_arguments(layout: Layout) -> AfterArguments:
    slots = tuple(
        SlotEnd(item.kind, (text_at(layout, index + 1),) if text_at(layout, index + 1) else ())
        for index, item in enumerate(layout)
        if isinstance(item, Slot)
    )
    texts = tuple(item.text for item in layout if isinstance(item, Text))
    if not slots:
        return AfterArguments(texts)
    opened = text_at(layout, 0)
    return AfterArguments(texts[1:] if opened else texts, opened, slots)


def id_layout(tools: Tools, header: Layout) -> Layout:
    """The id as texts and slots, when all its slots stand before the arguments."""
    slots = {item.kind for item in header if isinstance(item, Slot)}
    layout = tools.call_id.layout
    if tools.call_id.position == "none":
        return ()
    if not all(isinstance(item, Text) or item.kind in slots for item in layout):
        return ()
    return layout
