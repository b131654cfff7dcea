"""Verification of what only examples show: the pairs themselves, and variations of them that the IR writes.

text → artifact → message'    equal to the pair's message?
message of the battery → IR → text → artifact → message'    equal?
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tplc.examples import Example
from tplc.ir.nodes import PairArguments, TemplateIR, Verification
from tplc.ir.write import write_message
from tplc.verify.artifact import Artifact, load_artifact
from tplc.verify.battery import Case, battery
from tplc.verify.compare import as_case, difference, with_texts
from tplc.verify.conversation import fitting_tools

_CALLS = "calls"  # what the report lists as not rendered: then they are learned from the pairs
_TWO = "a call with two arguments"  # without one, the text between arguments is unknown


def verify_examples(
    ir: TemplateIR, artifact: Artifact | str, examples: Sequence[Example], result: Verification
) -> Verification:
    """Return `result` with the examples and their variations included."""
    parser = load_artifact(artifact) if isinstance(artifact, str) else artifact
    failures = list(result.failures)
    passed = total = 0
    for index, example in enumerate(examples):
        calls = tuple(replace(call, id=None) for call in example.calls)
        case = Case(f"example {index + 1}", example.reasoning, example.content, calls)
        total, passed = total + 1, passed + _passes(ir, parser, case, example.text, failures)
    varied: list[str] = []
    for case in battery(ir):
        if ir.tools.format != "none" and case.calls and not case.reasoning:
            text = write_message(ir, _message(case))
            total, passed = total + 1, passed + _passes(ir, parser, case, text, varied)
    if isinstance(ir.tools.arguments, PairArguments) and _CALLS in result.not_shown:
        # How a format reads that lacks what no pair shows isn't of interest.
        lacking = [*_not_in_pairs(examples)]
        varied = lacking if lacking and (varied or _TWO in lacking[0]) else varied
    failures += varied
    return replace(
        result,
        verified=passed == total and not failures and bool(total),
        messages=result.messages + total,
        passed=result.passed + passed,
        failures=tuple(failures),
    )


def _not_in_pairs(examples: Sequence[Example]) -> Iterator[str]:
    """Yield what no pair shows of arguments: the format was learned without it, which is a likely cause of failures."""
    calls = [call for example in examples for call in example.calls]
    values = [value for call in calls for _, value in call.arguments]
    lacking = {
        _TWO: not any(len(call.arguments) > 1 for call in calls),
        "a value that is text": not any(isinstance(value, str) for value in values),
        "a value that isn't text": all(isinstance(value, str) for value in values),
    }
    for what, is_lacking in lacking.items():
        if is_lacking:
            yield f"cause: no example pair shows {what}; add one to the file of --example"


def _passes(ir: TemplateIR, parser: Artifact, case: Case, text: str, failures: list[str]) -> bool:
    message = parser.parse(text, tools=fitting_tools(case), prompt=ir.turn.header)
    found = difference(ir, case, message)
    if found is None:
        return True
    read = as_case(case.title, message)
    # No template renders it: the format's own text of the message that was read must be the identical one.
    if read is not None and write_message(ir, _message(with_texts(ir, case, read))) == text:
        return True
    failures.append(f"{case.title}: {found}; written {json.dumps(text, ensure_ascii=False)[:400]}")
    return False


def _message(case: Case) -> dict[str, Any]:
    calls = [{"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in case.calls]
    return {"content": case.content, "reasoning_content": case.reasoning, "tool_calls": calls}
