"""Prose and code that begin like a call, and name a tool, are text if the opener is like text: no arguments follow."""

from __future__ import annotations

import pytest

from tests.backends.parsers import NAMES, ir_of, parser_of
from tests.slips.bases import TOOLS
from tests.slips.measure import read
from tplc.backends.peg.engine import PegEngine
from tplc.lower.lower import lower

AFTER_NAME = [
    " is the tool for that.",
    " gives the weather. It takes a city.",
    "(city) returns the weather.",
    "(city, days)",
    "(c) for c in cities",
    " and get_time are tools.",
    ": the weather of a city.",
    ". Shall I?",
    "\nThat is the name of the tool.",
    "' is what I need.",
    "] is a tool.",
    "](https://example.org) finds it.",
]


def _opener(name: str) -> str:
    calls = lower(ir_of(name)).calls
    return calls.opening.openers[0].lstrip("\n") if calls is not None and calls.opening.begins else ""


LIKE_TEXT = [name for name in NAMES if _opener(name)]


@pytest.mark.parametrize("before", ["", "Here is what I know.\n", "```\n"])
@pytest.mark.parametrize("name", LIKE_TEXT)
def test_a_tool_named_in_prose_is_not_called(name: str, before: str) -> None:
    peg = PegEngine(ir_of(name))
    for tool in ("get_weather", "list_all"):
        for after in AFTER_NAME:
            text = before + _opener(name) + tool + after
            stream, _ = read(parser_of(name), text, TOOLS)
            assert stream.message["tool_calls"] == [], text
            kept = (stream.message["reasoning_content"] or "") + (stream.message["content"] or "")
            assert kept.split() == text.split()
            chunked, _ = read(parser_of(name), text, TOOLS, list(text))
            assert (chunked.message, chunked.diagnostics) == (stream.message, stream.diagnostics)
            assert peg.read(text, tools=TOOLS).message == stream.message
