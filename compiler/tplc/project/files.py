"""Read the files that belong to a template: JSON, tools, example pairs, tolerances.

read_json("tools.json")  →  [...], or "tools.json:3:5: is not JSON: …"
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tplc.errors import FilePlace, SourceError
from tplc.ir.json_text import NotJson, not_json_in, parse_json
from tplc.ir.nodes import Json, Tolerance
from tplc.ir.tolerances import tolerances_from
from tplc.paths import input_name, unreadable

if TYPE_CHECKING:
    from tplc.examples import Example


# A device may have no end.
MOST_BYTES = 1 << 30
# Keywords that only describe what is allowed, and an old one that holds definitions.
_NOTES_OF_SCHEMAS = ("title", "description", "default", "examples", "definitions", "deprecated", "nullable")
_TOOL = '{"type": "function", "function": {"name": …, "parameters": {…}}}'


def read_text(path: str) -> str:
    """Return the text of a file, with its line ends unchanged and no byte order mark; `-` is standard input."""
    try:
        data = sys.stdin.buffer.read(MOST_BYTES + 1) if path == "-" else _bytes_of(path)
    except OSError as error:
        raise unreadable(input_name(path), error) from error
    if len(data) > MOST_BYTES:
        raise SourceError(input_name(path), f"is larger than {MOST_BYTES >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at {error.start}"
        raise SourceError(input_name(path), f"this is not UTF-8 text: {byte}") from error


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(MOST_BYTES + 1)


def read_json(path: str) -> Json:
    return json_of(read_text(path), path)


def read_schema(path: str) -> Json:
    """Return the JSON schema in a file, also that of a `response_format` of type json_schema, as servers take it.

    Raises SourceError if the file holds something else, such as an object without any keyword of JSON Schema.
    """
    schema = read_json(path)
    given = schema.get("json_schema") if isinstance(schema, dict) and schema.get("type") == "json_schema" else None
    if isinstance(given, dict) and "schema" in given:
        schema = given["schema"]
    if not isinstance(schema, (dict, bool)):
        raise SourceError(input_name(path), "is not a JSON schema: expected an object, or true or false")
    if schema and isinstance(schema, dict) and not _has_keyword(schema):
        raise SourceError(input_name(path), f"is not a JSON schema: {next(iter(schema))!r} is none of its keywords")
    return schema


def _has_keyword(schema: dict[str, Json]) -> bool:
    from jsonschema import Draft202012Validator  # takes longer to import than most commands take

    return any(key in Draft202012Validator.VALIDATORS or key in _NOTES_OF_SCHEMAS or key[:1] == "$" for key in schema)


def json_of(text: str, path: str) -> Json:
    try:
        return parse_json(text)
    except NotJson as error:
        if not text.strip():
            raise SourceError(input_name(path), "is empty: expected JSON") from error
        raise not_json_in(input_name(path), error) from error


def read_examples(path: str) -> list[Example]:
    """Return pairs of a message and its text, from one JSON object per line."""
    from tplc.examples import read_example

    examples = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            place = FilePlace(input_name(path), number)
            try:
                data = parse_json(line)
            except NotJson as error:
                hint = "expected one JSON object per line: write each pair on one line" if error.column else ""
                raise not_json_in(place.file, error, line=number, hint=hint) from error
            examples.append(read_example(data if isinstance(data, dict) else {}, place))
    if not examples:
        raise SourceError(input_name(path), "holds no examples", 'expected lines such as {"message": {…}, "text": "…"}')
    return examples


def read_tools(path: str) -> list[dict[str, Any]]:
    """Return a list of tools from a file with that list, or with an object that has one under "tools"."""
    return tools_in(read_json(path), input_name(path))


def tools_in(data: Json, name: str) -> list[dict[str, Any]]:
    tools = data.get("tools") if isinstance(data, dict) else data
    if not isinstance(tools, list):
        raise SourceError(name, "holds no tools", f"expected a JSON list of {_TOOL}")
    found: list[dict[str, Any]] = []
    at = "tools" if isinstance(data, dict) else ""
    for index, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(tool, dict) or not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise SourceError(name, f"{at}[{index}]: has no function with a name", f"expected {_TOOL}")
        if not isinstance(function.get("parameters", {}), (dict, bool)):
            raise SourceError(name, f"{at}[{index}].function.parameters: is not a JSON schema (of {function['name']})")
        found.append(tool)
    return found


def read_tolerances(path: str) -> list[Tolerance]:
    return tolerances_from(read_json(path), input_name(path))
