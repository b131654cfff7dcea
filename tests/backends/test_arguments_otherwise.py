"""Formats verify whose arguments are neither an object nor pairs of markers, or that contain white space of the
template's source, in the generated parser and in the PEG."""

from __future__ import annotations

from typing import cast

import pytest

from tests.conftest import ROOT
from tplc import compile_template
from tplc.driver import GrammarOptions, Target, make_grammar
from tplc.ir.nodes import ObjectArguments

CASES = ROOT / "tests" / "cases" / "learn"
NAMES = ("arguments-inside-a-string", "arguments-as-a-list-of-pairs", "white-space-of-the-source-before-content")
LOOK = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
}


def source(name: str) -> str:
    return (CASES / f"{name}.jinja").read_text(encoding="utf-8")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("target", ["python", "peg"])
@pytest.mark.parametrize("name", NAMES)
def test_verified(name: str, target: str) -> None:
    result = compile_template(source(name), target=cast(Target, target)).verification
    assert (result.verified, result.failures) == (True, ())


def test_an_object_inside_a_string_is_approximated_in_a_grammar() -> None:
    ir = compile_template(source("arguments-inside-a-string"))
    assert ir.tools.arguments == ObjectArguments(encoded=True)
    grammar = make_grammar(ir, GrammarOptions(tools=(LOOK,), tool_choice="required"))
    assert 'look-arguments ::= "\\"{" char* "}\\""\n' in grammar.text
    assert [(entry.effect, entry.keyword, entry.done) for entry in grammar.not_expressed] == [
        ("looser", "parameters", "any object: it is written inside a text")
    ]
