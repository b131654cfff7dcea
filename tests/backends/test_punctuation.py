"""Reasoning between marks that prose and code use, `<<` … `>>`: text where content has begun."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import parser_for, streamed
from tplc import driver
from tplc.backends.gbnf import grammar
from tplc.backends.peg.engine import PegEngine
from tplc.backends.python import generate
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.verify import verify


def turns(body: str, head: str = "''") -> str:
    """Return a template: `body` writes a message, `head` is an expression for the part of the answer that the prompt
    contains."""
    return (
        "{%- for m in messages %}{{ '<' ~ m.role ~ '>' }}" + body + "{{- '<end>' }}{% endfor %}"
        "{%- if add_generation_prompt %}{{ '<assistant>' ~ " + head + " }}{% endif %}"
    )


def reasoning(start: str, end: str) -> str:
    return f"{{{{- '{start}' ~ m.thinking ~ '{end}' if m.thinking }}}}"


CONTENT = "{{- m.content or '' }}"
CALLS = (
    "{% for c in m.tool_calls or [] %}"
    "{{- '<call>' ~ c.function.name ~ ' ' ~ c.function.arguments | tojson ~ '</call>' }}{% endfor %}"
)
CHARACTERS = reasoning("<<", ">>")
ALWAYS = "{% if m.role == 'assistant' %}{{ '<<' ~ (m.thinking or '') ~ '>>' }}{% endif %}"
CLOSER_ALONE = "{% if m.role == 'assistant' and not m.thinking %}{{ '>>' }}{% endif %}"
FORMATS = {
    "characters": turns(CHARACTERS + CONTENT + CALLS),
    "parentheses": turns(reasoning("((", "))") + CONTENT + CALLS),
    "brackets": turns(reasoning("[[", "]]\\n") + CONTENT + CALLS.replace("<call>", "[[call]]")),
    "word before": turns(reasoning("<<why ", ">>") + CONTENT + CALLS),
    "opened": turns(ALWAYS + CONTENT + CALLS, "'<<'"),
    "closed": turns(CHARACTERS + CONTENT + CALLS, "('' if aloud else '<<>>')"),
    "closer alone": turns(CLOSER_ALONE + CHARACTERS + CONTENT + CALLS, "'>>'"),
    "after content": turns(CONTENT + CHARACTERS + CALLS),
    "after calls": turns(CALLS + CHARACTERS + CONTENT),
}


@cache
def ir_of(name: str) -> TemplateIR:
    return driver.compile_template(FORMATS[name], name=name)


@cache
def parser(name: str) -> ModuleType:
    return parser_for(ir_of(name))


def parts(message: Any) -> tuple[str | None, str | None, list[str]]:
    return message["reasoning_content"], message["content"], [c["function"]["name"] for c in message["tool_calls"]]


def read(name: str, text: str, **options: Any) -> tuple[str | None, str | None, list[str]]:
    """Return reasoning, content and calls: the same in every chunking, and for the PEG."""
    whole = streamed(parser(name), [text], **options)
    for size in range(1, 8):
        assert streamed(parser(name), [text[at : at + size] for at in range(0, len(text), size)], **options) == whole
    for at in range(1, len(text)):
        assert streamed(parser(name), [text[:at], text[at:]], **options) == whole
    assert PegEngine(ir_of(name)).parse(text, **options) == whole
    return parts(whole)


CALL = '<call>f {"a": 1}</call>'
CONTINUED = {"continue_final_message": True}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("characters", "x >> 2<end>", (None, "x >> 2", [])),
        ("characters", "1 << 3<end>", (None, "1 << 3", [])),
        ("characters", "1 << 3 >> 2", (None, "1 << 3 >> 2", [])),
        ("characters", "<<Two?>>x >> 2 << 1<end>", ("Two?", "x >> 2 << 1", [])),
        ("characters", " \n<<Two?>>1 << 3<end>", ("Two?", "1 << 3", [])),
        ("characters", "<<Two?>>\n<<Three?>>1 << 3<end>", ("Two?Three?", "1 << 3", [])),
        ("characters", "<<Two?>>>> so<end>", ("Two?", ">> so", [])),
        ("characters", "a<<b>>" + CALL, (None, "a<<b>>", ["f"])),
        ("characters", CALL + "<<Two?>>" + CALL + "1 << 3 >> 2", ("Two?", "1 << 3 >> 2", ["f", "f"])),
        ("characters", CALL + ">>", (None, ">>", ["f"])),
        ("characters", "<<Two?" + CALL, ("Two?" + CALL, None, [])),
        ("characters", "<<Two?\n" + CALL + "1 << 3", ("Two?\n", "1 << 3", ["f"])),
        ("characters", "<call>none << 1", (None, "<call>none << 1", [])),
        ("characters", "1 <end>\n<<Two?>>x", (None, "1 ", [])),
        ("characters", "1 <assistant><<Two?>>x << y", ("Two?", "1 x << y", [])),
        ("characters", "1 </call> << x", (None, "1 </call> << x", [])),
        ("characters", "</call> <<Two?>>x", (None, "</call> <<Two?>>x", [])),
        ("characters", "<", (None, "<", [])),
        ("characters", "  ", (None, "  ", [])),
        ("parentheses", "((Two?))f((x)) = ((y))<end>", ("Two?", "f((x)) = ((y))", [])),
        ("parentheses", "f((x))<end>", (None, "f((x))", [])),
        ("brackets", "[[Two?]]\na[[1]] = [[2]]\n<end>", ("Two?", "a[[1]] = [[2]]\n", [])),
        ("brackets", 'a[[1]] [[call]]f {"a": 1}</call><end>', (None, "a[[1]] ", ["f"])),
        ("brackets", '[[call]]f {"a": 1}</call><end>', (None, None, ["f"])),
        ("word before", "x >> 2 << 1 <<why Two?>>y >> 1<end>", ("Two?", "x >> 2 << 1 y >> 1", [])),
        ("opened", "Two?>>x >> 2, 1 << 3<end>", ("Two?", "x >> 2, 1 << 3", [])),
        ("closed", "x >> 2, 1 << 3<end>", (None, "x >> 2, 1 << 3", [])),
        ("closed", ">> 2, 1 << 3<end>", (None, ">> 2, 1 << 3", [])),
        ("closed", "<<Two?>>x >> 2, 1 << 3<end>", ("Two?", "x >> 2, 1 << 3", [])),
        ("closer alone", "x >> 2, 1 << 3<end>", (None, "x >> 2, 1 << 3", [])),
        ("closer alone", "<<Two?>>x >> 2, 1 << 3<end>", ("Two?", "x >> 2, 1 << 3", [])),
        # The format says so: reasoning comes after content.
        ("after content", "x<<Two?>>" + CALL, ("Two?", "x", ["f"])),
        ("after content", "x >> 2<end>", (None, "x >> 2", [])),
        ("after calls", CALL + "<<Two?>>1 << 3", ("Two?", "1 << 3", ["f"])),
    ],
)  # fmt: skip
def test_what_is_read(name: str, text: str, expected: tuple[str | None, str | None, list[str]]) -> None:
    assert read(name, text) == expected


@pytest.mark.parametrize("name", FORMATS)
def test_the_formats_are_verified(name: str) -> None:
    verification = ir_of(name).verification
    assert (verification.failures, verification.verified) == ((), True)
    kinds = [ambiguity.kind for ambiguity in verification.ambiguities]
    assert kinds == (["content or reasoning"] if name == "after content" else [])


def test_what_is_learned_of_the_place() -> None:
    assert [name for name in FORMATS if ir_of(name).reasoning.after_content] == ["after content"]


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({"parse_reasoning": False}, "<<Two?>>x >> 2 << 1<end>", (None, "<<Two?>>x >> 2 << 1", [])),
        ({"parse_reasoning": False}, ">> 2<end>", (None, ">> 2", [])),
        ({"prompt": "<assistant><<"}, "Two?>>x >> 2<end>", (None, "Two?>>x >> 2", [])),
        ({"prompt": "<assistant><<", **CONTINUED}, "Two?>>x >> 2<end>", ("Two?", "x >> 2", [])),
        ({"prompt": "<assistant>1 ", **CONTINUED}, "<< 3 >> 2<end>", (None, "<< 3 >> 2", [])),
        ({"prompt": "<assistant><<Two?>>1", "echo": True, **CONTINUED}, " << 3 >> 2<end>", ("Two?", "1 << 3 >> 2", [])),
    ],
)  # fmt: skip
def test_with_options(options: dict[str, Any], text: str, expected: tuple[str | None, str | None, list[str]]) -> None:
    assert read("characters", text, **options) == expected


def test_a_variant_with_a_word_counts_anywhere() -> None:
    variants = tuple(
        Tolerance("variant", marker=marker, text=text, reason="test")
        for marker, text in (("<<", "<why>"), (">>", "</why>"))
    )
    ir = replace(ir_of("characters"), tolerances=(*ir_of("characters").tolerances, *variants))
    module = parser_for(ir)
    text = "1 << 3 <why>Two?</why>x >> 2, </why>1 << 3<end>"
    whole = streamed(module, [text])
    assert parts(whole) == ("Two?", "1 << 3 x >> 2, 1 << 3", [])
    assert streamed(module, list(text)) == whole == PegEngine(ir).parse(text)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", ["characters", "parentheses", "brackets", "word before", "closed"])
@pytest.mark.parametrize("marker", ["start", "end"])
def test_a_wrong_marker_never_passes(name: str, marker: str) -> None:
    ir = ir_of(name)
    text = getattr(ir.reasoning, marker)
    wrong = replace(ir, reasoning=replace(ir.reasoning, **{marker: "~" + text}))
    with driver.open_renderer(FORMATS[name], name=name) as renderer:
        assert not verify(wrong, generate(wrong), renderer).verified


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


def required_rules(ir: TemplateIR) -> list[str]:
    lines = grammar(ir, tools=[TOOL], tool_choice="required").text.splitlines()
    return [line for line in lines if not line.startswith("#")]


@pytest.mark.parametrize(
    ("name", "head", "opens"),
    [
        ("characters", "", True),
        ("characters", "So: ", False),
        ("characters", "<<>>", True),
        ("characters", "<<>>So: ", False),
        ("calls alone", "", True),
        ("calls alone", "So: ", False),
    ],
)
def test_a_grammar_opens_reasoning_only_where_a_parser_reads_it(name: str, head: str, opens: bool) -> None:
    """If the prompt has begun the content, no reasoning can follow."""
    ir = ir_of("characters" if name == "calls alone" else name)
    if name == "calls alone":
        ir = replace(ir, content=replace(ir.content, with_calls="none"))
    prompt = replace(ir.turn.prompts[0], head=head, text="<assistant>" + head)
    ir = replace(ir, turn=replace(ir.turn, prompts=(prompt,)))
    assert any(ir.reasoning.start in rule for rule in required_rules(ir)) == opens


@pytest.mark.parametrize(("head", "closes"), [("", True), (">>", True), ("<<>>", False)])
def test_a_grammar_closes_unopened_reasoning_only_where_a_parser_reads_it(head: str, closes: bool) -> None:
    ir = ir_of("closer alone")
    first = replace(ir.turn.prompts[0], head=head, text="<assistant>" + head)
    ir = replace(ir, turn=replace(ir.turn, prompts=(first, *ir.turn.prompts)))
    assert any('| ">>"' in rule for rule in required_rules(ir)) == closes
