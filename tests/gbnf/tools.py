"""Tools for the tests: one schema keyword after another, as people write them."""

from __future__ import annotations

from typing import Any


def tool(name: str, properties: dict[str, Any], required: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required), **more}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


WEATHER = tool(
    "get_weather",
    {
        "city": {"type": "string", "description": "where"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["celsius", "fahrenheit"], "default": "celsius"},
    },
    ("city",),
)
NOTHING = tool("now", {})
TYPES = tool(
    "types",
    {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "nothing": {"type": "null"},
        "names": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
        "inner": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}},
            "required": ["a"],
        },
    },
)
BOUNDS = tool(
    "bounds",
    {
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "celsius": {"type": "number", "minimum": -273.15, "exclusiveMaximum": 100},
        "even": {"type": "integer", "multipleOf": 2, "minimum": 0, "maximum": 1000},
        "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"},
        "short": {"type": "string", "minLength": 1, "maxLength": 5},
        "day": {"type": "string", "format": "date"},
        "key": {"type": "string", "format": "uuid"},
    },
    ("age", "code"),
)
CITY = {
    "type": "object",
    "properties": {"kind": {"const": "city"}, "name": {"type": "string"}},
    "required": ["kind", "name"],
}
POINT = {
    "type": "object",
    "properties": {
        "kind": {"const": "point"},
        "at": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    },
    "required": ["kind", "at"],
}
UNIONS = tool(
    "unions",
    {
        "id": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "mode": {"const": "fast"},
        "level": {"enum": [1, 2, 3]},
        "maybe": {"type": ["string", "null"]},
        "where": {"oneOf": [CITY, POINT]},
    },
    ("mode", "where"),
)
TREE = tool(
    "tree",
    {"root": {"$ref": "#/$defs/node"}},
    ("root",),
    **{
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2},
                },
                "required": ["name"],
            }
        }
    },
)
ALL = (WEATHER, NOTHING, TYPES, BOUNDS, UNIONS, TREE)
