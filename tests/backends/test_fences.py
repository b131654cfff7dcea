"""A Markdown fence around calls is dropped, for any language that it names."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import NAMES, committed_ir, ir_of, parser_of, streamed
from tests.learn.test_inversions import close, name, template_with
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template, generate
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.lower import lower
from tplc.lower.interpret import interpret
from tplc.verify.artifact import load_module

# Calls that could be code, calls whose header belongs to the message, and an answer that begins inside the reasoning.
TEXT_IN_FENCES = {"bare-array", "bare-json", "bare-keyword-calls", "pretty-json", "words-in-calls"}
OTHERS = {"addressed-parts", "recipient-lines", "string-delimiters", "forced-open"}
FENCED = [name for name in NAMES if committed_ir(name).tools.format != "none"]
FENCED = [name for name in FENCED if name not in TEXT_IN_FENCES | OTHERS]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_it",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}},
    },
}
CALL = {"id": "call00001", "type": "function", "function": {"name": "get_it", "arguments": {"city": "Oslo", "n": 12}}}


@pytest.mark.sweep(74)
@pytest.mark.parametrize("is_ended", [True, False])
@pytest.mark.parametrize("language", ["", "json", "tool_code", "XML", "c-sharp"])
@pytest.mark.parametrize("name", FENCED)
def test_a_fence_around_a_call(name: str, language: str, is_ended: bool) -> None:
    ir, parser = ir_of(name), parser_of(name)
    turn = write_message(ir, {"role": "assistant", "content": None, "tool_calls": [CALL]})
    end = next((end for end in ir.turn.ends if turn.endswith(end)), "")
    text = f"```{language}\n{turn.removesuffix(end).strip()}\n```{end if is_ended else ''}"
    stream = parser.StreamParser(tools=[TOOL])
    stream.feed(text)
    stream.finish()
    assert stream.message == parser.parse(turn, tools=[TOOL])
    assert not stream.incomplete
    assert streamed(parser, list(text), tools=[TOOL]) == stream.message


# Headers that contain a fence, each with the language that the template names there.
HEADERS = {"json": name("<call ", ">\\n```json\\n"), "tool_code": name("\\n### Call: ", "\\n```tool_code\\n")}


@cache
def format_of(language: str) -> tuple[TemplateIR, ModuleType, PegEngine]:
    call = HEADERS[language] + "{{- c.function.arguments | tojson }}" + close("\\n```\\n")
    ir = compile_template(template_with(call), name="t")
    assert ir.verification.failures == ()
    return ir, load_module(generate(ir, "python")), PegEngine(ir)


@pytest.mark.parametrize("written", ["", "json", "JSON", "tool_code", "c-sharp"])
@pytest.mark.parametrize("language", HEADERS)
def test_a_fence_in_a_header_may_name_any_language(language: str, written: str) -> None:
    ir, parser, engine = format_of(language)
    for calls in ([CALL], [CALL, CALL]):
        turn = write_message(ir, {"role": "assistant", "content": "I look.", "tool_calls": calls})
        assert f"```{language}\n" in turn
        text = turn.replace(f"```{language}\n", f"```{written}\n")
        expected = parser.parse(turn, tools=[TOOL])
        assert len(expected["tool_calls"]) == len(calls)
        for tools in ([TOOL], None):
            assert streamed(parser, list(text), tools=tools) == expected
            assert parser.parse(text, tools=tools) == expected
            assert engine.parse(text, tools=tools) == expected
        if len(calls) == 1:
            found: Any = interpret(lower(ir), text).message["tool_calls"]
            assert [call["function"] for call in found] == [CALL["function"]]


def test_a_fence_without_a_newline_is_no_part_of_a_header() -> None:
    _, parser, _ = format_of("json")
    for text in ("<call get_it>\n```a b c\n{}\n```\n<|e|>", "<call get_it>\n```" + "a" * 40 + "\n{}\n```\n<|e|>"):
        stream = parser.StreamParser(tools=[TOOL])
        stream.feed(text)
        stream.finish()
        assert streamed(parser, list(text), tools=[TOOL]) == stream.message
        assert stream.diagnostics != []


def test_a_fence_around_the_arguments_of_a_call_in_a_fence() -> None:
    call = name("```call ", "\\n") + "{{- c.function.arguments | tojson }}" + close("\\n```\\n")
    ir = compile_template(template_with(call), name="t")
    parser = load_module(generate(ir, "python"))
    for text in ("```call get_it\n```json\n%s\n```\n```\n<|e|>", "```call get_it\n```\n%s\n```\n<|e|>"):
        output = text % '{"city": "Oslo", "n": 12}'
        message = parser.parse(output, tools=[TOOL])
        assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"city": "Oslo", "n": 12}']
        assert message["content"] is None
        assert streamed(parser, list(output), tools=[TOOL]) == message == PegEngine(ir).parse(output, tools=[TOOL])


def test_equals_for_the_colon_before_a_key() -> None:
    pair = "{{- '[arg:' + k + ']' + v | string + '[/arg]\\n' }}"
    pairs = "{%- for k, v in c.function.arguments.items() %}" + pair + "{%- endfor %}"
    ir = compile_template(template_with(name("[fn:", "]\\n") + pairs + close("[/fn]\\n")), name="t")
    parser = load_module(generate(ir, "python"))
    output = "[fn:get_it]\n[arg=city]Oslo[/arg]\n[arg=n]12[/arg]\n[/fn]\n<|e|>"
    message = parser.parse(output, tools=[TOOL])
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"city": "Oslo", "n": 12}']
    assert streamed(parser, list(output), tools=[TOOL]) == message == PegEngine(ir).parse(output, tools=[TOOL])


CODE = {
    "with a language": "Look:\n```python\nx = 1\n```",
    "without one": "```\nx = 1\n```",
    "several": "```js\n1\n```\nand\n```\n2\n```",
    "a fence in a fence": "```md\n```py\n1\n```",
    "indented": "- so:\n  ```\n  x\n  ```",
    "more text": "```py\n1\n``` is it",
    "inside a line": "Write ``` before it",
}


@pytest.mark.sweep(11)
@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("name", FENCED)
def test_code_at_the_end_of_content_keeps_its_fence(name: str, code: str) -> None:
    ir = ir_of(name)
    turn = write_message(ir, {"role": "assistant", "content": CODE[code], "tool_calls": [CALL]})
    if CODE[code] not in turn or parser_of(name).parse(turn)["tool_calls"] == []:
        pytest.skip("the template writes no content before calls, or the prompt opens reasoning that calls don't end")
    parser, engine = parser_of(name), PegEngine(ir)
    for tools in (None, [TOOL]):
        message = parser.parse(turn, tools=tools)
        # Some of these formats have reasoning that the prompt opens.
        assert (message["content"] or message["reasoning_content"] or "").rstrip() == CODE[code]
        assert len(message["tool_calls"]) == 1
        for chunks in ([*turn], [turn[at : at + 7] for at in range(0, len(turn), 7)]):
            assert streamed(parser, chunks, tools=tools) == message
        assert engine.parse(turn, tools=tools) == message


def test_a_fence_after_code_is_around_the_call() -> None:
    parser = parser_of("tagged-json")
    turn = write_message(ir_of("tagged-json"), {"role": "assistant", "content": None, "tool_calls": [CALL]}).strip()
    for before in ("```py\n1\n```\n```\n", "```py\n1\n```\nSo:\n```json\n"):
        message = parser.parse(before + turn + "\n```", tools=[TOOL])
        assert message["content"].strip().endswith(("```", "So:"))
        assert len(message["tool_calls"]) == 1
        assert streamed(parser, [*(before + turn + "\n```")], tools=[TOOL]) == message
