"""The places of values in an output: values that also occur in the markers around them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.example_case import EXAMPLES, committed_parser, load_examples
from tplc.driver import load_ir
from tplc.explain.spans import spans
from tplc.ir.write import write_parts

NAMES = [example.name for example in load_examples() if example.name != "plain-chat"]


@pytest.mark.parametrize("name", NAMES)
def test_values_made_of_letters_of_markers(name: str) -> None:
    ir = load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))
    markers = "".join(part.text for part in write_parts(ir, _message("Zq", "Zq")) if part.kind == "marker")
    words = sorted({word[:size] for word in re.findall(r"[a-z]+", markers) for size in (1, 2, 9)}) or ["a"]
    tried = 0
    for index, word in enumerate(words):
        # The first letters of the value are in the marker, and the last are not.
        message = _message(f"{word}Zq {word}", f"{word}{words[index - 1]}")
        message["content"] *= not name.startswith("bare-")  # bare calls don't follow text in a line
        text = "".join(part.text for part in write_parts(ir, message))
        stream = committed_parser(name).StreamParser(tools=_tools(message))
        fed = [(at, stream.feed(char)) for at, char in enumerate(text, 1)]
        fed.append((len(text), stream.finish()))
        if (stream.message["content"] or "") != message["content"]:
            continue  # the words mean something else here
        tried += 1
        found = [(span.kind, span.start, span.text) for span in spans(text, fed)]
        places = _places(ir, message)
        values = [one for one in places if one[0] != "name"]
        assert [one for one in found if one in values] == values, text
        names = [one for one in places if one[0] == "name"]
        assert any(one in found for one in names) or any(kind == "id" for kind, _, _ in found), text
    assert tried


def _tools(message: dict[str, Any]) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"at": {"type": "string"}}}
    name = message["tool_calls"][0]["function"]["name"]
    return [{"type": "function", "function": {"name": name, "parameters": schema}}]


def _message(value: str, name: str) -> dict[str, Any]:
    call = {"id": "q0q0q0q0q", "type": "function", "function": {"name": name, "arguments": {"at": value}}}
    return {"role": "assistant", "reasoning_content": value, "content": value, "tool_calls": [call]}


def _places(ir: Any, message: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Return the reasoning, the content and the name, with their places."""
    found, at = [], 0
    for part in write_parts(ir, message):
        if part.text and part.kind in ("reasoning", "content", "name"):
            found.append((part.kind, at, part.text))
        at += len(part.text)
    return found


@pytest.mark.parametrize("written", ["getWeather", "GET-weather", "get_weather"])
def test_a_name_that_was_corrected(written: str) -> None:
    text = f'<fn>\n{{"name": "{written}", "arguments": {{"at": "Get weather"}}}}\n</fn><~/~>\n'
    message = _message("x", "get_weather")
    stream = committed_parser("tagged-json").StreamParser(tools=_tools(message))
    fed = [(at, stream.feed(char)) for at, char in enumerate(text, 1)]
    assert [(span.kind, span.text) for span in spans(text, fed)] == [
        ("marker", '<fn>\n{"name": "'),
        ("name", written),
        ("marker", '", "arguments": '),
        ("arguments", '{"at": "Get weather"}'),
        ("marker", "}\n</fn><~/~>\n"),
    ]
