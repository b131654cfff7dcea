"""Markers around all calls that a tolerance file gives a format without any: accepted by all backends, never written.

"<~set~>" for tools.section_start  →  "<~set~><do>f {}</do></~set~>" is read as "<do>f {}</do>"
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import pytest

from tests.backends.parsers import NAMES, committed_ir, ir_of, parser_for, streamed
from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.formats import calls_message, written
from tests.gbnf.tools import tool
from tplc.backends.gbnf import fires_at, grammar
from tplc.backends.peg.engine import PegEngine
from tplc.errors import ToleranceError
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.ir.own_markers import opening_of_calls
from tplc.ir.tolerances import apply_tolerances, check_tolerances
from tplc.ir.write import write_message

TOOLS = [
    tool("look", {"at": {"type": "string"}, "days": {"type": "integer"}}, required=("at",)),
    tool("see", {}),
]
ONE = calls_message(("look", {"at": "it", "days": 2}))
TWO = calls_message(("look", {"at": "it"}), ("see", {}))
AROUND = {"tags": ("<~set~>", "</~set~>"), "word": ("wishes[", "]"), "opener only": ("<~set~>", "")}


def has_bare_calls(ir: TemplateIR) -> bool:
    """Return whether calls have an opener of their own, and nothing is around all of them."""
    around, opener = (ir.tools.section_start + ir.tools.section_end).strip(), opening_of_calls(ir.tools)
    return ir.tools.format != "none" and not around and opener in written(ir, ONE) and opener != ""


CASES = [(name, kind) for name in NAMES if has_bare_calls(committed_ir(name)) for kind in AROUND]


@cache
def declared(name: str, kind: str) -> TemplateIR:
    start, end = AROUND[kind]
    given = [Tolerance("variant", True, "tools.section_start", start, "seen")]
    given += [Tolerance("variant", True, "tools.section_end", end, "seen")] if end else []
    check_tolerances(ir_of(name), given)
    return apply_tolerances(ir_of(name), given)


def outputs(name: str) -> Iterator[str]:
    """Return outputs that end with all calls of the turn."""
    for message in (ONE, TWO):
        if message is ONE or ir_of(name).tools.parallel:
            yield written(ir_of(name), message)


def opened(name: str, kind: str, text: str) -> str:
    """Return the output with the declared markers around its calls."""
    start, end = AROUND[kind]
    at = text.index(opening_of_calls(ir_of(name).tools))
    return text[:at] + start + text[at:] + end


def read(ir: TemplateIR, text: str, tools: Any = None) -> dict[str, Any]:
    """Return what every engine reads from a text, in any chunking."""
    module = parser_for(ir)
    message = dict(module.parse(text, tools=tools))
    assert streamed(module, list(text), tools=tools) == message
    if tools is None:
        assert dict(PegEngine(ir).parse(text)) == message
    return message


@pytest.mark.sweep(15)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_declared_markers_are_read(name: str, kind: str) -> None:
    for text in outputs(name):
        for tools in (None, TOOLS):
            assert read(declared(name, kind), opened(name, kind, text), tools) == read(ir_of(name), text, tools)


@pytest.mark.sweep(11)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_nothing_else_is_read_otherwise(name: str, kind: str) -> None:
    texts = [*outputs(name), "wishes[0] is 1, wishes[1] is 2.\nwishes[2]", "Take <~set~> for all.\n</~set~>", "x]"]
    for text in texts:
        assert read(declared(name, kind), text) == read(ir_of(name), text)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_declared_markers_are_never_written(name: str, kind: str) -> None:
    for message in (ONE, {"role": "assistant", "content": "Well."}):
        assert write_message(declared(name, kind), message) == write_message(ir_of(name), message)


@pytest.mark.sweep(7)
@needs_engine
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_grammars_accept_declared_markers(name: str, kind: str) -> None:
    ir = declared(name, kind)
    eager = partial(accepts, grammar(ir, tools=TOOLS, tool_choice="required").text)
    lazy = grammar(ir, tools=TOOLS)
    for text in map(str.lstrip, outputs(name)):
        other = opened(name, kind, text)
        assert eager(other) == eager(text)
        place = fires_at(lazy.triggers, other)
        assert place is None or accepts(lazy.text, other[place:])


def test_a_format_without_calls_has_no_section() -> None:
    with pytest.raises(ToleranceError) as caught:
        check_tolerances(ir_of("plain-chat"), [Tolerance("variant", True, "tools.section_start", "<~set~>", "seen")])
    assert "this format has no tools.section_start" in str(caught.value.problem)
