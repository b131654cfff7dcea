r"""Is the text of all arguments escaped as a whole?

arguments {"a": "b & c"}  →  `{&#34;a&#34;: &#34;b &amp; c&#34;}`  →  `"` is written `&#34;`, `&` is written `&amp;`

Then the calls are learned from renders in which that is undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tplc.ir.nodes import Replaced
from tplc.ir.write import escaped
from tplc.learn.arguments import call_turn, with_value
from tplc.learn.escapes import SAMPLE, escapes_in_json, object_at, probe_of_characters, undoing
from tplc.learn.probe import Prober, Refusal, Setup, asks, key_of, value_of
from tplc.learn.turn import TurnFacts
from tplc.messages import Call, Message


@dataclass(slots=True)
class UnescapingProber(Prober):
    """Renders probes like any other, and undoes the escapes in the text of arguments."""

    escapes: tuple[Replaced, ...] = ()

    def render(
        self, messages: Sequence[Message], setup: Setup, *, generation: bool = False, calls: Sequence[Call] = ()
    ) -> str | Refusal:
        text = Prober.render(self, messages, setup, generation=generation, calls=calls)
        return text if isinstance(text, Refusal) else _plain_arguments(text, self.escapes, calls)


def _plain_arguments(text: str, escapes: Sequence[Replaced], calls: Sequence[Call]) -> str:
    """Return a render with plain JSON in the place of the arguments of these calls."""
    undone, opened = undoing(escapes), escaped(escapes, "value", "{")
    first_keys = {call.arguments[0][0] for call in calls if call.arguments}
    at = text.find(opened)
    while at >= 0:
        found = object_at(undone.unescape(text[at:]))
        if found is not None and next(iter(found[0]), None) in first_keys:
            end = at + undone.written_length(text[at:], found[1])
            plain = undone.unescape(text[at:end])
            text = text[:at] + plain + text[end:]
            at += len(plain) - 1
        at = text.find(opened, at + 1)
    if any(not call.arguments for call in calls):
        text = text.replace(escaped(escapes, "value", "{}"), "{}")
    return text


@asks("arguments", "How are the arguments of a call written?")
def learn_object_escapes(prober: Prober, turn: TurnFacts, setup: Setup) -> tuple[Replaced, ...]:
    """Return the escapes in the text of arguments that are JSON as a whole; empty if there are none, or if they can't
    be undone."""
    plain = call_turn(prober, turn, setup, [with_value(value_of(0, 0))])
    if isinstance(plain, Refusal) or f'"{value_of(0, 0)}' in plain:
        return ()
    probe = call_turn(prober, turn, setup, [with_value(probe_of_characters())])
    if isinstance(probe, Refusal):
        return ()
    escapes = escapes_in_json(plain, (key_of(0), value_of(0, 0)), probe)
    return escapes if escapes and _are_undone(prober, turn, setup, escapes) else ()


def _are_undone(prober: Prober, turn: TurnFacts, setup: Setup, escapes: Sequence[Replaced]) -> bool:
    """Return whether JSON is left of a sample's arguments if the escapes are undone."""
    text = call_turn(prober, turn, setup, [with_value(SAMPLE)])
    if isinstance(text, Refusal):
        return False
    text = undoing(escapes).unescape(text)
    start = text.rfind("{", 0, max(0, text.find(key_of(0))))
    found = object_at(text[start:]) if start >= 0 else None
    return found is not None and found[0] == {key_of(0): SAMPLE}
