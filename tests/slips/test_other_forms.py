"""Calls and arguments in other forms that the tools explain: the message, and that something is reported."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.fuzz.formats import named
from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading
from tplc.backends.peg.engine import PegEngine

OSLO = ("get_weather", '{"city": "Oslo", "days": 3}')
TIME = ("get_time", '{"zone": "CET", "exact": true}')
IN_OBJECT = {
    "arguments in arguments": '{"name": "get_weather", "arguments": {"arguments": {"city": "Oslo", "days": 3}}}',
    "a call as arguments": '{"name": "get_weather", "arguments": {"name": "get_weather", "arguments": '
    '{"city": "Oslo", "days": 3}}}',
    "the form of a schema": '{"name": "get_weather", "arguments": {"type": "object", "properties": '
    '{"city": "Oslo", "days": 3}}}',
    "arguments in a list": '{"name": "get_weather", "arguments": [{"city": "Oslo", "days": 3}]}',
    "arguments under an unknown key": '{"name": "get_weather", "tool_input": {"city": "Oslo", "days": 3}}',
    "a name under an unknown key": '{"fn": "get_weather", "arguments": {"city": "Oslo", "days": 3}}',
    "a call in a list of calls": '{"tool_calls": [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}]}',
    "a function call": 'get_weather(city="Oslo", days=3)',
    "a function call in another": 'print(get_weather(city="Oslo", days=3))',
    "a function call of an object": 'get_weather({"city": "Oslo", "days": 3})',
    "a name before an object": 'get_weather\n{"city": "Oslo", "days": 3}',
    "elements": "<f=get_weather><p=city>Oslo</p><p=days>3</p></f>",
    "no braces": '"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}',
    "a word before": 'json\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}',
    "a string": json.dumps('{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}'),
    "a name in an object": '{"name": {"value": "get_weather"}, "arguments": {"city": "Oslo", "days": 3}}',
    "in backticks": '`{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}`',
    "doubled quotes": '{""name"": ""get_weather"", ""arguments"": {""city"": ""Oslo"", ""days"": 3}}',
    "escaped line ends": '{\\n"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}',
    "an escaped name": '{"name": "get\\_weather", "arguments": {"city": "Oslo", "days": 3}}',
    "a name with parentheses": '{"name": "get_weather()", "arguments": {"city": "Oslo", "days": 3}}',
    "a comment with #": '{"name": "get_weather", "arguments": {"city": "Oslo", # there\n"days": 3}}',
    "full-width punctuation": '{"name"："get_weather"，"arguments"：{"city"："Oslo"，"days"：3}}',
    "an arrow": '{"name": "get_weather", "arguments": {"city": "Oslo", "days" => 3}}',
    "no first quote": '{"name": "get_weather", "arguments": {"city": Oslo", "days": 3}}',
    "a comma after": '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}},',
    "two braces too many": '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}}}',
}
AS_ARGUMENTS = {
    "in an object": '{"arguments": {"city": "Oslo", "days": 3}}',
    "in a list": '[{"city": "Oslo", "days": 3}]',
    "in parentheses": '({"city": "Oslo", "days": 3})',
    "keywords": '(city="Oslo", days=3)',
    "elements": "<city>Oslo</city><days>3</days>",
    "named elements": '<p name="city">Oslo</p>\n<p name="days">3</p>',
    "no brace": '"city": "Oslo", "days": 3}',
    "a word before": 'json\n{"city": "Oslo", "days": 3}',
    "a label before": 'arguments: {"city": "Oslo", "days": 3}',
    "a label in a line": 'Parameters:\n{"city": "Oslo", "days": 3}',
    "a label like a keyword": 'args={"city": "Oslo", "days": 3}',
    "keywords alone": 'city="Oslo", days=3',
    "keywords with colons": 'city: "Oslo", days: 3',
}
FAILED = {
    "an invented key": '{"name": "get_weather", "arguments": {"city: "Oslo", days is 3}}',
    "an escape of JSON5": '{"name": "get_weather", "arguments": {"city": "O\\x73lo", "days": 3}}',
    "a value of another type": '{"name": "get_weather", "arguments": {"city": "Oslo", "days": three}}',
}


PAIRS = {
    "attributes": (
        "parameter-tags",
        '<do=get_weather>\n<with name="city">\nOslo\n</with>\n<with=days>\n3\n</with>\n</do>',
    ),
    "a colon": ("parameter-tags", "<do=get_weather>\n<with:city>\nOslo\n</with>\n<with=days>\n3\n</with>\n</do>"),
    "an attribute of the name": (
        "parameter-tags",
        '<do name="get_weather">\n<with=city>\nOslo\n</with>\n<with=days>\n3\n</with>\n</do>',
    ),
}


def check(format_: str, text: str, calls: list[tuple[str, str]]) -> Any:
    parser = named(format_).parser
    stream, _ = read(parser, text, TOOLS)
    content, reasoning, found = reading(stream)
    assert (content, reasoning) == ("", "")
    assert [(name, json.loads(arguments)) for name, arguments in found] == [(n, json.loads(a)) for n, a in calls]
    assert stream.diagnostics
    for chunks in (list(text), [text[at : at + 7] for at in range(0, len(text), 7)]):
        other, deltas = read(parser, text, TOOLS, chunks)
        assert joined(deltas) == reading(other) == reading(stream), len(chunks)
        assert (other.incomplete, other.diagnostics) == (stream.incomplete, stream.diagnostics), len(chunks)
    return stream


@pytest.mark.sweep(3)
@pytest.mark.parametrize("text", IN_OBJECT.values(), ids=IN_OBJECT)
def test_object_in_another_form(text: str) -> None:
    assert not check("tagged-json", f"<fn>\n{text}\n</fn>", [OSLO]).incomplete


def test_arguments_without_a_key_are_incomplete() -> None:
    # Only the schema shows that they are the arguments: elsewhere a value without a key lacks text of the model's.
    text = '{"name": "get_weather", {"city": "Oslo", "days": 3}}'
    assert check("tagged-json", f"<fn>\n{text}\n</fn>", [OSLO]).incomplete


@pytest.mark.parametrize("text", AS_ARGUMENTS.values(), ids=AS_ARGUMENTS)
def test_arguments_in_another_form(text: str) -> None:
    assert not check("tagged-name-json", f"§call§get_weather§with§{text}§end§", [OSLO]).incomplete


@pytest.mark.parametrize(("format_", "text"), PAIRS.values(), ids=PAIRS)
def test_pairs_in_another_form(format_: str, text: str) -> None:
    check(format_, f"\n\n<deed>\n{text}\n</deed><:>\n", [OSLO])


OTHERS = {
    "a named object for a name as key": (
        "name-as-key",
        '(use [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}] use)',
        [OSLO],
    ),
    "own keys twice": (
        "markers-by-shape",
        '(~do~){"call": "get_weather", "with": {"with": {"city": "Oslo", "days": 3}}}(~/do~)',
        [OSLO],
    ),
    "a call with own keys as arguments": (
        "markers-by-shape",
        '(~do~){"call": "get_weather", "with": {"call": "get_weather", "with": {"city": "Oslo", "days": 3}}}(~/do~)',
        [OSLO],
    ),
    "a word between function calls": (
        "tagged-json",
        '<fn>\nget_weather(city="Oslo", days=3) and get_time(zone="CET", exact=True)\n</fn>',
        [OSLO, TIME],
    ),
    "printed function calls": (
        "keyword-calls",
        '<.code.>[print(get_weather(city="Oslo", days=3)), print(get_time(zone="CET", exact=True))]<./code.>',
        [OSLO, TIME],
    ),
    "a name after the arguments": ("tagged-json", '<fn>\n{"city": "Oslo", "days": 3} -> getWeather\n</fn>', [OSLO]),
    "a name after a fence": (
        "tagged-json",
        '<fn>\n```json\n{"city": "Oslo", "days": 3}\n```\nget_weather</fn>',
        [OSLO],
    ),
    "a name after a string": (
        "tagged-json",
        f"<fn>\n{json.dumps(OSLO[1])} | get_weather\n</fn>",
        [OSLO],
    ),
    "tags named by the tool and its keys": (
        "parameter-tags",
        "<deed>\n<get_weather>\n<city>Oslo</city>\n<days>3</days>\n</get_weather>\n</deed>",
        [OSLO],
    ),
    "pairs in other tags": (
        "parameter-tags",
        '<deed>\n<do=get_weather>\n<p name="city">Oslo</p>\n<p name="days">3</p>\n</do>\n</deed>',
        [OSLO],
    ),
}


@pytest.mark.parametrize(("format_", "text", "calls"), OTHERS.values(), ids=OTHERS)
def test_calls_in_another_form(format_: str, text: str, calls: list[tuple[str, str]]) -> None:
    stream = check(format_, text, calls)
    parsed = PegEngine(named(format_).ir).read(text, tools=TOOLS)
    assert (parsed.message, parsed.incomplete, stream.incomplete) == (stream.message, False, False)


@pytest.mark.parametrize("language", ["", "JSON", "python"])
def test_language_of_a_fence(language: str) -> None:
    form = named("pretty-json")
    text = f'Steps:\n```{language}\n[{{"step": "get_weather", "with": {{"city": "Oslo", "days": 3}}}}]\n```<FIN>'
    streams = [read(form.parser, text, TOOLS, list(chunks))[0] for chunks in ([text], text)]
    assert [reading(stream)[2] for stream in streams] == [[list(OSLO)]] * 2
    assert PegEngine(form.ir).read(text, tools=TOOLS).message == streams[0].message


def test_quotes_of_another_kind() -> None:
    for opened, closed in ("“”", "””", "‘’"):
        text = '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n</fn>'
        text = re.sub(r'"([^"]*)"', rf"{opened}\1{closed}", text)
        stream, _ = read(named("tagged-json").parser, text, TOOLS)
        assert [tuple(call) for call in reading(stream)[2]] == [OSLO], text


def test_elements_in_the_place_of_a_call_of_no_tool_are_text() -> None:
    text = "<fn>\n<f=unknown><p=city>Oslo</p></f>\n</fn>"
    stream, _ = read(named("tagged-json").parser, text, TOOLS)
    assert reading(stream)[0].strip() == text and not reading(stream)[2]


@pytest.mark.parametrize("text", FAILED.values(), ids=FAILED)
def test_repair_that_does_not_fit_the_schema_has_failed(text: str) -> None:
    stream, _ = read(named("tagged-json").parser, f"<fn>\n{text}\n</fn>", TOOLS)
    assert stream.incomplete and stream.diagnostics


def test_second_call_is_not_lost_in_a_second_reading() -> None:
    text = '<fn>\n"name": "get_time", "arguments": {"zone": "CET", "exact": true}, {"name": "list_all"}\n</fn>'
    stream, _ = read(named("tagged-json").parser, text, TOOLS)
    assert "list_all" in reading(stream)[0]


def test_label_that_is_an_argument_of_the_tool() -> None:
    keys = {"type": "object", "properties": {"input": {"type": "object"}}}
    tools = [{"type": "function", "function": {"name": "run", "parameters": keys}}]
    stream = named("sectioned-ids").parser.StreamParser(tools=tools)
    stream.feed('<!calls!><!call!>tools.run:0<!args!>input: {"x": 1}<!/call!><!/calls!><!.!>')
    stream.finish()
    calls = [call["function"] for call in stream.message["tool_calls"]]
    assert calls == [{"name": "run", "arguments": '{"input": {"x": 1}}'}]
