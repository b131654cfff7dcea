"""Read types and names from the schemas of tools.

    {"type": ["integer", "null"]}  →  {"integer", "null"}
    {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/City"}]}  →  {"string", "object"}

Malformed schemas are ignored.
"""

from __future__ import annotations

import json

from .pattern import NAME_CHARACTERS, Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAMES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "NoneType": "null", "list": "array"}
# Other names for the types of JSON Schema.
ALIASES = {**NAMES, "dict": "object", "None": "null", "tuple": "array", "double": "number", "long": "integer"}


MOST_VARIANTS = 4096  # a larger schema is ignored
ODD_IN_KEYS = frozenset("<>{}[](),:=\n\"'")
MARKUP_IN_KEYS = frozenset("<>{}\n\"'")  # what is odd even if no tools are given
REFERRING = frozenset(("$ref", "anyOf", "oneOf", "allOf"))  # members that lead to other schemas
PLAIN = frozenset(("type", "description", "title", "default"))  # of these members, only the type matters
ONLY = {name: frozenset([name]) for name in ("array", "boolean", "integer", "null", "number", "object", "string")}
NULL = {"type": "null"}
NAMESPACE = Pattern(r"\A(?:\S*[.:/]|(.+)(?=\1\Z))(?=[^.:/]+\Z)")  # or the same name before it
# What Python code writes before the name of a function that it calls.
BEFORE_A_CALL = Pattern(r"\A(?:\w{1,64} ?= ?|(?:return|yield) )?(?:await )?")
KEY_IN_TEXT = Pattern(r"""(?<!\w)([\w-]{1,64})["']?(?=\s?(?:[=:]|<[<|])|\s\w{1,32}=)""")
SEPARATORS = Pattern(r"[\s_.\\-]+")
OPENING_TAG = Pattern(  # the word of an attribute doesn't count
    r"""<([\w:-]{1,64})(?:\s{0,8}[ =]\s{0,8}(?:\w{1,32}\s{0,8}=\s{0,8})?["']?"""
    rf"""([{NAME_CHARACTERS}]{{1,64}})["']?(?:\s{{1,8}}\w{{1,32}}="\w{{0,32}}")?)?\s{{0,8}}>"""
)


class Parameters(dict):  # type: ignore[type-arg]
    """The schemas of the tools' parameters by name, and what could not be read; parsers accept it in place of tools."""

    def __init__(self, known: Any = (), problem: str = "") -> None:
        super().__init__(known)
        self.problem = problem


NESTED = frozenset(["array", "object", "null"])


def tool_named(name: str, tools: Parameters) -> str:
    """Return the tool that a name means: the name itself, or it without quotes or brackets, a namespace, the code
    before a call, or a second time, or with other separators.  One that means no tool, or several, is unchanged."""
    if name in tools or not tools:
        return name
    bare = name.replace("\\", "").strip(" \t\n\"'`“”‘’«»/:=*@#$()[]\u200b\u2060\ufeff").partition("#")[0].strip()
    bare = str(BEFORE_A_CALL.sub("", bare))
    shorts: tuple[str, str] = (bare, str(NAMESPACE.sub("", bare)))
    for short in filter(bare_name, shorts):
        if short in tools:
            return short
        like: list[str] = [tool for tool in tools if bare_name(tool) == bare_name(short)]
        if len(like) == 1:
            return like[0]
    first, _, second = bare.partition(".")
    return first if first and first in tools and second in (first, "call") else name


def bare_name(name: str) -> str:
    """Return a name without the separators between its words."""
    return str(SEPARATORS.sub("", name)).lower()


def parameters_of(tools: object) -> Parameters:
    """Return the parameters of a list of tools, of one tool, or of an object with the list, also written as JSON."""
    if isinstance(tools, Parameters):
        return tools
    if isinstance(tools, str):
        try:
            tools = json.loads(tools) if tools.strip() else None
        except (ValueError, RecursionError) as error:
            return Parameters(problem="the tools are not JSON: " + str(error))
    listed = tools.get("tools", [tools]) if isinstance(tools, dict) else tools
    if not isinstance(listed, (list, tuple)):
        return Parameters(problem="" if listed is None else "the tools are no list")
    found = Parameters()
    for tool in listed:
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str) and function["name"]:
            found[function["name"]] = function.get("parameters", function.get("input_schema"))
        else:
            found.problem = "a tool has no name"
    return found


def variants(schema: object, root: object) -> list[dict[str, Any]]:
    """Return the schemas that a value may have, with unions and references resolved; too many are ignored."""
    if isinstance(schema, dict) and REFERRING.isdisjoint(schema):  # most schemas: this is asked for each argument
        return [schema]
    found: list[dict[str, Any]] = []
    waiting, seen = [(schema, 0)], set()
    for _ in range(MOST_VARIANTS):
        if not waiting:
            return found
        one, depth = waiting.pop()
        if not isinstance(one, dict) or depth > 8 or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one.get("$ref"), str):
            waiting.append((_target(one["$ref"], root), depth + 1))
            continue
        unions = [one[union] for union in ("anyOf", "oneOf", "allOf") if isinstance(one.get(union), list)]
        if not unions or "type" in one:
            found.append(one)
        else:
            members = [*unions[0][:64], *[NULL] * (one.get("nullable") is True)]
            waiting += [(member, depth + 1) for member in members[::-1]]
    return [{}]


def _target(reference: str, root: object) -> object:
    target = root
    for step in reference.split("/")[1:]:
        target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
    return target


def types_of(schema: object, root: object) -> frozenset[str] | None:
    """Return the JSON types that a value may have; None if the schema doesn't determine them."""
    if isinstance(schema, dict) and schema.keys() <= PLAIN:  # most schemas: this is asked for each argument
        only = ONLY.get(str(schema.get("type")))
        if only is not None:
            return only
    types: set[str] = set()
    for variant in variants(schema, root):
        stated, values = variant.get("type"), variant.get("enum", [variant["const"]] if "const" in variant else [])
        given = stated if isinstance(stated, list) else [stated]
        named = [ALIASES.get(name, name) for name in given if isinstance(name, str)]
        if not named and isinstance(values, list):
            named = [NAMES.get(type(value).__name__, "object") for value in values]
        named = named or ["object"] * ("properties" in variant) or ["array"] * ("items" in variant)
        if not named:
            return None
        types.update(named, ["null"] * (variant.get("nullable") is True))
    return frozenset(types) or None


def member_of(schema: object, root: object, key: str) -> object:
    """Return the schema of one member of an object."""
    for variant in variants(schema, root):
        properties = variant.get("properties")
        member = properties.get(key) if isinstance(properties, dict) else None
        if isinstance(member or variant.get("additionalProperties"), dict):
            return member or variant["additionalProperties"]
    return None


def item_of(schema: object, root: object) -> object:
    """Return the schema of a list's items."""
    stated = (variant.get("items") for variant in variants(schema, root))
    return next((items for items in stated if isinstance(items, dict)), None)


def types_by_items(schema: object, root: object) -> frozenset[str] | None:
    """Return the same as types_of, for a list whose items may come one by one."""
    types = types_of(schema, root)
    if types is None or "array" not in types:
        return types
    items = types_of(item_of(schema, root), root)
    return None if items is None else types | items


def types_of_member(schema: object, key: str) -> frozenset[str] | None:
    """Return the JSON types that one member of an object may have; None if the schema doesn't determine them."""
    return types_of(member_of(schema, schema, key), schema)


def properties_of(schema: object) -> list[str]:
    """Return the keys that a schema names, even if it allows others."""
    named = (variant.get("properties") for variant in variants(schema, schema))
    return [key for properties in named if isinstance(properties, dict) for key in properties if isinstance(key, str)]


def required_of(schema: object) -> list[str]:
    required = schema.get("required") if isinstance(schema, dict) else None
    return [key for key in required if isinstance(key, str)] if isinstance(required, list) else []


def keys_of(schema: object, root: object) -> set[str] | None:
    """Return the keys that an object may have; None if the schema doesn't determine them."""
    keys: set[str] = set()
    for variant in variants(schema, root):
        properties = variant.get("properties")
        if not isinstance(properties, dict) or variant.get("additionalProperties"):
            return None
        keys.update(properties)
    return keys or None


def keys_allowed(schema: object) -> set[str] | None:
    """Return the same as keys_of, and no keys for a tool without parameters."""
    keys = keys_of(schema, schema)
    if keys is None and isinstance(schema, dict) and schema.get("properties") == {}:
        return None if schema.get("additionalProperties") else set()
    return keys


def misfit(arguments: Mapping[str, object], schema: object, *, types: bool = True) -> tuple[str, str] | None:
    """Return the first argument that a schema doesn't allow, and what it doesn't: "key" or "type" (if `types`); or an
    argument that is missing, but "inside" of the text of another."""
    keys = keys_allowed(schema)
    text = ""
    for key, value in arguments.items():
        if isinstance(value, str) and any(char in value for char in ("=", ":", ">", "<<")):
            text += value + "\n"
        if keys is not None and key not in keys:
            return "key", key
        allowed = types_of_member(schema, key) if types else None
        kind = NAMES.get(type(value).__name__, "object")
        number = kind == "integer" and allowed is not None and "number" in allowed
        if allowed is not None and kind not in allowed and not number:
            return "type", key
    words, bare = set(KEY_IN_TEXT.findall(text)), "" if "<" in text else text
    missing, alike = [key for key in properties_of(schema) if key not in arguments], {*map(bare_name, words)}
    words.update([key for key in required_of(schema) if bare_name(key) in alike])
    inside = [key for key in missing if key in words or key + ">" in bare or f">{key}<" in text]
    return ("inside", inside[0]) if inside else None


def begins_with_tag(text: str, pos: int, schema: object) -> str:
    """Return "name" if a tag with the name of a key begins here, "attribute" if one whose attribute is a key; or ""."""
    tag = OPENING_TAG.match(text, pos)
    is_key = tag is not None and (tag[2] or tag[1]) in properties_of(schema)
    return ("attribute" if tag[2] else "name") if is_key else ""


def is_odd_key(key: str, schema: object) -> bool:
    """Return whether a key is in no schema and contains markup: its end, or the text before it, may be missing."""
    known = None if ODD_IN_KEYS.isdisjoint(key) else keys_of(schema, schema)
    return known is not None and without_quotes(key, schema) not in known


def without_quotes(key: str, schema: object) -> str:
    """Return a key without quotes, or a colon, next to it if the schema has only that one; otherwise the key."""
    if (bare := key.strip("'\":= ")) == key:
        return key
    keys = keys_of(schema, schema)  # None: other keys of an open schema may contain quotes
    return key if keys is None or key in keys or bare not in keys else bare


def typed_as(types: frozenset[str] | None, stated: frozenset[str]) -> frozenset[str]:
    """Return the types that a value may have, from its schema and from the type that is written next to it, which wins.
    The schema is more specific if text has the same type word, or if it allows only lists or objects."""
    if types and "string" in stated and (types & stated or types <= NESTED):
        return types & stated or types
    return stated
