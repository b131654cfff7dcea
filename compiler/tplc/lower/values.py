r"""How the runtime's facts about values are written elsewhere: its patterns as texts, spellings as its styles.

possessive("[0-9]+")  →  [0-9]++
"""

from __future__ import annotations

import re

from tplc.ir.spellings import Spelling
from tplc_runtime import values
from tplc_runtime.values import Style, WordStyle

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
