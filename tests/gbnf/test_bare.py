"""Raw values that only what follows them ends: the grammar takes what the parser reads back, and only whole calls."""

from __future__ import annotations

import functools
import itertools
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import tool
from tplc.backends.gbnf import grammar
from tplc.backends.python import generate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import Artifact, load_artifact

TEXT = {"type": "string"}
KNOWN = [tool("f", {"a": TEXT, "b": TEXT}, ("a",))]
ANY = [tool("f", {"a": TEXT, "b": TEXT}, ("a",), additionalProperties=TEXT)]
PIECES = ("x", ",", " ", "b", "=", ")", "]", "f(", "\n", "a=")


@functools.cache
def _raw() -> tuple[TemplateIR, Artifact]:
    """Calls such as [f(a=x, b=y)]."""
    ir = formats()["bare-keyword-calls"].ir
    assert ir.tools.dialect is not None
    top = replace(ir.tools.dialect.top, strings=())
    ir = replace(ir, tools=replace(ir.tools, dialect=replace(ir.tools.dialect, top=top)))
    return ir, load_artifact(generate(ir))


def _read(tools: list[dict[str, Any]], text: str) -> tuple[str | None, list[Any]]:
    message = _raw()[1].parse(text, tools=tools, prompt=None)
    return message["content"], [json.loads(call["function"]["arguments"]) for call in message["tool_calls"] or ()]


@needs_engine
@pytest.mark.parametrize("tools", [KNOWN, ANY], ids=["known keys", "any keys"])
def test_against_the_parser(tools: list[dict[str, Any]]) -> None:
    ir, _ = _raw()
    made = grammar(ir, tools=tools, tool_choice="required").text
    taken = 0
    for pieces in itertools.product(PIECES, repeat=3):
        value = "".join(pieces)
        if value != value.strip():
            continue
        for arguments in ({"a": value}, {"a": value, "b": "y"}):
            text = written(ir, calls_message(("f", arguments)))
            content, calls = _read(tools, text)
            if accepts(made, text):
                # Perhaps as other arguments, or as more calls than one.
                taken += 1
                assert content is None and calls, text
            else:
                assert calls != [arguments], text
    assert taken > 500
