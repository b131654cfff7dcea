"""Turns of named lines: a thought, then either an action with its input or a final answer.

The line break between an open thought and the action, or the end of the turn, is the template's.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import streamed
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template, generate
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.lower import lower
from tplc.lower.interpret import interpret
from tplc.verify.artifact import load_module

TEMPLATE = (
    "{% for m in messages %}{{ '<|' ~ m.role ~ '|>' }}"
    "{% if m.role != 'assistant' %}{{ m.content }}{% else %}"
    "{% if m.reasoning_content %}{{ 'THOUGHT' ~ m.reasoning_content ~ '\n' }}{% endif %}"
    "{% for c in m.tool_calls or [] %}CALL{% endfor %}"
    "{% if WHEN %}{{ 'ANSWER' ~ (m.content or '') }}{% endif %}"
    "{% endif %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
INPUT = "{{ 'Action: ' ~ c.function.name ~ '\nAction Input: ' ~ c.function.arguments | tojson ~ '\n' }}"
LINES = (
    "{{ 'Act ' ~ c.function.name ~ ':\n' }}{% for k, v in c.function.arguments.items() %}"
    "{{ '- ' ~ k ~ ': ' ~ v | tojson ~ '\n' }}{% endfor %}"
)
BLOCK = "{{ 'Action:\n```json\n' ~ {'action': c.function.name, 'input': c.function.arguments} | tojson ~ '\n```\n' }}"
FORMATS = {
    "action and input": ("Thought: ", INPUT, "Final Answer: ", "not m.tool_calls"),
    "answers left out if empty": ("Thought: ", INPUT, "Final Answer: ", "m.content"),
    "an object in a fence": ("Thought: ", BLOCK, "Final Answer: ", "not m.tool_calls"),
    "lines of arguments": ("I think: ", LINES, "I say: ", "not m.tool_calls"),
    "brackets": (
        "[thought] ",
        INPUT.replace("Action: ", "[act] ").replace("Action Input: ", "[with] "),
        "[say] ",
        "true",
    ),
}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"q": {}}}}}]
CALL = {"id": None, "type": "function", "function": {"name": "look", "arguments": '{"q": "a"}'}}
THOUGHT = "First this.\nThen:\n\nthat"


@cache
def format_of(kind: str) -> tuple[TemplateIR, ModuleType, PegEngine]:
    thought, call, answer, when = FORMATS[kind]
    source = TEMPLATE.replace("THOUGHT", thought).replace("CALL", call).replace("ANSWER", answer).replace("WHEN", when)
    ir = compile_template(source, name="lines.jinja")
    return ir, load_module(generate(ir, "python")), PegEngine(ir)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", FORMATS)
def test_thoughts_end_where_the_template_ends_them(kind: str) -> None:
    ir, parser, engine = format_of(kind)
    assert ir.verification.failures == ()
    messages: list[dict[str, Any]] = [
        {"content": "Yes.", "reasoning_content": THOUGHT},
        {"content": "", "reasoning_content": THOUGHT, "tool_calls": [CALL]},
        {"content": "", "reasoning_content": THOUGHT, "tool_calls": [CALL, CALL]},
        {"content": "", "tool_calls": [CALL]},
        {"content": "Yes.\n\nNo."},
    ]
    for message in messages:
        output = write_message(ir, message)
        found = parser.parse(output, tools=TOOLS)
        wanted = message["content"], message.get("reasoning_content", ""), len(message.get("tool_calls", ()))
        assert (found["content"] or "", found["reasoning_content"] or "", len(found["tool_calls"])) == wanted
        for text in (output, output[:-3], output.replace("\n", "\n\n")):
            whole = parser.parse(text, tools=TOOLS)
            assert engine.parse(text, tools=TOOLS) == whole
            for size in (1, 3):
                assert (
                    streamed(parser, [text[at : at + size] for at in range(0, len(text), size)], tools=TOOLS) == whole
                )
            if text.endswith(output[-3:]):  # the interpreter knows no truncated markers
                assert interpret(lower(ir), text, parse_tool_calls=False).message == parser.parse(
                    text, parse_tool_calls=False
                )


def test_a_thought_alone_ends_with_the_turn() -> None:
    ir, parser, engine = format_of("answers left out if empty")
    output = f"Thought: {THOUGHT}\n<|end|>"
    assert write_message(ir, {"reasoning_content": THOUGHT}) == output
    found = parser.parse(output)
    assert (found["content"], found["reasoning_content"]) == (None, THOUGHT)
    assert engine.parse(output) == found
