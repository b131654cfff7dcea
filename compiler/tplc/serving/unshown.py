"""Refuse requests with parts that the prompt would not contain, because the model would never see them.

    {"role": "user", "content": [{"type": "text", …}, {"type": "image_url", …}]}, and a template that takes text only
    →  request: messages[0].content[1]: the template writes nothing of a part of type image_url

A part, or a message in a role that few templates know, is not shown when the prompt is the same without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tplc.errors import RenderFailed, RequestError
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import Json
from tplc.serving.request import Message

# Roles that every chat has: a template may leave out what they said long ago.
_USUAL = ("user", "assistant", "tool")
Render = Callable[[Sequence[Message]], str]


def refuse_unshown(messages: Sequence[Message], prompt: str, render: Render) -> None:
    for index, message in enumerate(messages):
        for place, kind, rest in _other_parts(message):
            path = f"messages[{index}].content[{place}]"
            if repr(_parts(message)[place]) in prompt:
                raise RequestError(path, f"the template takes text, and writes a part of type {kind} as source text")
            if _is_same(prompt, [*messages[:index], rest, *messages[index + 1 :]], render):
                raise RequestError(path, f"the template writes nothing of a part of type {kind}")
        role, text = message.get("role"), message.get("content")
        if role not in _USUAL and isinstance(text, str) and text.strip() and text.strip() not in prompt:
            if len(messages) == 1 or _is_same(prompt, [*messages[:index], *messages[index + 1 :]], render):
                raise RequestError(f"messages[{index}]", f"the template writes nothing of a message in the role {role}")


def refuse_failing_parts(messages: Sequence[Message], error: RenderFailed | RequestError, render: Render) -> None:
    """Raise where the render fails with parts that are no text, and does not without."""
    others = [(index, place, kind) for index, one in enumerate(messages) for place, kind, _ in _other_parts(one)]
    texts = [_without(message, *(part for part in _parts(message) if not _is_text(part))) for message in messages]
    if not others or not _is_rendered(texts, render):
        return
    index, place, kind = others[0]
    raise RequestError(f"messages[{index}].content[{place}]", f"the template takes no part of type {kind}") from error


def refuse_failing_tool(
    tools: Sequence[Mapping[str, Any]], error: RenderFailed, render: Callable[[Sequence[Mapping[str, Any]]], str]
) -> None:
    """Raise an error that names the first tool with which alone the render fails, if it doesn't fail without tools."""
    if not _is_rendered([], render):
        return
    for index, tool in enumerate(tools):
        if _is_rendered([tool], render):
            continue
        function = tool.get("function")
        name = function.get("name") if isinstance(function, Mapping) else None
        shown = f"tools[{index}]" if name is None else f"tools[{index}] ({name})"
        raise RequestError(
            shown, f"the template can't render this tool: {error}; give the members that the template reads"
        ) from error


def _other_parts(message: Message) -> Iterator[tuple[int, str, Message]]:
    """Yield the place of each part that is not text, its type, and the message without it."""
    for place, part in enumerate(_parts(message)):
        if not _is_text(part):
            yield place, str(part.get("type")), _without(message, part)


def _parts(message: Message) -> list[Any]:
    content = message.get("content")
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _is_text(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "text"


def _without(message: Message, *parts: object) -> Message:
    if not parts:
        return message
    kept = [one for one in _parts(message) if not any(one is part for part in parts)]
    return {**message, "content": kept or ""}


def refuse_failing_messages(messages: Sequence[Message], error: RenderFailed, render: Render) -> None:
    """Raise an error that names the first message with arguments or content in a form with which the render fails, if
    it doesn't fail with the other form."""
    filled: list[Message] = [{"content": "", **message} for message in messages]
    lacking = next((index for index, message in enumerate(messages) if "content" not in message), None)
    if lacking is not None and _is_rendered(filled, render):
        problem = 'has no content, and the template reads it: give "content": ""'
        raise RequestError(f"messages[{lacking}]", problem) from error
    objects = [_with_objects(message) for message in filled]
    changed = next((index for index, one in enumerate(objects) if one != filled[index]), None)
    if changed is not None and _is_rendered(objects, render):
        problem = "are JSON text, and the template takes an object; tplc prepare converts them"
        raise RequestError(f"messages[{changed}]: the arguments of calls", problem) from error


def _with_objects(message: Message) -> Message:
    """Return the message with the arguments of its calls as objects."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [_with_object(call) for call in calls]}


def _with_object(call: Json) -> Json:
    function = call.get("function") if isinstance(call, dict) else None
    written = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict) or not isinstance(written, str):
        return call
    try:
        arguments = parse_json(written)
    except NotJson:
        return call
    return {**call, "function": {**function, "arguments": arguments}}


def _is_rendered(given: Sequence[Mapping[str, Any]], render: Callable[[Sequence[Any]], str]) -> bool:
    try:
        render(given)
    except (RenderFailed, RequestError):
        return False
    return True


def _is_same(prompt: str, messages: Sequence[Message], render: Render) -> bool:
    try:
        return render(messages) == prompt
    except (RenderFailed, RequestError):
        return False
