"""Arguments without keys in calls as in Python: read by the order of the tool's schema, if its types allow it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.formats import Format, named
from tests.slips.bases import TOOLS
from tests.slips.measure import read
from tplc.backends.peg.engine import PegEngine

FORMATS = {"keyword-calls": "<.code.>[get_weather({})]<./code.>", "bare-keyword-calls": "[get_weather({})"}
NO_KEYS = "positional_arguments"
SCALARS = st.one_of(st.text("ab ='\"\\(),é\n", max_size=9), st.integers(-99, 99), st.booleans(), st.none())


def calls_of(form: Format, text: str, tools: Any = TOOLS) -> tuple[list[Any], list[str], bool]:
    """Return calls, codes and whether the message is incomplete, for all chunkings and the PEG alike."""
    stream, _ = read(form.parser, text, tools)
    for size in (1, 3):
        other, _ = read(form.parser, text, tools, [text[at : at + size] for at in range(0, len(text), size)])
        assert (other.message, other.incomplete, other.diagnostics) == (
            stream.message,
            stream.incomplete,
            stream.diagnostics,
        )
    peg = PegEngine(form.ir).read(text, tools=tools)
    assert (peg.message, peg.incomplete) == (stream.message, stream.incomplete)
    functions = [call["function"] for call in stream.message["tool_calls"]]
    calls = [(one["name"], json.loads(one["arguments"])) for one in functions]
    return calls, [one.code for one in stream.diagnostics], stream.incomplete


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('"Oslo"', {"city": "Oslo"}),
        ("'Oslo', 3", {"city": "Oslo", "days": 3}),
        ('"Oslo", days=3', {"city": "Oslo", "days": 3}),
        ('"Oslo, days=3"', {"city": "Oslo, days=3"}),
        ("'days='", {"city": "days="}),
        ("'it\\'s', 3, ", {"city": "it's", "days": 3}),
    ],
)
def test_arguments_without_keys_are_read_in_order(name: str, written: str, arguments: dict[str, Any]) -> None:
    assert calls_of(named(name), FORMATS[name].format(written)) == ([("get_weather", arguments)], [NO_KEYS], True)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("written", ["3", '"Oslo", "3 days"', '"Oslo", city="Rome"', '"a", 1, 2, 3, 4, 5', "3 + 4"])
def test_no_key_is_guessed_that_the_schema_contradicts(name: str, written: str) -> None:
    [(called, arguments)], codes, is_incomplete = calls_of(named(name), FORMATS[name].format(written))
    assert (called, is_incomplete) == ("get_weather", True)
    assert NO_KEYS not in codes
    assert arguments.keys().isdisjoint(("city", "days"))


@pytest.mark.parametrize("name", FORMATS)
def test_a_key_in_quotes_is_a_key(name: str) -> None:
    calls, codes, _ = calls_of(named(name), FORMATS[name].format('"city"="Oslo", "days"=3'))
    assert calls == [("get_weather", {"city": "Oslo", "days": 3})]
    assert NO_KEYS not in codes


@given(st.lists(SCALARS, min_size=1, max_size=4), st.integers(0, 4))
def test_any_values_without_keys(values: list[Any], named_from: int) -> None:
    keys = ["a", "b", "c", "d"]
    tool = {"name": "get_weather", "parameters": {"type": "object", "properties": {key: {} for key in keys}}}
    written = [repr(value) if at < max(named_from, 1) else f"{keys[at]}={value!r}" for at, value in enumerate(values)]
    text = FORMATS["keyword-calls"].format(", ".join(written))
    calls, codes, _ = calls_of(named("keyword-calls"), text, [{"type": "function", "function": tool}])
    if values[0] is not None and not isinstance(values[0], bool):  # words may be keys
        assert (calls, codes) == ([("get_weather", dict(zip(keys, values, strict=False)))], [NO_KEYS])
