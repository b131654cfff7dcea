"""What the backend hands over, and why it would not."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from tplc.errors import TplcError
from tplc.grammars.schema.report import NotExpressed
from tplc.ir.nodes import Json
from tplc.ir.visible import visible

TARGET = "lark"


@dataclass(frozen=True, slots=True)
class LarkGrammar:
    """`text` is "" when nothing is constrained.  It holds from the end of `generation_prompt` on, free text included.

    `tokens` are the format's special tokens that are written as tokens, `texts` those written as text.  A tokenizer
    that has one of `texts` as a token of its own would never match it.  `known`: whether the tokenizer was known.
    """

    text: str
    tokens: tuple[str, ...]
    texts: tuple[str, ...]
    known: bool
    generation_prompt: str
    not_expressed: tuple[NotExpressed, ...]

    def to_json(self) -> dict[str, Json]:
        return {
            "grammar": self.text,
            "tokens": list(self.tokens),
            "texts": list(self.texts),
            "tokenizer_known": self.known,
            "generation_prompt": self.generation_prompt,
            "not_expressed": [asdict(entry) for entry in self.not_expressed],
        }

    def remarks(self) -> list[str]:
        """All but the rules, for who has only the file."""
        lines = [f"Holds from the end of the generation prompt on: {_shown(self.generation_prompt)}"]
        if self.tokens:
            lines.append("Tokens: " + " ".join(map(_shown, self.tokens)))
        if self.texts:
            known = "Text, for they are no tokens of the tokenizer: " if self.known else NO_TOKENIZER + ": "
            lines.append(known + " ".join(map(_shown, self.texts)))
        return lines + [f"Not expressed: {_shown(str(entry))[1:-1]}" for entry in self.not_expressed]


NO_TOKENIZER = "Written as text, for no tokenizer was given; where one of these is a token, it never matches"


class NoLark(TplcError):
    """A format that no such grammar can say."""

    def __init__(self, name: str, feature: str, reason: str) -> None:
        super().__init__(name, feature, reason)
        self.name = name
        self.feature = feature
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name}: {TARGET} cannot say this: {self.feature}\n    {self.reason}"


def _shown(text: str) -> str:
    return visible(json.dumps(text, ensure_ascii=False))
