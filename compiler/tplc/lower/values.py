r"""How values are read, as facts that each stand in one place: numbers, words, escapes, and how far is looked.

    possessive("[0-9]+")  →  [0-9]++

What a generated parser needs itself is in its runtime, and is named here for the backends that write other things.
"""

from __future__ import annotations

import re

from tplc.ir.spellings import WORDS, Spelling
from tplc_runtime import values
from tplc_runtime.pairs import MOST_KEYS
from tplc_runtime.pattern import (
    IDENTIFIER,
    LEAST_CUT,
    LONGEST_FOLLOW,
    LONGEST_KEY,
    LOOK_BACK,
    MOST_SPACE,
    NAME_CHARACTERS,
    NAME_LIMIT,
)
from tplc_runtime.slots import NEVER_IN_NAMES, NUMBERS
from tplc_runtime.values import JSON_ESCAPE, Style, WordStyle

NUMBER: str = values.NUMBER.pattern
# What shows that a number or a literal word has come to its end.
AFTER_LITERAL: str = values.AFTER_LITERAL.pattern


def possessive(pattern: str) -> str:
    """Return the pattern with repetitions that give nothing back, for engines that know them (`regex`, Python 3.11)."""
    return re.sub(r"(?<=\])([*+])", r"\1+", pattern)


def style_of(spelling: Spelling) -> Style:
    """Return how the runtime's readers read values that are spelled like this."""
    kind = Style if spelling.as_json else WordStyle
    return kind(spelling.strings, dict(spelling.words), spelling.punctuation, bare_keys=spelling.bare_keys)


__all__ = [
    "AFTER_LITERAL",
    "IDENTIFIER",
    "JSON_ESCAPE",
    "LEAST_CUT",
    "LONGEST_FOLLOW",
    "LONGEST_KEY",
    "LOOK_BACK",
    "MOST_KEYS",
    "MOST_SPACE",
    "NAME_CHARACTERS",
    "NAME_LIMIT",
    "NEVER_IN_NAMES",
    "NUMBER",
    "NUMBERS",
    "WORDS",
    "possessive",
    "style_of",
]
