"""Compile regular expressions when they are first used.

Pattern("<[a-z]+>").search("a <call>")  →  the match of <call>; the pattern is compiled now, and cached
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME_CHARACTERS = r"\w.:/-"  # of the names that tools mostly have
IDENTIFIER = rf"[^\W\d][{NAME_CHARACTERS}]*"  # what a tool's name looks like where none is known
# Limits of lookahead, in characters, so that the work per character is bounded.
NAME_LIMIT = 512  # a longer text is not a name
LEAST_CUT = 3  # fewer characters of a marker at the output's end may as well be text
LEAST_PUNCTUATION = 5  # the same for characters that are neither letters nor digits, of which two differ
MOST_SPACE = 16  # white space between the markers that show the end of a value
LONGEST_KEY = 64  # a key, or the name of a further call, that shows the end of a value
LONGEST_FOLLOW = 160  # the whole text that shows the end of a value
LOOK_BACK = LONGEST_FOLLOW + MOST_SPACE + 4  # the same with the white space before it


class Pattern:
    """A regular expression, compiled at its first use, because imports should be fast.  A dot matches any character."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled: Any = None

    def __getattr__(self, name: str) -> Any:
        """Return a method of the compiled pattern, and keep it as an attribute."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, re.DOTALL)
        found = getattr(self._compiled, name)
        if hasattr(self, "__dict__"):  # a class that mypyc compiled has none
            setattr(self, name, found)
        return found


ONE_WORD = Pattern(f"[{NAME_CHARACTERS}]+")
