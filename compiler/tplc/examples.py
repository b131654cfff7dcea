"""Pairs of a message and its text, as data: they show a format that a template never renders.

{"message": {"content": "Hi.", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}, "text": "Hi.<f/>"}
→  Example("Hi.<f/>", "Hi.", "", (Call("f", ()),))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from tplc.errors import FilePlace, SourceError
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import Json
from tplc.messages import Call


@dataclass(frozen=True, slots=True)
class Example:
    """A model's output (`text`, the turn after its header), and the message it means; `place`: where it was read."""

    text: str
    content: str
    reasoning: str
    calls: tuple[Call, ...]
    place: str | FilePlace = field(default="an example", compare=False)

    def to_json(self) -> dict[str, Json]:
        """Return it as data, without its place."""
        return {name: value for name, value in asdict(self).items() if name != "place"}


def read_example(data: Mapping[str, Json], place: str | FilePlace) -> Example:
    """Return one pair from {"message": …, "text": …}. Raises SourceError, naming `place` in the file."""
    message, text = data.get("message"), data.get("text")
    if not isinstance(message, dict) or not isinstance(text, str):
        raise SourceError(place, 'is not an example: expected {"message": {…}, "text": "…", "tools": […]}')
    listed = message.get("tool_calls") or []
    if not isinstance(listed, list):
        raise SourceError(place, "message.tool_calls: expected a list")
    content, reasoning = message.get("content") or "", message.get("reasoning_content") or ""
    if not isinstance(content, str) or not isinstance(reasoning, str):
        raise SourceError(place, "expected content and reasoning_content to be text")
    calls = tuple(_read_call(call, place, f"message.tool_calls[{i}]") for i, call in enumerate(listed))
    return Example(text, content, reasoning, calls, place)


def _read_call(data: Json, place: str | FilePlace, member: str) -> Call:
    function = data.get("function", data) if isinstance(data, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(data, dict) or not isinstance(function, dict) or not isinstance(name, str):
        raise SourceError(place, member + ': expected {"function": {"name": "…", "arguments": {…}}}')
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except NotJson as error:
            raise SourceError(place, f"{member}: its arguments aren't JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise SourceError(place, f"{member}: expected its arguments to be an object")
    identifier = data.get("id")
    return Call(name, tuple(arguments.items()), identifier if isinstance(identifier, str) else None)
