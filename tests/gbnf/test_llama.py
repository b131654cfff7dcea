"""Grammars in llama.cpp's own engine, where `make llama-checker` has built it."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import ROOT
from tests.gbnf.formats import formats, written
from tests.gbnf.llama import accepts, needs_llama, refused
from tests.gbnf.test_formats import MESSAGES, WITH_CALLS, WRONG
from tests.gbnf.test_lint import BAD, GOOD
from tests.gbnf.test_size import tools
from tests.gbnf.tools import ALL
from tests.ir_small import ALL as SMALL
from tplc.backends.gbnf import fires_at, grammar
from tplc.backends.gbnf.lint import lint

# What this engine takes and others do not, so that the lint says more than it does.
TAKEN = (
    "an empty alternative", "not GBNF: .", "an escape that is not portable", "the class", "not GBNF: <[5]>",
    "a repetition of nothing", "something that may be empty is repeated", "is defined again", "is not used",
    'the name "start"', 'the name "1st"', "groups nested more than 60 deep", "a repetition of 2001 times 2 symbols",
    "a repetition of 700 times 3 symbols",
)  # fmt: skip
KEYWORDS = json.loads((ROOT / "tests" / "cases" / "gbnf" / "keywords.json").read_text(encoding="utf-8"))

pytestmark = needs_llama


@pytest.mark.parametrize("any_order", [False, True], ids=["in order", "any order"])
@pytest.mark.parametrize("name", WITH_CALLS)
def test_rendered_calls(name: str, any_order: bool) -> None:
    ir = formats()[name].ir
    lazy, eager = (grammar(ir, tools=ALL, tool_choice=choice, any_order=any_order) for choice in ("auto", "required"))
    for message in MESSAGES:
        text = written(ir, message)
        assert accepts(lazy.text, text[fires_at(lazy.triggers, text) :]), text
        assert accepts(eager.text, text), text
    for message in WRONG:
        assert not accepts(eager.text, written(ir, message)), message


@pytest.mark.parametrize("case", KEYWORDS, ids=[case["title"] for case in KEYWORDS])
def test_keyword(case: dict[str, object]) -> None:
    made = grammar(SMALL["plain"], json_schema=case["schema"])  # type: ignore[arg-type]
    assert refused(made.text) is None
    assert [text for text in case["accepted"] if not accepts(made.text, text)] == []  # type: ignore[attr-defined]
    assert [text for text in case["refused"] if accepts(made.text, text)] == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["tagged-json", "nested-elements", "string-delimiters"])
def test_many_tools(name: str) -> None:
    assert refused(grammar(formats()[name].ir, tools=tools(100), tool_choice="required").text) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 60}},
        {"type": "array", "maxItems": 90, "items": {"type": "string", "pattern": "^([a-z]{0,30}-){0,90}$"}},
        {"type": "object", "properties": {"a": {"type": "string", "maxLength": 1999}, "b": {"type": "string"}}},
        {"type": "string", "maxLength": 100_000},
        {"enum": [f"item-{number}" for number in range(5000)]},
    ],
    ids=["list of texts", "pattern", "long text", "longer text", "enum"],
)
def test_repetitions(schema: dict[str, object]) -> None:
    """The engine counts the rules that it makes of groups with repetitions inside."""
    text = grammar(SMALL["plain"], json_schema=schema).text  # type: ignore[arg-type]
    assert refused(text) is None


@pytest.mark.parametrize("text", GOOD)
def test_takes_what_the_lint_takes(text: str) -> None:
    assert lint(text) == []
    assert refused(text) is None


# Bounds the wrong way round, and recursion after what may be empty, keep the engine busy until no memory is left.
@pytest.mark.parametrize(("text", "problems"), [case for case in BAD if not re.search(r"\{3,1\}|ws y", case[0])])
def test_refuses_what_the_lint_refuses(text: str, problems: list[str]) -> None:
    assert (refused(text) is None) is all(any(taken in problem for taken in TAKEN) for problem in problems)
