"""Formats verify whose arguments are neither an object nor pairs of markers, or that contain white space of the
template's source, in the generated parser and in the PEG."""

from __future__ import annotations

from typing import cast

import pytest

from tests.conftest import ROOT
from tplc import compile_template
from tplc.constrained import without_end
from tplc.driver import GrammarOptions, Target, make_grammar
from tplc.grammars.regular.expressions import alt
from tplc.grammars.regular.reading import GrammarReading, Unspelled
from tplc.grammars.request.build import RequestRules, made_of
from tplc.grammars.request.request import Request
from tplc.ir.nodes import Json, ObjectArguments, TemplateIR
from tplc.ir.write import write_message

CASES = ROOT / "tests" / "cases" / "learn"
NAMES = ("arguments-inside-a-string", "arguments-as-a-list-of-pairs", "white-space-of-the-source-before-content")
LOOK = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
}


def source(name: str) -> str:
    return (CASES / f"{name}.jinja").read_text(encoding="utf-8")


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", ["python", "peg"])
@pytest.mark.parametrize("name", NAMES)
def test_verified(name: str, target: str) -> None:
    result = compile_template(source(name), target=cast(Target, target)).verification
    assert (result.verified, result.failures) == (True, ())


def test_an_object_inside_a_string_follows_its_schema_in_a_grammar() -> None:
    ir = compile_template(source("arguments-inside-a-string"))
    assert ir.tools.arguments == ObjectArguments(encoded=True)
    grammar = make_grammar(ir, GrammarOptions(tools=(LOOK,), tool_choice="required"))
    member = '"\\\\\\"at\\\\\\":" ws-in-text string-in-text ws-in-text'
    assert member in grammar.text
    assert grammar.not_expressed == ()
    for value, accepted in (('a \\ "b" ☃', True), (1, False)):
        rules, answer = rules_and_answer(ir, {"at": value})
        assert GrammarReading(rules.rules, answer).accepts(alt(*rules.ways())) is accepted


def rules_and_answer(ir: TemplateIR, arguments: Json) -> tuple[RequestRules, str]:
    request = Request(tools=[LOOK], tool_choice="required")
    rules = made_of(ir, request, Unspelled(), lambda made: made)
    message = {"tool_calls": [{"function": {"name": "look", "arguments": arguments}}]}
    return rules, without_end(ir, write_message(ir, message, head=ir.turn.prompts[0].head))
