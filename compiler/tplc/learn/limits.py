"""Formats that are learned and can't be used: a marker beyond all measure, slots with nothing between them."""

from __future__ import annotations

from itertools import pairwise

from tplc.errors import LimitExceeded, NotLearned
from tplc.ir.nodes import PairArguments, Slot, TemplateIR
from tplc.ir.printed import quoted
from tplc.ir.sizes import longest_text
from tplc.learn.probe import Prober, Refusal, Setup, assistant, opening
from tplc.messages import Call
from tplc.render import Limits

_KEY, _VALUES = "zqkey0x", ("zqvalue0n0x", 7431)

MOST_NAMES = 2  # in a call: what opens it and what closes it


def check_sizes(ir: TemplateIR, limits: Limits) -> None:
    path, size = longest_text(ir)
    if size > limits.marker_chars:
        raise LimitExceeded(ir.provenance.name, "marker_chars", str(limits.marker_chars), found=f"{path} has {size}")


def check_slots(prober: Prober, setup: Setup | None, ir: TemplateIR) -> None:
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
                texts = _after_key(prober, setup) if setup is not None and one.kind == "key" else []
                if len(set(texts)) > 1 and all(texts):
                    shown = " and ".join(map(quoted, texts))
                    between = f"the text between the key and the value of an argument depends on its type ({shown})"
                raise NotLearned(ir.provenance.name, f"{between}, so their border is unknown")


def _after_key(prober: Prober, setup: Setup) -> list[str]:
    """Return the texts between a key and a string, and between a key and a number."""
    found = []
    for value in _VALUES:
        calls = [Call("zqname0x", ((_KEY, value),))]
        text = prober.render([*opening(setup), assistant(setup, calls=calls)], setup, calls=calls)
        after = "" if isinstance(text, Refusal) else text.rpartition(_KEY)[2]
        found.append(after.partition(str(value))[0] if str(value) in after else "")
    return found
