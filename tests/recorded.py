"""Outputs recorded elsewhere, with the answer expected of them, and how a parser's answer is held against it.

    read_outputs()["some__template"]  →  (Output(id="7", text="…", want={…}, …), …)

The files are next to the project (../shared) and are no part of it.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.conftest import SHARED

CHUNKINGS = 3


@dataclass(frozen=True, slots=True)
class Output:
    """One recorded output.  `fields`: those of `want` that count; `finished`: the answer at the end, not before it."""

    id: str
    collection: str
    template: str
    text: str
    chunks: tuple[str, ...]
    finished: bool
    options: Mapping[str, Any]
    want: Mapping[str, Any]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutputResult:
    id: str
    collection: str
    difference: str  # "" when equal
    chunked: str  # "" when every chunking agrees with the whole


def template_path(name: str) -> Path:
    """Return the file of a template, in either folder."""
    path = SHARED / "templates" / f"{name}.jinja"
    return path if path.is_file() else SHARED / "more" / "templates" / f"{name}.jinja"


def read_outputs() -> dict[str, list[Output]]:
    """Return the recorded outputs of each template."""
    found: dict[str, list[Output]] = defaultdict(list)
    for case in _lines(SHARED / "cases" / "llamacpp.jsonl"):
        output = _of_llamacpp(case)
        found[output.template].append(output)
    for case in _lines(SHARED / "more" / "vllm.jsonl"):
        if not case.get("not_asked"):
            output = _of_vllm(case)
            found[output.template].append(output)
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().decode("utf-8").splitlines()] if path.is_file() else []


def _of_llamacpp(case: Mapping[str, Any]) -> Output:
    expect = case["expect"]
    return Output(
        id=str(case["id"]),
        collection="llamacpp",
        template=case["template"].removesuffix(".jinja"),
        text=case["input"],
        chunks=(),
        finished=not case["is_partial"],
        options={
            "tools": case["tools"],
            "prompt": case["prompt"],
            # "none" leaves reasoning in the content, except where an answer is continued: there it is split off.
            "parse_reasoning": case["reasoning_format"] != "none",
            "echo": case["continue_final_message"] is not None,
            "continue_final_message": case["continue_final_message"] is not None,
            "json_content": bool(case["json_schema"]),
        },
        want={
            "content": expect["content"],
            "reasoning": expect["reasoning_content"],
            "tool_calls": expect["tool_calls"],
        },
        fields=("content", "reasoning", "names", "args", "ids"),
    )


def _of_vllm(case: Mapping[str, Any]) -> Output:
    return Output(
        id=case["id"],
        collection="vllm",
        template=case["template"].removesuffix(".jinja"),
        text=case["text"],
        chunks=tuple(case["chunks"] or ()),
        finished=case["finished"] is not False,
        options={
            **{name: case[name] for name in ("tools", "prompt", "parse_reasoning", "parse_tool_calls")},
            # These prompts hold the answer's own turn only, some of them with its beginning.
            "continue_final_message": bool(case["prompt"]),
        },
        want=case["want"],
        fields=tuple(case["asserted"]),
    )


def run_output(parser: ModuleType, output: Output) -> OutputResult:
    whole = parser.parse(output.text, **output.options)
    ways = [*chunkings(output.text, output.id), *([list(output.chunks)] if output.chunks else [])]
    streamed = [stream(parser, chunks, output.options, finish=True) for chunks in ways]
    chunked = next((found for got in streamed if (found := _first_difference(whole, got))), "")
    message = whole if output.finished else stream(parser, [output.text], output.options, finish=False)
    return OutputResult(output.id, output.collection, difference(output, message), chunked)


def stream(parser: ModuleType, chunks: Iterable[str], options: Mapping[str, Any], *, finish: bool) -> dict[str, Any]:
    machine = parser.StreamParser(**options)
    for chunk in chunks:
        machine.feed(chunk)
    if finish:
        machine.finish()
    return dict(machine.message)


def chunkings(text: str, seed: str) -> list[list[str]]:
    """Return chunks of one character, and a few random chunkings."""
    rng = random.Random(seed)
    ways = [list(text)]
    for _ in range(CHUNKINGS):
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randint(1, 8)))
        ways.append([text[a:b] for a, b in pairwise([0, *cuts, len(text)])])
    return ways


def difference(output: Output, message: Mapping[str, Any]) -> str:
    """Return where a message differs from the expected one, apart from outer white space and JSON spacing; "" if
    nowhere."""
    for field, key in (("content", "content"), ("reasoning", "reasoning_content")):
        if field in output.fields and (output.want[field] or "").strip() != (message[key] or "").strip():
            return field
    wanted, calls = output.want["tool_calls"] or [], message["tool_calls"]
    if {"names", "args"} & {*output.fields} and len(calls) != len(wanted):
        return f"{len(wanted)} calls expected, got {len(calls)}"
    for number, (want, got) in enumerate(zip(wanted, calls, strict=False), 1):
        if "names" in output.fields and want["name"] != got["function"]["name"]:
            return f"name of call {number}"
        if "args" in output.fields and not same_value(want["arguments"], got["function"]["arguments"]):
            return f"arguments of call {number}"
        if "ids" in output.fields and want["id"] and want["id"] != got["id"]:
            return f"id of call {number}"
    return ""


def same_value(first: object, second: object) -> bool:
    """Return whether arguments are the same JSON; invalid JSON (of a truncated call) is compared without outer white
    space."""
    return normal(first) == normal(second)


def normal(arguments: object) -> str:
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except json.JSONDecodeError:
        return str(arguments).strip()
    return json.dumps(_numbers_alike(value), sort_keys=True)


def _numbers_alike(value: object) -> object:
    """Return values in which 5 and 5.0 are equal, because JSON has one kind of number."""
    if isinstance(value, dict):
        return {key: _numbers_alike(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_numbers_alike(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _first_difference(whole: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    return next((field for field in ("content", "reasoning_content", "tool_calls") if whole[field] != other[field]), "")
