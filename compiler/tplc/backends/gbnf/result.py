"""The result of the backend: the grammar, and everything that a server must know to use it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from tplc.grammars.request.triggers import Trigger
from tplc.grammars.schema.report import NotExpressed
from tplc.ir.nodes import Json
from tplc.ir.visible import visible


@dataclass(frozen=True, slots=True)
class Grammar:
    """`text` is "" when nothing is constrained.

    A lazy grammar applies from the first trigger on; others from the end of `generation_prompt` on.
    """

    text: str
    lazy: bool
    triggers: tuple[Trigger, ...]
    preserved_tokens: tuple[str, ...]
    generation_prompt: str
    not_expressed: tuple[NotExpressed, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the form that `schemas/grammar.schema.json` describes."""
        return {
            "grammar": self.text,
            "grammar_lazy": self.lazy,
            "grammar_triggers": [trigger.to_json() for trigger in self.triggers],
            "preserved_tokens": list(self.preserved_tokens),
            "generation_prompt": self.generation_prompt,
            "not_expressed": [asdict(entry) for entry in self.not_expressed],
        }


def with_comments(grammar: Grammar) -> Grammar:
    """Return the grammar with its other facts as comments at the head of the text, for readers of the file alone."""
    if not grammar.text:
        return grammar
    lines = [
        "Lazy: applies from the first trigger on."
        if grammar.lazy
        else f"Applies from the end of the generation prompt on: {_shown(grammar.generation_prompt)}"
    ]
    lines += [f"Trigger, {_kind(trigger)}: {_shown(trigger.value)}" for trigger in grammar.triggers]
    if grammar.preserved_tokens:
        lines.append("Preserved tokens: " + " ".join(map(_shown, grammar.preserved_tokens)))
    lines += [f"Not expressed: {_shown(str(entry))[1:-1]}" for entry in grammar.not_expressed]
    return replace(grammar, text="".join(f"# {line}\n" for line in lines) + "\n" + grammar.text)


def _kind(trigger: Trigger) -> str:
    return trigger.type if trigger.token is None else f"{trigger.type} {trigger.token}"


def _shown(text: str) -> str:
    return visible(json.dumps(text, ensure_ascii=False))
