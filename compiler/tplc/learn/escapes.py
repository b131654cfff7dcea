"""Which characters of raw values are written otherwise?

a value `a&b"c`  →  `a&amp;b&#34;c`  →  `&` is written `&amp;`, `"` is written `&#34;`

The same has to hold for what is inside lists: then all of a value's text is read back before anything else.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence

from tplc.ir.nodes import Replaced
from tplc.ir.write import escaped
from tplc.learn.dialect import Position
from tplc_runtime.escapes import Escapes

_WIDE = "é"
CHARACTERS = string.punctuation + " \n\t" + _WIDE
_PLAIN = "zqplain0x"
_LONGEST = 16  # what stands for one character


def learn_escapes(position: Position) -> tuple[Replaced, ...]:
    """Return the escapes; empty for values in quotes, whose escapes are the dialect's, and if they can't be undone."""
    if position(_PLAIN) != _PLAIN:
        return ()
    found = [one for one in found_escapes(position(probe_of_characters()) or "", CHARACTERS) if one.text != one.char]
    if not found or not all(means_one(one, found) for one in found):
        return ()
    wide = next((one for one in found if one.char == _WIDE), None)
    escapes = tuple(one for one in found if one is not wide)
    if wide is not None and escaped(escapes, "value", _WIDE) != wide.text:
        return ()
    return escapes if _in_lists(position, escapes) else ()


def probe_of_characters() -> str:
    """Return a text in which each of the characters is between two words of its own."""
    return "".join(f"zqs{number}x{char}" for number, char in enumerate(CHARACTERS)) + f"zqs{len(CHARACTERS)}x"


def found_escapes(text: str, characters: str) -> Iterator[Replaced]:
    """Yield each of the characters with what is between its two words of the probe."""
    for number, char in enumerate(characters):
        between = re.search(f"zqs{number}x(.*?)zqs{number + 1}x", text, re.DOTALL)
        if between is not None:
            yield Replaced("value", char, between[1])


def means_one(one: Replaced, found: Sequence[Replaced]) -> bool:
    """Return whether only this character is written so: the text is no word or single character, and means one
    character."""
    alone = sum(other.text == one.text for other in found) == 1
    return alone and 1 < len(one.text) <= _LONGEST and not one.text[0].isalnum()


def _in_lists(position: Position, escapes: Sequence[Replaced]) -> bool:
    sample = "".join(one.char for one in escapes)
    text = position([f"zqs0x{sample}zqs1x"])
    if text is None:
        return True  # the template refuses lists
    plain = Escapes({one.text: one.char for one in escapes}).unescape(text)
    return escaped(escapes, "value", plain) == text
