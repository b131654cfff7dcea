r"""How far a parser looks at most, so that its work per character is bounded: one home for all such numbers.

What ends a raw value may be no marker of its own: then the value ends where the rest looks like the next pair, or like
the end of the call.  How much white space, how long a key may be for that, and how long such a beginning is held back
while it is not yet whole, is bounded here.  Longer ones are text of the value.
"""

from __future__ import annotations

# White space between the marks that show where a value ends, in characters.
MOST_SPACE = 16
# A key, or the name of a further call, that shows it.
LONGEST_KEY = 64
# What may still become such an end, from its first character on, while the output goes on.
LONGEST_END = 160
# What a key does not hold beside white space.
NOT_IN_KEYS = "=:,(){}[]"

SPACE = rf"\s{{0,{MOST_SPACE}}}"
SOME_SPACE = rf"\s{{1,{MOST_SPACE}}}"
INDENT = rf"[^\S\n]{{0,{MOST_SPACE}}}"
_NO_KEY = NOT_IN_KEYS.replace("[", r"\[").replace("]", r"\]")
KEY = rf"[^\s{_NO_KEY}]{{1,{LONGEST_KEY}}}"
