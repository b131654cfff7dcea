"""Chat templates of random design: one for every seed, with what is known about it by construction.

random_template(7).source       the Jinja text
random_template(7).ambiguities  why no parser can read it, if so
random_template(7).messages()   messages of its own making
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.property.random_design import Design, random_design
from tests.property.random_messages import Message, random_message, turn_pieces
from tests.property.random_source import template_source


@dataclass(frozen=True, slots=True)
class Exchange:
    """A prompt's variables, what the model writes after that prompt, and the message it means."""

    variables: dict[str, Any]
    message: Message
    text: str


@dataclass(frozen=True, slots=True)
class RandomTemplate:
    seed: int
    design: Design
    source: str

    @property
    def ambiguities(self) -> tuple[str, ...]:
        return self.design.ambiguities

    @property
    def ambiguous(self) -> bool:
        return bool(self.design.ambiguities)

    @property
    def summary(self) -> str:
        return self.design.summary

    def messages(self) -> Iterator[Message]:
        rng = random.Random(f"messages {self.seed}")
        for calls in (0, 1, 2, 3, 0, 1, 1):
            for reasoning in (False, True):
                message = random_message(self.design, rng, reasoning=reasoning, calls=calls)
                if message is not None:
                    yield message

    def exchanges(self) -> Iterator[Exchange]:
        """Yield every message after every prompt that lets the model write it."""
        for message in self.messages():
            for variables, head in self._prompts():
                text = _continued(self.design, message, head)
                if text is not None:
                    yield Exchange(variables, message, text)

    def _prompts(self) -> list[tuple[dict[str, Any], str]]:
        """Return the variables of each prompt, and the part of the turn that it contains."""
        design = self.design
        reasoning, switch = design.reasoning, design.switch
        if reasoning is None or design.prompt == "bare":
            return [({}, design.head)]
        opened, closed = reasoning.start, reasoning.start + reasoning.end
        if design.prompt in ("opened", "closed"):
            return [({}, opened if design.prompt == "opened" else closed)]
        assert switch is not None
        on, off = {switch.name: switch.on}, {switch.name: switch.off}
        return {
            "opened_on": [({}, ""), (on, opened)],
            "closed_off": [({}, ""), (off, closed)],
            "opened_or_closed": [({}, opened), (off, closed)],
            "closed_or_opened": [({}, closed), (on, opened)],
        }[design.prompt]


def _continued(design: Design, message: Message, head: str) -> str | None:
    """Return what the model writes for `message` if the prompt ends with the header and `head`."""
    reasoning = design.reasoning
    closed = reasoning is not None and head == reasoning.start + reasoning.end
    if reasoning and head and closed and message.reasoning is not None:
        return None
    pieces = turn_pieces(design, message, reasons=bool(reasoning and head))
    text = "".join(piece.text for piece in pieces)
    start = design.header + head
    return text[len(start) :] if text.startswith(start) else None


def random_template(seed: int) -> RandomTemplate:
    design = random_design(seed)
    return RandomTemplate(seed, design, template_source(design))
