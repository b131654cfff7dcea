"""Parsers of the examples' formats, and ways to feed them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

from tests.example_case import EXAMPLES, load_examples
from tplc.backends.python import generate
from tplc.code import code_of
from tplc.driver import load_ir
from tplc.ir.nodes import TemplateIR, Verification

NAMES = [example.name for example in load_examples()]


@cache
def ir_of(name: str) -> TemplateIR:
    """Return the format of an example before its verification; `tests/test_examples.py` learns it again."""
    ir = committed_ir(name)
    return replace(ir, provenance=replace(ir.provenance, name=name), forms=(), verification=Verification())


@cache
def committed_ir(name: str) -> TemplateIR:
    """Return the committed format, which has tolerances and a verification."""
    return load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))


@cache
def parser_of(name: str) -> ModuleType:
    return parser_for(ir_of(name))


@cache
def parser_for(ir: TemplateIR) -> ModuleType:
    """Return the parser of a format; it is made once, because a test may ask for it many times."""
    return module_of(generate(ir))


def module_of(text: str) -> ModuleType:
    module = ModuleType("generated")
    sys.modules[module.__name__] = module
    exec(code_of(text), module.__dict__)  # which `generate` has compiled
    return module


def joined(deltas: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the message that a client makes of the deltas."""
    texts = {"content": "", "reasoning_content": ""}
    calls: list[dict[str, Any]] = []
    for delta in deltas:
        for kind in texts.keys() & delta.keys():
            texts[kind] += delta[kind]
        for call in delta.get("tool_calls", ()):
            if call["index"] == len(calls):
                calls.append({"id": call["id"], "type": call["type"], "function": dict(call["function"])})
            else:
                calls[call["index"]]["id"] = call.get("id", calls[call["index"]]["id"])
                calls[call["index"]]["function"]["arguments"] += call.get("function", {}).get("arguments", "")
    content = texts["content"] or (None if calls or texts["reasoning_content"] else "")
    return {
        "role": "assistant",
        "content": content,
        "reasoning_content": texts["reasoning_content"] or None,
        "tool_calls": calls,
    }


def streamed(module: ModuleType, chunks: Sequence[str], **options: Any) -> dict[str, Any]:
    """Return the parser's message, after checking that the joined deltas are the same."""
    parser = module.StreamParser(**options)
    deltas = [delta for chunk in chunks for delta in parser.feed(chunk)] + parser.finish()
    message: dict[str, Any] = parser.message
    assert joined(deltas) == message
    return message


def reported(parser: Any) -> list[tuple[int, str]]:
    return [(diagnostic.offset, diagnostic.text) for diagnostic in parser.diagnostics]


def undefined_names(source: str) -> str:
    """Return what ruff says of names that a file uses and doesn't define."""
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select", "F821", "-"]
    return subprocess.run(ruff, input=source, capture_output=True, text=True, check=False).stdout
