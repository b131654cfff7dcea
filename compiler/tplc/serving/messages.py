r"""Convert messages as a client sends them into the form that a template takes.

    {"content": null, "reasoning_content": "Hm.", "tool_calls": [… "arguments": "{\"a\": 1}"]}
    →  {"content": "", "thinking": "Hm.", "tool_calls": [… "arguments": {"a": 1}]}

What a template wants is in the IR: the key of reasoning, arguments as an object or text, content as text or as parts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tplc.errors import RequestError
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import Json, TemplateIR
from tplc.messages import set_reasoning, text_content
from tplc.serving.request import Message

# The keys under which clients send reasoning.
_REASONING_KEYS = ("reasoning_content", "reasoning")


def messages_for(ir: TemplateIR, messages: Sequence[Message]) -> list[dict[str, Json]]:
    return [_message(ir, message, f"messages[{index}]") for index, message in enumerate(messages)]


def _message(ir: TemplateIR, message: Message, path: str) -> dict[str, Json]:
    made: dict[str, Any] = dict(message)
    made["content"] = _content(ir, message)
    if message.get("tool_calls"):
        calls: Any = message["tool_calls"]
        made["tool_calls"] = [_call(ir, call, f"{path}.tool_calls[{index}]") for index, call in enumerate(calls)]
    reasoning = next((made[key] for key in _REASONING_KEYS if isinstance(made.get(key), str) and made[key]), None)
    if reasoning is not None and ir.reasoning.key:
        for key in _REASONING_KEYS:
            made.pop(key, None)
        set_reasoning(made, ir.reasoning.key, reasoning)
    return made


def _content(ir: TemplateIR, message: Message) -> Json:
    """Return text as parts, or parts as text, if the template accepts only one of them; parts that are not text
    stay."""
    content = message.get("content")
    seen = ir.capabilities
    if content is None:
        return None if seen.null_content or message.get("role") != "assistant" else ""
    if isinstance(content, str):
        return text_content(content, parts=seen.list_content)
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]  # type: ignore[union-attr]
    if seen.list_content or len(texts) != len(content):  # type: ignore[arg-type]
        return content
    return "\n".join(str(text) for text in texts)


def _call(ir: TemplateIR, call: dict[str, Any], path: str) -> Json:
    function = call["function"]
    arguments = function.get("arguments")
    if ir.capabilities.object_arguments and isinstance(arguments, str):
        try:
            arguments = parse_json(arguments or "{}")
        except NotJson as error:
            raise RequestError(f"{path}.function.arguments", f"is not JSON: {error}") from error
        if not isinstance(arguments, dict):
            raise RequestError(f"{path}.function.arguments", "is not a JSON object")
    elif not ir.capabilities.object_arguments and isinstance(arguments, dict):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return {**call, "function": {**function, "arguments": arguments}}
