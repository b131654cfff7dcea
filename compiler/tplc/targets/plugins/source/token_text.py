"""Which ranges of streamed text came from special tokens, going by the token ids that the server gives with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tplc.targets.plugins.source.parser import TOKENS
from tplc_runtime.tokens import Detokenizer


class AnswerText:
    """A whole answer: its text as the server gives it, and as its ids have it, with the ranges of special tokens.

    `special` is None where the ids don't fit the text.
    """

    def __init__(self, given: str, text: str, special: list[tuple[int, int]] | None) -> None:
        self._given, self._text, self._special = given, text, special

    def part(self, text: str) -> tuple[str, list[tuple[int, int]] | None]:
        """Returns what the text of the answer, or the end of it, is in full, with the ranges; None: not known."""
        if self._special is None:
            return text, None
        if text == self._given:
            return self._text, self._special
        if not self._text.endswith(text):
            return text, None
        before = len(self._text) - len(text)
        return text, [(max(start - before, 0), end - before) for start, end in self._special if end > before]


class TokenText:
    """Follows the text of one answer.

    The server's text may come later than its ids (it waits for stop strings), and without special tokens.  Where it is
    other text than that of the ids, nothing is known of it from there on.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._detokenizer: Detokenizer | None = None
        self._text = ""  # of ids whose text the server has not given yet
        self._special: list[tuple[int, int]] = []
        self._begins = self._follows = True

    def whole(self, text: str, ids: Sequence[int]) -> AnswerText:
        """Returns all of an answer at once."""
        return AnswerText(text, *self.ranges(text, ids))

    def ranges(self, text: str, ids: Sequence[int]) -> tuple[str, list[tuple[int, int]] | None]:
        """Returns the text, with special tokens that the server left out, and their ranges; None: not known."""
        if not self._follows or (self._begins and not ids):
            return text, None
        self._take(ids)
        size = len(text) if self._text.startswith(text) else self._size_without_special(text)
        if size < 0 and self._begins and self._text.endswith(text):
            self._drop(len(self._text) - len(text))  # a parser before this one read what the first id begins with
            size = len(text)
        self._begins = False
        if size < 0:
            self._follows = False
            return text, None
        found = self._text[:size], [(start, min(end, size)) for start, end in self._special if start < size]
        self._drop(size)
        return found

    def _take(self, ids: Sequence[int]) -> None:
        if self._detokenizer is None:
            # Any token before the first keeps a space that an answer begins with.
            self._detokenizer = Detokenizer(self._tokenizer, TOKENS, prompt=list(ids[:1]))
        text, special = self._detokenizer.feed(ids)
        self._special += [(start + len(self._text), end + len(self._text)) for start, end in special]
        self._text += text

    def _drop(self, size: int) -> None:
        self._text = self._text[size:]
        self._special = [(max(start - size, 0), end - size) for start, end in self._special if end > size]

    def _size_without_special(self, text: str) -> int:
        """Return how many characters of the ids' text this text covers, without special tokens; -1: it is another
        text."""
        kept = [at for at in range(len(self._text)) if not any(start <= at < end for start, end in self._special)]
        if "".join(self._text[at] for at in kept[: len(text)]) != text:
            return -1
        size = kept[len(text) - 1] + 1
        return next((end for start, end in self._special if start == size), size)
