"""The fast ways of a parser say what its states say: text beside markers that begin with a word, JSON in pieces."""

from __future__ import annotations

from functools import cache
from types import ModuleType

import pytest

from tests.backends.parsers import module_of, parser_of, streamed, told
from tplc.backends.python import generate
from tplc.driver import learn_format, open_renderer

RECIPIENTS = """
{%- for m in messages %}{{ '<' ~ m.role }}
{%- if m.tool_calls %}{% set c = m.tool_calls[0].function %}
    {{- ' to=fn.' ~ c.name ~ '<say>' ~ c.arguments | tojson ~ '<end>' }}
{%- else %}{{ '<say>' ~ m.content ~ '<end>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<assistant' }}{% endif %}"""


@cache
def recipients() -> ModuleType:
    with open_renderer(RECIPIENTS, name="recipients") as renderer:
        return module_of(generate(learn_format(renderer, name="recipients", source_text=RECIPIENTS)))


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
    assert all(told_in(recipients(), text, size) == told_in(recipients(), text) for size in range(1, 9))


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
    assert all(told_in(parser, text, size) == told_in(parser, text) for size in range(1, 9))


def told_in(parser: ModuleType, text: str, size: int = 0) -> object:
    """The message and what is told of it, the text being cut; the deltas are checked to make the message."""
    size = size or len(text)
    message = streamed(parser, [text[at : at + size] for at in range(0, len(text), size)])
    stream = parser.StreamParser()
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.finish()
    return message, told(stream), stream.incomplete, stream.trailing
