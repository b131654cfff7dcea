"""The result of the backend, and the reasons for which it refuses a format."""

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
    """`text` is "" when nothing is constrained.  It applies from the end of `generation_prompt` on, to free text too.

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
        """Return all facts other than the rules, for readers of the file alone."""
        lines = [f"Applies from the end of the generation prompt on: {_shown(self.generation_prompt)}"]
        if self.tokens:
            lines.append("Tokens: " + " ".join(map(_shown, self.tokens)))
        if self.texts:
            known = "Written as text, because the tokenizer does not have them: " if self.known else NO_TOKENIZER + ": "
            lines.append(known + " ".join(map(_shown, self.texts)))
        return lines + [f"Not expressed: {_shown(str(entry))[1:-1]}" for entry in self.not_expressed]


NO_TOKENIZER = "Written as text, because no tokenizer was given; one that is a special token never matches"


class NoLark(TplcError):
    """A format that no such grammar can express."""

    def __init__(self, name: str, feature: str, reason: str) -> None:
        super().__init__(name, feature, reason)
        self.name = name
        self.feature = feature
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name}: {TARGET} cannot express this: {self.feature}\n    {self.reason}"


def _shown(text: str) -> str:
    return visible(json.dumps(text, ensure_ascii=False))
