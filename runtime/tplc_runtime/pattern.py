"""Regular expressions that cost nothing before they are needed.

Pattern("<[a-z]+>").search("a <call>")  →  the match of <call>; the pattern is compiled now, and kept
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# How far is looked at most, in characters, so that the work for each of them is bounded.
NAME_LIMIT = 512  # a longer name is no name
LEAST_CUT = 3  # fewer characters of a marker at the output's end may as well be text
MOST_SPACE = 16  # white space between the marks that show where a value ends
LONGEST_KEY = 64  # a key, or the name of a further call, that shows where a value ends
LONGEST_FOLLOW = 160  # all that shows where a value ends, from its first character on
LOOK_BACK = LONGEST_FOLLOW + MOST_SPACE + 4  # the same with the white space before it


class Pattern:
    """Compiled at its first use: importing a parser should take no longer than it must.  A dot is any character."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.match: Any = lambda *given: self._compiled().match(*given)
        self.search: Any = lambda *given: self._compiled().search(*given)
        self.fullmatch: Any = lambda *given: self._compiled().fullmatch(*given)
        self.finditer: Any = lambda *given: self._compiled().finditer(*given)
        self.sub: Any = lambda *given: self._compiled().sub(*given)

    def _compiled(self) -> re.Pattern[str]:
        found = re.compile(self.pattern, re.DOTALL)
        self.match, self.search, self.fullmatch = found.match, found.search, found.fullmatch
        self.finditer, self.sub = found.finditer, found.sub
        return found
