"""Calls that lack all markers of their format, so that only brackets are left: at the beginning of an answer, they are
calls if they are written as the template writes one and name a tool."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading
from tests.slips.test_near_forms import OSLO, TEMPLATE
from tplc import compile_template
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.verify.artifact import load_module

OBJECT = '{"name": "\' + call.function.name + \'", "arguments": \' + call.function.arguments | tojson + \'}'
LIST = "{%- if loop.first %}{{- '[[calls]][' }}{%- endif %}CALL{{- ']' if loop.last else ', ' }}"
CALLS = {
    "object": "{{- '[[call]]" + OBJECT + "[[over]]' }}",
    "list": LIST.replace("CALL", "{{- '" + OBJECT + "' }}"),
    "keywords": LIST.replace(
        "CALL",
        "{{- call.function.name + '(' }}{%- for key, value in call.function.arguments.items() %}"
        "{{- key + '=' + value | tojson }}{{- '' if loop.last else ', ' }}{%- endfor %}{{- ')' }}",
    ),
}
CALLS["list up to a word"] = CALLS["list"].replace("[[calls]][", "(use [").replace("']'", "'] use)'")
# An opener that counts only at the start of a line: the template's own form is a list.
CALLS["keywords in brackets"] = CALLS["keywords"].replace("[[calls]]", "")
# Openers like text: of the section and of each call in a list of lines, and of a call with pairs.
CALLS["lines"] = (
    "{%- if loop.first %}{{- '\\n\\nI use:\\n' }}{%- endif %}"
    "{{- '- ' + call.function.name + ' <- ' + call.function.arguments | tojson + '\\n' }}"
)
CALLS["pairs"] = (
    "{{- 'Calling:' + call.function.name + '>' }}{%- for key, value in call.function.arguments.items() %}"
    "{{- '[' + key + ']' + value | tojson + '[/' + key + ']' }}{%- endfor %}{{- '.calling.' }}"
)
# Fields that no other format has.
CALLS["own fields"] = CALLS["object"].replace('"name"', '"do"').replace('"arguments"', '"with"')
ONE = '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}'
KEYWORDS = 'get_weather(city="Oslo", days=3)'
ARGUMENTS = '{"city": "Oslo", "days": 3}'
OWN = ONE.replace("name", "do").replace("arguments", "with")
LINE, PAIRS = f"get_weather <- {ARGUMENTS}\n", 'get_weather>[city]"Oslo"[/city][days]3[/days].calling.'
NOTE = "a call without its opener"
ANOTHER = "another call without its opener"
READ: list[tuple[str, str, int, str, list[str]]] = [
    ("object", ONE, 1, "", [NOTE]),
    ("object", f"  \n{ONE}\n", 1, "", [NOTE]),
    ("object", f"{ONE}[[over]]", 1, "", [NOTE]),
    ("list up to a word", f"{ONE}] use)", 1, "", [NOTE]),
    ("object", f"{ONE}\nThat is all.", 1, "\nThat is all.", [NOTE]),
    ("object", f"{ONE}\n{ONE}", 2, "", [NOTE, ANOTHER]),
    ("object", f"{ONE}, {ONE}", 2, "", [NOTE, ANOTHER]),
    ("object", f"[{ONE}]", 1, "", [NOTE]),
    ("object", '{\n  "name" : "get_weather",\n  "arguments" : {"city": "Oslo", "days": 3}\n}', 1, "", [NOTE]),
    ("object", f'{{"tool_calls": [{ONE}, {ONE}]}}', 2, "", [NOTE]),
    ("object", f"{ONE}]", 1, "", [NOTE]),
    ("list", f'{{"calls": {ONE}}}', 1, "", [NOTE]),
    ("list", f"{ONE}]", 1, "", [NOTE]),
    ("list", f"[{ONE}]", 1, "", [NOTE]),
    ("list", f"[{ONE}, {ONE}]", 2, "", [NOTE]),
    ("list", ONE, 1, "", [NOTE]),
    ("keywords", f"[{KEYWORDS}]", 1, "", [NOTE]),
    ("keywords", f"[{KEYWORDS}, {KEYWORDS}]", 2, "", [NOTE]),
    ("keywords in brackets", KEYWORDS, 1, "", [NOTE]),
]
READ += [
    (calls, text, 1, "", [NOTE])
    for calls in ("object", "list", "keywords")
    for text in (
        f"```json\n{ONE}\n```",
        f"`{ONE}`",
        f"`{KEYWORDS}`",
        f"<tools>\n{ONE}\n</tools>",
        f"<function_call>{ONE}</function_call>\n",
        ONE.replace("arguments", "parameters"),
        '{"type": "function", "function": ' + ONE + "}",
        ONE.replace('"', "'"),
        '{"get_weather": {"city": "Oslo", "days": 3}}',
        'get_weather\n{"city": "Oslo", "days": 3}',
        'get_weather\n{city: "Oslo", days: 3}',
        'get_weather\n{"city": "Oslo" "days": 3}',
        'get_weather\n{"city": "Oslo", // as asked\n"days": 3}',
        f"get_weather\n{ONE}",
        f"functions.get_weather\n{ARGUMENTS}",
        f"get_weather\n```json\n{ARGUMENTS}\n```",
        f'"get_weather" {ARGUMENTS}',
        f"`get_weather`\n{ARGUMENTS}",
        f"**get_weather**\n\n{ARGUMENTS}",
        f"get weather\n{ARGUMENTS}",
        f"GET_WEATHER\n{ARGUMENTS}",
        f"get\\_weather\n{ARGUMENTS}",
        f"get_weather()\n{ARGUMENTS}",
        f"get_weather:\n\n{ARGUMENTS}",
        f"get_weather: {ARGUMENTS}.",
        f"function:get_weather\n{ARGUMENTS}",
        f"get_weather\narguments: {ARGUMENTS}",
        f"get_weather\n\njson {ARGUMENTS}",
        f"get_weather\n[{ARGUMENTS}]",
        f"get_weather\n({ARGUMENTS})",
        f"get_weather\n'{ARGUMENTS}'",
        f"get_weather\n{json.dumps(ARGUMENTS)}",
        f"get_weather\n{ARGUMENTS[:-1]}",
        f"get_weather\n```json\n{ARGUMENTS}\n",
        "get_weather\n" + ARGUMENTS.replace('"', '\\"'),
        'get_weather.call(city="Oslo", days=3)',
        f"print({KEYWORDS})",
        f"```python\nprint({KEYWORDS})\n```",
        ONE.replace("get_weather", "tools.get_weather"),
        ONE.replace('"name"', "name"),
        ONE.replace(", ", " "),
        ONE.replace("}}", ",}}"),
        ONE.replace('"city"', '"city'),
        ONE.replace("{", "{{").replace("}", "}}"),
        f"<function=get_weather>{ARGUMENTS}</function>",
        f"<get_weather>\n{ARGUMENTS}\n</get_weather>\n",
        f'<run name="get_weather">{ARGUMENTS}</run>',
        "<get_weather><city>Oslo</city><days>3</days></get_weather>",
        '<invoke name="get_weather">\n<arg name="city">Oslo</arg>\n<arg name="days">3</arg>\n</invoke>',
        f"<tools>\n<function=get_weather>{ARGUMENTS}</function>\n</tools>",
        f"```xml\n<function=get_weather>{ARGUMENTS}</function>\n```",
        f"<|tool|>[{ONE}]<|/tool|>",
        f"<|tools_begin|>\n{KEYWORDS}\n<|tools_end|>",
        f"<｜f｜>{ONE}\n",
        KEYWORDS,
        f"[{KEYWORDS}]",
        f"[{KEYWORDS}",
    )
]
READ += [
    ("list", f"<function=get_weather>{ARGUMENTS}</function><get_weather>{ARGUMENTS}</get_weather>", 2, "", [NOTE] * 2)
]
READ += [
    ("own fields", text, count, "", [NOTE, ANOTHER][:count])
    for text, count in (
        (OWN, 1),
        (f"[{OWN}]", 1),
        (f"{OWN}\n{OWN}", 2),
        (f'{{"calls": {OWN}}}', 1),
        (f"```json\n{OWN}\n```", 1),
        (OWN.replace('"with"', "'with'"), 1),
        (ONE, 1),
    )
]
READ += [("lines", f"{piece}{LINE}", 1, "", [NOTE]) for piece in ("", "- ", "I use:\n", "\n\n- ", "I use: ")]
READ += [("lines", f"{LINE}- {LINE}", 2, "", [NOTE]), ("pairs", PAIRS, 1, "", [NOTE])]
READ += [("pairs", f"{PAIRS}Calling:{PAIRS}", 2, "", [NOTE])]
TEXTS = [
    ("lines", f"- {LINE.strip()} is a call."),
    ("lines", f"- {LINE.strip()}".replace("get_weather", "look_up")),
    ("lines", f"- {LINE.strip()}".replace("get_weather", "get_weathers")),
    ("lines", f"- {LINE.strip()[:-1]}"),
    ("lines", "- get_weather <- it gets the weather\n- more"),
    ("lines", "I use:\nget_weather and get_time"),
    ("pairs", f"{PAIRS} is a call."),
    ("pairs", PAIRS.removesuffix(".calling.")),
    ("pairs", PAIRS.replace("weather", "rain")),
    ("pairs", "get_weather>is closed .calling."),
    ("own fields", f"{OWN} is a call."),
    ("own fields", OWN.replace("get_weather", "look_up")),
    ("own fields", OWN.replace("with", "about")),
    ("object", OWN),
    ("object", f"It is {ONE}"),
    ("object", f"It is\n{ONE}"),
    ("object", f"{ONE} is a call."),
    ("object", f"```json\n{ONE}\n```\nThis is a call."),
    ("object", f"`{ONE}` is a call."),
    ("object", f"<tools>{ONE}</tool>"),
    ("object", f"<tools>{ONE}"),
    ("object", ONE.replace("arguments", "about")),
    ("object", ONE[:-1] + ', "note": "so"}'),
    ("object", ONE.replace("get_weather", "look_up")),
    ("object", ONE[:-1]),
    ("object", ONE.replace("3", "three")),
    ("object", "get_weather\n{city: Oslo}"),
    ("object", "get_weather\narguments: city and days"),
    ("object", f"get_weather: {ARGUMENTS} is a call."),
    ("object", f"get_weather\n{ARGUMENTS[:-1]}\nare the arguments"),
    ("object", "get_weather: it gets the weather"),
    ("object", 'get_weather\n{"city": "Oslo, "days": 3}'),
    ("object", 'get_weather\n[{"city": "Oslo"}]'),
    ("object", 'get_weather\njson {"city": "Oslo", "days": "three"}'),
    ("object", f"get_weathers\njson {ARGUMENTS}"),
    ("object", "---\nget weather"),
    ("object", "print(get_weather)"),
    ("object", f"get_weather\n```json\n{ARGUMENTS}\n``` is a call."),
    ("object", "get_weather\n```json\n{city: Oslo}\n```"),
    ("object", "get_weather {city: the name of a city, days: how many}"),
    ("object", "get_weather {city: string, days: integer}"),
    ("object", '{"name": "get_weather", "arguments": {city: "Oslo"}}'),
    ("object", "get_time {'zone', 'exact'}"),
    ("object", '"get_weather" is a tool.'),
    ("object", f"Ok.get_weather {ARGUMENTS}"),
    ("object", ONE.replace("get_weather", "Ok.get_weather")),
    ("object", "functions.get_weather is a tool."),
    ("object", 'get_weather {"name": "get_time", "arguments": {"zone": "CET", "exact": true}}'),
    ("object", '{"city": "Oslo", "days": 3}'),
    ("object", '{"name": "get_weather", "about": {"city": "Oslo"}}'),
    ("object", '{"list_all": {}}'),
    ("object", '{"get_weather": {"town": "Oslo"}}'),
    ("object", '{"name": "get_weather", "parameters": {"type": "object", "properties": {}}}'),
    ("object", "{" * 300),
    ("object", '{"a": ' * 300),
    ("object", f'{{"calls": [{ONE}], "note": "so"}}'),
    ("object", f'{{"a": {{"calls": [{ONE}]}}}}'),
    ("object", '{"data": {"name": "Ann"}}'),
    ("object", f"{ONE}] is a list."),
    ("object", f"<get_weather>{ARGUMENTS}</get_weather> is a call."),
    ("object", f"<function=get_weather>{ARGUMENTS}</func>"),
    ("object", f"<function=get_weather>{ARGUMENTS}"),
    ("object", f"<function=look_up>{ARGUMENTS}</function>"),
    ("object", '<function=get_weather>{"town": "Oslo"}</function>'),
    ("object", "<get_weather>It is cold.</get_weather>"),
    ("object", "<list_all></list_all>"),
    ("object", f"<|tool|>{ONE}<|/tool|> is a call."),
    ("object", "<|tool|> is a token."),
    ("object", 'get_weather.get(city="Oslo", days=3)'),
    ("list", f"<f=get_weather>{ARGUMENTS}</f><f=look_up>{ARGUMENTS}</f>"),
    ("object", '<p class="get_weather">Oslo</p>'),
    ("list", f"[1] {ONE}"),
    ("list", "[1, 2, 3]"),
    ("keywords", "list_all()"),
    ("keywords", f"{KEYWORDS} is a call."),
    ("keywords", "get_weather(city=Oslo)"),
    ("keywords", "[get_weather] is a tool."),
    ("keywords", f"[{KEYWORDS}] is a call."),
    ("keywords", f"[{KEYWORDS.replace('get_weather', 'look_up')}]"),
]


@cache
def ir_of(calls: str) -> TemplateIR:
    return compile_template(TEMPLATE.replace("CALL", CALLS[calls]))


@cache
def parser_of(calls: str) -> ModuleType:
    return load_module(generate(ir_of(calls), "python"))


def in_chunks(parser: ModuleType, text: str, tools: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the stream and the reading of a text, which is the same in any chunks."""
    whole, _ = read(parser, text, tools)
    for size in (1, 2, 3, 7, len(text)):
        stream, deltas = read(parser, text, tools, [text[at : at + size] for at in range(0, len(text), size)])
        assert reading(stream) == joined(deltas) == reading(whole), size
        assert (stream.diagnostics, stream.incomplete) == (whole.diagnostics, whole.incomplete), size
    return whole, reading(whole)


@pytest.mark.parametrize(("calls", "text", "number", "content", "notes"), READ)
def test_call_without_markers_is_a_call_of_a_known_tool(
    calls: str, text: str, number: int, content: str, notes: Sequence[str]
) -> None:
    stream, found = in_chunks(parser_of(calls), text + "[end]", TOOLS)
    assert found[:2] == (content, "")
    assert [(name, json.loads(given)) for name, given in found[2]] == [OSLO] * number
    assert ([note.text for note in stream.diagnostics], stream.incomplete) == (notes, False)
    parsed = PegEngine(ir_of(calls)).read(text + "[end]", tools=TOOLS)
    assert (parsed.message, parsed.incomplete) == (stream.message, False)


@pytest.mark.parametrize("calls", ["object", "list"])
def test_call_that_the_schema_does_not_allow_is_incomplete(calls: str) -> None:
    text = 'get_weather(city="Oslo", days="3")[end]'
    stream, found = in_chunks(parser_of(calls), text, TOOLS)
    assert found[2] == [["get_weather", '{"city": "Oslo", "days": "3"}']]
    assert [note.code for note in stream.diagnostics] == ["call_not_opened", "argument_of_other_type"]
    assert stream.incomplete
    assert PegEngine(ir_of(calls)).read(text, tools=TOOLS).incomplete


@pytest.mark.parametrize(("calls", "text"), TEXTS)
def test_anything_else_in_brackets_is_text(calls: str, text: str) -> None:
    stream, found = in_chunks(parser_of(calls), text + "[end]", TOOLS)
    assert (found, stream.incomplete) == ((text, "", []), False)
    assert {note.code for note in stream.diagnostics} <= {"like_a_call"}
    assert PegEngine(ir_of(calls)).read(text + "[end]", tools=TOOLS).message == stream.message


@pytest.mark.parametrize(
    ("calls", "text"), [(calls, text) for calls, text, *_ in READ if "[[" not in text and calls != "pairs"]
)
def test_without_tools_or_the_tolerance_it_is_text(calls: str, text: str) -> None:
    off = replace(ir_of(calls), tolerances=(Tolerance("omitted_openers", enabled=False),))
    for parser, tools in ((parser_of(calls), None), (load_module(generate(off, "python")), TOOLS)):
        stream, found = in_chunks(parser, text + "[end]", tools)
        assert found == (text, "", [])
        is_reported = tools is not None and "get_weather" in text
        assert [note.code for note in stream.diagnostics] == ["like_a_call"] * is_reported


def test_a_call_after_a_space_is_reported_at_the_same_place_in_any_chunks() -> None:
    template = TEMPLATE.replace("CALL", CALLS["object"]).replace("[[call]]", "[[calls]]\n[[call]]")
    parser = load_module(generate(compile_template(template), "python"))
    stream, found = in_chunks(parser, f" \n\n {ONE}[end]", TOOLS)
    assert (len(found[2]), stream.diagnostics[0].offset) == (1, 4)


def test_a_letter_that_is_two_in_lower_case_ends_the_search_for_a_name() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    tools = [{"type": "function", "function": {"name": "i", "parameters": schema}}]
    for letter, calls in (("\u0130", []), ("I", [["i", '{"a": 1}']])):
        stream, _ = read(parser_of("object"), letter + ': {"a": 1}', tools)
        assert reading(stream) == ("" if calls else letter + ': {"a": 1}', "", calls)


def test_long_call_is_read_in_linear_time() -> None:
    times = []
    for size in (50_000, 100_000):
        text = ONE.replace("Oslo", "x" * size)
        start = time.process_time()
        stream, _ = read(parser_of("object"), text, TOOLS, [text[at : at + 4] for at in range(0, len(text), 4)])
        times.append(time.process_time() - start)
        assert len(stream.message["tool_calls"]) == 1
    assert times[1] < 4 * times[0]
