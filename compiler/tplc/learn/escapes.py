"""Which characters of raw values are written otherwise?

a value `a&b"c`  →  `a&amp;b&#34;c`  →  `&` is written `&amp;`, `"` is written `&#34;`

If the same holds for what is inside lists, all of a value's text is read back before anything else.  If not, only
strings are escaped.  If only values that aren't strings are, their text is read back.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tplc.ir.nodes import Json, Replaced
from tplc.ir.write import escaped
from tplc.learn.dialect import Position
from tplc_runtime.escapes import Escapes

_WIDE = "é"
CHARACTERS = string.punctuation + " \n\t" + _WIDE
_PLAIN = "zqplain0x"
_LONGEST = 16  # what stands for one character
_KEY, _VALUE = "zqka0x", "zqva0x"
SAMPLE: dict[str, Json] = {"zqa": "b & \"c\" <d>'e' \\ 50% é", "zqf": [1, None, {"g": "/h?i=j"}]}


def learn_escapes(position: Position) -> tuple[Replaced, ...]:
    """Return the escapes; empty for values in quotes, whose escapes are the dialect's, and if they can't be undone."""
    if position(_PLAIN) != _PLAIN:
        return ()
    written = position(probe_of_characters()) or ""
    found = [one for one in found_escapes(written, CHARACTERS) if one.text != one.char]
    if not written.startswith("zqs0x"):  # in quotes, which some characters need
        return ()
    if not found or not all(means_one(one, found) for one in found):
        return ()
    wide = next((one for one in found if one.char == _WIDE), None)
    escapes = tuple(one for one in found if one is not wide)
    if wide is not None and escaped(escapes, "value", _WIDE) != wide.text:
        return ()
    return escapes if _in_lists(position, escapes) else tuple(replace(one, slot="string") for one in escapes)


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
    return escaped(escapes, "value", undoing(escapes).unescape(text)) == text


def undoing(escapes: Sequence[Replaced]) -> Escapes:
    """Return what undoes these escapes."""
    return Escapes({one.text: one.char for one in escapes})


def learn_literal_escapes(position: Position) -> tuple[Replaced, ...]:
    """Return the escapes in raw values that aren't strings, if strings have none: empty if there are none, or if they
    can't be undone."""
    probe = probe_of_characters()
    plain, written = position({_KEY: _VALUE}), position({_KEY: probe})
    if position(probe) != probe or not plain or not written or f'"{_VALUE}' in plain:
        return ()
    escapes = escapes_in_json(plain, (_KEY, _VALUE), written)
    found = object_at(undoing(escapes).unescape(position(SAMPLE) or ""))
    return tuple(replace(one, slot="literal") for one in escapes) if found is not None and found[0] == SAMPLE else ()


def learn_json_escapes(position: Position, closer: str) -> tuple[Replaced, ...]:
    """Return the escapes in values that are JSON, strings in quotes as well; empty if there are none, or if they can't
    be undone.  `closer`: the text after a value, of which a character has to be escaped: no value contains it then."""
    plain, written = position({_KEY: _VALUE}), position({_KEY: probe_of_characters()})
    if not plain or not written or _VALUE not in plain:
        return ()
    escapes = escapes_in_json(plain, (_KEY, _VALUE), written, strict=False)
    if not any(one.char in closer for one in escapes):
        return ()
    values: tuple[Json, ...] = (SAMPLE, SAMPLE["zqa"], _PLAIN)
    try:
        read = tuple(json.loads(undoing(escapes).unescape(position(value) or "")) for value in values)
    except ValueError:
        return ()
    return escapes if read == values else ()


def escapes_in_json(plain: str, inside: tuple[str, str], probe: str, *, strict: bool = True) -> tuple[Replaced, ...]:
    """Return the escapes of an object; empty if they don't mean one character each.  `plain` is written for one with
    the key and the value in `inside`, `probe` for one that contains the probe of characters.  `strict`: what begins an
    escape is escaped as well."""
    written = {one.char: one.text for one in found_escapes(probe, CHARACTERS)}
    written['"'] = _quote(plain, inside, written)
    backslash = written.get("\\", "")
    written["\\"] = backslash[: len(backslash) // 2]
    escapes = tuple(
        Replaced("value", char, text)
        for char, text in written.items()
        if text != char and char not in (_WIDE, "\n", "\t")
    )
    # What begins an escape has to be escaped itself, or a text that looks like one would be read as it.
    firsts, characters = {one.text[:1] for one in escapes}, {one.char for one in escapes}
    is_whole = firsts <= characters or not strict
    return escapes if is_whole and all(means_one(one, escapes) for one in escapes) else ()


def _quote(text: str, inside: tuple[str, str], written: dict[str, str]) -> str:
    """Return what is written for a double quote: twice between a key and its value, around the colon."""
    between = text.partition(inside[0])[2].partition(inside[1])[0]
    colon = written.get(":", ":")
    quote, found, rest = between.partition(colon)
    return quote if found and rest.endswith(quote) else '"'


def object_at(text: str) -> tuple[dict[str, Json], int] | None:
    """Return the JSON object that a text begins with, and its length; None if there is none."""
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return (found, end) if isinstance(found, dict) else None
