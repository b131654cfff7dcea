"""Decode escaped characters of names, keys, values and texts.

`Signs({"&amp;": "&"}).plain("a&amp;b")`  →  "a&b"
"""

from __future__ import annotations

import re

from .pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


# At the end of a text, a percent-encoded character that may not be whole.
CUT_CODE = re.compile(r"(?:%[C-Fc-f][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){0,2})?(?:%[0-9A-Fa-f]?)?\Z")


class Signs:
    """Escape texts with the characters that they stand for."""

    def __init__(self, signs: Mapping[str, str]) -> None:
        self._signs = signs
        self._is_percent = signs.get("%25") == "%"
        texts = [re.escape(text) for text in sorted(signs, key=len, reverse=True)]
        texts[:0] = ["(?:%[0-9A-Fa-f]{2})+"] * self._is_percent
        self._any = Pattern("|".join(texts) or "(?!)")
        self._begun = {text[:end] for text in signs for end in range(1, len(text))}
        self._longest = max(map(len, signs), default=1) - 1

    def plain(self, text: str) -> str:
        return str(self._any.sub(lambda found: self._meant(found.group()), text))

    def _meant(self, text: str) -> str:
        if not self._is_percent or text[0] != "%":
            return self._signs[text]
        try:
            return bytes.fromhex(text.replace("%", "")).decode("utf-8")
        except ValueError:
            return text

    def safe_end(self, text: str) -> int:
        """Return where the beginning of such a text, outside of whole ones, may start at the end of this text."""
        if self._is_percent:
            cut = CUT_CODE.search(text, max(0, len(text) - 11))
            return cut.start() if cut is not None else len(text)
        starts = range(max(0, len(text) - self._longest), len(text))
        inside = {at for found in self._any.finditer(text) for at in range(found.start() + 1, found.end())}
        return next((at for at in starts if at not in inside and text[at:] in self._begun), len(text))
