"""The examples' formats, with the parsers generated from them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.backends.parsers import NAMES, ir_of
from tplc.backends.python import generate
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.verify.artifact import Artifact, load_artifact


@dataclass(frozen=True)
class Format:
    name: str
    ir: TemplateIR

    @property
    def parser(self) -> Artifact:
        return _parser(self.name)


@functools.cache
def _parser(name: str) -> Artifact:
    return load_artifact(generate(formats()[name].ir))


@functools.lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    """Return the formats of the examples that call tools."""
    return {name: Format(name, ir_of(name)) for name in NAMES if ir_of(name).tools.format != "none"}


def calls_message(*calls: tuple[str, Mapping[str, Any]], content: str | None = None) -> dict[str, Any]:
    written = [
        {"id": f"callid{number:03}", "function": {"name": name, "arguments": dict(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": written}


def written(ir: TemplateIR, message: Mapping[str, Any]) -> str:
    """Return what the model writes after the default prompt, without the end of the turn."""
    head = ir.turn.prompts[0].head
    if ir.reasoning.mode == "forced_open":
        message = {**message, "reasoning_content": "Let me see."}
    text = write_message(ir, message)
    text = text[len(head) :] if head and text.startswith(head) else text
    for end in sorted(ir.turn.ends, key=len, reverse=True):
        if end and text.endswith(end):
            return text[: -len(end)]
    return text


def arguments_of(message: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message["tool_calls"] or []
    ]
