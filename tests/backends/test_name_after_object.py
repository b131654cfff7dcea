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

FOLDER = Path(__file__).parent.parent / "cases" / "invertible"
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
    # The name is written otherwise, or what ends it is missing; the call is in another form.
    ('<do>{"city": "Oslo"} -> functions.weather</do><eot>', "", [OSLO]),
    ('<do>{"city": "Oslo"} -> "Weather"</do><eot>', "", [OSLO]),
    (f'<do>{{"city": "Oslo"}} -> weather{CALL}<eot>', "", [OSLO, OSLO]),
    ('<do>{"city": "Oslo"} -> weather<eot>', "", [OSLO]),
    ('<do>{"city": "Oslo"} -> weather', "", [OSLO]),
    ('<do>{"city": "Oslo"} -> weather</d', "", [OSLO]),
    ('<do>{"city": "Oslo"} -> weather is fine<eot>', '<do>{"city": "Oslo"} -> weather is fine', []),
    ('<do>{"city": "Oslo"} -> someone<eot>', '<do>{"city": "Oslo"} -> someone', []),
    ('<do>{"name": "weather", "arguments": {"city": "Oslo"}}</do><eot>', "", [OSLO]),
    ('<do>weather {"city": "Oslo"}</do><eot>', "", [OSLO]),
    ('<do>someone {"city": "Oslo"}</do><eot>', '<do>someone {"city": "Oslo"}</do>', []),
]


ON_LINES = '<do>\n{"city": "Oslo"}\nweather\n</do>'
READ_ON_LINES: list[tuple[str, str, list[tuple[str, Any]]]] = [
    (f"{ON_LINES}<eot>", "", [OSLO]),
    (f"So.{ON_LINES}{ON_LINES}<eot>", "So.", [OSLO, OSLO]),
    ("<do>{}files:now</do><eot>", "", [("files:now", {})]),
    ("<do>\n{}\n</do><eot>", "<do>\n{}\n</do>", []),
    ("<do>\n{}\nweather\nlater</do><eot>", "<do>\n{}\nweather\nlater</do>", []),
    ('<do>\n{"city": "Oslo"}', "", []),
    ('<do>\n{"city": "Oslo"}\nwea', "", []),
]
ALL = [*(("name-after-arrow", *row) for row in READ), *(("name-after-line", *row) for row in READ_ON_LINES)]


@cache
def format_of(name: str) -> tuple[TemplateIR, ModuleType]:
    ir = compile_template((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"))
    assert ir.verification.verified
    return ir, load_module(generate(ir, "python"))


@pytest.mark.parametrize(("name", "text", "content", "calls"), ALL)
def test_the_name_is_awaited(name: str, text: str, content: str, calls: list[tuple[str, Any]]) -> None:
    ir, parser = format_of(name)
    stream, _ = read(parser, text, TOOLS)
    found = reading(stream)
    assert (found[0], [(name, json.loads(given)) for name, given in found[2]]) == (content, calls)
    for size in (1, 2, 3, 7):
        other, deltas = read(parser, text, TOOLS, [text[at : at + size] for at in range(0, len(text), size)])
        assert reading(other) == joined(deltas) == found, size
        assert (other.diagnostics, other.incomplete) == (stream.diagnostics, stream.incomplete), size
    assert PegEngine(ir).read(text, tools=TOOLS).message == stream.message
