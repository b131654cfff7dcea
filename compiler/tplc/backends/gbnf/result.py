"""What the backend hands over: the grammar, and all that a server has to know to use it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tplc.backends.gbnf.report import NotExpressed
from tplc.backends.gbnf.triggers import Trigger
from tplc.ir.nodes import Json


@dataclass(frozen=True, slots=True)
class Grammar:
    """`text` is "" when nothing is constrained.

    A lazy grammar holds from where a trigger fires; others from the end of `generation_prompt` on.
    """

    text: str
    lazy: bool
    triggers: tuple[Trigger, ...]
    preserved_tokens: tuple[str, ...]
    generation_prompt: str
    not_expressed: tuple[NotExpressed, ...]

    def to_json(self) -> dict[str, Json]:
        """The form that `schemas/grammar.schema.json` describes."""
        return {
            "grammar": self.text,
            "grammar_lazy": self.lazy,
            "grammar_triggers": [{"type": trigger.type, "value": trigger.value} for trigger in self.triggers],
            "preserved_tokens": list(self.preserved_tokens),
            "generation_prompt": self.generation_prompt,
            "not_expressed": [asdict(entry) for entry in self.not_expressed],
        }
