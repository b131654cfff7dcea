r"""Which characters of content and reasoning are escaped?

    content `a&b<c`  →  `a&amp;b&lt;c`  →  `&` is written `&amp;`, `<` is written `&lt;`
    content `a\nb`   →  `a\n    b`      →  a line break is written as one with four spaces

A text that stands for one character can be undone everywhere, one that stands for several can't.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from tplc.ir.nodes import Replaced, TemplateIR
from tplc.ir.write import escaped
from tplc.learn.escapes import found_escapes, means_one
from tplc.learn.outline import probe_call
from tplc.learn.probe import CONTENT, Prober, Refusal, Setup, asks, assistant
from tplc.messages import Message

WIDE = "é"
_CHARACTERS = string.punctuation + " \n\t\r" + WIDE
_PROBE = "".join(f"zqs{number}x{char}" for number, char in enumerate(_CHARACTERS)) + f"zqs{len(_CHARACTERS)}x"
_Slot = Literal["content", "reasoning"]


@asks("text_escapes", "Which characters are escaped in content and reasoning?")
def learn_text_escapes(prober: Prober, base: Setup, called: Setup | None, ir: TemplateIR) -> tuple[Replaced, ...]:
    """Return the escapes that turns with and without calls agree on."""
    found: list[Replaced] = []
    slots: tuple[_Slot, ...] = ("content", "reasoning")
    for slot in slots:
        shown = [escapes for escapes in _in_all_shapes(prober, base, called, ir, slot) if escapes is not None]
        if shown and all(escapes == shown[0] for escapes in shown):
            found += shown[0]
    return tuple(found)


def _in_all_shapes(
    prober: Prober, base: Setup, called: Setup | None, ir: TemplateIR, slot: _Slot
) -> Iterator[tuple[Replaced, ...] | None]:
    if slot == "reasoning" and not ir.reasoning.key:
        return
    reasoning = (ir.reasoning.key, _PROBE) if slot == "reasoning" else None
    content = _PROBE if slot == "content" else CONTENT
    yield _escapes(prober, base, slot, assistant(base, content=content, reasoning=reasoning))
    if called is not None:
        call = probe_call(0)
        yield _escapes(prober, called, slot, assistant(called, content=content, reasoning=reasoning, calls=[call]))


def _escapes(prober: Prober, setup: Setup, slot: _Slot, turn: Message) -> tuple[Replaced, ...] | None:
    """Return the escapes in a part; None if the text is not in the render."""
    calls = [probe_call(0)] if turn.get("tool_calls") else []
    tail = prober.tail([turn], setup, calls=calls)
    if isinstance(tail, Refusal) or any(f"zqs{number}x" not in tail for number in range(len(_CHARACTERS) + 1)):
        return None
    changed = [replace(one, slot=slot) for one in found_escapes(tail, _CHARACTERS) if one.text != one.char]
    line = next((one.text for one in changed if one.char == "\n"), "\n")
    changed = [one for one in changed if one.char != "\r" or one.text != line]  # what splits lines takes it for one
    escapes = tuple(one for one in changed if means_one(one, changed) and one.char != WIDE)
    wide = next((one.text for one in changed if one.char == WIDE), WIDE)
    return escapes if escaped(escapes, slot, WIDE) == wide else _without_percent(escapes)


def _without_percent(escapes: Sequence[Replaced]) -> tuple[Replaced, ...]:
    """Return the escapes without the one for `%`, which would mean all percent codes."""
    return tuple(one for one in escapes if one.char != "%")
