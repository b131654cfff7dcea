"""Plug-ins in SGLang: driven as the server does it, whole and in chunks, against our own parser."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from tests.servers.answers import CUTS, LOOK, NAMES, Answer, answers
from tests.servers.plugins import plugin_module
from tests.servers.tokens import tiny_tokenizer

if importlib.util.find_spec("sglang") is None:
    pytest.skip("SGLang is not there: make servers", allow_module_level=True)

Read = tuple[str, str, list[tuple[str, str]]]


@cache
def registered(name: str) -> Any:
    plugin = plugin_module(name, "sglang")
    plugin.register()
    return plugin


def reasoning_parser(name: str, answer: Answer, *, stream: bool) -> Any:
    """As the server makes it: it tells whether the model is to reason, and not the prompt."""
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    plugin = registered(name)
    if not plugin.PARSES_REASONING:
        return None
    head, heads = answer.head(name), plugin.StreamParser.HEADS
    switched = any(map(plugin.reasoning_open, heads))
    forced = plugin.reasoning_open(head) if switched else not plugin.reasoning_ended(head)
    return ReasoningParser(name, stream, forced, tool_call_parser_active=plugin.PARSES_CALLS)


def call_parser(name: str, answer: Answer) -> Any:
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    if not registered(name).PARSES_CALLS:
        return None
    return FunctionCallParser([Tool(**tool) for tool in answer.tools], name)


def whole(name: str, answer: Answer) -> Read:
    reasoning, text, calls = "", answer.text, []
    if (parser := reasoning_parser(name, answer, stream=False)) is not None:
        reasoning, text = parser.parse_non_stream(text)
    if (parser := call_parser(name, answer)) is not None and parser.has_tool_call(text):
        text, calls = parser.parse_non_stream(text)
    return reasoning, text, [(call.name, call.parameters) for call in calls]


def streamed(name: str, answer: Answer, size: int) -> Read:
    first, second = reasoning_parser(name, answer, stream=True), call_parser(name, answer)
    reasoning = content = ""
    found: list[Any] = []
    for chunk, last in answer.chunks(size):
        if first is not None:
            thought, chunk = first.parse_stream_chunk(chunk)
            if last:
                more, rest = first.parse_stream_end()
                thought, chunk = thought + more, chunk + rest
            reasoning += thought
        if second is not None:
            chunk, calls = second.parse_stream_chunk(chunk)
            if last:
                rest, more = second.parse_stream_end()
                chunk, calls = chunk + rest, [*calls, *more]
            found += calls
        content += chunk
    calls: dict[int, tuple[str, str]] = {}
    for call in found:
        name, arguments = calls.get(call.tool_index, ("", ""))
        calls[call.tool_index] = (name + (call.name or ""), arguments + call.parameters)
    if second is not None:
        sent = [call["arguments"] for call in second.detector.prev_tool_call_arr]
        assert sent == second.detector.streamed_args_for_tool == [arguments for _, arguments in calls.values()]
    return reasoning, content, list(calls.values())


def ours(message: Mapping[str, Any]) -> Read:
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
    return message["reasoning_content"] or "", message["content"] or "", calls


@pytest.mark.parametrize("name", NAMES)
def test_reads_as_our_parser_does(name: str) -> None:
    for answer in answers(name):
        wanted = ours(answer.message)
        assert whole(name, answer) == wanted, str(answer)
        for size in CUTS:
            assert streamed(name, answer, size) == wanted, (size, str(answer))
    assert len(answers(name)) > 20


THOUGHT = "<musing>\nHm.\n</musing>\n\n"
CALL = '<fn>\n{"name": "look", "arguments": {}}\n</fn>'


def reasoning(text: str, size: int = 5, **options: Any) -> list[tuple[str, str]]:
    """What a reasoning parser sends of chunks: reasoning and the rest."""
    parser = registered("tagged-json").FormatReasoningDetector(**options)
    results = [parser.parse_streaming_increment(text[at : at + size]) for at in range(0, len(text), size)]
    results.append(parser.finish())
    return [(one.reasoning_text, one.normal_text) for one in results if one.reasoning_text or one.normal_text]


def test_what_follows_the_reasoning_is_handed_on_as_it_came() -> None:
    found = reasoning(THOUGHT + "Hi.\n" + CALL + "<~/~>\n", tool_call_parser_active=True)
    assert "".join(rest for _, rest in found) == "Hi.\n" + CALL + "<~/~>\n"


def test_without_a_parser_of_calls_the_rest_is_the_content() -> None:
    assert "".join(rest for _, rest in reasoning(THOUGHT + "Hi.<~/~>\n")) == "Hi."


def test_reasoning_as_a_whole() -> None:
    assert reasoning(THOUGHT + "Hi.", 50, stream_reasoning=False) == [("Hm.", "Hi.")]
    assert reasoning("<musing>\nHm", stream_reasoning=False) == [("Hm", "")]


def test_reasoning_that_has_to_stand_for_the_content() -> None:
    assert reasoning(THOUGHT, force_nonempty_content=True) == [("", "Hm.")]
    assert reasoning(THOUGHT + "Hi.", 50, force_nonempty_content=True) == [("Hm.", "Hi.")]


def test_reasoning_that_comes_again_stays_in_the_content() -> None:
    text = THOUGHT + "So. <musing>\nOr?\n</musing>\n\nYes." + CALL
    answer = Answer(text, "<~assistant~>\n", (LOOK,), {})
    wanted = ("Hm.", "So. <musing>\nOr?\n</musing>\n\nYes.", [("look", "{}")])
    assert whole("tagged-json", answer) == wanted
    assert {size: streamed("tagged-json", answer, size) for size in CUTS} == dict.fromkeys(CUTS, wanted)


def test_an_answer_that_is_continued() -> None:
    options = {"continue_final_message": True, "previous_content": "<musing>\nWell", "tool_call_parser_active": True}
    found = reasoning(", yes.\n</musing>\n\nHi.", **options)
    assert ("".join(thought for thought, _ in found), "".join(rest for _, rest in found)) == (", yes.", "Hi.")


def test_both_names_are_choices_once_registered() -> None:
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    plugin = registered("tagged-json")
    assert FunctionCallParser.ToolCallParserEnum["tagged-json"] is plugin.FormatDetector
    assert ReasoningParser.DetectorMap["tagged-json"] is plugin.FormatReasoningDetector


def test_whether_prompts_reason_is_said_in_the_servers_words() -> None:
    for name, opened in (("forced-open", True), ("tagged-json", False)):
        parser = registered(name).FormatReasoningDetector()
        assert (parser.think_start_token, parser.think_end_token) == registered(name).StreamParser.AROUND_REASONING[
            0
        ] + (registered(name).StreamParser.AROUND_REASONING[1])
        ids = parser.get_self_opened_think_start_token_ids(tiny_tokenizer())
        assert (ids is None) == opened
