"""Text after the end of the turn is never content: it is `trailing`, with a diagnostic, in parser and PEG."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.backends.parsers import ir_of, parser_for, reported, streamed
from tplc.backends.peg.engine import PegEngine

RESULT = "{start}fn{to}assistant{channel}work{body}12{stop}"
AFTER = "text after the end of the turn"
CASES = [
    ("tagged-json", "Hi.<~/~>\n", "More.", "Hi.", 0),
    ("tagged-json", "Hi.<~/~>\n", "<~/~>\n", "Hi.", 0),
    ("tagged-json", "Hi.<~/~>\n  ", "<~user~>\nAnd?<~/~>\n<~assistant~>\nWell.<~/~>\n", "Hi.", 0),
    ("tagged-json", '<fn>\n{"name": "f", "arguments": {}}\n</fn><~/~>\n', "<~tool~>\n12<~/~>\n", None, 1),
    ("tagged-json", "<musing>\nHm.<~/~>\n", "</musing>\n\nHi.", None, 0),
    ("tagged-json", "Hi.<~/~>\n", 'Look: <fn>\n{"name": "f", "arguments": {}}\n</fn>', "Hi.", 0),
    ("channels", "{channel}reply{body}Hi.{done}", "{start}user{body}And?{stop}", "Hi.", 0),
    ("channels", "{channel}reply{body}Hi.{done}", "{done}", "Hi.", 0),
    ("plain-chat", "Hi.\n--- over ---\n", "--- user ---\nAnd?", "Hi.", 0),
]


def read(name: str, text: str, **options: Any) -> Any:
    """Return the parser after the text: the same in one chunk and in chunks of a character, and for the PEG."""
    ir = ir_of(name)
    module = parser_for(ir)
    assert streamed(module, list(text), **options) == streamed(module, [text], **options)
    parser, other = module.StreamParser(**options), module.StreamParser(**options)
    for char in text:
        parser.feed(char)
    other.feed(text)
    parser.finish()
    other.finish()
    assert (other.trailing, reported(other)) == (parser.trailing, reported(parser))
    by_peg = PegEngine(ir).read(text, **options)
    assert (by_peg.message, by_peg.trailing) == (parser.message, parser.trailing)
    assert by_peg.incomplete == parser.incomplete
    return parser


@pytest.mark.parametrize(("name", "turn", "after", "content", "calls"), CASES)
def test_text_after_the_end_is_no_content(name: str, turn: str, after: str, content: str | None, calls: int) -> None:
    parser = read(name, turn + after)
    assert (parser.message["content"], len(parser.message["tool_calls"])) == (content, calls)
    assert parser.trailing == after
    assert reported(parser)[-1] == (len(turn), AFTER)
    assert not parser.incomplete


@pytest.mark.parametrize("header", ["", "<~assistant~>\n"])
def test_a_call_after_the_end_is_no_content_if_calls_are_not_read(header: str) -> None:
    call = header + '<fn>\n{"name": "f", "arguments": {}}\n</fn>'
    parser = read("tagged-json", "Hi.<~/~>\n" + call, parse_tool_calls=False)
    assert (parser.message["content"], parser.trailing) == ("Hi.", call)


@pytest.mark.parametrize("space", ["", "\n", "  \n\n"])
def test_white_space_after_the_end_is_dropped(space: str) -> None:
    parser = read("tagged-json", "Hi.<~/~>\n" + space)
    assert (parser.message["content"], parser.trailing, parser.diagnostics) == ("Hi.", "", [])


@pytest.mark.parametrize("header", ["", "<~assistant~>\n", "<~assistant~>"])
def test_a_call_directly_after_the_end_belongs_to_the_turn(header: str) -> None:
    """Some templates write their second call after the end of the turn."""
    call = '<fn>\n{"name": "f", "arguments": {}}\n</fn>'
    parser = read("tagged-json", f"{call}<~/~>\n{header}{call}<~/~>\nMore")
    assert [each["function"]["name"] for each in parser.message["tool_calls"]] == ["f", "f"]
    assert (parser.message["content"], parser.trailing) == (None, "More")


def test_text_after_an_end_in_the_prompt_is_an_answer() -> None:
    """The end in the prompt is that of the turn before."""
    parser = read("tagged-json", "Hi.<~/~>\n", prompt="<~user~>\nHello<~/~>\n<~assistant~>\n")
    assert (parser.message["content"], parser.trailing) == ("Hi.", "")


@pytest.mark.parametrize(
    ("after", "content", "calls", "trailing"),
    [
        (RESULT, None, 1, RESULT),
        ("It is 12.", None, 1, "It is 12."),
        ("{start}assistant{channel}reply{body}So 12.{done}", "So 12.", 1, ""),
        ('{start}assistant{to}fn.g{channel}work{body}{"a": 1}{invoke}', None, 2, ""),
        ("{done}", None, 1, ""),
        (" \n", None, 1, ""),
    ],
)  # fmt: skip
def test_one_call_is_all_of_a_turn(after: str, content: str | None, calls: int, trailing: str) -> None:
    """If the template writes one call in a turn, the call's last closer ends the turn: an invented result isn't
    content."""
    ir = ir_of("channels")
    ir = replace(ir, tools=replace(ir.tools, parallel=False, separator=""))
    text = '{to}fn.f{channel}work{body}{"q": 1}{invoke}' + after
    module, by_peg = parser_for(ir), PegEngine(ir).read(text)
    assert streamed(module, list(text)) == module.parse(text) == by_peg.message
    parser = module.StreamParser()
    parser.feed(text)
    parser.finish()
    assert (parser.trailing, parser.incomplete) == (by_peg.trailing, by_peg.incomplete) == (trailing, False)
    assert (parser.message["content"], len(parser.message["tool_calls"])) == (content, calls)
    assert [text for _, text in reported(parser)] == ([AFTER] if trailing else [])
