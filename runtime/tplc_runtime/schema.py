"""What the tools say about an argument.

    {"type": ["integer", "null"]}  →  {"integer", "null"}
    {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/City"}]}  →  {"string", "object"}

Anything malformed says nothing.
"""

from __future__ import annotations

from typing import Optional

Types = Optional[frozenset[str]]
_KINDS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "NoneType": "null"}
_NAMES = ("string", "integer", "number", "boolean", "null", "array", "object")


def parameters_of(tools: object) -> dict[str, object]:
    """The schema of each tool's parameters, by the tool's name."""
    found: dict[str, object] = {}
    for tool in tools if isinstance(tools, (list, tuple)) else ():
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            found[function["name"]] = function.get("parameters", function.get("input_schema"))
    return found


def variants(schema: object, root: object, depth: int = 0) -> list[dict[str, object]]:
    """The schemas a value may have: unions and references opened."""
    if not isinstance(schema, dict) or depth > 8:
        return []
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        target = root
        for step in reference[1:].split("/")[1:]:
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        return variants(target, root, depth + 1)
    for union in ("anyOf", "oneOf", "allOf"):
        members = schema.get(union)
        if isinstance(members, list) and "type" not in schema:
            found = [variant for member in members[:64] for variant in variants(member, root, depth + 1)]
            return found + [{"type": "null"}] * (schema.get("nullable") is True)
    return [schema]


def types_of(schema: object, root: object) -> Types:
    """The JSON types a value may have; None when the schema does not tell."""
    types: set[str] = set()
    for variant in variants(schema, root):
        stated = variant.get("type")
        named = [kind for kind in (stated if isinstance(stated, list) else [stated]) if kind in _NAMES]
        values = (
            variant["enum"]
            if isinstance(variant.get("enum"), list)
            else [variant["const"]]
            if "const" in variant
            else []
        )
        if not named and isinstance(values, list):
            named = [
                _KINDS.get(type(value).__name__, "object" if isinstance(value, dict) else "array") for value in values
            ]
        if not named and ("properties" in variant or "items" in variant):
            named = ["object" if "properties" in variant else "array"]
        if not named:
            return None
        types.update(named)
        if variant.get("nullable") is True:
            types.add("null")
    return frozenset(types) or None


def member_of(schema: object, root: object, key: str) -> object:
    """The schema of one member of an object."""
    for variant in variants(schema, root):
        for place in (variant.get("properties"), {key: variant.get("additionalProperties")}):
            if isinstance(place, dict) and isinstance(place.get(key), dict):
                return place[key]
    return None


def item_of(schema: object, root: object) -> object:
    """The schema of a list's items."""
    return next(
        (variant["items"] for variant in variants(schema, root) if isinstance(variant.get("items"), dict)), None
    )
