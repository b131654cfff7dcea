"""Calls of templates whose authors' habits models don't share: a comma that the template forgets, an attribute that
it adds, a word after the name."""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading
from tplc import compile_template
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

TEMPLATE = """
{%- for message in messages %}
    {{- '[' + message.role + ']\\n' + (message.content or '') }}
    {%- for call in message.tool_calls or [] %}
        CALL
    {%- endfor %}
    {{- '[end]\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]\\n' }}{%- endif %}
"""
EACH = "{%- for key, value in call.function.arguments.items() %}"
CALLS = {
    "keywords without commas": "{{- '<<' + call.function.name + '(' }}"
    + EACH
    + "{{- key + '=' + value | tojson }}{%- endfor %}{{- ')>>' }}",
    "elements with a type": "{{- '<run tool=\"' + call.function.name + '\">\\n' }}"
    + EACH
    + "{{- '<arg name=\"' + key + '\" text=\"' + ('true' if value is string else 'false') + '\">' }}"
    + "{{- value if value is string else value | tojson }}{{- '</arg>\\n' }}{%- endfor %}{{- '</run>' }}",
    "elements": "{{- '<run:' + call.function.name + '>\\n' }}"
    + EACH
    + "{{- '<arg:' + key + '>' + (value if value is string else value | tojson) + '</arg>\\n' }}"
    + "{%- endfor %}{{- '</run>' }}",
    "wrapped elements": "{{- '<call>\\n<run:' + call.function.name + '>\\n' }}"
    + EACH
    + "{{- '<arg:' + key + '>' + (value if value is string else value | tojson) + '</arg>\\n' }}"
    + "{%- endfor %}{{- '</run>\\n</call>' }}",
    "an object after the name": "{{- '[[call]]' + call.function.name + '[[with]]' + call.function.arguments | tojson"
    + " + '[[over]]' }}",
    "an object": '{{- \'[[call]]{"name": "\' + call.function.name + \'", "arguments": \''
    + " + call.function.arguments | tojson + '}[[over]]' }}",
}
OSLO = ("get_weather", {"city": "Oslo", "days": 3})
ELEMENT = "the argument {} is not written as the template does"
HEADER = "the header of a call of get_weather is not as the template writes it"
OTHER_TYPE = "an argument is not written as its type is"
OTHER_CALLS = "calls that are not written as the template does"
CASES: list[tuple[str, str, tuple[str, object], list[str]]] = [
    ("keywords without commas", '<<get_weather(city="Oslo"days=3)>>', OSLO, []),
    ("keywords without commas", '<<get_weather(city="Oslo", days=3)>>', OSLO, []),
    ("keywords without commas", "<<get_weather(\n  city='Oslo',\n  days=3\n)>>", OSLO, ["arguments: ' for quotes"]),
    (
        "elements with a type",
        '<run tool="get_weather"><arg name="city">Oslo</arg><arg name="days">3</arg></run>',
        OSLO,
        [ELEMENT.format("city"), ELEMENT.format("days")],
    ),
    (
        "elements with a type",
        '<run tool="get_weather">\n<arg name="city">Oslo</arg>\n<arg name="days" text="false">3</arg>\n</run>',
        OSLO,
        [ELEMENT.format("city")],
    ),
    (
        "elements with a type",
        "<run tool='get_weather'>\n<arg name='city'>Oslo</arg>\n<arg name='days'>3</arg>\n</run>",
        OSLO,
        [HEADER, ELEMENT.format("city"), ELEMENT.format("days")],
    ),
    (
        "elements with a type",
        "<run tool='get_weather'>\n<arg name=\"city\" text=\"true\">Oslo</arg>\n<arg name='days'>3</arg>\n</run>",
        OSLO,
        [HEADER, ELEMENT.format("days")],
    ),
    (
        "elements",
        "<run:get_weather>\n<arg:city>Oslo</arg>\n<arg:days>null</arg>\n</run>",
        ("get_weather", {"city": "Oslo", "days": None}),
        [OTHER_TYPE],
    ),
    ("an object after the name", '[[call]]get_weather code[[with]]{"city": "Oslo", "days": 3}[[over]]', OSLO, [HEADER]),
    (
        "an object after the name",
        '[[call]]get_weather[CALL_ID]a1b2[[with]]{"city": "Oslo", "days": 3}[[over]]',
        OSLO,
        [HEADER],
    ),
    ("an object", '[[call]]get_weather[ARGS]{"city": "Oslo", "days": 3}[[over]]', OSLO, [OTHER_CALLS]),
]


@cache
def ir_of(calls: str) -> TemplateIR:
    return compile_template(TEMPLATE.replace("CALL", CALLS[calls]))


@cache
def parser_of(calls: str) -> ModuleType:
    return load_module(generate(ir_of(calls), "python"))


@pytest.mark.parametrize(("calls", "text", "call", "notes"), CASES)
def test_call_that_is_nearly_written_as_the_template_does(
    calls: str, text: str, call: tuple[str, Any], notes: list[str]
) -> None:
    text += "[end]"
    for size in (len(text), 1, 2, 3, 7):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        stream, deltas = read(parser_of(calls), text, TOOLS, chunks)
        for content, reasoning, found in (reading(stream), joined(deltas)):
            given = [(name, json.loads(arguments)) for name, arguments in found]
            assert (content, reasoning, given) == ("", "", [call]), size
        assert (stream.incomplete, [note.text for note in stream.diagnostics]) == (False, notes), size
    parsed = PegEngine(ir_of(calls)).read(text, tools=TOOLS)
    assert (parsed.message, parsed.incomplete) == (stream.message, stream.incomplete)


def test_two_words_after_a_name_are_no_header() -> None:
    text = '[[call]]get_weather for me[[with]]{"city": "Oslo"}[[over]][end]'
    stream, _ = read(parser_of("an object after the name"), text, TOOLS)
    assert [name for name, _ in reading(stream)[2]] == ["get_weather for me"]
    assert [note.text for note in stream.diagnostics] == ["unknown tool get_weather for me"]


def test_token_that_the_template_does_not_write_is_reported() -> None:
    calls = "{{- '<|call|>' + call.function.name + '<|with|>' + call.function.arguments | tojson + '<|over|>' }}"
    parser = load_module(generate(compile_template(TEMPLATE.replace("CALL", calls)), "python"))
    for text, found in (
        ("It is two.<|return|>[end]", ["<|return|> is like a marker, but remains in the message"]),
        ("It is <b>two</b>, <|so|> to say, or 1 <|2|> 3.[end]", []),
    ):
        stream, _ = read(parser, text, TOOLS)
        assert reading(stream) == (text.removesuffix("[end]"), "", [])
        assert [note.text for note in stream.diagnostics] == found


@pytest.mark.parametrize(
    ("text", "number", "is_cut"),
    [
        ("{inner}", 1, False),
        ("It rains. {inner}", 1, False),
        ("{inner}\n{inner}\n", 2, False),
        ("{whole}\n{inner}", 2, False),
        ("{inner}\n{whole}", 2, False),
        ("<call>\n{inner}", 1, True),
        ("{inner}\n<call>\n{inner}", 2, True),
        ("<call>\n{inner}\n{inner}", 2, False),
        ("{inner}\n</ca", 1, True),
    ],
)
def test_call_that_opens_without_its_outer_piece_closes_without_it(text: str, number: int, is_cut: bool) -> None:
    inner = "<run:get_weather>\n<arg:city>Oslo</arg>\n<arg:days>3</arg>\n</run>"
    text = text.format(inner=inner, whole=f"<call>\n{inner}\n</call>")
    for size in (len(text), 1, 2, 3, 7):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        stream, _ = read(parser_of("wrapped elements"), text, TOOLS, chunks)
        assert [(name, json.loads(given)) for name, given in reading(stream)[2]] == [OSLO] * number, size
        assert stream.incomplete == is_cut, size
    parsed = PegEngine(ir_of("wrapped elements")).read(text, tools=TOOLS)
    assert (parsed.message, parsed.incomplete) == (stream.message, is_cut)
