"""Calls in other forms that the output cuts, or in which the end of a value is guessed: nothing of them is lost, and
the message is incomplete.  Parser, chunks and PEG alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.backends.parsers import ir_of, parser_of
from tests.slips.bases import TOOLS
from tplc.backends.peg.engine import PegEngine


class Case(NamedTuple):
    """An output, and the content, calls and `incomplete` that it means."""

    name: str  # of the format
    text: str
    content: str | None
    calls: list[tuple[str, str]]
    incomplete: bool = True


OSLO = ("get_weather", '{"city": "Oslo"}')
NONE = ("get_weather", "{}")
CASES = {
    "an object for pairs, before its first key": Case("keyword-calls", "<.code.>[get_weather({", None, [NONE]),
    "the same, inside of a key": Case("keyword-calls", '<.code.>[get_weather({"ci', None, [NONE]),
    "the same of a tool without parameters": Case(
        "keyword-calls", "<.code.>[list_all({ /", None, [("list_all", '{"/": null}')]
    ),
    "the same after words": Case("words-in-calls", "⟨do get_weather {", None, [NONE]),
    "an object around the arguments, before these": Case(
        "recipient-lines", 'get_weather{"arguments"{', None, [("get_weather", '{"arguments": {}}')]
    ),
    "the same, inside of these": Case("recipient-lines", 'get_weather{"arguments": {"city": "Oslo', None, [OSLO]),
    "arguments in parentheses": Case("recipient-lines", 'get_weather\n(city="Oslo"', None, [OSLO]),
    "an object of something else": Case(
        "tagged-json",
        '<fn>\n{"name": "list_all", "arguments": {"d": {}}}\n</fn>',
        None,
        [("list_all", '{"d": {}}')],
        False,
    ),
    "a string that holds a truncated object": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo"}\n</fn>',
        None,
        [OSLO],
    ),
    # A list of objects whose bracket is that of the calls.
    "a list of calls": Case(
        "bare-keyword-calls", '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]', None, [OSLO], False
    ),
    "a list of calls that is cut": Case(
        "bare-keyword-calls", '[{"name": "get_weather", "arguments": {"city": "Oslo"}}', None, [OSLO]
    ),
    # Arguments that the call's arguments lack.
    "an argument after the arguments": Case(
        "tagged-json", '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo"}, "days": 3}\n</fn>', None, [OSLO]
    ),
    "further arguments": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo"}, "parameters": {"days": 3}}\n</fn>',
        None,
        [OSLO],
    ),
    "a list with a quote too few": Case(
        "tagged-json",
        '<fn>\n{"name": "make_plan", "arguments": {"tags": ["a b, "c"], "options": {}}}\n</fn>',
        None,
        [("make_plan", '{"tags": ["a b, ", "c"], "options": {}}')],
    ),
    "a comment in a list": Case(
        "tagged-json",
        '<fn>\n{"name": "make_plan", "arguments": {"tags": ["a", # b\n"c"], "options": {}}}\n</fn>',
        None,
        [("make_plan", '{"tags": ["a", "# b"\n, "c"], "options": {}}')],
    ),
    "a call in the arguments of another": Case(
        "keyword-calls",
        '<.code.>[get_weather(city="Oslo", list_all(city="Rome")]<./code.>',
        None,
        [("get_weather", '{"city": "Oslo", "list_all(city": "Rome"}')],
    ),
    "a name twice": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weatherget_weather", "arguments": {"city": "Oslo"}}\n</fn>',
        None,
        [OSLO],
        False,
    ),
    "an argument next to a function": Case(
        "tagged-json",
        '<fn>\n{"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}, "days": 3}\n</fn>',
        None,
        [OSLO],
    ),
    "an argument next to another name": Case(
        "tagged-json", '<fn>\n{"tool": "get_weather", "args": {"city": "Oslo"}, "days": 3}\n</fn>', None, [OSLO]
    ),
    "a keyword twice": Case(
        "tagged-json",
        '<fn>\nget_weather(city="Oslo", city="Rome")\n</fn>',
        '<fn>\nget_weather(city="Oslo", city="Rome")\n</fn>',
        [],
        False,
    ),
    "an object for pairs, inside of it": Case("keyword-calls", '<.code.>[get_weather({"city": "Oslo', None, [OSLO]),
    "a call without its markers": Case(
        "bare-json", '{"tool": "get_weather", "parameters": {"city": "Oslo', None, [OSLO]
    ),
    "markers between the header and the arguments": Case(
        "tagged-name-json",
        '§call§get_weather§with§§call§ {"city": "Oslo"}§end§',
        '§call§ {"city": "Oslo"}',
        [NONE],
    ),
    "arguments after empty parentheses": Case(
        "bare-keyword-calls", '[list_all()(city="Oslo")]~~\n', '(city="Oslo")]', [("list_all", "{}")]
    ),
    "a call after one without arguments": Case(
        "string-delimiters",
        '(!ask:list_all{}!)(!ask:get_weather{city:‹"Oslo"›}!)|)\n',
        None,
        [("list_all", "{}"), ("get_weather", '{"city":"Oslo"}')],
        False,
    ),
    "the same after the end of the calls": Case(
        "bare-keyword-calls", "[list_all()](hm)", "(hm)", [("list_all", "{}")], False
    ),
    "a value that is missing": Case(
        "bare-keyword-calls", "[get_weather(city=, days=3)]~~\n", None, [("get_weather", '{"city": null, "days": 3}')]
    ),
    "an argument in another form, with a further one in its value": Case(
        "cdata-values",
        """<act name="get_weather"><arg key='city'>Oslo, days="3"</arg></act>""",
        None,
        [("get_weather", r'{"city": "Oslo, days=\"3\""}')],
    ),
    "a further argument in a value": Case(
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo, days="3"</arg></act>',
        None,
        [("get_weather", r'{"city": "Oslo, days=\"3\""}')],
    ),
    "a number with punctuation": Case(
        "cdata-values",
        '<act name="get_weather"><arg key="city">Oslo</arg><arg key="days">3,</arg></act>',
        None,
        [("get_weather", '{"city": "Oslo", "days": "3,"}')],
    ),
    "the first piece of a closer in a value": Case(
        "nested-elements",
        '^<jobs>\n^<job of="get_weather">^<city>Oslo^</^</city>^<days>3^</days>^</job>\n^</jobs>^[.]^\n',
        None,
        [("get_weather", '{"city": "Oslo^</", "days": 3}')],
        True,
    ),
    "an argument in a tag of its own, inside of another that isn't closed": Case(
        "parameter-tags",
        "<deed>\n<do=get_weather>\n<with=city>\nOslo\n<days>3</days>\n</do>\n</deed><:>\n",
        None,
        [("get_weather", '{"city": "Oslo\\n<days>3</days>"}')],
    ),
    "two such arguments": Case(
        "parameter-tags",
        "<deed>\n<do=get_weather>\n<city>Oslo\n<days>3</days>\n</do>\n</deed><:>\n",
        None,
        [("get_weather", '{"city": "Oslo\\n<days>3</days>"}')],
    ),
    "a decimal for an integer": Case(
        "nested-elements",
        '^<jobs>\n^<job of="get_weather">^<city>Oslo^</city>^<days>3.0^</days>^</job>\n^</jobs>^[.]^\n',
        None,
        [("get_weather", '{"city": "Oslo", "days": 3}')],
        False,
    ),
    "a value of another type in another form": Case(
        "tagged-name-json",
        '§call§get_weather§with§get_weather({"city": "Oslo", "days": three})§end§',
        None,
        [("get_weather", '{"city": "Oslo", "days": "three"}')],
    ),
    "a call inside of a call of an unknown tool": Case(
        "keyword-calls",
        '<.code.>[show(get_weather(city="Oslo"))]<./code.><./.>\n',
        None,
        [("show", '{"get_weather(city": "Oslo"}')],
    ),
    "arguments in the tag with the name": Case(
        "parameter-tags",
        '<deed>\n<do=get_weather city="Oslo" />\n</deed><:>\n',
        None,
        [NONE],
    ),
    "other attributes in the tag with the name": Case(
        "parameter-tags",
        '<deed>\n<do=get_weather type="function">\n<with=city>\nOslo\n</with>\n</do>\n</deed><:>\n',
        None,
        [OSLO],
        False,
    ),
    "arguments in the text of the name": Case(
        "tagged-name-json",
        "§call§get_weather city=Oslo, now§with§{}§end§",
        None,
        [("get_weather city=Oslo, now", "{}")],
    ),
    "a whole call as the arguments of an unknown tool": Case(
        "tagged-name-json",
        '§call§function§with§{"name": "get_weather", "arguments": {"city": "Oslo"}}§end§',
        None,
        [("function", '{"name": "get_weather", "arguments": {"city": "Oslo"}}')],
    ),
    "an unknown tool, and a tool's name in an argument": Case(
        "tagged-name-json",
        '§call§help§with§{"about": "get_weather"}§end§',
        None,
        [("help", '{"about": "get_weather"}')],
        False,
    ),
    "two calls in one object": Case(
        "name-as-key", '(use [{"get_weather": {"city": "Oslo"}, "list_all": {}}] use)', None, [OSLO]
    ),
    "arguments twice": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo"}, "arguments": {"city": "Bergen"}}\n</fn>',
        None,
        [OSLO],
    ),
    "arguments, and again without any": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo"}, "parameters": {}}\n</fn>',
        None,
        [OSLO],
        False,
    ),
    "the same, with a space in them": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weather", "arguments": {"city": "Oslo"}, "parameters": { }}\n</fn>',
        None,
        [OSLO],
        False,
    ),
    "arguments next to the name, and others": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weather", "city": "Oslo", "arguments": {"days": 3}}\n</fn>',
        None,
        [OSLO],
    ),
    "the same without any others": Case(
        "tagged-json",
        '<fn>\n{"name": "get_weather", "city": "Oslo", "arguments": {}}\n</fn>',
        None,
        [OSLO],
        False,
    ),
    "a call in the place of a value": Case(
        "tagged-json",
        '<fn>\n{"name": "make_plan", "arguments": {"options": {"day": Date(2024, 1)}}}\n</fn>',
        None,
        [("make_plan", '{"options": {"day": "Date(2024", "1)": null}}')],
    ),
    "a string in such a call": Case(
        "tagged-name-json",
        '§call§make_plan§with§{"options": {"day": f(1, "a")}}§end§',
        None,
        [("make_plan", '{"options": {"day": "f(1", "a": ")"}}')],
    ),
    "a set in the place of an object": Case(
        "tagged-name-json",
        '§call§make_plan§with§{"options": {"a", "b"}}§end§',
        None,
        [("make_plan", '{"options": {"a" : "b"}}')],
    ),
    "words in parentheses without quotes": Case(
        "tagged-name-json",
        '§call§get_weather§with§{"city": Bergen (Norway)}§end§',
        None,
        [("get_weather", '{"city": "Bergen (Norway)"}')],
        False,
    ),
    "arguments in other brackets": Case(
        "bare-keyword-calls", '[get_weather[city="Oslo", days=3]]~~\n', '[city="Oslo", days=3]]', [NONE]
    ),
    "the same around the template's": Case(
        "bare-keyword-calls", '[get_weather[(city="Oslo")]]', None, [("get_weather", '{"city": "Oslo"}')], False
    ),
    "brackets after a call": Case(
        "bare-keyword-calls", "[list_all()]\n[note] it", "\n[note] it", [("list_all", "{}")], False
    ),
    "a longer name than a tool's": Case(
        "tagged-name-json", "§call§get_weather_now§with§{}§end§", None, [("get_weather_now", "{}")], False
    ),
}


def read(case: Case, chunks: list[str]) -> tuple[Any, ...]:
    stream = parser_of(case.name).StreamParser(tools=TOOLS)
    for chunk in chunks:
        stream.feed(chunk)
    stream.finish()
    assert stream.diagnostics or not stream.incomplete
    return (*reading(stream.message), stream.incomplete)


def reading(message: Any) -> tuple[Any, ...]:
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
    return message["content"], calls


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_doubts(case: Case) -> None:
    wanted = (case.content, case.calls, case.incomplete)
    assert read(case, [case.text]) == wanted
    assert read(case, list(case.text)) == wanted
    assert read(case, [case.text[at : at + 7] for at in range(0, len(case.text), 7)]) == wanted
    peg = PegEngine(ir_of(case.name)).read(case.text, tools=TOOLS)
    assert (*reading(peg.message), peg.incomplete) == wanted
