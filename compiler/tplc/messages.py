"""Messages of a conversation in the forms that templates take: what is asked, verified and served is put the same way.

    answer("hi", parts=True, …)                  →  {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    tool_call("f", {"a": 1}, form="text", …)     →  {…, "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}

This module has only the forms; its callers find out which of them a template takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import Json

Message = dict[str, Json]
Follow = Literal["none", "user", "tool", "tool_user"]
Empty = Literal["null", "empty", "absent"]
# the names in use for reasoning in a message; `content:KIND` is a content part of that type
REASONING_KEYS = ("reasoning_content", "reasoning", "thinking", "content:thinking", "content:reasoning")

ArgumentForm = Literal["object", "text"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a message: a name, arguments as (key, value) pairs, and an id where it matters."""

    name: str
    arguments: tuple[tuple[str, Json], ...]
    id: str | None = None


def text_content(text: str, *, parts: bool) -> Json:
    return [{"type": "text", "text": text}] if parts else text


def question(text: str, *, parts: bool, system: str | None = None) -> list[Message]:
    """Return a system message, if given, and a user message."""
    before: list[Message] = [] if system is None else [{"role": "system", "content": text_content(system, parts=parts)}]
    return [*before, {"role": "user", "content": text_content(text, parts=parts)}]


def answer(
    content: str | None,
    *,
    parts: bool,
    empty: Empty,
    reasoning: tuple[str, str] | None = None,
    calls: Sequence[Json] = (),
) -> Message:
    """Return an assistant's message.  `empty` says how missing content is written ("absent": no such key); `reasoning`
    is (key, text)."""
    message: Message = {"role": "assistant"}
    if content is not None:
        message["content"] = text_content(content, parts=parts)
    elif empty != "absent":
        message["content"] = None if empty == "null" else text_content("", parts=parts)
    if reasoning is not None:
        set_reasoning(message, *reasoning)
    if calls:
        message["tool_calls"] = list(calls)
    return message


def set_reasoning(message: Message, key: str, text: str) -> None:
    """Put reasoning into a message, under a key or as a content part (`content:KIND`) before the text."""
    place, _, kind = key.partition(":")
    if not kind:
        message[place] = text
        return
    content = message.get("content")
    rest = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    message[place] = [{"type": kind, kind: text}, *rest]


def tool_call(name: str, arguments: Mapping[str, Json], *, id: str | None, form: ArgumentForm) -> Json:
    """Return a call of a message; with `form` "text", its arguments are JSON text."""
    written: Json = json.dumps(arguments, ensure_ascii=False) if form == "text" else dict(arguments)
    made: dict[str, Json] = {"type": "function", "function": {"name": name, "arguments": written}}
    return made if id is None else {"id": id, **made}


def with_object_arguments(message: Mapping[str, Json]) -> dict[str, Json]:
    """Return the message with objects for arguments of calls that are JSON text.  Other text stays as it is."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return dict(message)
    return {**message, "tool_calls": [_with_object(call) for call in calls]}


def _with_object(call: Json) -> Json:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        return call
    try:
        arguments = parse_json(str(function["arguments"]) or "{}")
    except NotJson:
        return call
    return {**call, "function": {**function, "arguments": arguments}}


def tool_result(text: str, *, parts: bool, name: str | None, id: str | None) -> Message:
    """Return a tool's message, with the tool's name and the call's id if there are any."""
    message: Message = {"role": "tool"}
    if name is not None:
        message["name"] = name
    message["content"] = text_content(text, parts=parts)
    if id is not None:
        message["tool_call_id"] = id
    return message


def function_tool(name: str, description: str, parameters: Mapping[str, Json]) -> dict[str, Json]:
    function: Json = {"name": name, "description": description, "parameters": dict(parameters)}
    return {"type": "function", "function": function}
