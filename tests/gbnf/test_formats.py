"""Every example's format: what the template renders the grammar accepts, what the grammar accepts the parser parses."""

from __future__ import annotations

import random
from typing import Any

import jsonschema
import pytest

from tests.gbnf.engine import accepts, needs_engine, refused
from tests.gbnf.formats import arguments_of, calls_message, formats, written
from tests.gbnf.tools import ALL, WEATHER
from tests.gbnf.walk import Walker
from tplc.backends.gbnf import Grammar, fires_at, grammar
from tplc.backends.gbnf.lint import lint

WITH_CALLS = (
    "addressed-parts", "array-with-ids", "bare-array", "bare-json", "bare-keyword-calls", "cdata-values", "channels",
    "closer-with-name", "fenced-json", "forced-closed", "forced-open", "ids-with-names", "json-array",
    "key-value-tags", "keyword-calls", "markers-by-shape", "name-as-key", "nested-elements", "open-json",
    "parameter-tags", "pretty-json", "python-literals", "recipient-lines", "sectioned-ids", "string-delimiters",
    "tagged-json", "tagged-name-json", "thinking-parts", "typed-attributes",
    "words-in-calls", "wrapped-content",
)  # fmt: skip
WALKS = 100

MESSAGES = [
    calls_message(("get_weather", {"city": "Oslo"})),
    calls_message(("get_weather", {"city": "San José", "days": 3, "unit": "celsius"})),
    calls_message(("now", {})),
    calls_message(("types", {"text": "two\nlines", "count": -4, "ratio": 2.5, "flag": True})),
    calls_message(("types", {"names": ["a", "b c"], "numbers": [1, 2], "inner": {"a": "x", "b": 7}})),
    calls_message(("tree", {"root": {"name": "r", "children": [{"name": "s"}, {"name": "t", "children": []}]}})),
]
WRONG = [
    calls_message(("get_weather", {"city": "Oslo", "days": 15})),
    calls_message(("get_weather", {"city": "Oslo", "unit": "kelvin"})),
    calls_message(("get_weather", {"days": 3})),
    calls_message(("get_weather", {"city": "Oslo", "zip": "0150"})),
    calls_message(("now", {"zone": "UTC"})),
    calls_message(("unknown", {})),
    calls_message(("bounds", {"age": 7, "code": "ab-1234"})),
    calls_message(("types", {"numbers": []})),
]
VALIDATORS = {
    tool["function"]["name"]: jsonschema.Draft202012Validator(
        tool["function"]["parameters"], format_checker=jsonschema.FormatChecker()
    )
    for tool in ALL
}


def test_the_list_above_is_all_formats_with_calls() -> None:
    assert tuple(formats()) == WITH_CALLS


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", WITH_CALLS)
@pytest.mark.parametrize("choice", ["auto", "required", "get_weather"])
def test_portable(name: str, choice: str) -> None:
    made = grammar(formats()[name].ir, tools=ALL, tool_choice=choice)
    assert lint(made.text) == []
    assert [entry for entry in made.not_expressed if entry.effect == "looser"] == []


@pytest.mark.sweep(4)
@needs_engine
@pytest.mark.parametrize("name", WITH_CALLS)
def test_rendered_calls_are_accepted(name: str) -> None:
    ir = formats()[name].ir
    lazy, eager = grammar(ir, tools=ALL), grammar(ir, tools=ALL, tool_choice="required")
    assert refused(lazy.text) is None
    assert refused(eager.text) is None
    for message in MESSAGES:
        text = written(ir, message)
        place = fires_at(lazy.triggers, text)
        assert place is not None, text
        assert accepts(lazy.text, text[place:]), text
        assert accepts(eager.text, text), text


@pytest.mark.sweep(4)
@needs_engine
@pytest.mark.parametrize("name", WITH_CALLS)
def test_parallel_calls_are_accepted_where_they_are_allowed(name: str) -> None:
    ir = formats()[name].ir
    if not ir.tools.parallel:
        pytest.skip("the template writes one call a turn")
    text = written(ir, calls_message(("get_weather", {"city": "Oslo"}), ("now", {}), ("get_weather", {"city": "Rome"})))
    assert accepts(grammar(ir, tools=ALL, tool_choice="required").text, text), text
    assert not accepts(grammar(ir, tools=ALL, tool_choice="required", parallel_tool_calls=False).text, text), text


@pytest.mark.sweep(4)
@needs_engine
@pytest.mark.parametrize("name", WITH_CALLS)
def test_a_named_tool_is_the_only_one(name: str) -> None:
    ir = formats()[name].ir
    named = grammar(ir, tools=ALL, tool_choice="now").text
    assert accepts(named, written(ir, calls_message(("now", {}))))
    assert not accepts(named, written(ir, MESSAGES[0]))


@pytest.mark.sweep(4)
@needs_engine
@pytest.mark.parametrize("name", WITH_CALLS)
def test_wrong_arguments_are_refused(name: str) -> None:
    ir = formats()[name].ir
    eager = grammar(ir, tools=ALL, tool_choice="required").text
    for wrong in WRONG:
        assert not accepts(eager, written(ir, wrong)), wrong


@pytest.mark.sweep(26)
@pytest.mark.parametrize("name", WITH_CALLS)
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_matched_pair(name: str, choice: str) -> None:
    """Random texts of the grammar parse to calls that are valid under the tools' schemas."""
    made = grammar(formats()[name].ir, tools=ALL, tool_choice=choice)
    walker, rng = Walker(made.text), random.Random(name)
    for _ in range(WALKS):
        text = walker.text(rng, depth=rng.choice((8, 20, 40)))
        check_walk(name, made, text)


def check_walk(name: str, made: Grammar, text: str) -> None:
    held = formats()[name]
    prompt = made.generation_prompt
    if made.lazy and held.ir.turn.prompts[0].head and text.startswith(held.ir.turn.prompts[0].head):
        # The prompt begins the first opener; this text is what triggers after content.
        prompt = prompt.removesuffix(held.ir.turn.prompts[0].head)
    message: Any = held.parser.parse(text, tools=list(ALL), prompt=prompt)
    assert message["tool_calls"], text
    for tool, arguments in arguments_of(message):
        assert [error.message for error in VALIDATORS[tool].iter_errors(arguments)] == [], text


@needs_engine
def test_content_before_calls_where_the_format_has_it() -> None:
    for held in formats().values():
        text = written(held.ir, calls_message(("get_weather", {"city": "Oslo"}), content="I will look."))
        eager = grammar(held.ir, tools=[WEATHER], tool_choice="required").text
        if held.ir.content.with_calls == "before" and "I will look." in text:
            bare = [trigger.type for trigger in grammar(held.ir, tools=[WEATHER]).triggers] == ["pattern_full"]
            # An opener that begins a line ends content.
            bare = bare and not text.partition("I will look.")[2].startswith("\n")
            assert accepts(eager, text) is not bare, (held.name, text)
