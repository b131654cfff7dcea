"""Plug-ins read the outputs of the examples, with stand-ins for the servers: as the format's own parser reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import amount
from tests.example_case import EXAMPLES
from tests.targets.stand_ins import servers
from tplc import driver
from tplc.ir.nodes import TemplateIR
from tplc.targets.plugins import Server, plugin
from tplc.verify.artifact import load_module

NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/template.jinja") if (path.parent / "outputs").is_dir())
CALLING = [name for name in NAMES if name != "plain-chat"]
TOKENIZER = SimpleNamespace(decode=lambda ids, **_: "".join(map(chr, ids)))


class Tool(dict[str, Any]):
    """A tool of a request, as servers hold it."""

    def model_dump(self) -> dict[str, Any]:
        return dict(self)


@cache
def example_ir(name: str) -> TemplateIR:
    return driver.load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))


@cache
def plugged_in(name: str, server: Server) -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": f"{name}_{server}"}
    with servers():
        exec(compile(plugin(example_ir(name), server, name="hut"), f"{name}_{server}.py", "exec"), found)
    return found


def tools_of(name: str) -> list[Tool]:
    conversation = json.loads((EXAMPLES / name / "conversation.json").read_text(encoding="utf-8"))
    return [Tool(tool) for tool in conversation.get("tools", [])]


def outputs(name: str) -> list[str]:
    """Return the outputs that don't end inside a call, of which plug-ins inform servers otherwise."""
    files = sorted((EXAMPLES / name / "outputs").glob("*.txt"))
    return [path.read_text(encoding="utf-8") for path in files if path.stem != "cut-off"]


def wanted(name: str, text: str) -> dict[str, Any]:
    stream = _parser(name).StreamParser(tools=tools_of(name))
    stream.feed(text)
    stream.finish()
    message = stream.message
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
    return {
        "reasoning": message["reasoning_content"] or "",
        "content": message["content"] or "",
        "calls": calls,
    }


@cache
def _parser(name: str) -> Any:
    return load_module(driver.generate(example_ir(name), "python"))


def by_vllm(name: str, text: str, size: int) -> dict[str, Any]:
    """Read an answer by both parsers, one after the other."""
    found = plugged_in(name, "vllm")
    request = SimpleNamespace(tools=tools_of(name))
    reasoning, calls = (found[of](TOKENIZER) for of in ("FormatReasoningParser", "FormatToolParser"))
    parted = [reasoning.extract_reasoning_streaming("", "", piece, [], [], []) for piece in pieces(text, size)]
    parted.append(reasoning.finish_streaming())
    parted = [part for part in parted if part is not None]
    read = [calls.extract_tool_calls_streaming("", "", part.content or "", [], [], [], request) for part in parted]
    read.append(calls.finish_streaming())
    read = [part for part in read if part is not None]
    items = [(item.index, item.function) for part in [*parted, *read] for item in part.tool_calls or ()]
    return {
        "reasoning": "".join(part.reasoning or "" for part in parted),
        "content": "".join(part.content or "" for part in read),
        "calls": joined((index, function.name, function.arguments) for index, function in items),
    }


def by_sglang(name: str, text: str, size: int) -> dict[str, Any]:
    """Read an answer by both detectors, one after the other."""
    found, tools = plugged_in(name, "sglang"), tools_of(name)
    reasons = not found["reasoning_ended"](found["StreamParser"].HEADS[0])  # the prompt's default
    reasoning = found["FormatReasoningDetector"](force_reasoning=reasons, tool_call_parser_active=True)
    calls = found["FormatDetector"]()
    parted = [*map(reasoning.parse_streaming_increment, pieces(text, size)), reasoning.finish()]
    read = [*(calls.parse_streaming_increment(part.normal_text, tools) for part in parted), calls.finish(tools)]
    return {
        "reasoning": "".join(part.reasoning_text for part in parted),
        "content": "".join(part.normal_text for part in read),
        "calls": joined((item.tool_index, item.name, item.parameters) for part in read for item in part.calls),
    }


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def joined(parts: Iterable[tuple[int, str | None, str]]) -> list[tuple[str, str]]:
    """Return the name and the arguments of each call."""
    calls: list[tuple[str, str]] = []
    for index, name, arguments in parts:
        if name is not None:
            calls.append((name, ""))
        calls[index] = (calls[index][0], calls[index][1] + arguments)
    return calls


@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", CALLING[:: amount(3, sweep=1)])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_plug_in_reads_what_the_parser_reads(name: str, size: int) -> None:
    texts = outputs(name)
    assert texts
    for text in texts:
        assert by_vllm(name, text, size) == wanted(name, text), ("vllm", text)
        assert by_sglang(name, text, size) == wanted(name, text), ("sglang", text)
