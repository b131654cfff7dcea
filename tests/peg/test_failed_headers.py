"""Headers whose recipient is no tool: parser, chunks and PEG agree, and the header stays text up to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.property.every_reader import EveryReader
from tplc.ir.serialize import loads

CHANNELS = Path(__file__).parent.parent.parent / "examples" / "channels" / "out" / "ir.json"


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("{to}fn. you{channel}reply{body}Hello{done}", "{to}fn. you{channel}reply{body}Hello"),
        ("{to}fn. you{channel}work{body}not JSON", "{to}fn. you{channel}work{body}not JSON"),
        ("{to}fn. a b{stop}{start}assistant{channel}reply{body}Hello{done}", "{to}fn. a bHello"),
    ],
)
def test_a_recipient_that_is_no_tool(output: str, content: str) -> None:
    reader = EveryReader(loads(CHANNELS.read_text(encoding="utf-8")))
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    for tools in (None, [tool]):
        message = reader.parse(output, tools=tools)
        assert (message["content"], message["tool_calls"]) == (content, [])
    assert reader.differ == []
