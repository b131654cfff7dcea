"""What the tools say about an argument.

    {"type": ["integer", "null"]}  →  {"integer", "null"}
    {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/City"}]}  →  {"string", "object"}

Anything malformed says nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "NoneType": "null", "list": "array"}


def parameters_of(tools: object) -> dict[str, object]:
    """The schema of each tool's parameters, by the tool's name."""
    found: dict[str, object] = {}
    for tool in tools if isinstance(tools, (list, tuple)) else ():
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            found[function["name"]] = function.get("parameters", function.get("input_schema"))
    return found


def variants(schema: object, root: object, depth: int = 0) -> list[dict[str, Any]]:
    """The schemas a value may have: unions and references opened."""
    if not isinstance(schema, dict) or depth > 8:
        return []
    if isinstance(schema.get("$ref"), str):
        target = root
        for step in schema["$ref"].split("/")[1:]:
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        return variants(target, root, depth + 1)
    for union in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(union), list) and "type" not in schema:
            members = [member for one in schema[union][:64] for member in variants(one, root, depth + 1)]
            return members + [{"type": "null"}] * (schema.get("nullable") is True)
    return [schema]


def types_of(schema: object, root: object) -> frozenset[str] | None:
    """The JSON types a value may have; None when the schema does not tell."""
    types: set[str] = set()
    for variant in variants(schema, root):
        stated, values = variant.get("type"), variant.get("enum", [variant["const"]] if "const" in variant else [])
        named = [name for name in (stated if isinstance(stated, list) else [stated]) if isinstance(name, str)]
        if not named and isinstance(values, list):
            named = [NAMES.get(type(value).__name__, "object") for value in values]
        named = named or ["object"] * ("properties" in variant) or ["array"] * ("items" in variant)
        if not named:
            return None
        types.update(named, ["null"] * (variant.get("nullable") is True))
    return frozenset(types) or None


def member_of(schema: object, root: object, key: str) -> object:
    """The schema of one member of an object."""
    for variant in variants(schema, root):
        properties = variant.get("properties")
        member = properties.get(key) if isinstance(properties, dict) else None
        if isinstance(member or variant.get("additionalProperties"), dict):
            return member or variant["additionalProperties"]
    return None


def item_of(schema: object, root: object) -> object:
    """The schema of a list's items."""
    return next(
        (variant["items"] for variant in variants(schema, root) if isinstance(variant.get("items"), dict)), None
    )


def keys_of(schema: object, root: object) -> set[str] | None:
    """The keys that an object may have; None when the schema does not tell."""
    keys: set[str] = set()
    for variant in variants(schema, root):
        properties = variant.get("properties")
        if not isinstance(properties, dict) or variant.get("additionalProperties"):
            return None
        keys.update(properties)
    return keys or None
