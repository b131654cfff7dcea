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

An IR says its `version`, and a tplc reads its own version only: a format is learned again sooner than converted. What
follows from other members is in none of its own.

## Words

The same in the code, the messages and these pages.

| word | meaning |
|---|---|
| turn | An assistant's part of a render, from the end of what came before to the end of the message. |
| header | What opens every turn, whatever its parts are. |
| generation prompt, head | What is appended for the model to continue; the head is what it holds of the turn behind the header. |
| part | Reasoning, content or calls. |
| marker | A literal text that a template writes around a part: an opener, a closer, a separator. |
| distinctive | Of a marker: ordinary text does not hold it. |
| slot | Where a value stands: a name, an id, an index, arguments, a key, a type, a value. |
| layout | Markers and slots in order. |
| dialect | How argument values are written. |
| form | The markers of turns of one shape; the shape is which parts a turn has. |
| tolerance, variant | A way in which output may differ from what is rendered; a variant is another text for one marker. |
| captured | Of a text in a marker: it comes from elsewhere, and is as it was when the format was learned. |
| acceptor | What is read, made of an IR (`tplc.lower`): each marker with its variants and where it counts. |
| follow set | The texts that may come after a value, and so end it. |
| lookahead | How far a reader looks before it decides; each bound has a name (`tplc.lower.bounds`). |
| partial | Of a marker: its beginning, at the end of what has come; more text shows whether it is one. |
| pending | Of text: it has come, and waits until it is decided what it is; in a partial marker, or of a kind that its end shows. |
| emit | To give out text as a delta: decided for good, and never taken back. |
| prefilled | Of text, arguments and calls: the prompt holds them already, and they are not emitted again (but with `echo`). |
| production, rule | One named rule of a grammar that is generated. |
| probe | One conversation that is rendered to learn something; its values are sentinels, unlike any other text. |
| setup | How conversations are put for a template: the form of arguments, of content, of ids, what follows. |
| outline | A turn with calls, cut at its slots. |
| question | What a pass of the learner asks of a template; every probe is put for one. |
| example | A message and the text that a model writes for it, given by a user. |

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
