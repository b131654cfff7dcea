r"""Is the text of all arguments escaped as a whole?

arguments {"a": "b & c"}  →  `{&#34;a&#34;: &#34;b &amp; c&#34;}`  →  `"` is written `&#34;`, `&` is written `&amp;`

Then the calls are learned from renders in which that is undone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tplc.ir.nodes import Json, Replaced
from tplc.ir.write import escaped
from tplc.learn.arguments import call_turn, with_value
from tplc.learn.escapes import CHARACTERS, found_escapes, means_one, probe_of_characters
from tplc.learn.probe import Prober, Refusal, Setup, asks, key_of, value_of
from tplc.learn.turn import TurnFacts
from tplc.messages import Call, Message
from tplc_runtime.escapes import Escapes

_WIDE = "é"
_SAMPLE: Json = {"zqa": "b & \"c\" <d>'e' \\ 50% é", "zqf": [1, None, {"g": "/h?i=j"}]}


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
    undone, opened = Escapes({one.text: one.char for one in escapes}), escaped(escapes, "value", "{")
    first_keys = {call.arguments[0][0] for call in calls if call.arguments}
    at = text.find(opened)
    while at >= 0:
        found = _object_at(undone.unescape(text[at:]))
        if found is not None and next(iter(found[0]), None) in first_keys:
            end = at + undone.written_length(text[at:], found[1])
            plain = undone.unescape(text[at:end])
            text = text[:at] + plain + text[end:]
            at += len(plain) - 1
        at = text.find(opened, at + 1)
    if any(not call.arguments for call in calls):
        text = text.replace(escaped(escapes, "value", "{}"), "{}")
    return text


def _object_at(text: str) -> tuple[dict[str, Json], int] | None:
    """Return the JSON object that a text begins with, and its length; None if there is none."""
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    return (found, end) if isinstance(found, dict) else None


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
    written = {one.char: one.text for one in found_escapes(probe, CHARACTERS)}
    written['"'] = _quote(plain, written)
    backslash = written.get("\\", "")
    written["\\"] = backslash[: len(backslash) // 2]
    escapes = [
        Replaced("value", char, text)
        for char, text in written.items()
        if text != char and char not in (_WIDE, "\n", "\t")
    ]
    # What begins an escape has to be escaped itself, or a text that looks like one would be read as it.
    firsts = {one.text[:1] for one in escapes}
    if (
        not escapes
        or not firsts <= {one.char for one in escapes}
        or not all(means_one(one, escapes) for one in escapes)
    ):
        return ()
    return tuple(escapes) if _are_undone(prober, turn, setup, escapes) else ()


def _quote(text: str, written: dict[str, str]) -> str:
    """Return what is written for a double quote: twice between a key and its value, around the colon."""
    between = text.partition(key_of(0))[2].partition(value_of(0, 0))[0]
    colon = written.get(":", ":")
    quote, found, rest = between.partition(colon)
    return quote if found and rest.endswith(quote) else '"'


def _are_undone(prober: Prober, turn: TurnFacts, setup: Setup, escapes: list[Replaced]) -> bool:
    """Return whether JSON is left of a sample's arguments if the escapes are undone."""
    text = call_turn(prober, turn, setup, [with_value(_SAMPLE)])
    if isinstance(text, Refusal):
        return False
    text = Escapes({one.text: one.char for one in escapes}).unescape(text)
    start = text.rfind("{", 0, max(0, text.find(key_of(0))))
    found = _object_at(text[start:]) if start >= 0 else None
    return found is not None and found[0] == {key_of(0): _SAMPLE}
