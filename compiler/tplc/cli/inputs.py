"""Reading what the user names: files, JSON, NAME=VALUE options, templates.

read_json("tools.json")  →  [...], or "tools.json: is not JSON: … at line 3, column 5"
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tplc.errors import SourceError, UsageError
from tplc.ir.nodes import Json

if TYPE_CHECKING:
    from tplc.learn import Example
    from tplc.render import Limits
    from tplc.sources import TemplateSource


def read_text(path: str) -> str:
    """The text of a file, with its line ends as they are; `-` is standard input."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise SourceError(path, _reason(error)) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at {error.start}"
        raise SourceError(_name(path), f"this is not UTF-8 text: {byte}") from error


def read_json(path: str) -> Json:
    text = read_text(path)
    try:
        data: Json = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"at line {error.lineno}, column {error.colno}"
        raise SourceError(_name(path), f"is not JSON: {error.msg} {where}") from error
    except RecursionError as error:
        raise SourceError(_name(path), "is not JSON that can be read: it is nested too deeply") from error
    return data


def read_examples(path: str) -> list[Example]:
    """Pairs of a message and its text, a JSON object a line."""
    from tplc.learn import read_example

    examples = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            place = f"{_name(path)}: line {number}"
            try:
                data = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise SourceError(place, f"is not JSON: {error}") from error
            examples.append(read_example(data if isinstance(data, dict) else {}, place))
    if not examples:
        raise SourceError(_name(path), "holds no examples", 'expected lines such as {"message": {…}, "text": "…"}')
    return examples


def read_tools(path: str) -> list[dict[str, Any]]:
    """A list of tools, or an object with one under "tools"."""
    return tools_in(read_json(path), _name(path))


def tools_in(data: Json, name: str) -> list[dict[str, Any]]:
    tools = data.get("tools") if isinstance(data, dict) else data
    if not isinstance(tools, list):
        raise SourceError(name, "holds no tools", 'expected a JSON list of {"type": "function", "function": {…}}')
    found: list[dict[str, Any]] = []
    for index, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(tool, dict) or not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise SourceError(name, f"tool {index + 1} has no function with a name")
        found.append(tool)
    return found


def pairs(options: Sequence[str], option: str) -> dict[str, str]:
    """--option NAME=VALUE, as often as given."""
    found: dict[str, str] = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} {text}: expected NAME=VALUE")
        found[name] = value
    return found


def variables(options: Sequence[str]) -> dict[str, Json]:
    """Values are JSON where they read as JSON, else text."""
    return {name: _json_or_text(text) for name, text in pairs(options, "--var").items()}


def _json_or_text(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value


def limits(options: Sequence[str]) -> Limits:
    from tplc.render import Limits

    usual = Limits()
    known = {field.name: getattr(usual, field.name) for field in fields(Limits)}
    given: dict[str, Any] = {}
    for name, text in pairs(options, "--limit").items():
        if name not in known:
            raise UsageError(f"--limit {name}: no such limit; there are {', '.join(known)}")
        try:
            given[name] = type(known[name])(text)
        except ValueError as error:
            raise UsageError(f"--limit {name}={text}: expected a number") from error
        if given[name] <= 0:
            raise UsageError(f"--limit {name}={text}: expected a number above 0")
    return Limits(**given)


def load_template(source: str, template_name: str | None, special_tokens: Sequence[str]) -> TemplateSource:
    """The template, with the special tokens given on the command line over its own."""
    from dataclasses import replace

    from tplc.sources import load

    template = load(source, template_name=template_name)
    tokens = pairs(special_tokens, "--special-token")
    return replace(template, special_tokens={**dict(template.special_tokens), **tokens})


def is_ir(source: str) -> bool:
    """Whether a file is an IR: a JSON object with the members that every IR has."""
    if not source.endswith(".json") or not Path(source).is_file():
        return False
    try:
        data = json.loads(read_text(source))
    except (json.JSONDecodeError, RecursionError, SourceError):
        return False
    return isinstance(data, dict) and {"version", "provenance", "turn"} <= data.keys()


def _name(path: str) -> str:
    return "standard input" if path == "-" else path


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a directory"
    if isinstance(error, PermissionError):
        return "may not be read"
    return f"cannot be read: {error.strerror}"
