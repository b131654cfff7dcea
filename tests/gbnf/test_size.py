"""Large sets of tools: how much work a grammar is, and how large it gets, counted rather than timed."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.gbnf.engine import INSTALLED, refused
from tests.gbnf.formats import formats
from tests.gbnf.tools import tool
from tplc.backends.gbnf import grammar
from tplc.ir.nodes import TemplateIR

PROPERTIES = 50
FEW, MANY = 3, 12
# Calls of Python functions for each property.
MOST_CALLS = 640
MOST_CHARACTERS = 280
DIALECTS = {"tagged-json", "python-literals", "parameter-tags", "keyword-calls", "string-delimiters", "nested-elements"}


def _property(number: int, of_tool: int) -> dict[str, Any]:
    kinds: tuple[dict[str, Any], ...] = (
        {"type": "string", "description": "a text"},
        {"type": "integer", "minimum": number, "maximum": 1000 + of_tool},
        {"enum": [f"value-{of_tool}-{index}" for index in range(5)]},
        {"type": "array", "items": {"type": "string"}, "maxItems": number + 3},
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]},
        {"type": "boolean"},
        {"type": ["string", "null"]},
        {"type": "string", "pattern": f"^[a-z]{{2,{number + 3}}}$"},
        {"type": "number", "minimum": 0},
        {"type": "string", "maxLength": 20 + number},
    )
    return kinds[number % len(kinds)]


def tools(count: int) -> list[dict[str, Any]]:
    """Return tools in which no two properties have the same name."""
    return [
        tool(
            f"tool_{number}",
            {f"property_{number}_{index}": _property(index, number) for index in range(PROPERTIES)},
            tuple(f"property_{number}_{index}" for index in range(0, PROPERTIES, 3)),
        )
        for number in range(count)
    ]


def _counted(ir: TemplateIR, count: int, *, any_order: bool) -> tuple[int, str]:
    calls = 0

    def count_call(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    wanted = tools(count)
    sys.setprofile(count_call)
    try:
        made = grammar(ir, tools=wanted, tool_choice="required", any_order=any_order)
    finally:
        sys.setprofile(None)
    return calls, made.text


@pytest.mark.sweep(9)
@pytest.mark.parametrize("any_order", [False, True], ids=["in order", "any order"])
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_work_grows_with_the_tools_and_no_faster(name: str, any_order: bool) -> None:
    ir = formats()[name].ir
    few, _ = _counted(ir, FEW, any_order=any_order)
    many, text = _counted(ir, MANY, any_order=any_order)
    # What any grammar of the dialect takes once is in both.
    assert many - few < MOST_CALLS * (MANY - FEW) * PROPERTIES
    assert many < MANY / FEW * few * 1.1
    assert len(text) < MOST_CHARACTERS * MANY * PROPERTIES
    if INSTALLED:
        assert refused(text) is None
