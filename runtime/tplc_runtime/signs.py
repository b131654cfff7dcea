"""Signs of names and keys that are written otherwise.

Signs({"&amp;": "&"}).plain("a&amp;b")  →  "a&b"
"""

from __future__ import annotations

import re

from .pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Signs:
    """What stands for other signs, and those."""

    def __init__(self, signs: Mapping[str, str]) -> None:
        self._signs = signs
        self._any = Pattern("|".join(re.escape(text) for text in sorted(signs, key=len, reverse=True)) or "(?!)")

    def plain(self, text: str) -> str:
        return str(self._any.sub(lambda found: self._signs[found.group()], text))
