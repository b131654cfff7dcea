"""Decode escaped characters of names, keys, values and texts.

`Escapes({"&amp;": "&"}).unescape("a&amp;b")`  →  "a&b"
"""

from __future__ import annotations

import re

from .pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

GUARD = chr(0xDFFF)  # a lone surrogate: decoders never return one, and mypyc has no literal for it
GUARDS = Pattern(GUARD + "(" + GUARD + "?)")
# A percent-encoded character, by the first byte of its UTF-8.
PERCENT_CODE = (
    "%[0-7][0-9A-Fa-f]|%[CDcd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f]"
    "|%[Ee][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){2}|%[Ff][0-7](?:%[89ABab][0-9A-Fa-f]){3}"
)
# At the end of a text, a percent-encoded character that may not be whole.
TRUNCATED_PERCENT_CODE = re.compile(r"(?:%[C-Fc-f][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){0,2})?(?:%[0-9A-Fa-f]?)?\Z")


class Escapes:
    """Escape texts with the characters that they stand for."""

    def __init__(self, characters: Mapping[str, str]) -> None:
        self._characters = characters
        self._is_percent = characters.get("%25") == "%"
        texts = [re.escape(text) for text in sorted(characters, key=len, reverse=True)]
        texts[:0] = [PERCENT_CODE] * self._is_percent
        self._pattern = Pattern("|".join(texts) or "(?!)")
        self._prefixes = {text[:end] for text in characters for end in range(1, len(text))}
        self._most_pending = max(map(len, characters), default=1) - 1

    def unescape(self, text: str) -> str:
        return str(self._pattern.sub(lambda found: self._unescape(found.group()), text))

    def _unescape(self, text: str) -> str:
        if not self._is_percent or text[0] != "%":
            return self._characters[text]
        try:
            return bytes.fromhex(text.replace("%", "")).decode("utf-8")
        except ValueError:
            return text

    def written_length(self, text: str, length: int) -> int:
        """Return the length of the beginning of a text that has this length once its escapes are undone."""
        added = 0  # by the escapes up to here
        for found in self._pattern.finditer(text):
            if found.start() - added >= length:
                break
            added += len(found.group()) - len(self._unescape(found.group()))
        return length + added

    def safe_prefix_end(self, text: str) -> int:
        """Return where the beginning of such a text, outside of whole ones, may start at the end of this text."""
        if self._is_percent:
            cut = TRUNCATED_PERCENT_CODE.search(text, max(0, len(text) - 11))
            return cut.start() if cut is not None else len(text)
        starts = range(max(0, len(text) - self._most_pending), len(text))
        inside = {at for found in self._pattern.finditer(text) for at in range(found.start() + 1, found.end())}
        return next((at for at in starts if at not in inside and text[at:] in self._prefixes), len(text))


def unguarded(text: str) -> str:
    """Return text without guards; two guards are the character itself."""
    return GUARDS.sub(r"\1", text) if GUARD in text else text
