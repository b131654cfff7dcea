"""Headers whose recipient is no tool, and openers that no call follows: parser, chunks and PEG agree, and both stay
text up to their end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.property.every_reader import EveryReader
from tplc.ir.serialize import loads

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def reader_of(example: str) -> EveryReader:
    return EveryReader(loads((EXAMPLES / example / "out" / "ir.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("{to}fn. you{channel}reply{body}Hello{done}", "{to}fn. you{channel}reply{body}Hello"),
        ("{to}fn. you{channel}work{body}not JSON", "{to}fn. you{channel}work{body}not JSON"),
        ("{to}fn. a b{stop}{start}assistant{channel}reply{body}Hello{done}", "{to}fn. a bHello"),
    ],
)
def test_a_recipient_that_is_no_tool(output: str, content: str) -> None:
    reader = reader_of("channels")
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    for tools in (None, [tool]):
        message = reader.parse(output, tools=tools)
        assert (message["content"], message["tool_calls"]) == (content, [])
    assert reader.differ == []


@pytest.mark.parametrize("space", ["", "\n"], ids=["at once", "after a line end"])
@pytest.mark.parametrize("text", ["@@st,ore {}", "@@look(", "@@look{x}", "@@look [1] @@\nand on"])
def test_reasoning_that_begins_like_a_call(space: str, text: str) -> None:
    """Where the prompt opens reasoning, it ends only at what begins like a call if no tools are given."""
    reader = reader_of("forced-open")
    for closer, content in (("</sketch>Yes.", "Yes."), ("", None)):
        message = reader.parse(f"{space}{text}{closer}>.<", tools=None)
        assert (message["reasoning_content"].lstrip(), message["content"], message["tool_calls"]) == (text, content, [])
    assert reader.differ == []
