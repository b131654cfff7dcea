"""Grammars for choices, contexts, response formats and hostile names; and error messages if there can't be one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import ROOT
from tests.gbnf.engine import accepts, needs_engine, refused
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import ALL, NOTHING, WEATHER, tool
from tests.ir_small import ALL as SMALL
from tplc.backends.gbnf import Grammar, Trigger, grammar
from tplc.backends.gbnf.lint import lint
from tplc.errors import TplcError
from tplc.ir.nodes import GenerationPrompt
from tplc.schemas import load_schema

JSON_CALLS = SMALL["json-calls"]
PLAIN = SMALL["plain"]
GOLDEN = ROOT / "tests" / "cases" / "gbnf"
ANSWER = {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}


@pytest.mark.parametrize("name", ["json-calls", "tagged", "keywords", "name-then-json"])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_golden(golden: Callable[[Path, str], None], name: str, choice: str) -> None:
    made = grammar(SMALL[name], tools=[WEATHER, NOTHING], tool_choice=choice)
    golden(GOLDEN / f"{name}.{choice}.gbnf", made.text)


def test_json_form() -> None:
    schema = load_schema("grammar")
    for made in (
        grammar(JSON_CALLS, tools=ALL),
        grammar(JSON_CALLS, tools=[tool("f", {"a": {"uniqueItems": True, "type": "array"}})], tool_choice="required"),
        grammar(PLAIN),
    ):
        form = made.to_json()
        jsonschema.validate(form, schema)
        assert json.loads(json.dumps(form)) == form


def test_nothing_is_constrained() -> None:
    nothing = Grammar("", False, (), JSON_CALLS.preserved_tokens, "<bot>\n<r>\n", ())
    assert grammar(JSON_CALLS) == nothing
    assert grammar(JSON_CALLS, tools=[WEATHER], tool_choice="none") == nothing
    assert grammar(PLAIN, tools=[WEATHER]).text == ""


def test_lazy_and_eager() -> None:
    lazy = grammar(JSON_CALLS, tools=[WEATHER])
    assert (lazy.lazy, lazy.triggers) == (True, (Trigger("word", "<call>"), Trigger("word", "<kall>")))
    eager = grammar(JSON_CALLS, tools=[WEATHER], tool_choice="required")
    assert (eager.lazy, eager.triggers) == (False, ())


@needs_engine
def test_the_prompt_of_a_context() -> None:
    call = '<call>\n{"name": "now", "arguments": {}}\n</call>'
    opened = grammar(JSON_CALLS, tools=[NOTHING], tool_choice="required")
    assert opened.generation_prompt == "<bot>\n<r>\n"
    assert accepts(opened.text, "Hm.\n</r>\n\n" + call)
    closed = grammar(JSON_CALLS, tools=[NOTHING], tool_choice="required", context={"reason": False})
    assert closed.generation_prompt == "<bot>\n<r>\n\n</r>\n\n"
    assert accepts(closed.text, call)


@needs_engine
def test_reasoning_that_the_model_opens() -> None:
    turn = replace(JSON_CALLS.turn, prompts=(GenerationPrompt((), "<bot>\n", ""),))
    ir = replace(JSON_CALLS, turn=turn, reasoning=replace(JSON_CALLS.reasoning, mode="tag_based"))
    made = grammar(ir, tools=[NOTHING], tool_choice="required").text
    call = '<call>\n{"name": "now", "arguments": {}}\n</call>'
    assert accepts(made, call)
    assert accepts(made, "<r>\nHm.\n</r>\n\n" + call)
    assert accepts(made, "<r>\nHm.\n</r>\n\nI look.\n" + call)
    assert not accepts(made, "<r>\nHm.\n")
    assert not accepts(made, "I look.")


@needs_engine
def test_response_format() -> None:
    made = grammar(JSON_CALLS, json_schema=ANSWER, context={"reason": False})
    assert not made.lazy
    assert accepts(made.text, '{"answer": 42}')
    assert not accepts(made.text, '{"answer": "42"}')
    reasoned = grammar(JSON_CALLS, json_schema=ANSWER)
    assert accepts(reasoned.text, 'Hm.\n</r>\n\n{"answer": 42}')
    wrapped = formats()["wrapped-content"].ir
    text = grammar(wrapped, json_schema=ANSWER).text
    assert accepts(text, written(wrapped, {"content": '{"answer": 42}', "tool_calls": []}))


@needs_engine
def test_response_format_or_calls() -> None:
    made = grammar(JSON_CALLS, json_schema=ANSWER, tools=[NOTHING], context={"reason": False})
    assert not made.lazy
    assert accepts(made.text, '{"answer": 42}')
    assert accepts(made.text, '<call>\n{"name": "now", "arguments": {}}\n</call>')


@needs_engine
def test_arguments_that_the_schema_does_not_mention() -> None:
    text = written(JSON_CALLS, calls_message(("get_weather", {"city": "Oslo", "zip": "0150"})))
    for open_objects in (False, True):
        made = grammar(JSON_CALLS, tools=[WEATHER], tool_choice="required", open_objects=open_objects)
        assert accepts(made.text, text) is open_objects


HOSTILE = 'x"\\]\n[^-a]* ::= root | {2} <call>\x01f é世 "'


@needs_engine
@pytest.mark.parametrize("name", ["json-calls", "keywords", "pretty"])
def test_hostile_names_and_values(name: str) -> None:
    """They are quoted: nothing in them is read as a rule."""
    tools = [tool(HOSTILE, {HOSTILE: {"enum": [HOSTILE, "-]^"]}}, (HOSTILE,)), tool("start", {"root": {}}), NOTHING]
    made = grammar(SMALL[name], tools=tools, tool_choice="required")
    assert lint(made.text) == []
    assert refused(made.text) is None


def test_half_characters_are_in_no_text() -> None:
    half = "\ud800"
    made = grammar(
        JSON_CALLS, tools=[tool("f", {half: {}, "a": {"enum": [half, "b"]}, "c": {"minimum": half}}), NOTHING]
    )
    assert half not in made.text
    made.text.encode("utf-8")


@needs_engine
def test_names_that_look_alike_stay_apart() -> None:
    tools = [tool(name, {"a": {"const": name}}, ("a",)) for name in ("get-it", "get_it", "GET IT", "天", "気", "")[:5]]
    made = grammar(JSON_CALLS, tools=tools, tool_choice="required", context={"reason": False})
    for one in tools:
        name = one["function"]["name"]
        call = '<call>\n{"name": "%s", "arguments": {"a": "%s"}}\n</call>'
        assert accepts(made.text, call % (name, name))
        assert not accepts(made.text, call % (name, "other"))


@needs_engine
def test_one_bad_schema_leaves_the_others_alone() -> None:
    bad = {"type": "function", "function": {"name": "bad", "parameters": "no schema"}}
    made = grammar(JSON_CALLS, tools=[bad, WEATHER], tool_choice="required", context={"reason": False})
    assert [str(entry) for entry in made.not_expressed] == [
        "bad: #: parameters: any object: this is not a schema (looser)"
    ]
    assert accepts(made.text, '<call>\n{"name": "bad", "arguments": {"any": [1]}}\n</call>')
    assert not accepts(made.text, '<call>\n{"name": "get_weather", "arguments": {"any": [1]}}\n</call>')


def test_a_tool_that_can_not_be_called_is_left_out() -> None:
    never, endless = tool("never", {"a": False}, ("a",)), tool("endless", {"a": {"$ref": "#"}}, ("a",))
    made = grammar(JSON_CALLS, tools=[never, WEATHER, endless])
    assert [str(entry) for entry in made.not_expressed] == [
        "never: #: parameters: the tool is left out: no arguments satisfy the schema (tighter)",
        "endless: #: parameters: the tool is left out: no finite arguments satisfy the schema (tighter)",
    ]
    assert "never" not in made.text.split("root ::=")[1]
    assert "endless" not in made.text.split("root ::=")[1]


def test_names_that_a_raw_layout_can_not_hold() -> None:
    made = grammar(SMALL["tagged"], tools=[tool("f", {"a is=b": {}, "c": {}, "d is=e": {}}, ("d is=e",))])
    assert [str(entry) for entry in made.not_expressed] == [
        "f: #: properties: 'a is=b' is left out: it contains the text that ends a name (tighter)",
        "f: #: properties: 'd is=e' is left out: it contains the text that ends a name (looser)",
    ]
    made = grammar(SMALL["tagged"], tools=[tool("f>", {})])
    assert [str(entry) for entry in made.not_expressed] == [
        "f>: #: name: it contains the text that ends a name, so the function can't be identified (looser)"
    ]


def test_deep_and_endless_schemas_end() -> None:
    deep: Any = {"type": "string"}
    for _ in range(300):
        deep = {"type": "object", "properties": {"a": deep}, "required": ["a"]}
    made = grammar(PLAIN, json_schema=deep)
    assert lint(made.text) == []
    assert {(entry.keyword, entry.effect) for entry in made.not_expressed} == {("type", "looser")}
    endless = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    with pytest.raises(TplcError, match="no value satisfies the schema"):
        grammar(PLAIN, json_schema=endless)


def test_the_same_text_each_time() -> None:
    assert grammar(JSON_CALLS, tools=ALL) == grammar(JSON_CALLS, tools=ALL)


def test_many_tools_in_time() -> None:
    kinds: list[Any] = [
        {"type": "string"},
        {"type": "integer", "minimum": 0, "maximum": 255},
        {"type": "boolean"},
        {"enum": ["one", "two", "three"]},
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["a"]},
        {"type": ["string", "null"]},
        {"type": "string", "format": "date-time"},
    ]
    tools = [
        tool(f"tool_{number}", {f"p{index}_{number}": kinds[index % len(kinds)] for index in range(50)})
        for number in range(200)
    ]
    started = time.process_time()
    made = grammar(JSON_CALLS, tools=tools)
    # Two seconds on a quiet machine; tests run next to others.
    assert time.process_time() - started < 6
    assert lint(made.text) == []


# Refusals

REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"tools": [WEATHER], "tool_choice": "required", "json_schema": {}},
        "a response format and required tools exclude each other: the answer is one or the other",
    ),
    ({"tool_choice": "required"}, "tool_choice is 'required', and there are no tools"),
    (
        {"tools": [WEATHER, NOTHING], "tool_choice": "sing"},
        "tool_choice is 'sing'; expected auto, required, none or one of: get_weather, now",
    ),
    ({"tools": [{"type": "function"}]}, 'tools[0]: expected {"type": "function", "function": {"name": …}}'),
    ({"tools": [NOTHING, NOTHING]}, "tools[1]: the name 'now' is taken by an earlier tool"),
    (
        {"tools": [NOTHING], "context": {"reason": "maybe"}},
        'no prompt was learned with reason="maybe": json-calls.jinja has prompts with no variables or reason=false',
    ),
    ({"json_schema": False}, "response format: no value satisfies the schema, so no text would satisfy the grammar"),
    (
        {"tools": [tool("f", {"a": False}, ("a",))]},
        "f: no value satisfies the schema, so no text would satisfy the grammar",
    ),
    (
        {"tools": [tool("f", {"a": {"type": "array", "uniqueItems": True}})], "strict": True},
        "the grammar would accept what the schemas do not:\n"
        "    f: #/properties/a: uniqueItems: items may be equal (looser)",
    ),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TplcError) as caught:
        grammar(JSON_CALLS, **options)
    assert str(caught.value) == message


def test_a_template_without_calls_can_not_be_made_to_call() -> None:
    with pytest.raises(TplcError) as caught:
        grammar(PLAIN, tools=[WEATHER], tool_choice="required")
    assert str(caught.value) == "plain.jinja shows no tool calls, so no grammar can ask for one"
