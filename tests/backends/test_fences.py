"""A Markdown fence around calls is dropped, for any language that it names."""

from __future__ import annotations

import pytest

from tests.backends.parsers import NAMES, committed_ir, ir_of, parser_of, streamed
from tplc.ir.write import write_message

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


@pytest.mark.sweep(6)
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
