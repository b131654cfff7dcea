"""Text directly after calls, and reasoning that calls are written in: nothing of it is dropped."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CALL, CONTENT, REASONING, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message

CALLS = {
    "an object": CALL,
    "an object with its name": "{{- '<t>' ~ ({'name': c.function.name, 'arguments': c.function.arguments} | tojson)"
    " ~ '</t>' }}",
    "elements": "{{- '<do ' ~ c.function.name ~ '>' }}"
    + pairs("{{- '<' ~ k ~ '>' ~ (v if v is string else v | tojson) ~ '</' ~ k ~ '>' }}")
    + "{{- '</do>' }}",
    "keywords": "{{- '<|f|>' ~ c.function.name ~ '(' }}"
    + pairs("{{- ', ' if not loop.first }}{{- k ~ '=' ~ (v | tojson) }}")
    + "{{- ')<|/f|>' }}",
}
TEXTS = (". So", "> it is", "} x", "] x", "```\nx\n```", '" x', "{")
THOUGHT = (
    "{%- if m.reasoning_content or m.tool_calls %}{{- '<think>' ~ (m.reasoning_content or '') }}@"
    "{{- '</think>' }}{%- endif %}"
)
LOOK = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {"q": "a b"}}}
TOOL = {"type": "object", "properties": {"q": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "look", "description": "It.", "parameters": TOOL}}]


@cache
def learned(turn: str) -> tuple[TemplateIR, EveryReader]:
    ir = compile_template(source_of(turn), name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    return ir, EveryReader(ir)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("call", CALLS)
def test_content_after_calls(call: str) -> None:
    ir, readers = learned(REASONING + calls(CALLS[call]) + CONTENT)
    wrong = []
    for text, made, tools in product(TEXTS, ([LOOK], [LOOK, LOOK]), (TOOLS, None)):
        turn = write_message(ir, {"role": "assistant", "content": text, "tool_calls": made})
        message = readers.parse(turn, tools=tools)
        if (message["content"], len(message["tool_calls"])) != (text, len(made)):
            wrong.append((turn, message["content"]))
    assert (wrong, readers.differ) == ([], [])


@pytest.mark.sweep(3)
@pytest.mark.parametrize("call", CALLS)
def test_reasoning_with_calls_in_it(call: str) -> None:
    ir, readers = learned(THOUGHT.replace("@", calls(CALLS[call])) + CONTENT)
    wrong = []
    for text, tools in product(("<b>x</b> y", "<i>", "< 2", "(a) b", "{x} y", "[1]", "f(1)", "<|x|>"), (TOOLS, None)):
        for content in ("So.", "<b>So</b>"):
            turn = f"<think>{text}</think>{content}<|e|>"
            message = readers.parse(turn, tools=tools)
            if (message["reasoning_content"], message["content"], message["tool_calls"]) != (text, content, []):
                wrong.append((turn, message))
        turn = write_message(ir, {"role": "assistant", "reasoning_content": text, "tool_calls": [LOOK]})
        message = readers.parse(turn, tools=tools)
        if (message["reasoning_content"], message["content"], len(message["tool_calls"])) != (text, None, 1):
            wrong.append((turn, message))
    assert (wrong, readers.differ) == ([], [])
