"""The comparisons that show what a marker is: two conversations that differ in one thing, and their renders.

    content             "…zqcontent0x<end>"
    reasoning, content  "…<r>zqreason0x</r>zqcontent0x<end>"    →  reasoning.start = "<r>", reasoning.end = "</r>"

They are chosen from what the learner asked: nothing is rendered for show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tplc.ir.nodes import Json
from tplc.ir.write import json_type
from tplc.learn.probe import (
    CONTENT,
    REASONING,
    USER,
    Probe,
    Refusal,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`name` is short (R1), `title` says what differs.  `concluded` are facts of the IR in its printed form."""

    name: str
    title: str
    question: str
    first: Probe
    second: Probe
    concluded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProbeShape:
    """The parts of a probe's conversation; `arguments` counts arguments call by call, `kind` is the first one's
    JSON type.

    Reasoning counts when the render shows it.
    """

    answered: bool
    content: bool
    reasoning: bool
    arguments: tuple[int, ...]
    kind: str
    generation: bool
    follow: str


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    title: str
    question: str
    first: Callable[[ProbeShape], bool]
    second: Callable[[ProbeShape], bool]
    facts: tuple[str, ...]
    same_setup: bool = True

    def applies(self, facts: Sequence[str]) -> bool:
        """Return whether the comparison concerns a part that the format has."""
        return not facts or self.question != "reasoning" or any(line.startswith("reasoning.") for line in facts)


def _asked(shape: ProbeShape) -> bool:
    return not shape.answered and not shape.generation


def _prompted(shape: ProbeShape) -> bool:
    return not shape.answered and shape.generation


def _answer(shape: ProbeShape) -> bool:
    return shape.content and not shape.reasoning and not shape.arguments


def _calls(count: int) -> Callable[[ProbeShape], bool]:
    wanted = (1,) * count
    return lambda s: s.arguments == wanted and s.kind == "text" and not s.content and not s.reasoning


def _arguments(count: int) -> Callable[[ProbeShape], bool]:
    return lambda s: s.arguments == (count,) and s.kind in ("text", "none") and not s.content and not s.reasoning


def _value(kind: str) -> Callable[[ProbeShape], bool]:
    return lambda s: s.arguments == (1,) and not s.content and not s.reasoning and s.kind == kind


_VALUES = ("integer", "number", "boolean", "null", "list", "object")
_WANTED = (
    _Wanted(
        "P1",
        "the question, without and with a generation prompt",
        "turn",
        _asked,
        _prompted,
        ("turn.header", "turn.prompt"),
    ),
    _Wanted("C1", "the question, and its answer", "turn", _asked, _answer, ("turn.header", "content.")),
    _Wanted(
        "C2",
        "an answer at the end, and one followed by a question",
        "turn",
        lambda s: _answer(s) and s.follow == "none",
        lambda s: _answer(s) and s.follow == "user",
        ("turn.end",),
        same_setup=False,
    ),
    _Wanted(
        "R1",
        "an answer, without and with reasoning",
        "reasoning",
        _answer,
        lambda s: s.content and s.reasoning and not s.arguments,
        ("reasoning.", "content."),
    ),
    _Wanted(
        "R2",
        "a call, without and with reasoning",
        "reasoning",
        _calls(1),
        lambda s: s.reasoning and bool(s.arguments) and not s.content,
        ("reasoning.",),
    ),
    _Wanted(
        "R3",
        "reasoning before an answer, and before a call",
        "reasoning",
        lambda s: s.content and s.reasoning and not s.arguments,
        lambda s: s.reasoning and bool(s.arguments) and not s.content,
        ("reasoning.end",),
        same_setup=False,
    ),
    _Wanted(
        "A1", "a call without arguments, and with one", "arguments", _arguments(0), _arguments(1), ("tools.arguments",)
    ),
    _Wanted("A2", "one argument, and two", "arguments", _arguments(1), _arguments(2), ("tools.arguments",)),
    _Wanted(
        "A3", "two arguments, and three", "arguments", _arguments(2), _arguments(3), ("tools.arguments.separator",)
    ),
    *(
        _Wanted(
            f"V{number}",
            f"a text as the value, and {'an' if kind[0] in 'aeio' else 'a'} {kind}",
            "arguments",
            _value("text"),
            _value(kind),
            ("tools.dialect",),
        )
        for number, kind in enumerate(_VALUES, 1)
    ),
    _Wanted(
        "T1",
        "an answer, and a call",
        "calls",
        _answer,
        _calls(1),
        ("tools.section_start", "tools.call"),
        same_setup=False,
    ),
    _Wanted(
        "T2", "one call, and two", "calls", _calls(1), _calls(2), ("tools.separator", "tools.section", "tools.parallel")
    ),
    _Wanted(
        "T3", "two calls, and three", "calls", _calls(2), _calls(3), ("tools.separator", "tools.section", "tools.index")
    ),
    _Wanted(
        "T4",
        "a call, and a call after content",
        "calls",
        _calls(1),
        lambda s: s.content and bool(s.arguments) and not s.reasoning,
        ("content.with_calls",),
    ),
)


def comparisons(probes: Sequence[Probe], facts: Sequence[str]) -> list[Comparison]:
    """Return the comparisons.  `facts` are the printed IR's, empty for a refused template.  Questions about a learned
    format show none of its markers."""
    asked = (probe for probe in probes if probe.question.name != "captured")
    shown = [(probe, shape_of(probe)) for probe in asked if not isinstance(probe.result, Refusal)]
    found: list[Comparison] = []
    for wanted in _WANTED:
        pair = next(_pairs(shown, wanted), None)
        if pair is not None and wanted.applies(facts):
            concluded = tuple(line for line in facts if line.startswith(wanted.facts))
            found.append(Comparison(wanted.name, wanted.title, wanted.question, *pair, concluded))
    found += _prompts(shown, facts)
    return found


def _pairs(shown: Sequence[tuple[Probe, ProbeShape]], wanted: _Wanted) -> Iterator[tuple[Probe, Probe]]:
    """Yield pairs of probes that fit; those that were rendered for the question itself come first."""
    own = [(p, s) for p, s in shown if p.question.name == wanted.question]
    for seconds in (own, shown):
        for second, shape in seconds:
            if not wanted.second(shape):
                continue
            for first, other in [*own, *shown]:
                same = first.setup == second.setup if wanted.same_setup else first.setup.context == second.setup.context
                if same and wanted.first(other) and first.result != second.result:
                    yield first, second


def _prompts(shown: Sequence[tuple[Probe, ProbeShape]], facts: Sequence[str]) -> list[Comparison]:
    """Return the generation prompt under settings that change it."""
    prompts = [probe for probe, shape in shown if _prompted(shape)]
    if not prompts:
        return []
    usual = prompts[0]
    others: dict[str, Probe] = {}
    for probe in prompts:
        words = probe.setup.context != usual.setup.context and not any("zq" in str(v) for _, v in probe.setup.context)
        if words and tail_of(probe) != tail_of(usual) and isinstance(probe.result, str):
            others.setdefault(tail_of(probe), probe)  # what comes before, such as tools, is not shown
    concluded = tuple(line for line in facts if line.startswith("turn.prompt"))
    return [
        Comparison(
            f"P{number}",
            "the generation prompt, and with " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in other.setup.context),
            "turn",
            usual,
            other,
            concluded,
        )
        for number, other in enumerate(others.values(), 2)
    ]


def shape_of(probe: Probe) -> ProbeShape:
    turn = [message for message in probe.messages if message["role"] == "assistant"]
    text = json.dumps(turn)
    kind = "none"
    if probe.calls and probe.calls[0].arguments:
        kind = kind_of(probe.calls[0].arguments[0][1])
    arguments = tuple(len(call.arguments) for call in probe.calls) if turn and "tool_calls" in turn[0] else ()
    return ProbeShape(
        answered=bool(turn),
        content=json.dumps(CONTENT) in text,
        reasoning=REASONING in text and isinstance(probe.result, str) and REASONING in probe.result,
        arguments=arguments,
        kind=kind,
        generation=probe.generation,
        follow=probe.setup.follow,
    )


def kind_of(value: Json) -> str:
    kind = json_type(value)
    return {"string": "text", "array": "list"}.get(kind, kind)


def tail_of(probe: Probe) -> str:
    """Return the render from the last question on, or a refusal's reason."""
    if isinstance(probe.result, Refusal):
        return probe.result.reason
    at = probe.result.rfind(USER)
    return probe.result[at + len(USER) :] if at >= 0 else probe.result
