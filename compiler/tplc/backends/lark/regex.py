r"""Regular expressions as llguidance reads them: those of Rust, without lookaround, with "and" and "not" between them.

text_regex("</p>")                     →  <\/p>
character_class(((97, 122),))          →  [a-z]
but_not("/(?s:.*)/", [".*<p>.*"])      →  /(?s:.*)/ & ~/(?s:.*<p>.*)/
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.codepoints import Ranges

ANY = "(?s:.*)"
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}/#&~-]")
_IN_CLASS = re.compile(r"[\\\[\]^&~/-]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def text_regex(text: str) -> str:
    return "".join(_named(_SPECIAL.sub(r"\\\g<0>", character), character) for character in text)


def but_not(texts: str, never: Iterable[str]) -> str:
    """Return the texts without those that match one of `never`, as a single negation: for several, the engine would
    look through all their combinations."""
    patterns = "|".join(never)
    return f"{texts} & ~/(?s:{patterns})/" if patterns else texts


@functools.lru_cache(maxsize=4096)
def character_class(ranges: Ranges) -> str:
    """Return the class of a set that isn't empty, negated if that is shorter."""
    if ranges == codepoints.ALL:
        return "(?s:.)"
    others = codepoints.complement(ranges)
    if ranges[-1][1] == 0x10FFFF and others:
        return f"[^{_members(others)}]"
    return f"[{_members(ranges)}]"


def _members(ranges: Ranges) -> str:
    return "".join(_member(chr(low), chr(high)) for low, high in ranges)


def _member(low: str, high: str) -> str:
    if low == high:
        return _in_class(low)
    return _in_class(low) + ("" if ord(high) == ord(low) + 1 else "-") + _in_class(high)


def _in_class(character: str) -> str:
    return _named(_IN_CLASS.sub(r"\\\g<0>", character), character)


def _named(escaped: str, character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    return escaped if character.isprintable() else f"\\x{{{ord(character):X}}}"
