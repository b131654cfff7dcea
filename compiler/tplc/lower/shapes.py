r"""A call's layout cut at its slots, with a composed id taken out of the texts around it.

"<call>" NAME "\n" ARGUMENTS "</call>"
→  opener "<call>", slots (name, "\n"), (arguments, ""), closer "</call>"
"""

from __future__ import annotations

from tplc.ir.nodes import Layout, Slot, SlotKind, Text
from tplc.lower.call_form import SAME_SLOT, CallShape


def shape_of(layout: Layout) -> CallShape:
    kinds = [item.kind if isinstance(item, Slot) else None for item in layout]
    first = [index for index, kind in enumerate(kinds) if kind is not None and kinds.index(kind) == index]
    if not first:
        return CallShape("", (), ())
    slots: list[tuple[SlotKind, str]] = []
    for here, after in zip(first, [*first[1:], None], strict=True):
        item = layout[here]
        assert isinstance(item, Slot)
        between = layout[here + 1 : after]
        text = "".join(other.text if isinstance(other, Text) else SAME_SLOT for other in between)
        slots.append((item.kind, "" if after is None else text))
    closer = tuple(item.text if isinstance(item, Text) else None for item in layout[first[-1] + 1 :])
    return CallShape(_text_of(layout[: first[0]]), tuple(slots), closer)


def object_shape(before: Layout, after: str) -> CallShape:
    """Return the shape of a call that is one object: the slots before that."""
    shape = shape_of((*before, Slot("arguments")))
    return CallShape(shape.opener, shape.slots[:-1], (after,))


def with_id(shape: CallShape, layout: Layout) -> CallShape:
    """Return the shape with a composed id taken out of the texts around it: "<call>tools." NAME ":" INDEX "<with>"; or
    an id that is INDEX."""
    kinds = tuple(item.kind for item in layout if isinstance(item, Slot))
    present = tuple(kind for kind, _ in shape.slots if kind in kinds)
    composed = len(layout) > 1 and bool({"name", "id"} & set(kinds)) and "arguments" not in kinds
    if present != kinds or not (composed or kinds == ("index",)):
        return shape
    prefix = layout[0].text if isinstance(layout[0], Text) else ""
    suffix = layout[-1].text if isinstance(layout[-1], Text) else ""
    cut = [(kind, text[len(suffix) :] if kind == kinds[-1] else text) for kind, text in shape.slots]
    opener, first = shape.opener, shape.slots[0][0]
    if first == kinds[0]:
        opener = opener[: len(opener) - len(prefix)]
    else:
        at = next(index for index, slot in enumerate(cut) if slot[0] == kinds[0]) - 1
        cut[at] = (cut[at][0], cut[at][1][: len(cut[at][1]) - len(prefix)])
    return CallShape(opener, tuple(cut), shape.closer, kinds, prefix, suffix)


def _text_of(items: Layout) -> str:
    return "".join(item.text for item in items if isinstance(item, Text))
