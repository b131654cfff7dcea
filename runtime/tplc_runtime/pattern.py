"""Regular expressions that cost nothing before they are needed.

Pattern("<[a-z]+>").search("a <call>")  →  the match of <call>; the pattern is compiled now, and kept
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Pattern:
    """Compiled at its first use: importing a parser should take no longer than it must.  A dot is any character."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __getattr__(self, method: str) -> Any:
        found = getattr(re.compile(self.pattern, re.DOTALL), method)
        setattr(self, method, found)
        return found
