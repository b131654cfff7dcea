r"""How far a parser looks at most, so that its work per character is bounded.

What ends a raw value may be no marker of its own: then the value ends where the rest looks like the next pair, or like
the end of the call.  How much white space, how long a key may be for that, and how long such a beginning stays pending
while it is not yet whole, is bounded, by the runtime's numbers.  Longer ones are text of the value.
"""

from __future__ import annotations

from tplc_runtime.pattern import LONGEST_KEY, MOST_SPACE

# Characters that a key doesn't contain, in addition to white space.
NOT_IN_KEYS = "=:,(){}[]"

SPACE = rf"\s{{0,{MOST_SPACE}}}"
SOME_SPACE = rf"\s{{1,{MOST_SPACE}}}"
INDENT = rf"[^\S\n]{{0,{MOST_SPACE}}}"


def character_without(chars: str) -> str:
    excluded = "".join("\\" + char if char in r"[]\^-" else char for char in NOT_IN_KEYS + chars)
    return rf"[^\s{excluded}]"


def key_without(chars: str) -> str:
    """Return the pattern of a key without these characters either.

    The match is the shortest: a key ends at the first text that is written after keys.
    """
    return rf"{character_without(chars)}{{1,{LONGEST_KEY}}}?"


KEY_CHARACTER = character_without("")
KEY = key_without("")
KEY_OF_WORDS = rf"{KEY_CHARACTER}(?:[^\S\n]?{KEY_CHARACTER}){{0,{LONGEST_KEY}}}?"  # with spaces in it
CALL_NAME = KEY.replace(":", "")  # of a further call: `a:b` is a name
