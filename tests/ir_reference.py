"""docs/ir.md, written from schemas/ir.schema.json: `python -m tests.ir_reference`, or `make golden`.

"mode": {"type": "string", "description": "What kind of …"}  →  | `mode` | text | What kind of … |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conftest import ROOT
from tplc.schemas import load_schema

REFERENCE = ROOT / "docs" / "ir.md"
_INTRODUCTION = """\
# The IR

Written from [schemas/ir.schema.json](../schemas/ir.schema.json) by `make golden`; do not edit.

`tplc compile SOURCE -o ir.json` writes it, `tplc inspect ir.json` shows it, and `tplc parse` and `tplc diff` take it in
place of a template. It is complete: whatever is generated is generated from it alone. In Python it is `tplc.TemplateIR`, a
tree of frozen dataclasses; `tplc.load_ir(text)` reads and checks it.

White space that a template writes belongs to its markers, so a layout's texts and values, one after the other, are just
what the template renders.

"""  # noqa: E501 - as it stands in the document
_TYPES = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null", "number": "number"}


def ir_reference() -> str:
    schema = load_schema("ir")
    definitions: dict[str, Any] = schema["$defs"]  # type: ignore[assignment]
    parts = [_INTRODUCTION, *_section("TemplateIR", schema)]
    for name, definition in definitions.items():
        parts += _section(name, definition)
    return "".join(parts).rstrip("\n") + "\n"


def _section(name: str, definition: Any) -> Iterator[str]:
    yield f"## {name}\n\n{definition.get('description', '')}\n\n"
    if "properties" not in definition:
        yield f"{_sentence(_type(definition))}\n\n"
        return
    yield "| member | value | meaning |\n|---|---|---|\n"
    for member, value in definition["properties"].items():
        optional = "" if member in definition.get("required", ()) else " (may be absent)"
        yield f"| `{member}` | {_cell(_type(value))}{optional} | {_cell(value.get('description', ''))} |\n"
    yield "\n"


def _type(schema: Any) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{_word(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{_word(value)}`" for value in schema["enum"])
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(_type(option) for option in schema.get("anyOf") or schema["oneOf"])
    if isinstance(schema.get("type"), list):
        return " or ".join(_TYPES.get(name, name) for name in schema["type"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}" if isinstance(schema.get("items"), dict) else "list"
    if schema.get("type") == "object":
        return _object(schema)
    return _TYPES.get(schema.get("type", ""), "any JSON value")


def _object(schema: Any) -> str:
    if "properties" in schema:
        members = ", ".join(f"`{name}`: {_type(value)}" for name, value in schema["properties"].items())
        return f"{{{members}}}"
    values = schema.get("additionalProperties")
    return f"object of {_type(values)}" if isinstance(values, dict) and values else "object"


def _word(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower()


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    REFERENCE.write_text(ir_reference(), encoding="utf-8")
