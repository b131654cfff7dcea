"""Where the slots of a call end: its name, its id, its index, before the arguments or after them.

name "\\n" arguments  →  the name ends at "\\n"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tplc.ir.nodes import Layout, PairArguments, Slot, Text, Tools
from tplc.lower.acceptor import PairForm, SlotEnd
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
            # Arguments that open with a sign of their own say where the name ended.
            shown = place == places[-1] and not last_nexts.line and "omitted_openers" in tolerated.kinds
            slots.append(SlotEnd(item.kind, tolerated.texts(suffix), bare=last_nexts.nexts if shown else ()))
        else:
            slots.append(SlotEnd(item.kind, last_nexts.suffixes, last_nexts.nexts, last_nexts.line))
    return tuple(slots)


def before_object(tools: Tools) -> SlotEnd:
    """The last slot, where arguments are an object: it ends where that begins."""
    assert tools.dialect is not None
    return SlotEnd("", (), (tools.dialect.in_object.object_open,))


def before_pairs(pairs: PairArguments, form: PairForm, closers: Sequence[str]) -> SlotEnd:
    """The last slot, where arguments are pairs: it ends where they begin, or where the call ends without any."""
    nexts = not_blank([*form.opens, pairs.end, pairs.empty, *closers])
    return SlotEnd("", not_blank([pairs.start]), nexts, line=True)


@dataclass(frozen=True, slots=True)
class AfterArguments:
    """Closing texts, and behind `slots_open` slots among them: an id, or the name once more."""

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
