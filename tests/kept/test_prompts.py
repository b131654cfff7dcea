"""Text of others in the prompt affects no parser."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.backends.parsers import ir_of, parser_for
from tests.example_case import EXAMPLES, load_example
from tests.fuzz.formats import formats
from tests.kept.poison import Reader, steered
from tplc.backends.peg.engine import PegEngine
from tplc.driver import open_renderer
from tplc.serving import ChatTemplate

NAMES = [form.name for form in formats()]


@pytest.mark.sweep(9)
@pytest.mark.parametrize("name", NAMES)
def test_markers_in_a_prompt_steer_nothing(name: str) -> None:
    example = load_example(EXAMPLES / name)
    ir = ir_of(name)
    parser, engine = parser_for(ir), PegEngine(ir)

    def parse(text: str, **options: Any) -> object:
        message = parser.parse(text, **options)
        return message if engine.parse(text, **options) == message else "the engines differ"

    with open_renderer(example.source, special_tokens=example.special_tokens) as renderer:
        assert list(steered(Reader(ir, renderer, parse), cuts=6)) == []


@pytest.mark.parametrize("name", ["thinking-parts", "typed-attributes", "tagged-json"])
def test_markers_in_a_result_do_not_steer_what_is_continued(name: str) -> None:
    example = load_example(EXAMPLES / name)
    ir = ir_of(name)
    parser = parser_for(ir)
    poison = ir.turn.anchors[0] + ir.reasoning.start
    called = {"id": "callid000", "type": "function", "function": {"name": "look", "arguments": '{"q": "Oslo"}'}}
    messages = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "tool", "name": "look", "tool_call_id": "callid000", "content": poison},
        {"role": "assistant", "content": "Well, I"},
    ]
    with ChatTemplate(example.source, ir=ir, special_tokens=example.special_tokens) as template:
        ready = template.prepare({"messages": messages, "continue_final_message": True})
    assert poison in ready.prompt
    message = parser.parse(" see.", **ready.parser, echo=True)
    assert (message["content"], message["reasoning_content"], message["tool_calls"]) == ("Well, I see.", None, [])


def test_a_prompt_is_looked_at_in_linear_time() -> None:
    ir = ir_of("tagged-json")
    parser = parser_for(ir)
    anchor = ir.turn.anchors[0]
    for prompt in (anchor * 10_000, (anchor + "<musing>x</musing>") * 10_000):
        started = time.process_time()
        for continued in (False, True):
            parser.parse("Yes.", prompt=prompt, continue_final_message=continued)
        assert time.process_time() - started < 5


def test_more_than_a_generation_prompt_counts_only_where_an_answer_is_continued() -> None:
    parser = parser_for(ir_of("tagged-json"))
    prompt = '<~user~>\nHello.<~/~>\n<~assistant~>\n<fn>\n{"name": "look", "arguments": {"q": "Os'
    rest = 'lo"}}'
    assert parser.parse(rest, prompt=prompt) == {
        "role": "assistant",
        "content": 'lo"}}',
        "reasoning_content": None,
        "tool_calls": [],
    }
    message = parser.parse(rest, prompt=prompt, continue_final_message=True, echo=True)
    assert message["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"q": "Oslo"}'}
