"""Find the characters that are escaped in names and keys.

a call of `a&b"c`  →  `<call a&amp;b&quot;c>`  →  `&` is written `&amp;`, `"` is written `&quot;`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from tplc.ir.nodes import PairArguments, Replaced, Slot, Text, Tools
from tplc.learn.arguments import call_turn
from tplc.learn.probe import Prober, Setup, asks
from tplc.learn.turn import TurnFacts
from tplc.messages import Call
from tplc_runtime.slots import ODD_IN_NAMES

CHARACTERS = "&<>\"'"
_LONGEST = 16  # the text that stands for one character


@asks("replaced", "Which characters are escaped in names and keys?")
def learn_replaced(
    prober: Prober, turn: TurnFacts, setup: Setup, tools: Tools, escapes: Sequence[Replaced] = ()
) -> Tools:
    """Return the tools with the escapes in names and keys. Calls that are JSON have none: a name is a string there.
    `escapes`: those of arguments, which names may have as well."""
    if tools.format == "json_native":
        return tools
    slots: list[Literal["name", "key"]] = ["name"]
    if isinstance(tools.arguments, PairArguments):
        slots.append("key")
    characters = dict.fromkeys([*CHARACTERS, *(one.char for one in escapes if one.char not in ODD_IN_NAMES)])
    texts = {char: call_turn(prober, turn, setup, [_call(char)]) for char in characters}
    found = [
        Replaced(slot, char, written)
        for slot in slots
        for char, text in texts.items()
        if isinstance(text, str)
        and (written := _written(text, slot)) not in (char, "")
        and not (slot == "name" and _ends_name(written, tools))
    ]
    return replace(tools, replaced=tuple(one for one in found if _means_one_character(one, found)))


def _ends_name(text: str, tools: Tools) -> bool:
    """Return whether the text after a name begins as what is written for a character ends: it would end the name."""
    following = [after.text for name, after in pairwise(tools.call) if name == Slot("name") and isinstance(after, Text)]
    return any(after.startswith(text[at:]) for after in following for at in range(len(text)))


def _means_one_character(one: Replaced, found: Sequence[Replaced]) -> bool:
    """Return whether the escaped text can be read back: it is no word, no single character, and doesn't stand for
    two."""
    text = one.text
    alone = all((other.slot, other.text) != (one.slot, text) for other in found if other is not one)
    return alone and len(text) > 1 and not text[0].isalnum()


def _call(char: str) -> Call:
    """Return a call with one such character at a time: which of two quotes is escaped depends on the other."""
    return Call(f"zqname0x{char}zqname1x", ((f"zqkey0x{char}zqkey1x", "zqvalue0n0x"),))


def _written(text: str, slot: str) -> str:
    """Return the text that is written for the character; "" if nothing is written, or if that is unknown."""
    found = re.search(f"zq{slot}0x(.{{1,{_LONGEST}}}?)zq{slot}1x", text, re.DOTALL)
    return found[1] if found is not None else ""
