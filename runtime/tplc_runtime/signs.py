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
        """Where what may be the beginning of such a text begins, at the end of this one."""
        if self._is_percent:
            cut = CUT_CODE.search(text, max(0, len(text) - 11))
            return cut.start() if cut is not None else len(text)
        low = max(0, len(text) - self._longest)
        # A whole text that ends there may hold what looks like another's beginning: `\\` is no half of `\"`.
        whole = (found.span() for found in self._any.finditer(text) if found.end() > low)
        taken = {at for start, end in whole for at in range(start + 1, end)}
        starts = (at for at in range(low, len(text)) if at not in taken)
        return next((at for at in starts if text[at:] in self._begun), len(text))
