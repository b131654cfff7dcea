"""Read the body of a chat-completions request.

    {"messages": […], "tools": […], "tool_choice": {"type": "function", "function": {"name": "f"}}}
    →  ChatRequest(messages=(…), tools=(…), tool_choice="f", …)

Members that say nothing about prompt or grammar (model, temperature, …) are none of our business.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from tplc.errors import RequestError
from tplc.ir.nodes import Json

Message = Mapping[str, Json]
# Inputs that every render gets; chat_template_kwargs can't set them.
_RESERVED = ("messages", "tools", "add_generation_prompt")
# Members of a request that have a meaning of their own, and are no variables of a template.
_WITH_A_MEANING = (
    "chat_template_kwargs continue_final_message grammar json_schema parallel_tool_calls response_format stop stream "
    "tool_choice"
)
OWN_MEMBERS = frozenset([*_RESERVED, *_WITH_A_MEANING.split()])
_ANY_OBJECT: Json = {"type": "object"}
_MOST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`tool_choice` is auto, none, required, or a tool's name.  `json_schema` is None when none is asked for."""

    messages: tuple[Message, ...]
    tools: tuple[Message, ...] = ()
    tool_choice: str = "auto"
    parallel_tool_calls: bool | None = None
    json_schema: Json | None = None
    grammar: str | None = None
    variables: tuple[tuple[str, Json], ...] = ()
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    stop: tuple[str, ...] = ()

    def with_members(self, body: Mapping[str, Any], names: Collection[str]) -> ChatRequest:
        """Return the request with members of its body as variables of the template; `names` lists them.

        `{"reasoning_effort": "high"}` is such a member.  `chat_template_kwargs` take precedence.
        """
        known = {name for name, _ in self.variables} | OWN_MEMBERS
        found = [(name, body[name]) for name in sorted(body) if name in names and name not in known]
        return replace(self, variables=(*self.variables, *((n, value) for n, value in found if value is not None)))


def unknown_variables(
    variables: Collection[str], names: Collection[str], *, where: str = "chat_template_kwargs."
) -> Iterator[str]:
    """Yield a warning for each variable that the template doesn't read.  `where`: the text before its name."""
    for name in variables:
        if name in names:
            continue
        near = get_close_matches(name, sorted(names), n=1)
        meant = f": did you mean {near[0]}?" if near else ""
        yield f"{where}{name}: the template does not read it{meant}"


def read_request(body: Mapping[str, Any]) -> ChatRequest:
    """Raises RequestError for what is malformed, and for what excludes each other."""
    if not isinstance(body, Mapping):
        raise _wrong("", "an object with messages", body)
    tools = _tools(body.get("tools"))
    continued = _flag(body, "continue_final_message", False)
    messages = read_messages(body.get("messages"))
    request = ChatRequest(
        messages=messages,
        tools=tools,
        tool_choice=_tool_choice(body.get("tool_choice"), tools),
        parallel_tool_calls=_flag(body, "parallel_tool_calls", None),
        json_schema=_json_schema(body),
        grammar=_text(body, "grammar"),
        variables=_variables(body.get("chat_template_kwargs")),
        add_generation_prompt=_flag(body, "add_generation_prompt", not continued) is True,
        continue_final_message=continued is True,
        stop=_stop(body.get("stop")),
    )
    _refuse_conflicts(request)
    return request


def read_messages(listed: object) -> tuple[Message, ...]:
    if not isinstance(listed, (list, tuple)) or not listed:
        raise _wrong("messages", 'a list of {"role": …, "content": …}, not empty', listed)
    return tuple(_message(message, f"messages[{index}]") for index, message in enumerate(listed))


def _refuse_conflicts(request: ChatRequest) -> None:
    if request.grammar is not None and request.json_schema is not None:
        raise RequestError("grammar", "a grammar and a JSON schema exclude each other")
    if request.grammar is not None and request.tools and request.tool_choice != "none":
        raise RequestError("grammar", "a grammar and tools exclude each other: calls have a grammar of their own")
    eager = request.json_schema is not None or request.tool_choice not in ("auto", "none")
    if request.json_schema is not None and request.tool_choice not in ("auto", "none"):
        raise RequestError("response_format", "excludes required tools: the answer is one or the other")
    if not request.continue_final_message:
        return
    if request.add_generation_prompt:
        raise RequestError("continue_final_message", "excludes add_generation_prompt: no new turn begins")
    if request.messages[-1].get("role") != "assistant":
        raise RequestError("continue_final_message", "the last message has to be the assistant's")
    if request.messages[-1].get("tool_calls"):
        raise RequestError("continue_final_message", "a message with tool calls cannot be continued")
    if eager or request.grammar is not None:
        raise RequestError("continue_final_message", "a grammar is for whole answers: none can continue a message")


def _message(message: object, path: str) -> Message:
    if not isinstance(message, Mapping):
        raise _wrong(path, 'an object such as {"role": "user", "content": …}', message)
    if not isinstance(message.get("role"), str):
        raise _wrong(f"{path}.role", "a role such as user", message.get("role"))
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
            raise _wrong(f"{path}.content", "text, null, or a list of content parts", content)
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise _wrong(f"{path}.tool_calls", "a list", calls)
    for index, call in enumerate(calls or ()):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise _wrong(f"{path}.tool_calls[{index}]", "a function with a name", call)
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, (str, Mapping)):
            place = f"{path}.tool_calls[{index}].function.arguments"
            raise _wrong(place, "an object, or the text of one", arguments)
    return message


def _tools(listed: object) -> tuple[Message, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, (list, tuple)):
        raise _wrong("tools", "a list", listed)
    names: set[str] = set()
    for index, tool in enumerate(listed):
        function = tool.get("function") if isinstance(tool, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(name, str) or not name:
            raise _wrong(f"tools[{index}]", '{"type": "function", "function": {"name": …}}', tool)
        parameters = function.get("parameters") if isinstance(function, Mapping) else None
        if parameters is not None and not isinstance(parameters, (Mapping, bool)):
            raise _wrong(f"tools[{index}].function.parameters", "a JSON schema", parameters)
        if name in names:
            raise RequestError(f"tools[{index}]", f"the name {name!r} is taken by an earlier tool")
        names.add(name)
    return tuple(listed)


def _tool_choice(choice: object, tools: tuple[Message, ...]) -> str:
    expected = 'auto, none, required, or {"type": "function", "function": {"name": …}}'
    if choice is None or choice in ("auto", "none"):
        return "none" if choice == "none" else "auto"
    if choice == "required":
        if not tools:
            raise RequestError("tool_choice", "tools are required, and there are none")
        return "required"
    function = choice.get("function") if isinstance(choice, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        raise _wrong("tool_choice", expected, choice)
    names = [str(tool["function"]["name"]) for tool in tools]  # type: ignore[index,call-overload]
    if name not in names:
        raise RequestError("tool_choice", f"there is no tool {name!r}; there are: {', '.join(names) or 'none'}")
    return name


def _json_schema(body: Mapping[str, Any]) -> Json | None:
    """Return the schema of `response_format`, or the one under `json_schema`."""
    given = body.get("response_format")
    bare: Json | None = body.get("json_schema")
    if bare is not None and not isinstance(bare, (Mapping, bool)):
        raise _wrong("json_schema", "a JSON schema", bare)
    if given is None:
        return bare
    if not isinstance(given, Mapping):
        raise _wrong("response_format", 'an object such as {"type": "json_object"}', given)
    kind = given.get("type")
    if kind not in ("text", "json_object", "json_schema"):
        raise _wrong("response_format.type", "text, json_object or json_schema", kind)
    if kind == "text":
        return bare
    if bare is not None:
        raise RequestError("json_schema", "excludes response_format; give one of them")
    if kind == "json_object":
        schema: Json = given.get("schema") or _ANY_OBJECT
        return schema
    holder = given.get("json_schema")
    schema = holder.get("schema") if isinstance(holder, Mapping) else None
    if not isinstance(schema, (Mapping, bool)):
        raise _wrong("response_format.json_schema.schema", "a JSON schema", schema)
    return schema


def _variables(given: object) -> tuple[tuple[str, Json], ...]:
    if given is None:
        return ()
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise _wrong("chat_template_kwargs", "an object", given)
    for name in _RESERVED:
        if name in given:
            raise RequestError(f"chat_template_kwargs.{name}", f"give {name} in the request itself")
    return tuple(given.items())


def _flag(body: Mapping[str, Any], name: str, default: bool | None) -> bool | None:
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise _wrong(name, "true or false", value)
    return value


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(name, "text", value)
    return value or None


def _stop(given: object) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) else () if given is None else given
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise _wrong("stop", "text, or a list of texts", given)
    return tuple(texts)


def _wrong(path: str, expected: str, value: object) -> RequestError:
    """Return an error about a member.  A missing member and null are the same in a request."""
    shown = "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=repr)
    if len(shown) > _MOST_SHOWN:
        shown = shown[: _MOST_SHOWN - 1] + "…"
    return RequestError(path, f"expected {expected}, got {shown}")
