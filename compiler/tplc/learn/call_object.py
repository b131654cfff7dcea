"""Is a call one JSON object, and where in it are its name and its arguments?

    `<call>{"name": NAME, "arguments": ARGUMENTS}</call>`  →  name at ("name",), arguments at ("arguments",)

The call is decoded with placeholders in its slots, and they are looked for in what comes out.
"""

from __future__ import annotations

import json
import re

from tplc.ir.nodes import JsonFields, Layout, ObjectArguments, Text
from tplc.learn.arguments import ArgumentFacts

_PLACEHOLDER = {"name": '"@name@"', "id": '"@id@"', "index": "0", "arguments": '{"@arguments@": 0}'}


def json_fields(layout: Layout, facts: ArgumentFacts) -> JsonFields | None:
    """Return where name and arguments are if the call is one JSON object, found by decoding it with placeholders;
    otherwise None."""
    if not isinstance(facts.arguments, ObjectArguments) or facts.arguments.lines is not None or facts.escapes:
        return None  # what has escapes in a part of it is JSON only once they are undone
    text = "".join(
        item.text
        if isinstance(item, Text)
        else f"@{item.kind}@"
        if item.kind != "arguments"
        else _PLACEHOLDER["arguments"]
        for item in layout
    )
    decoder = json.JSONDecoder()
    first_slot = text.index("@")
    for match in re.finditer(r"\{", text):
        if match.start() > first_slot:
            return None
        try:
            value, end = decoder.raw_decode(text, match.start())
        except json.JSONDecodeError:
            continue
        if not isinstance(value, dict):
            continue
        found = _fields_of(value, text[: match.start()], text[end:])
        if found is not None:
            return found
    return None


def _fields_of(value: dict[str, object], prefix: str, suffix: str) -> JsonFields | None:
    if list(value) == ["@name@"] and value["@name@"] == {"@arguments@": 0}:
        return JsonFields(prefix, suffix, (), (), name_is_key=True)
    paths: dict[str, tuple[str, ...]] = {}
    constants: list[tuple[tuple[str, ...], str]] = []

    def walk(node: object, path: tuple[str, ...]) -> None:
        if node == {"@arguments@": 0}:
            paths["arguments"] = path
        elif isinstance(node, dict):
            for key, child in node.items():
                walk(child, (*path, key))
        elif isinstance(node, str) and re.search("@(name|id|index)@", node):
            for kind in re.findall("@(name|id|index)@", node):
                paths.setdefault(kind, path)
        else:
            constants.append((path, json.dumps(node, ensure_ascii=False)))

    walk(value, ())
    if "name" not in paths or "arguments" not in paths:
        return None
    return JsonFields(
        prefix,
        suffix,
        name=paths["name"],
        arguments=paths["arguments"],
        id=paths.get("id", paths.get("index")),
        index=paths.get("index") if "id" in paths else None,
        constants=tuple(constants),
    )
