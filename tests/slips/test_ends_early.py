"""Calls that end early, types of values with other ends, and punctuation of other languages in JSON; PEG and parser."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from tests.fuzz.formats import named
from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading
from tplc.backends.peg.engine import PegEngine


class Case(NamedTuple):
    name: str
    text: str
    calls: list[tuple[str, dict[str, Any]]]
    incomplete: bool = False


OSLO = ("get_weather", {"city": "Oslo", "days": 3})
CITY = ("get_weather", {"city": "Oslo"})
TYPED = (
    '⟨steps⟩\n⟨step name="get_weather"⟩\n⟨arg name="city" {}⟨/arg⟩\n⟨arg name="days" text="no"⟩3⟨/arg⟩\n⟨/step⟩\n'
    "⟨/steps⟩⟪stop⟫"
)
DEED = "\n<deed>\n<do=get_weather>\n<with=city>\nOslo\n</with>\n"
DAYS = "<with=days>\n3\n</with>\n</do>\n</deed>"
FN = '<fn>\n{{"name": "{}", "arguments": {}}}\n</fn><~/~>\n'
QUOTES = {"„": "“", "“": "”", "＂": "＂", "&quot;": "&quot;", "`": "`", "‘": "’"}
CASES = {
    # The call has no closer, and lacks an argument that the tool requires.
    "the turn ends": Case("parameter-tags", DEED + "<:>\n", [CITY], True),
    "another call begins": Case("parameter-tags", DEED + DEED + DAYS, [CITY, OSLO], True),
    "another call begins after the name": Case(
        "key-value-tags",
        "\n[ability]get_weather\n[ability]get_weather\n[k]city[/k]\n[v]Oslo[/v]\n[k]days[/k]\n[v]3[/v]\n[/ability]",
        [("get_weather", {}), OSLO],
        True,
    ),
    "all arguments": Case("parameter-tags", DEED + DAYS.split("</do>")[0] + "<:>\n", [OSLO]),
    "an optional argument": Case("parameter-tags", DEED + "</do>\n</deed><:>\n", [CITY]),
    "an object before the turn's end": Case(
        "tagged-name-json", '§call§get_weather§with§{"city": "Oslo", §end§', [CITY], True
    ),
    "all arguments of an object": Case(
        "tagged-name-json", '§call§get_weather§with§{"city": "Oslo", "days": 3 §end§', [OSLO]
    ),
    # The type of a value ends otherwise.
    "no second quote": Case("typed-attributes", TYPED.format('text="yes⟩Oslo'), [OSLO]),
    "white space after the quote": Case("typed-attributes", TYPED.format('text="yes" ⟩Oslo'), [OSLO]),
    "no quotes": Case("typed-attributes", TYPED.format("text=yes⟩Oslo"), [OSLO]),
    "a value in quotes": Case(
        "typed-attributes",
        TYPED.format('text="yes" ⟩"Os" lo'),
        [("get_weather", {"city": '"Os" lo', "days": 3})],
    ),
    "an apostrophe in the value": Case(
        "typed-attributes", TYPED.format("text='yes'⟩it's"), [("get_weather", {"city": "it's", "days": 3})]
    ),
    # Punctuation and words of other languages in JSON.
    "semicolons": Case("tagged-json", FN.format("get_weather", '{"city": "Oslo"; "days": 3;}'), [OSLO]),
    "keys without quotes before `=`": Case("tagged-json", FN.format("get_weather", "{city='Oslo', days = 3}"), [OSLO]),
    "a key without its second quote, and one without any": Case(
        "tagged-json", FN.format("get_weather", '{"city: "Oslo", days = 3}'), [OSLO]
    ),
    "the whole call so": Case(
        "tagged-json", '<fn>\n{name="get_weather", arguments={city="Oslo", days=3}}\n</fn><~/~>\n', [OSLO]
    ),
    "full-width punctuation in a string without quotes": Case(
        "tagged-name-json",
        "§call§get_weather§with§{city：Oslo，days：3}§end§",
        [("get_weather", {"city": "Oslo，days：3"})],
        True,
    ),
    "a quote after the object": Case(
        "tagged-json", FN.format("get_weather", '{"city": "Oslo", "days": 3}').replace("}}", '}}"'), [OSLO]
    ),
    "a quote after the arguments": Case(
        "tagged-name-json", '§call§get_weather§with§{"city": "Oslo", "days": 3}"§end§', [OSLO]
    ),
    "escapes of HTML in a string with such quotes": Case(
        "tagged-name-json",
        "§call§get_weather§with§{&quot;city&quot;: &quot;A &lt; B&quot;, &quot;days&quot;: 3}§end§",
        [("get_weather", {"city": "A &lt; B", "days": 3})],
        True,
    ),
    "keys in backticks": Case("tagged-json", FN.format("get_weather", '{`city`: "Oslo", `days`: 3}'), [OSLO]),
    "words for null": Case(
        "tagged-json",
        FN.format("make_plan", '{"tags": [], "options": {"a": undefined, "b": Null, "c": nil}}'),
        [("make_plan", {"tags": [], "options": {"a": None, "b": None, "c": None}})],
    ),
    "a word for null in the place of text": Case(
        "tagged-json",
        FN.format("get_weather", '{"city": nil, "days": 3}'),
        [("get_weather", {"city": None, "days": 3})],
        True,
    ),
    **{
        f"{opened}…{closed} in {name}": Case(name, text.format(f'{{"city": {opened}Oslo{closed}, "days": 3}}'), [OSLO])
        for opened, closed in QUOTES.items()
        for name, text in (
            ("tagged-json", FN.replace("{}", "get_weather", 1)),
            ("tagged-name-json", "§call§get_weather§with§{}§end§"),
        )
    },
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_early_end(case: Case) -> None:
    form = named(case.name)
    for size in (len(case.text), 1, 2, 3, 7):
        chunks = [case.text[at : at + size] for at in range(0, len(case.text), size)]
        stream, deltas = read(form.parser, case.text, TOOLS, chunks)
        for got in (reading(stream), joined(deltas)):
            found = [(function, json.loads(arguments)) for function, arguments in got[2]]
            assert (got[0], found) == ("", case.calls), size
        assert stream.incomplete == case.incomplete, size
        assert stream.diagnostics or not case.incomplete
    parsed = PegEngine(form.ir).read(case.text, tools=TOOLS)
    assert (dict(parsed.message), parsed.incomplete) == (dict(stream.message), case.incomplete)
