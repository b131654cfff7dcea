"""Does a parser read what another format writes?

    the parser of yesterday's template, the format of today's  →  Reading(messages=96, passed=96)

It answers the question: the template changed upstream, does it matter to me?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tplc.ir.nodes import GenerationPrompt, TemplateIR
from tplc.ir.write import write_message
from tplc.verify.artifact import Artifact
from tplc.verify.battery import Case, battery
from tplc.verify.compare import as_message, difference
from tplc.verify.conversation import fitting_tools


@dataclass(frozen=True, slots=True)
class Reading:
    messages: int
    passed: int
    failures: tuple[str, ...]

    @property
    def reads(self) -> bool:
        return self.passed == self.messages


def reads(parser: Artifact, written: TemplateIR) -> Reading:
    """Return how the parser reads every message of the battery, as `written` writes it after each of its prompts."""
    total = 0
    failures: list[str] = []
    for prompt in written.turn.prompts:
        for case in _shown(written):
            total += 1
            problem = _problem(parser, written, prompt, case)
            if problem:
                failures.append(f"{case.title}: {problem}")
    return Reading(total, total - len(failures), tuple(failures))


def _problem(parser: Artifact, written: TemplateIR, prompt: GenerationPrompt, case: Case) -> str:
    message: dict[str, Any] = as_message(written, case)
    text = write_message(written, message)
    # History that does not continue from a prompt's head follows the bare header.
    begun = text.startswith(prompt.head)
    got = parser.parse(
        text.removeprefix(prompt.head) if begun else text,
        tools=fitting_tools(case),
        prompt=prompt.text if begun else prompt.text.removesuffix(prompt.head),
    )
    found = difference(written, case, got)
    return "" if found is None else str(found)


def _shown(ir: TemplateIR) -> Iterator[Case]:
    """Yield the cases that the format can write."""
    for case in battery(ir):
        if case.reasoning and ir.reasoning.mode == "none":
            continue
        if case.calls and ir.tools.format == "none":
            continue
        if len(case.calls) > 1 and not ir.tools.parallel:
            continue
        if case.calls and case.content and ir.content.with_calls == "none":
            continue
        yield case
