"""Keyword calls whose values the template writes without quotes: what models write around and in a value."""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType

import pytest

from tests.parser_cache import learn_text
from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading
from tplc import compile_template
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, tolerate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

TEMPLATE = """
{%- for message in messages %}
    {{- '[' + message.role + ']\n' + (message.content or '') }}
    {%- if message.tool_calls %}
        {{- '<<' }}
        {%- for call in message.tool_calls %}
            {{- ', ' if not loop.first }}{{ call.function.name + '(' }}
            {%- for key, value in call.function.arguments.items() %}
                {{- ', ' if not loop.first }}{{ key }}={{ value }}
            {%- endfor %}
            {{- ')' }}
        {%- endfor %}
        {{- '>>' }}
    {%- endif %}
    {{- '[end]\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]\n' }}{%- endif %}
"""
TYPE = "an argument is not written as its type is"
EDGE = '" is like a marker, but remains in the message'
VALUES: list[tuple[str, object, list[str]]] = [
    ("city=Oslo, days=3", {"city": "Oslo", "days": 3}, []),
    ("city= Oslo, days=3", {"city": " Oslo", "days": 3}, [EDGE]),  # as the template writes it
    ("city = Oslo, days = 3", {"city": "Oslo", "days": 3}, []),
    ("city\n=\nOslo, days =3", {"city": "Oslo", "days": 3}, []),
    ("city=Oslo, days='3'", {"city": "Oslo", "days": 3}, [TYPE]),
    ('city=Oslo, days = "3"', {"city": "Oslo", "days": 3}, [TYPE]),
    ("city='Oslo', days='many'", {"city": "Oslo", "days": "many"}, [TYPE]),
]


@cache
def ir_of_template() -> TemplateIR:
    return compile_template(TEMPLATE)


@cache
def parser() -> ModuleType:
    return load_module(generate(ir_of_template(), "python"))


@pytest.mark.parametrize(("written", "arguments", "notes"), VALUES)
def test_unquoted_value(written: str, arguments: object, notes: list[str]) -> None:
    text = f"<<get_weather({written})>>[end]"
    for size in (len(text), 1, 2, 3, 7):
        stream, deltas = read(parser(), text, TOOLS, [text[at : at + size] for at in range(0, len(text), size)])
        for content, reasoning, calls in (reading(stream), joined(deltas)):
            found = [(name, json.loads(given)) for name, given in calls]
            assert (content, reasoning, found) == ("", "", [("get_weather", arguments)]), size
        assert (stream.incomplete, [note.text for note in stream.diagnostics]) == (False, notes), size
    parsed = PegEngine(ir_of_template()).read(text, tools=TOOLS)
    assert (parsed.message, parsed.incomplete) == (stream.message, stream.incomplete)


# Values of all types are in double quotes; models write literals of Python there, also if no tools are known.
QUOTED = """\
{%- for message in messages -%}
[[{{ message.role }}]]{{ message.content or '' }}
{%- for call in message.tool_calls or [] -%}
{{ '[' if loop.first }}{{ call.function.name }}(
{%- for key, value in call.function.arguments.items() %}{{ key }}="{{ value }}"{{ ', ' if not loop.last }}{% endfor -%}
){{ ', ' if not loop.last else ']' }}
{%- endfor -%}
[[end]]
{%- endfor -%}
{%- if add_generation_prompt %}[[assistant]]{% endif %}"""
LITERALS = [
    ("steps=[]", {"steps": []}),
    ("city='LA', metric=\"C\"", {"city": "LA", "metric": "C"}),
    ("age=-9, ok=True, no=None", {"age": -9, "ok": True, "no": None}),
    ("of={'a': 1}", {"of": {"a": 1}}),
]


@pytest.mark.parametrize(("written", "arguments"), LITERALS)
def test_literals_in_the_place_of_quotes_without_tools(written: str, arguments: dict[str, object]) -> None:
    ir = tolerate(learn_text("quoted-keywords", QUOTED, None))
    quoted = load_module(generate(ir, "python"))
    text = f"[f({written})][[end]]"
    for chunks in ([text], list(text)):
        stream, _ = read(quoted, text, None, chunks)
        [call] = stream.message["tool_calls"]
        assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("f", arguments)
    assert PegEngine(ir).read(text).message == stream.message
    for prose in ("[f(x) for x in y]", "[f(key=name)]", "[f(x=Nothing)]"):
        assert read(quoted, prose, None)[0].message["tool_calls"] == []
