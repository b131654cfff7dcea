"""An explanation as JSON, in the form that `schemas/explanation.schema.json` describes.

Comparison("R1", "an answer, without and with reasoning", …)
→  {"name": "R1", …, "first": {"messages": […], …, "render": "…"}, "second": {…}, "concluded": ["reasoning.start = …"]}

What a conversation contains is what `tplc render` takes, so each render can be made again.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tplc.explain.comparisons import Comparison, tail_of
from tplc.explain.explain import AnsweredQuestion, Explanation
from tplc.explain.marks import Where, marks
from tplc.ir.nodes import Json
from tplc.learn.probe import Probe, Refusal, tool_list

_IN: dict[Where, str] = {"same": "both", "first": "first", "second": "second"}


def to_dict(explanation: Explanation, *, whole: bool) -> dict[str, Json]:
    """Return the explanation as JSON.  `whole`: include all questions, not only those that are compared."""
    return {
        "template": explanation.name,
        "refused": explanation.refused or None,
        "renders": explanation.renders,
        "questions": [_question(question, whole=whole) for question in explanation.questions],
        "repairs": [asdict(repair) for repair in explanation.repairs],
    }


def _question(question: AnsweredQuestion, *, whole: bool) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "question": question.text,
        "answer": list(question.answer),
        "comparisons": [_comparison(comparison) for comparison in question.comparisons],
    }
    return {**fields, "asked": [_probe(probe) for probe in question.probes]} if whole else fields


def _comparison(comparison: Comparison) -> dict[str, Json]:
    differences = marks(tail_of(comparison.first), tail_of(comparison.second))
    return {
        "name": comparison.name,
        "title": comparison.title,
        "first": _probe(comparison.first),
        "second": _probe(comparison.second),
        "differences": [{"in": _IN[where], "text": text} for where, text in differences],
        "concluded": list(comparison.concluded),
    }


def _probe(probe: Probe) -> dict[str, Json]:
    refused = probe.result.reason if isinstance(probe.result, Refusal) else None
    messages: Any = list(probe.messages)
    tools: Any = tool_list(probe.setup, probe.calls)
    return {
        "messages": messages,
        "tools": tools,
        "add_generation_prompt": probe.generation,
        "variables": dict(probe.setup.context),
        "render": probe.result if isinstance(probe.result, str) else None,
        "refused": refused,
    }
