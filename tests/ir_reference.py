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

For developers who read formats as data: a printer for another language, a server, a page of figures. At the end of this page you know
every member of an IR.

Written from [schemas/ir.schema.json](../schemas/ir.schema.json) by `make golden`; do not edit.

`tplc compile SOURCE -o ir.json` writes an IR, `tplc inspect ir.json` shows it, and `tplc parse` and `tplc diff` accept it instead of a
template. It is complete: no target needs the template. In Python it is `tplc.TemplateIR`, a tree of frozen dataclasses.
`tplc.load_ir(text)` reads and checks it.

White space that a template writes belongs to its markers. So the texts and values of a layout, joined, are exactly what the template
renders.

An IR has a `version`, and each release of tplc reads one version. To convert an old IR, learn the format again. No member repeats what
follows from other members.

## Words

The code, the messages and these pages use the same words.

| word | meaning |
|---|---|
| turn | The assistant's part of a render, from the end of the preceding message to the end of this one. |
| header | The text that opens every turn, independent of its parts. |
| generation prompt, head | The text that is appended for the model to continue; the head is the part of it after the header. |
| part | Reasoning, content or calls. |
| marker | Literal text that a template writes around a part: an opener, a closer, a separator. |
| distinctive | A marker is distinctive if ordinary text does not contain it. |
| slot | The place of a value: a name, an id, an index, the number of calls, arguments, a key, a type, a value. |
| layout | Markers and slots in order. |
| dialect | How argument values are written. |
| form | The markers of turns of one shape; the shape is the set of parts of a turn. |
| slip | One difference between one output and what the template would have rendered. |
| tolerance, variant | A declared way in which output may differ from a render; a variant is another text for one marker. |
| captured | A text in a marker is captured if it depends on a variable, a token, a position or a count; the IR has the text that was rendered. |
| acceptor | What a parser accepts, made from an IR (`tplc.lower`): each marker with its variants and the places where it counts. |
| follow set | The texts that may follow a value, and so end it. |
| lookahead | The number of characters that a reader inspects before it decides; each bound has a name (`tplc.lower.bounds`). |
| partial | A marker is partial if the received text ends with its beginning; more text decides whether it is the marker. |
| pending | Text is pending if it was received but not emitted, because it is undecided: a partial marker, or text whose kind depends on its end. |
| emit | Return text as a delta; emitted text is never taken back. |
| prefilled | Text, arguments and calls are prefilled if the prompt contains them; they are emitted only with `echo`. |
| production, rule | One named rule of a generated grammar. |
| probe | One conversation that is rendered to learn something; its values are sentinels, which are unlike any other text. |
| setup | The form of conversations for a template: the form of arguments, of content, of ids, and what follows. |
| outline | A turn with calls, divided at its slots. |
| question | What a pass of the learner wants to know; every probe belongs to one. |
| example | A message and the text that a model writes for it, supplied by a user. |

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
