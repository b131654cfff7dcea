"""Schemas that the engine expresses exactly, and those that it doesn't."""

from __future__ import annotations

from typing import Any

import pytest

from tplc.backends.lark.json_schema import as_it_is
from tplc.grammars.dialect.context import SchemaReading
from tplc.grammars.regular.nodes import Written
from tplc.ir.nodes import JSON_STYLE, Dialect

JSON = Dialect(top=JSON_STYLE, in_list=JSON_STYLE, in_object=JSON_STYLE)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "object"}, '{"type":"object","properties":{},"required":[],"additionalProperties":true}'),
        (
            {**of(a={"type": "integer", "minimum": 1, "title": "A"}), "required": ["a"]},
            '{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"],'
            '"additionalProperties":false}',
        ),
        (
            of(a={"type": ["string", "null"]}),
            '{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":[],'
            '"additionalProperties":false}',
        ),
    ],
)
def test_taken(schema: dict[str, Any], text: str) -> None:
    assert as_it_is(schema, JSON, SchemaReading()) == Written(f"%json {text}", ())


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "array", "items": {"type": "string"}},
        of(a={"type": "string", "pattern": "^a"}),
        of(a={"type": "string", "format": "date"}),
        of(a={"type": "array"}),
        of(a={"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        of(a={"type": "integer", "minimum": 0.5}),
        of(a={"type": "integer", "minimum": True}),
        of(a={"enum": ["a", 1]}),
        of(a={"minimum": 1}),
        {**of(), "required": ["a"]},
        {**of(), "additionalProperties": {"type": "string"}},
        {"$ref": "#/$defs/a", "$defs": {"a": of()}},
    ],
)
def test_schemas_written_as_rules(schema: Any) -> None:
    assert as_it_is(schema, JSON, SchemaReading()) is None


def test_any_order_is_written_as_rules() -> None:
    assert as_it_is(of(), JSON, SchemaReading(any_order=True)) is None
