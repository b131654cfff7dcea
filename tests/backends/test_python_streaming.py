"""Chunks of any size, prompts of any shape, and the switches of a generated parser."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.backends.parsers import NAMES, ir_of, joined, parser_of, reported, streamed
from tplc.ir.nodes import PairArguments, Text
from tplc.ir.write import write_message

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": ["integer", "null"]},
                "units": {"type": "array", "items": {"type": "string"}},
            },
        },
    },
}


def call(name: str = "weather", **arguments: Any) -> dict[str, Any]:
    return {"id": "abcdefghi", "type": "function", "function": {"name": name, "arguments": arguments}}


def pieces(name: str) -> list[str]:
    """Return markers of a format, whole and cut in two, and text that means something in some format."""
    ir = ir_of(name)
    texts = [ir.turn.header, *ir.turn.ends, ir.reasoning.start, ir.reasoning.end, ir.content.start, ir.content.end]
    texts += [ir.tools.section_start, ir.tools.separator, ir.tools.section_end]
    layouts = [ir.tools.call, ir.tools.arguments.pair if isinstance(ir.tools.arguments, PairArguments) else ()]
    texts += [item.text for layout in layouts for item in layout if isinstance(item, Text)]
    halves = [half for text in texts for half in (text[: len(text) // 2], text[len(text) // 2 :])]
    common = ['"', "'", "{", "}", "[", "]", "(", ")", ":", ",", "=", "\n", " ", "\\", "<", "weather", "city", "days"]
    common += ['{"city": "Oslo"', "None", "true", "-1.5", "\\u00", "e9", "é", "\ud800", "\0", "text "]
    return sorted({text for text in (*texts, *halves) if text}) + common


@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_chunking_is_the_same(name: str, data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(pieces(name)), max_size=14)))
    tools = data.draw(st.sampled_from([None, [WEATHER]]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    module = parser_of(name)
    whole = module.parse(text, tools=tools)
    assert streamed(module, chunks, tools=tools) == whole
    assert streamed(module, list(text), tools=tools) == whole


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.text(max_size=60))
def test_any_text_is_parsed(name: str, text: str) -> None:
    module = parser_of(name)
    assert streamed(module, list(text)) == module.parse(text)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", NAMES)
def test_a_copy_goes_its_own_way(name: str) -> None:
    ir = ir_of(name)
    calls = {"tool_calls": [call(city="Oslo, Norway", days=3)]} if ir.tools.format != "none" else {}
    text = write_message(ir, {"role": "assistant", "content": None if calls else "Snow.", **calls})
    module = parser_of(name)
    for at in range(len(text)):
        parser = module.StreamParser()
        before = parser.feed(text[:at])
        twin = parser.copy()
        parser.feed("??\n")
        parser.finish()
        after = twin.feed(text[at:]) + twin.finish()
        assert twin.message == module.parse(text)
        assert before is not after


def test_a_prefilled_answer_goes_on() -> None:
    module, ir = parser_of("tagged-json"), ir_of("tagged-json")
    prompt = "…" + ir.turn.header + "Snow is"
    assert module.parse(" cold.", prompt=prompt, continue_final_message=True)["content"] == " cold."
    assert module.parse(" cold.", prompt=prompt, echo=True, continue_final_message=True)["content"] == "Snow is cold."


def test_a_prefilled_call_goes_on() -> None:
    module, ir = parser_of("tagged-json"), ir_of("tagged-json")
    text = write_message(ir, {"role": "assistant", "content": None, "tool_calls": [call(city="Oslo")]})
    at = text.index("slo")
    parser = module.StreamParser(prompt=ir.turn.header + text[:at], continue_final_message=True)
    assert parser.feed(text[at : at + 2]) == [
        {
            "tool_calls": [
                {"index": 0, "id": None, "type": "function", "function": {"name": "weather", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": "sl"}}]},
    ]
    echoed = module.parse(text[at:], prompt=ir.turn.header + text[:at], echo=True, continue_final_message=True)
    assert echoed["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo"}'


def test_reasoning_stays_in_the_content() -> None:
    module, ir = parser_of("tagged-json"), ir_of("tagged-json")
    text = ir.reasoning.start + "Hm." + ir.reasoning.end + "Snow."
    assert module.parse(text, parse_reasoning=False) == {
        "role": "assistant",
        "content": text,
        "reasoning_content": None,
        "tool_calls": [],
    }


def test_reasoning_that_the_prompt_opened_stays_in_the_content() -> None:
    module, ir = parser_of("forced-open"), ir_of("forced-open")
    text = "Hm." + ir.reasoning.end + "Snow."
    assert module.parse(text, parse_reasoning=False)["content"] == ir.turn.prompts[0].head + text


def test_calls_stay_in_the_content() -> None:
    module, ir = parser_of("tagged-name-json"), ir_of("tagged-name-json")
    text = write_message(ir, {"role": "assistant", "content": "So:", "tool_calls": [call(city="Oslo")]})
    assert module.parse(text, parse_tool_calls=False) == {
        "role": "assistant",
        "content": text.removesuffix(ir.turn.ends[0]),
        "reasoning_content": None,
        "tool_calls": [],
    }


@pytest.mark.parametrize("tools", ["weather", [None, 3, {"function": "x"}, {"name": 3}], [{"function": {"name": "f"}}]])
def test_malformed_tools_say_nothing(tools: object) -> None:
    module, ir = parser_of("parameter-tags"), ir_of("parameter-tags")
    text = write_message(ir, {"role": "assistant", "content": None, "tool_calls": [call(days=3)]})
    assert module.parse(text, tools=tools)["tool_calls"][0]["function"]["arguments"] == '{"days": 3}'


def test_a_cut_call_is_incomplete() -> None:
    module, ir = parser_of("tagged-json"), ir_of("tagged-json")
    text = write_message(ir, {"role": "assistant", "content": None, "tool_calls": [call(city="Oslo", units=["C"])]})
    parser = module.StreamParser()
    parser.feed(text[: text.index("C")])
    parser.finish()
    assert parser.incomplete
    assert parser.message["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo", "units": [""]}'
    assert reported(parser) == [(text.index("C"), "the output ends inside a call")]


def test_arguments_stream_as_they_come() -> None:
    for name in ("tagged-json", "parameter-tags", "nested-elements", "string-delimiters"):
        module, ir = parser_of(name), ir_of(name)
        text = write_message(ir, {"role": "assistant", "content": None, "tool_calls": [call(city="a b " * 9)]})
        parser = module.StreamParser(tools=[WEATHER])
        at = text.index("a b a")
        parser.feed(text[: at + 8])
        assert parser.message["tool_calls"][0]["function"]["arguments"].endswith("a b a b "), name


CODE = r'''def path(n: int) -> str:
→"""C:\temp\new\n and "quoted" ('it\'s'), a < b > c, </p>, <f, {"a": [1]}, x = {**y}"""

    if n<1 or n>>2 == 3:
        return "\\" + '\u00e9' + chr(7) + "→tab"··→·
·
    return f"{n!r}: 100 % ~~ | [x](y) `z` «q» ⟨é⟩ 〔ok〕 ^_^ §1 @me"

'''.replace("→", "\t").replace("·", " ")


def messages_of(name: str, text: str) -> list[dict[str, Any]]:
    """Return messages with this text in every place that the format has."""
    ir = ir_of(name)
    messages: list[dict[str, Any]] = [{"role": "assistant", "content": "So: " + text + "done"}]
    if ir.reasoning.start:
        messages.append({"role": "assistant", "reasoning_content": "So: " + text + "done", "content": "Yes."})
    if ir.tools.call:
        calls = [call(text=text, days=3, city="Oslo"), call(city=text)]
        messages += [{"role": "assistant", "content": None, "tool_calls": calls[i : i + 1]} for i in range(2)]
    return messages


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", NAMES)
def test_chunks_of_code(name: str) -> None:
    """Chunks may end in white space, in an escape or in the beginning of a marker, at every place of a text."""
    module = parser_of(name)
    for message in messages_of(name, CODE):
        text = write_message(ir_of(name), message)
        whole = module.StreamParser(tools=[WEATHER])
        whole.feed(text)
        whole.finish()
        for size in (1, 2, 3, 4, 5, 7, 11, 16, 40):
            for first in range(min(size, 5)):
                cuts = [0, *range(first or size, len(text), size), len(text)]
                parser = module.StreamParser(tools=[WEATHER])
                deltas = [delta for i, j in itertools.pairwise(cuts) for delta in parser.feed(text[i:j])]
                assert all(value for delta in deltas for value in delta.values())
                deltas += parser.finish()
                assert joined(deltas) == parser.message == whole.message
                assert reported(parser) == reported(whole)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", NAMES)
def test_every_moment_of_code(name: str) -> None:
    """At any moment, the deltas so far are a prefix of the message, and a copy continues like the original."""
    module = parser_of(name)
    for message in messages_of(name, CODE):
        text = write_message(ir_of(name), message)
        parser = module.StreamParser(tools=[WEATHER])
        said = []
        for i in range(0, len(text), 3):
            said += parser.feed(text[i : i + 3])
            assert joined(said) == parser.message
            twin = parser.copy()
            twin.feed(text[i + 3 :])
            twin.finish()
            assert twin.message == module.parse(text, tools=[WEATHER])
