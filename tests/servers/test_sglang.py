"""Plug-ins in SGLang: driven as the server does it, whole and in chunks, against our own parser."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from tests.servers.answers import CUTS, NAMES, Answer, answers
from tests.servers.plugins import plugin_module

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
