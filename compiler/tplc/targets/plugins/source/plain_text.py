"""In place of `token_text`, for formats of which no tokens are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class AnswerText:
    def part(self, text: str) -> tuple[str, list[tuple[int, int]] | None]:
        return text, None


class PlainText:
    def __init__(self, tokenizer: Any) -> None:
        """Ignore the tokenizer, which text parsers don't need."""

    def ranges(self, text: str, ids: Sequence[int]) -> tuple[str, list[tuple[int, int]] | None]:
        return text, None

    def whole(self, text: str, ids: Sequence[int]) -> AnswerText:
        return AnswerText()
