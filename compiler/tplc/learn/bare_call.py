"""How is a call written that has no arguments?

    `<call>f with {"k": "v"}</call>`, and without arguments `<call>f</call>`
    →  `<call>` name `</call>`: the text between the name and the arguments is left out with them

A call with an empty object in the place of its arguments has no form of its own.
"""

from __future__ import annotations

from tplc.ir.nodes import Layout, ObjectArguments, Slot, Text, Tools
from tplc.ir.write import write_arguments
from tplc.learn.arguments import NAMED_BY, ArgumentFacts, call_turn, generalise, merged, text_items
from tplc.learn.conversation import CallSetup
from tplc.learn.outline import Outline, outline
from tplc.learn.probe import Prober, Refusal, asks, name_of
from tplc.learn.reasoning import ReasoningMarkers
from tplc.learn.turn import TurnFacts
from tplc.messages import Call


@asks("calls", "How are calls written: section, separators, the layout of one call?")
def learn_bare_call(
    prober: Prober,
    turn: TurnFacts,
    markers: ReasoningMarkers,
    called: CallSetup,
    arguments: ArgumentFacts,
    tools: Tools,
) -> Layout:
    """Return the layout of a call without arguments; () if it is that of other calls, or not shown."""
    if tools.json is not None or not isinstance(tools.arguments, ObjectArguments) or tools.arguments.encoded:
        return ()
    shown = outline(prober, turn, called.setup, markers, arguments, 1)
    bare = call_turn(prober, turn, called.setup, [Call(name_of(0), ())])
    if shown is None or isinstance(bare, Refusal) or shown.kinds[0] == "arguments":
        return ()
    text = generalise(markers.without_blank(bare), called.setup)
    head, between, tail = _around_arguments(shown)
    at = tools.call.index(Slot("arguments"))
    closing = _with_stand_ins(tools.call[at + 1 :])
    rest = tail.removeprefix(closing)
    if not text.startswith(head) or not tail.startswith(closing) or not text.endswith(rest):
        return ()
    own = text[len(head) : len(text) - len(rest)]
    if own == between + write_arguments(tools, {}) + closing or len(head) + len(rest) > len(text):
        return ()
    last = max(place for place, item in enumerate(tools.call[:at]) if isinstance(item, Slot))
    return merged((*tools.call[: last + 1], *text_items(own)))


def _around_arguments(shown: Outline) -> tuple[str, str, str]:
    """Return the text of a turn up to the last slot before the arguments, from there to them, and after them."""
    texts = [shown.pre, *shown.inner[0], shown.post]
    at = shown.kinds.index("arguments")
    slots = [NAMED_BY.get(kind, "") for kind in shown.kinds]
    before = "".join(text + slot for text, slot in zip(texts[:at], slots[:at], strict=True))
    after = texts[at + 1] + "".join(slot + text for slot, text in zip(slots[at + 1 :], texts[at + 2 :], strict=True))
    return before, texts[at], after


def _with_stand_ins(layout: Layout) -> str:
    return "".join(item.text if isinstance(item, Text) else NAMED_BY.get(item.kind, "") for item in layout)
