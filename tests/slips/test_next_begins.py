"""Where something is missing, what comes next shows where a part ends: parser, chunks, and PEG alike."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.property.every_reader import EveryReader
from tests.property.report_authored import FOLDER as AUTHORED
from tests.slips.bases import TOOLS
from tests.slips.test_near_forms import TEMPLATE
from tplc.driver import compile_template

EXAMPLES = Path(__file__).parents[2] / "examples"
OSLO = ("get_weather", '{"city": "Oslo", "days": 3}')
TIME = ("get_time", '{"zone": "CET", "exact": true}')


class Case(NamedTuple):
    """An output of a template, and the content, the reasoning and the calls that it means."""

    template: str
    text: str
    content: str | None = None
    reasoning: str | None = None
    calls: tuple[tuple[str, str], ...] = (OSLO,)
    incomplete: bool = False


CASES = {
    "a brace missing before the next object": Case(
        "json-array",
        '«wishes»[{"name": "get_time", "arguments": {"zone": "CET", "exact": true}, '
        '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}]«/wishes»«/»\n',
        calls=(TIME, OSLO),
    ),
    "the same, with the name as the key": Case(
        "name-as-key",
        '(use [{"get_time": {"zone": "CET", "exact": true}, {"get_weather": {"city": "Oslo", "days": 3}}] use)%%\n',
        calls=(TIME, OSLO),
    ),
    "the same, on a line of its own": Case(
        "wrapped-content",
        '<#acts#>\n{"tool": "get_time", "input": {"zone": "CET", "exact": true}\n'
        '{"tool": "get_weather", "input": {"city": "Oslo", "days": 3}}\n<#/acts#><#over#>',
        calls=(TIME, OSLO),
    ),
    "the same, of three objects": Case(
        "json-array",
        '«wishes»[{"name": "get_time", "arguments": {"zone": "CET", "exact": true}, '
        '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}, '
        '{"name": "get_time", "arguments": {"zone": "CET", "exact": true}}]«/wishes»«/»\n',
        calls=(TIME, OSLO, TIME),
    ),
    "the same, after arguments in another form": Case(
        "json-array",
        '«wishes»[{"name": "get_time", "arguments": ({"zone": "CET", "exact": true}), '
        '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}]«/wishes»«/»\n',
        calls=(TIME, OSLO),
    ),
    "an object that is no call next to the arguments": Case(
        "json-array",
        '«wishes»[{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}, {"a": 1}}]«/wishes»«/»\n',
        incomplete=True,
    ),
    "a brace missing before a closer of punctuation": Case(
        "channel-all",
        'say: <<Let me look.>>\ndo get_time: <<{"zone": "CET", "exact": true>>\n'
        'do get_weather: <<{"city": "Oslo", "days": 3}>>\n<|done|>\n',
        "Let me look.",
        calls=(TIME, OSLO),
    ),
    "the same, of one character": Case("emoji", '🔧get_weather📦{"city": "Oslo", "days": 3✅<|done|>\n'),
    "the same, before the end of the turn": Case(
        "two-ends", '«call»get_weather→{"city": "Oslo", "days": 3«yield»«done»'
    ),
    "a string holds the closer, and the brace is there": Case(
        "emoji",
        '🔧get_time📦{"zone": "✅ or 🔧", "exact": true}✅<|done|>\n',
        calls=(("get_time", '{"zone": "✅ or 🔧", "exact": true}'),),
    ),
    "an empty line where a closer is missing": Case(
        "parameter-tags",
        "\n<deed>\n<do=get_weather>\n<with=city>\nOslo\n\n<with=days>\n3\n</with>\n</do>\n</deed><:>\n",
        incomplete=True,
    ),
    "a line end where a closer is missing": Case(
        "parameter-tags",
        "\n<deed>\n<do=get_weather>\n<with=city>\nOslo\n<with=days>\n3\n</with>\n</do>\n</deed><:>\n",
        incomplete=True,
    ),
    "a fence around an opener like prose": Case(
        "string-delimiters",
        '\n```json\n(!ask:get_weather{city:‹"Oslo"›,days:3}!)\n```|)\n',
        calls=(("get_weather", '{"city":"Oslo","days":3}'),),
    ),
    "a closer of reasoning in capitals, where nothing opens it": Case(
        "cut-at-closer-role-between-marks",
        'The user asks.</MUSE><do>{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}</do><|eot|>',
        reasoning="The user asks.",
    ),
    "the same, with the closer itself after it": Case(
        "cut-at-closer-role-between-marks",
        "It ends with </MUSE> or so.</muse>It is two.<|eot|>",
        "It is two.",
        "It ends with </MUSE> or so.",
        (),
    ),
}


@cache
def readers_of(name: str) -> EveryReader:
    path = AUTHORED / f"{name}.jinja"
    path = path if path.exists() else EXAMPLES / name / "template.jinja"
    return EveryReader(compile_template(path.read_text(encoding="utf-8"), name=name))


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_comes_next_ends_a_part(case: Case) -> None:
    readers = readers_of(case.template)
    message = readers.parse(case.text, tools=TOOLS)
    calls = tuple((call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"])
    stream = readers.parser.StreamParser(tools=TOOLS)
    stream.feed(case.text)
    stream.finish()
    found = Case(case.template, case.text, message["content"], message["reasoning_content"], calls, stream.incomplete)
    assert (found, readers.differ) == (case, [])


def test_a_brace_is_missing_before_a_closer_of_letters_that_json_has_in_strings_only() -> None:
    call = "{{- '「用' + call.function.name + '：' + call.function.arguments | tojson + '終了」' }}"
    readers = EveryReader(compile_template(TEMPLATE.replace("CALL", call)))
    found = readers.parse('「用get_weather：{"city": "Oslo 終了」", "days": 3終了」[end]', tools=TOOLS)
    called = [(one["function"]["name"], one["function"]["arguments"]) for one in found["tool_calls"]]
    assert (called, found["content"], readers.differ) == ([(OSLO[0], '{"city": "Oslo 終了」", "days": 3}')], None, [])


def test_a_fence_is_around_the_arguments_of_a_call_with_an_id_in_lines() -> None:
    call = "{{- 'call on\\nid: ' + call.id + '\\nname: ' + call.function.name + '\\nargs: ' }}"
    call += "{{- call.function.arguments | tojson + '\\ncall off' }}"
    readers = EveryReader(compile_template(TEMPLATE.replace("CALL", call)))
    text = f"call on\nid: call00000\nname: {OSLO[0]}\nargs: \n```json\n{OSLO[1]}\n```\n\ncall off[end]"
    found = readers.parse(text, tools=TOOLS)
    called = [(one["id"], one["function"]["name"], one["function"]["arguments"]) for one in found["tool_calls"]]
    assert (called, found["content"], readers.differ) == ([("call00000", *OSLO)], None, [])
