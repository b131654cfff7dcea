"""Formats that are learned and can't be used: a marker beyond all measure, slots with nothing between them."""

from __future__ import annotations

from itertools import pairwise

from tplc.errors import LimitExceeded, NotLearned
from tplc.ir.nodes import PairArguments, Slot, TemplateIR
from tplc.ir.sizes import longest_text
from tplc.render import Limits

MOST_NAMES = 2  # in a call: what opens it and what closes it


def check_sizes(ir: TemplateIR, limits: Limits) -> None:
    path, size = longest_text(ir)
    if size > limits.marker_chars:
        raise LimitExceeded(ir.provenance.name, "marker_chars", str(limits.marker_chars), found=f"{path} has {size}")


def check_slots(ir: TemplateIR) -> None:
    """Check that a text after every slot ends it, and that arguments open with a character of their own."""
    pairs, kinds = ir.tools.arguments, {item.kind for item in ir.tools.call if isinstance(item, Slot)}
    if not kinds.isdisjoint({"key", "type", "value"}):
        repeated = (
            "repeat the name of the call" if ir.tools.call.count(Slot("name")) > MOST_NAMES else "depend on the values"
        )
        why = f"the texts around arguments {repeated}, so the end of an argument is unknown"
        raise NotLearned(ir.provenance.name, why)
    for layout in (ir.tools.call, pairs.pair if isinstance(pairs, PairArguments) else ()):
        for one, two in pairwise(layout):
            if isinstance(one, Slot) and isinstance(two, Slot) and two.kind != "arguments" and one.kind != "type":
                between = f"no text separates the {one.kind} from the {two.kind} of a call"
                raise NotLearned(ir.provenance.name, f"{between}, so their border is unknown")
