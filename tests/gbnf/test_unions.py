"""Text next to other types in dialects without quotes: what the grammar takes, the parser reads as a valid value."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import tool
from tplc.backends.gbnf import NotExpressed, grammar

RAW = ("parameter-tags", "typed-attributes", "cdata-values", "key-value-tags", "nested-elements")
SCHEMAS: tuple[Any, ...] = (
    {"anyOf": [{"type": "string"}, {"type": "integer", "maximum": 10}]},
    {"type": ["string", "integer"], "maximum": 10},
    {"type": ["string", "number"]},
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
    {"anyOf": [{"type": "string", "minLength": 3}, {"const": True}]},
    {"enum": ["5", "true", 7, "null", "[1]"]},
    {"enum": ["1", "2"]},
    {"not": {"type": "integer"}},
    {"type": ["string", "object"], "additionalProperties": {"type": "integer"}},
    {},
)  # fmt: skip
TEXTS = (
    "4200", "11", '["a"]', '{"a":"b"}', "false", "true", "True", "null", "None", "5", "[1]", "1", "x", " a", "7.0",
    "1e3", "{}", "[]", "+7", ".5", "0x1", "007", "1_000", "NaN", " 4200", "4200 ", "\n4200", "[1, 2", "7 apples",
)  # fmt: skip
PLAIN = ("x", "7 apples", "[1, 2", "0x1", "NaN")


@pytest.mark.sweep(7)
@needs_engine
@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
@pytest.mark.parametrize("name", RAW)
def test_what_is_taken_is_read_as_valid(name: str, schema: Any) -> None:
    held = formats()[name]
    tools = [tool("f", {"v": schema}, ("v",))]
    made = grammar(held.ir, tools=tools, tool_choice="required")
    validator = jsonschema.Draft202012Validator(tools[0]["function"]["parameters"])
    taken = {}
    for value in TEXTS:
        text = written(held.ir, calls_message(("f", {"v": value})))
        taken[value] = accepts(made.text, text)
        if taken[value]:
            calls = held.parser.parse(text, tools=tools)["tool_calls"]
            read = [json.loads(call["function"]["arguments"]) for call in calls]
            assert read and all(map(validator.is_valid, read)), (text, read)
    if "enum" not in schema:
        assert [value for value in PLAIN if not taken[value] and validator.is_valid({"v": value})] == []


def test_what_is_no_text_is_listed() -> None:
    tools = [tool("f", {"v": {"type": ["string", "integer"], "maximum": 10}})]
    assert grammar(formats()["parameter-tags"].ir, tools=tools).not_expressed == (
        NotExpressed("f", "type", "#/properties/v", "text can't look like number", "tighter"),
    )
