"""A case as the conversation that a template wants.

    Case(calls=(Call("f", …),)), Setting(arguments="text", follow="tool")
    →  [user, {"role": "assistant", "tool_calls": [{… "arguments": "{…}"}]}, {"role": "tool", …}]

Which settings a template takes is found by rendering, not by trust in what was learned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.write import json_type
from tplc.verify.battery import Call, Case, id_of
from tplc.verify.words import Words

Follow = Literal["none", "tool", "user", "tool user"]
Message = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Setting:
    """How a conversation is put: what a template may insist on."""

    follow: Follow = "none"
    arguments: Literal["object", "text"] = "object"
    empty_content: Literal["null", "empty", "absent"] = "null"
    parts: bool = False
    system: bool = False
    tools: bool = True


def settings(ir: TemplateIR) -> Iterator[Setting]:
    """The likely ones first."""
    seen = ir.capabilities
    follows: tuple[Follow, ...] = ("none", "tool", "user", "tool user")
    if seen.needs_tool_result:
        follows = ("tool", "tool user", "none", "user")
    text_first = seen.string_arguments and not seen.object_arguments
    for system, follow, tools, empty, parts, arguments in product(
        (False, True),
        follows,
        (True, False),
        ("null", "empty", "absent") if seen.null_content else ("empty", "absent", "null"),
        (True, False) if seen.list_content else (False, True),
        ("text", "object") if text_first else ("object", "text"),
    ):
        yield Setting(follow, arguments, empty, parts, system, tools)  # type: ignore[arg-type]


def opening(setting: Setting, words: Words) -> list[Message]:
    system: list[Message] = [{"role": "system", "content": _text(words.system, setting)}] if setting.system else []
    return [*system, {"role": "user", "content": _text(words.asked, setting)}]


def conversation(ir: TemplateIR, case: Case, setting: Setting, words: Words) -> list[Message]:
    return [*opening(setting, words), _assistant(ir, case, setting), *_following(ir, case, setting, words)]


def _assistant(ir: TemplateIR, case: Case, setting: Setting) -> Message:
    message: Message = {"role": "assistant"}
    if case.content:
        message["content"] = _text(case.content, setting)
    elif setting.empty_content != "absent":
        message["content"] = None if setting.empty_content == "null" else _text("", setting)
    if case.reasoning:
        _set_reasoning(message, ir.reasoning.key or "reasoning_content", case.reasoning)
    if case.calls:
        message["tool_calls"] = [_call(ir, call, index, setting) for index, call in enumerate(case.calls)]
    return message


def _set_reasoning(message: Message, key: str, text: str) -> None:
    place, _, kind = key.partition(":")
    if not kind:
        message[key] = text
        return
    content = message.get("content")
    rest = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    message[place] = [{"type": kind, kind: text}, *rest]


def _call(ir: TemplateIR, call: Call, index: int, setting: Setting) -> Json:
    arguments: Json = dict(call.arguments)
    if setting.arguments == "text":
        arguments = json.dumps(arguments, ensure_ascii=False)
    return {
        "id": id_of(ir, call, index),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _following(ir: TemplateIR, case: Case, setting: Setting, words: Words) -> list[Message]:
    messages: list[Message] = []
    if "tool" in setting.follow:
        for index, call in enumerate(case.calls):
            content = _text(words.result + words.behind_result, setting)
            identifier = id_of(ir, call, index)
            messages.append({"role": "tool", "tool_call_id": identifier, "name": call.name, "content": content})
    if "user" in setting.follow:
        messages.append({"role": "user", "content": _text(words.next_question + words.behind_next, setting)})
    return messages


def _text(text: str, setting: Setting) -> Json:
    return [{"type": "text", "text": text}] if setting.parts else text


# Tools


def offered_tools(calls: Sequence[Call]) -> list[dict[str, Json]]:
    """Tools for the template: the same for every case, so that what stands before the turn stays the same."""
    keys: dict[str, dict[str, Json]] = {}
    for call in calls:
        # Templates that walk schemas know no "null", and some no types beyond the plain ones.
        properties: dict[str, Json] = {key: {"type": "string", "description": "text"} for key, _ in call.arguments}
        keys.setdefault(call.name, {}).update(properties)
    return [_tool(name, properties) for name, properties in keys.items()]


def fitting_tools(case: Case) -> list[dict[str, Json]]:
    """Tools for the parser: their schemas say of every argument what type it has."""
    return [_tool(call.name, {key: schema_of(value) for key, value in call.arguments}) for call in case.calls]


def _tool(name: str, properties: dict[str, Json]) -> dict[str, Json]:
    parameters: Json = {"type": "object", "properties": properties, "required": []}
    return {
        "type": "function",
        "function": {"name": name, "description": f"The function {name}.", "parameters": parameters},
    }


def schema_of(value: Json) -> Json:
    schema: dict[str, Json] = {"type": json_type(value)}
    if isinstance(value, dict):
        schema["properties"] = {key: schema_of(item) for key, item in value.items()}
    elif isinstance(value, list) and value:
        kinds = [schema_of(item) for item in value]
        distinct = [kind for index, kind in enumerate(kinds) if kind not in kinds[:index]]
        schema["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": list(distinct)}
    return schema
