"""Answers in a response format: content that is JSON, as a schema has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from parsimonious.grammar import Grammar

from tests.fuzz.formats import formats, named
from tests.peg.agreement import engine_of
from tplc.backends.peg import generate

CASES = Path(__file__).resolve().parent.parent / "cases" / "peg"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": ["integer", "null"]}, "on": {"type": "boolean"}},
    "required": ["city"],
}
ANSWERS = (
    '{"city": "Oslo", "days": null, "on": true}',
    '{"city": 3, "more": [{}]}',
    " [1]\n",
    '{"city": "Os',
    '{"city": "Oslo"} is it',
    "I cannot say.",
)


def test_grammar_for_a_response_format(golden: Callable[[Path, str], None]) -> None:
    golden(CASES / "wrapped-content-with-response.peg", generate(named("wrapped-content").ir, json_schema=SCHEMA))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", [form.name for form in formats()])
def test_answers_are_content(name: str) -> None:
    """Without a schema any text is read as it is; text that fits a schema has rules of its own."""
    form, engine = named(name), engine_of(named(name))
    prompt = form.ir.turn.prompts[0]
    closed = "" if not form.ir.reasoning.end.strip() or form.ir.reasoning.end in prompt.head else form.ir.reasoning.end
    for answer in ANSWERS:
        text = (
            (closed if prompt.head else "")
            + form.ir.content.start
            + answer
            + form.ir.content.end
            + form.ir.turn.ends[0]
        )
        for tools in (None, form.tools):
            assert engine.parse(text, tools=tools, json_schema=SCHEMA) == form.parser.parse(text, tools=tools), text


def test_members_of_the_schema_have_rules() -> None:
    grammar = Grammar(generate(named("tagged-json").ir, json_schema=SCHEMA))
    tree = grammar.parse('{"city": "Oslo", "days": 2}')
    names = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += reversed(node.children)
        names += [node.expr_name] if node.expr_name.startswith("key_for_answer") else []
    assert names == ["key_for_answer_city", "key_for_answer_days"]


@pytest.mark.parametrize("schema", [True, {}, {"type": "array"}, {"properties": {"a b": {}}}])
def test_a_schema_that_names_no_members_allows_any_json(schema: object) -> None:
    text = generate(named("tagged-json").ir, json_schema=schema)  # type: ignore[arg-type]
    Grammar(text)
    assert engine_of(named("tagged-json")).parse("[1]", json_schema=schema)["content"] == "[1]"  # type: ignore[arg-type]
