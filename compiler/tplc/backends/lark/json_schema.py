"""Schemas that the engine takes exactly: they go into the grammar as they are.

    {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1}}}
    →  %json {"type":"object","properties":{"days":{"type":"integer","minimum":1}},"additionalProperties":false}

Of all others our own rules say more, or it is not known that both mean the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from tplc.grammars.dialect.context import SchemaReading
from tplc.grammars.dialect.values import is_json
from tplc.grammars.regular.nodes import Expr, Written
from tplc.ir.nodes import Dialect, Json

_REMARKS = frozenset(("title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"))
_OF_TYPE = {
    "object": frozenset(("properties", "required", "additionalProperties")),
    "array": frozenset(("items", "minItems", "maxItems")),
    "string": frozenset(("minLength", "maxLength")),
    "integer": frozenset(("minimum", "maximum")),
    "number": frozenset(("minimum", "maximum")),
    "boolean": frozenset[str](),
    "null": frozenset[str](),
}
_COUNTS = frozenset(("minItems", "maxItems", "minLength", "maxLength"))
_NUMBERS = _COUNTS | {"minimum", "maximum"}
_MOST_COUNT = 1000
_LARGEST_NUMBER = 1 << 50
_DEEPEST = 24


def as_it_is(schema: Json, dialect: Dialect, reading: SchemaReading) -> Expr | None:
    """Return the schema as one symbol, or None if it has to be expressed by rules."""
    if reading.any_order or not is_json(dialect):
        return None
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return None
    taken = _taken(schema, closed=reading.closed, depth=0)
    if taken is None:
        return None
    return Written("%json " + json.dumps(taken, ensure_ascii=False, separators=(",", ":")), ())


def _taken(schema: Json, *, closed: bool, depth: int) -> dict[str, Json] | None:
    """Return the schema without annotations, or None if the engine may read one of its keywords differently."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return None
    keywords = {key: value for key, value in schema.items() if key not in _REMARKS}
    if "enum" in keywords:
        return _of_texts(keywords)
    if keywords.keys() == {"anyOf"}:
        return _one_of(keywords["anyOf"], closed=closed, depth=depth)
    kind = keywords.pop("type", None)
    if isinstance(kind, list) and not keywords:
        return _one_of([{"type": one} for one in kind], closed=closed, depth=depth)
    if not isinstance(kind, str) or kind not in _OF_TYPE or not keywords.keys() <= _OF_TYPE[kind]:
        return None
    if not all(_is_plain_number(key, keywords[key]) for key in keywords.keys() & _NUMBERS):
        return None
    if kind == "array":
        return _array(keywords, closed=closed, depth=depth)
    return _object(keywords, closed=closed, depth=depth) if kind == "object" else {"type": kind, **keywords}


def _of_texts(keywords: Mapping[str, Json]) -> dict[str, Json] | None:
    values = keywords["enum"]
    if keywords.keys() - {"enum", "type"} or keywords.get("type", "string") != "string" or not isinstance(values, list):
        return None
    texts = [value for value in values if isinstance(value, str) and value.isprintable()]
    return {"enum": list(texts)} if texts and len(texts) == len(values) else None


def _one_of(schemas: Json, *, closed: bool, depth: int) -> dict[str, Json] | None:
    if not isinstance(schemas, list) or not schemas:
        return None
    taken = [_taken(schema, closed=closed, depth=depth + 1) for schema in schemas]
    known: list[Json] = [schema for schema in taken if schema is not None]
    return {"anyOf": known} if len(known) == len(taken) else None


def _is_plain_number(key: str, value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return 0 <= value <= _MOST_COUNT if key in _COUNTS else abs(value) <= _LARGEST_NUMBER


def _array(keywords: Mapping[str, Json], *, closed: bool, depth: int) -> dict[str, Json] | None:
    items = _taken(keywords.get("items"), closed=closed, depth=depth + 1)
    return None if items is None else {"type": "array", **keywords, "items": items}


def _object(keywords: Mapping[str, Json], *, closed: bool, depth: int) -> dict[str, Json] | None:
    properties, required = keywords.get("properties", {}), keywords.get("required", [])
    others = keywords.get("additionalProperties", not closed)
    if not isinstance(properties, dict) or not isinstance(required, list) or not isinstance(others, bool):
        return None
    if "properties" not in keywords and "additionalProperties" not in keywords:
        others = True
    members = {name: _taken(member, closed=closed, depth=depth + 1) for name, member in properties.items()}
    known = {name: member for name, member in members.items() if member is not None}
    if len(known) < len(members) or not all(isinstance(name, str) and name in known for name in required):
        return None
    return {
        "type": "object",
        "properties": dict(known),
        "required": list(required),
        "additionalProperties": others,
    }
