"""Calls whose name comes after their arguments: the parser waits for it, and reads the same in any chunks."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.slips.measure import joined, read, reading
from tplc import compile_template
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

TEMPLATE = Path(__file__).parent.parent / "cases" / "invertible" / "name-after-arrow.jinja"
KEYS: dict[str, Any] = {"city": {"type": "string"}}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": KEYS}}}
    for name in ("weather", "files:now")
]
CALL = '<do>{"city": "Oslo"} -> weather</do>'
OSLO = ("weather", {"city": "Oslo"})
READ: list[tuple[str, str, list[tuple[str, Any]]]] = [
    (f"{CALL}<eot>", "", [OSLO]),
    (f"So.{CALL}{CALL}<eot>", "So.", [OSLO, OSLO]),
    ("<do>{} -> files:now</do><eot>", "", [("files:now", {})]),
    ('<do>{"arguments": {"city": "Oslo"}} -> weather</do><eot>', "", [OSLO]),
    ("<do>{'city': 'Oslo'} -> weather</do><eot>", "", [OSLO]),
    ('<do>{"city": "Oslo"} -> someone</do><eot>', "", [("someone", {"city": "Oslo"})]),
    ("<do>it -> weather</do><eot>", "<do>it -> weather</do>", []),
    ('<do>{"city": "Os', "", []),
    ('<do>{"city": "Oslo"} -> wea', "", []),
]


@cache
def format_of() -> tuple[TemplateIR, ModuleType]:
    ir = compile_template(TEMPLATE.read_text(encoding="utf-8"))
    assert ir.verification.verified
    return ir, load_module(generate(ir, "python"))


@pytest.mark.parametrize(("text", "content", "calls"), READ)
def test_the_name_is_awaited(text: str, content: str, calls: list[tuple[str, Any]]) -> None:
    ir, parser = format_of()
    stream, _ = read(parser, text, TOOLS)
    found = reading(stream)
    assert (found[0], [(name, json.loads(given)) for name, given in found[2]]) == (content, calls)
    for size in (1, 2, 3, 7):
        other, deltas = read(parser, text, TOOLS, [text[at : at + size] for at in range(0, len(text), size)])
        assert reading(other) == joined(deltas) == found, size
        assert (other.diagnostics, other.incomplete) == (stream.diagnostics, stream.incomplete), size
    assert PegEngine(ir).read(text, tools=TOOLS).message == stream.message
