"""The examples of docs/tolerances.md are read as what the template would have written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import ROOT
from tplc.backends.python import generate
from tplc.driver import compile_template
from tplc.ir.nodes import GENERAL_TOLERANCES
from tplc.verify.artifact import load_module

PAGE = (ROOT / "docs" / "tolerances.md").read_text(encoding="utf-8")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "forecast", "parameters": SCHEMA}}]
# Each row: the kind, what it accepts, an output if there is one.
ROWS = [row.strip("| ").split(" | ") for row in PAGE.split("| kind | accepts |")[1].split("\n\n")[0].splitlines()[2:]]
EXAMPLES = {row[0].split("`")[1]: row[2].split("`")[1].replace("\\n", "\n") for row in ROWS if len(row) > 2}


@pytest.fixture(scope="module")
def parser() -> Any:
    template = (ROOT / "docs" / "hut.jinja").read_text(encoding="utf-8")
    return load_module(generate(compile_template(template, special_tokens={"stop": "<stop>"})))


def test_each_kind_has_an_example() -> None:
    assert {row[0].split("`")[1] for row in ROWS} <= set(GENERAL_TOLERANCES)
    assert {row[0].split("`")[1] for row in ROWS} - EXAMPLES.keys() == {"header_parts"}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_example_is_read(parser: Any, kind: str) -> None:
    stream = parser.StreamParser(tools=TOOLS)
    stream.feed(EXAMPLES[kind])
    stream.finish()
    message, text = stream.message, EXAMPLES[kind].lower()
    calls = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message["tool_calls"]]
    assert calls == [("forecast", {"city": "Oslo"})] * ("forecast" in text)
    assert message["content"] == ("Hi." if "hi." in text else None)
    assert (message["reasoning_content"] or "").strip() == ("Snow?" if "snow?" in text else "")
    assert not stream.incomplete
