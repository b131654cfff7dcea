"""The fast paths of a parser agree with its states: text next to markers that begin with a word, JSON in pieces."""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType

import pytest

from tests.backends.parsers import NAMES, committed_ir, ir_of, parser_for, parser_of, reported, streamed
from tplc.driver import learn_format, open_renderer
from tplc.ir.write import write_message

RECIPIENTS = """
{%- for m in messages %}{{ '<' ~ m.role }}
{%- if m.tool_calls %}{% set c = m.tool_calls[0].function %}
    {{- ' to=fn.' ~ c.name ~ '<say>' ~ c.arguments | tojson ~ '<end>' }}
{%- else %}{{ '<say>' ~ m.content ~ '<end>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<assistant' }}{% endif %}"""


@cache
def recipients() -> ModuleType:
    with open_renderer(RECIPIENTS, name="recipients") as renderer:
        return parser_for(learn_format(renderer, name="recipients", source_text=RECIPIENTS))


@pytest.mark.parametrize(
    "text",
    [
        "<say>That is to fn, not to=f: it goes to t to<end>",
        "<say>a = b, to = c, t= to=fn<end>",
        "<say>Off to\n=x to=<end>",
        ' to=fn.add<say>{"a": 1}<end>',
        '<say>So to<end><assistant to=fn.add<say>{"a": [1, 2.5, true], "t": "to=fn."}<end>',
    ],
)
def test_markers_that_begin_with_a_word(text: str) -> None:
    assert all(reported_in(recipients(), text, size) == reported_in(recipients(), text) for size in range(1, 9))


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": 1, "b": [1.5, -2e3, true, null, []], "c": {"d": {}, "e": "x\\\n\\\\u00e9"}, "f": "]}"}',
        '{"a":1,\n\t"b":[[1],[{"c":2}]] , "d" : "e"}',
        '{"a": tru, "b": 01, "c": \'x\', "d": [1 2], "e" 3, f: 4, "g": [1, ]}',
        '{"a": [1, {"b": 2]}, "c": "\\\\q", "d": 1.}',
        '{"a": [1, {"b": 12',
        '{"a": {"b": [1, 2}</fn>',
    ],
)
def test_json_in_pieces(arguments: str) -> None:
    parser = parser_of("tagged-json")
    text = f'<fn>\n{{"name": "write", "arguments": {arguments}}}\n</fn>'
    assert all(reported_in(parser, text, size) == reported_in(parser, text) for size in range(1, 9))


def reported_in(parser: ModuleType, text: str, size: int = 0) -> object:
    """Return the message and its diagnostics for a text in chunks; the deltas are checked to make the message."""
    size = size or len(text)
    message = streamed(parser, [text[at : at + size] for at in range(0, len(text), size)])
    stream = parser.StreamParser()
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.finish()
    return message, reported(stream), stream.incomplete, stream.trailing


FORMATS = ("tagged-json", "parameter-tags", "addressed-parts", "string-delimiters", "keyword-calls")


def some_calls(name: str) -> str:
    arguments: list[dict[str, object]] = [
        {"a": 1, "city": "Oslo"},
        {"rows": [{"n": 2.5, "ok": True}, None], "t": "a-b"},
        {},
    ]
    calls = [{"id": "call00001", "type": "function", "function": {"name": "get.it", "arguments": a}} for a in arguments]
    return write_message(ir_of(name), {"role": "assistant", "content": None, "tool_calls": calls})


def odd(text: str) -> list[str]:
    """Return the same text with something else at every third place."""
    return [text[:at] + char + text[at + 1 :] for at in range(3, len(text), 3) for char in ("~", " ", '"')]


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", FORMATS)
def test_what_usually_comes_between_calls(name: str) -> None:
    parser, text = parser_of(name), some_calls(name)
    for given in [text, *odd(text)]:
        assert all(reported_in(parser, given, size) == reported_in(parser, given) for size in (1, 3, 4)), given


@pytest.mark.parametrize("name", FORMATS)
def test_a_copy_waits_for_the_same(name: str) -> None:
    parser, text = parser_of(name), some_calls(name)
    stream = parser.StreamParser()
    for at in range(0, len(text), 4):
        twin = stream.copy()
        assert stream.feed(text[at : at + 4]) == twin.feed(text[at : at + 4])
        other = twin.copy()
        other.feed("~")
        other.finish()
        assert (twin.message, stream.message) == (stream.message, twin.message)
        stream = twin


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_held_back_that_is_known(name: str) -> None:
    """After each character, the deltas contain everything up to it, except what its end leaves open."""
    parser, text = parser_of(name), some_calls(name)
    stream, said = parser.StreamParser(), 0
    for at in range(len(text)):
        said += len(stream.feed(text[at]))
        at_once = parser.StreamParser()
        at_once.feed(text[: at + 1])
        assert stream.message == at_once.message
    assert said > 5


MOST_DELAYED = 32  # characters, where only what follows a quote shows whether it ends a string


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", [name for name in NAMES if committed_ir(name).tools.format != "none"])
def test_a_call_is_complete_soon_after_its_end(name: str) -> None:
    """A client that runs a call before the answer is finished gets all of its arguments."""
    wanted: list[dict[str, object]] = [{"city": "Oslo", "n": 12}, {"n": 12, "city": "Oslo"}]
    for arguments in wanted:
        call = {"id": "call00001", "type": "function", "function": {"name": "get_it", "arguments": arguments}}
        stream = parser_of(name).StreamParser()
        for char in write_message(ir_of(name), {"role": "assistant", "content": None, "tool_calls": [call]}):
            stream.feed(char)
        stream.feed("." * MOST_DELAYED)
        assert json.loads(stream.message["tool_calls"][0]["function"]["arguments"]) == arguments
