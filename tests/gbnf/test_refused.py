"""Verification asks whether grammars accept what the template writes, and reports a format whose grammars don't."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conftest import ROOT
from tests.gbnf import engine
from tests.independent import TOKENS
from tplc.backends.gbnf import grammar
from tplc.backends.python import generate
from tplc.driver import compile_template, learn_format, open_renderer, tolerate, verify_ir
from tplc.errors import UnsupportedTemplate
from tplc.grammars.regular.nodes import Alt, Chars, Lit, Ref, Rep, Seq
from tplc.grammars.regular.reading import GrammarReading, Unspelled
from tplc.grammars.regular.rules import Rules
from tplc.grammars.request.triggers import fires_at
from tplc.ir.nodes import Tolerance
from tplc.messages import function_tool
from tplc.verify.artifact import load_artifact

CASES = ROOT / "tests" / "cases"
TOOLS = [function_tool("f", "A function.", {"type": "object", "properties": {"a": {"type": "string"}}})]
# Each of these had a grammar that refused its own template's turns, or could not be made.
FORMATS = (
    "authored/channel-per-part",  # a header between parts
    "authored/commentary",  # the end of a call is that of every part
    "authored/heading-md",  # reasoning that nothing closes
    "authored/index-tags",  # the number of the call in its opener
    "authored/ini",  # an empty line between calls
    "authored/join-list",  # calls right after content
    "authored/raw-blocks",  # long raw values
    "invertible/content-as-json-string",  # empty content is written
    "invertible/opener-by-prompt",  # the prompt opens the call if tools are given
    "invertible/turn-as-json-of-messages",  # an id before the name
)

# What opens a call opens content, too, up to the name.
RECIPIENTS = """
{%- for m in messages %}{% if m.role == 'assistant' %}
{%- if m.content %}{{ '<|to|>all\\n<|with|>' ~ m.content ~ '\\n' }}{% endif %}
{%- for c in m.tool_calls or [] %}
{{- '<|to|>' ~ c.function.name ~ '\\n<|with|>' ~ c.function.arguments | tojson ~ '\\n' }}{% endfor %}
{{- '<|end|>' }}{% else %}{{ '<|from|>' ~ m.role ~ '\\n' ~ m.content ~ '<|end|>' }}{% endif %}{% endfor %}"""

# Reasoning is written after content.
LATE_REASONING = """
{%- for m in messages %}{% if m.role == 'assistant' %}<|bot|>
{%- if m.content %}{{ m.content }}{% endif %}
{%- if m.thought %}{{ '<why>' ~ m.thought ~ '</why>' }}{% endif %}
{%- for c in m.tool_calls or [] %}
{{- '\n<do>' ~ {'name': c.function.name, 'arguments': c.function.arguments} | tojson ~ '</do>' }}{% endfor %}
{{- '<|end|>' }}{% else %}{{ '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|bot|>{% endif %}"""

# Content has markers only before calls.
CONTENT_NEXT_TO_CALLS = """
{%- for m in messages %}{% if m.role == 'assistant' %}{{ '<|bot|>' }}
{%- if m.tool_calls %}{{ '<|words|>' ~ (m.content or '') ~ '<|work|>' }}
{%- for c in m.tool_calls %}
{{- {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}{% endfor %}
{%- else %}{{ m.content }}{% endif %}
{{- '<|end|>' }}{% else %}{{ '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|bot|>{% endif %}"""

# Each part of a turn has a header and an end; next to calls, the template writes content as reasoning.
PARTS = """
{%- for m in messages %}{% if m.role == 'assistant' %}{% set why = m.thinking or (m.content if m.tool_calls) %}
{%- if m.thinking and m.content and m.tool_calls %}{{ raise_exception('content or thinking, not both') }}{% endif %}
{%- if why %}{{ '<|start|>bot<|to|>self<|text|>' ~ why ~ '<|end|>' }}{% endif %}
{%- for c in m.tool_calls or [] %}
{{- '<|start|>bot at=' ~ c.function.name ~ '<|to|>work<|text|>' ~ c.function.arguments | tojson ~ '<|call|>' }}
{%- else %}{{ '<|start|>bot<|to|>user<|text|>' ~ m.content ~ '<|end|>' }}{% endfor %}
{%- else %}{{ '<|start|>' ~ m.role ~ '<|text|>' ~ m.content ~ '<|end|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|start|>bot{% endif %}"""


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", FORMATS)
def test_grammars_accept_what_the_template_writes(name: str) -> None:
    source = (CASES / f"{name}.jinja").read_text(encoding="utf-8")
    ir = compile_template(source, name=name, special_tokens=TOKENS, target="json")
    assert ir.verification.verified
    assert ir.verification.refused_by_grammars == ""
    assert grammar(ir, tools=TOOLS, tool_choice="required").text


def test_only_a_name_triggers_where_the_opener_opens_content_too() -> None:
    ir = compile_template(RECIPIENTS, name="recipients", special_tokens=TOKENS, target="json")
    assert (ir.verification.verified, ir.verification.refused_by_grammars) == (True, "")
    found = grammar(ir, tools=TOOLS).triggers
    assert fires_at(found, "<|to|>all\n<|with|>f is a tool.\n<|end|>") is None
    call = '<|to|>f\n<|with|>{"a": "b"}\n'
    assert fires_at(found, "<|to|>all\n<|with|>So.\n" + call) == len("<|to|>all\n<|with|>So.\n")


def test_no_grammar_is_made_of_a_format_whose_turns_it_refuses() -> None:
    path = ROOT / "examples" / "tagged-json" / "template.jinja"
    source = path.read_text(encoding="utf-8")
    with open_renderer(source, name="tagged.jinja", special_tokens=TOKENS) as renderer:
        ir = tolerate(learn_format(renderer, name="tagged.jinja", source_text=source, special_tokens=TOKENS))
        wrong = replace(ir, tools=replace(ir.tools, separator=" and "))
        found = verify_ir(wrong, renderer, target="gbnf")
    refused = found.verification.refused_by_grammars
    assert refused.startswith("two calls: ")
    assert "is not accepted from its trigger on" in refused
    with pytest.raises(UnsupportedTemplate, match="a grammar would not accept what the template writes, two calls: "):
        grammar(found, tools=TOOLS)


@pytest.mark.parametrize(
    ("text", "is_accepted"),
    [("ab", True), ("abb", True), ("abbb", False), ("a", False), ("xb", True), ("xx", False), ("", False)],
)
def test_reading(text: str, is_accepted: bool) -> None:
    rules = Rules(Unspelled())
    rules.define("bs", Rep(Lit("b"), 1, 2))
    first = Alt((Lit("a"), Chars(((ord("x"), ord("z")),))))
    assert GrammarReading(rules, text).accepts(Seq((first, Ref("bs")))) is is_accepted


@pytest.mark.sweep(4)
@pytest.mark.parametrize("reasoning", ["", "<why>Ask.</why>"])
@pytest.mark.parametrize("content", ["", "Let me see."])
def test_reasoning_after_content(content: str, reasoning: str) -> None:
    ir = compile_template(LATE_REASONING, name="late", special_tokens=TOKENS, target="json")
    assert (ir.verification.verified, ir.reasoning.after_content) == (True, True)
    whole = grammar(ir, tools=TOOLS, tool_choice="required").text
    call = '\n<do>{"name": "f", "arguments": {"a": "b"}}</do>'
    for text in (content + reasoning + call, reasoning + content + call):
        assert engine.accepts(whole, text)
        assert not engine.accepts(whole, text.removesuffix(call))


@pytest.mark.parametrize("variants", [{}, {"content.start": "<|words|>", "content.end": "<|work|>"}])
def test_content_that_has_markers_before_calls_only(variants: dict[str, str]) -> None:
    """A model may write both markers around content without calls, too: tolerances declare that."""
    declared = [Tolerance("variant", marker=role, text=text, reason="seen") for role, text in variants.items()]
    ir = compile_template(CONTENT_NEXT_TO_CALLS, name="marked", tolerances=declared, target="json")
    assert ir.verification.verified
    call = '{"name": "f", "arguments": {"a": "b"}}'
    text = f"<|words|>Let me see.<|work|>{call}"
    found = grammar(ir, tools=TOOLS)
    place = fires_at(found.triggers, text)
    assert place == text.index("<|work|>")
    assert engine.accepts(found.text, text[place:])
    whole = grammar(ir, tools=TOOLS, tool_choice="required").text
    assert engine.accepts(whole, text)
    assert engine.accepts(whole, f"<|words|><|work|>{call}")


@pytest.mark.parametrize("before", ["", "<|to|>self<|text|>Ask.<|end|><|start|>bot"])
def test_content_before_calls_ends_as_other_parts_do(before: str) -> None:
    ir = compile_template(PARTS, name="parts", target="json")
    assert (ir.verification.verified, ir.content.end) == (True, "")
    parser = load_artifact(generate(ir))
    call = ' at=f<|to|>work<|text|>{"a": "b"}<|call|>'
    content = f"{before}<|to|>user<|text|>I look."
    read = parser.parse(f"{content}<|end|><|start|>bot{call}", tools=TOOLS)
    assert (read["content"], len(read["tool_calls"])) == ("I look.", 1)
    whole = grammar(ir, tools=TOOLS, tool_choice="required").text
    assert engine.accepts(whole, f"{content}<|end|><|start|>bot{call}")
    assert engine.accepts(whole, f"{before}{call}")
    assert not engine.accepts(whole, f"{content}{call}")
