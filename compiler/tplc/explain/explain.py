"""Learn a template, and keep what was asked on the way.

    explain(source)  →  Explanation(ir, (AnsweredQuestion("turn", "Where does a turn start, …?", comparisons, …), …))

A template that is refused has an explanation, too: up to the question that had no answer, or with all answers if no
parser can be generated for the format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tplc import driver
from tplc.errors import InvalidIR, UnsupportedTemplate
from tplc.explain.comparisons import Comparison, comparisons
from tplc.ir.nodes import TemplateIR, Verification
from tplc.ir.printed import lines
from tplc.learn.probe import Probe

if TYPE_CHECKING:
    from tplc.examples import Example
    from tplc.render import Limits

# The questions of the learner by name, and the facts that answer each.
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "conversation": ("capabilities", "refusal"),
    "turn": ("turn.",),
    "reasoning": ("reasoning.", "content."),
    "arguments": ("tools.arguments", "tools.dialect"),
    "calls": ("tools.",),
    "content": ("content.",),
    "capabilities": ("capabilities", "preserved"),
}


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question of the learner, the comparisons that answer it, and all that was asked for it, once each."""

    name: str
    text: str
    comparisons: tuple[Comparison, ...]
    probes: tuple[Probe, ...]
    answer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TriedRepair:
    """A format that failed messages suggested: the reason, and how many messages failed with it."""

    reason: str
    failed: int
    messages: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """`ir` is None when the template was refused: `refused` says why."""

    name: str
    ir: TemplateIR | None
    refused: str
    questions: tuple[AnsweredQuestion, ...]
    renders: int
    repairs: tuple[TriedRepair, ...] = ()


def explain(
    source: str,
    *,
    name: str = "template",
    special_tokens: Mapping[str, str] | None = None,
    examples: Sequence[Example] = (),
    limits: Limits | None = None,
) -> Explanation:
    probes: list[Probe] = []
    repairs: list[TriedRepair] = []

    def note(reason: str, result: Verification) -> None:
        repairs.append(TriedRepair(reason, result.messages - result.passed, result.messages))

    with (
        driver.open_renderer(source, name=name, special_tokens=special_tokens, limits=limits) as renderer,
        renderer.within_total(),
    ):
        ir: TemplateIR | None = None
        try:
            ir = driver.learn_format(
                renderer,
                name=name,
                source_text=source,
                special_tokens=special_tokens,
                examples=examples,
                observer=probes.append,
            )
            renders = renderer.count
            ir = driver.verify_ir(ir, renderer, examples=examples, on_repair=note)
        except (UnsupportedTemplate, InvalidIR) as error:
            # Parsers can't be generated for some formats that were learned: `ir` is one then.
            return Explanation(name, None, str(error), _questions(probes, ir), renderer.count)
    return Explanation(name, ir, "", _questions(probes, ir), renders, tuple(repairs))


def _questions(probes: Sequence[Probe], ir: TemplateIR | None) -> tuple[AnsweredQuestion, ...]:
    facts = list(lines(ir)) if ir is not None else []
    compared = comparisons(probes, facts)
    questions = dict.fromkeys(probe.question for probe in probes)
    return tuple(
        AnsweredQuestion(
            question.name,
            question.text,
            tuple(comparison for comparison in compared if comparison.question == question.name),
            _distinct(probes, question.name),
            tuple(line for line in facts if line.startswith(ANSWERS.get(question.name, ("\0",)))),
        )
        for question in questions
    )


def _distinct(probes: Sequence[Probe], question: str) -> tuple[Probe, ...]:
    """Return the probes of a question, in order, each conversation once."""
    found: dict[str, Probe] = {}
    for probe in probes:
        if probe.question.name == question:
            found.setdefault(repr((probe.messages, probe.setup, probe.generation, probe.calls)), probe)
    return tuple(found.values())
