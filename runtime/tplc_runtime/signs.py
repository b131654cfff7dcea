"""Decode escaped characters of names and keys.

`Signs({"&amp;": "&"}).plain("a&amp;b")`  →  "a&b"
"""

from __future__ import annotations

import re

from .pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Signs:
    """Escape texts with the characters that they stand for."""

    def __init__(self, signs: Mapping[str, str]) -> None:
        self._signs = signs
        self._any = Pattern("|".join(re.escape(text) for text in sorted(signs, key=len, reverse=True)) or "(?!)")

    def plain(self, text: str) -> str:
        return str(self._any.sub(lambda found: self._signs[found.group()], text))
