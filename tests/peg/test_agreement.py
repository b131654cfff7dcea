"""The PEG and the generated parsers read the same, except for the listed limits."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import amount
from tests.fuzz.formats import formats, named
from tests.peg.agreement import (
    MISTAKES,
    MOST_MISTAKES,
    Tally,
    compare,
    engine_of,
    messages_agree,
    mutations_agree,
    slips_agree,
    states_agree,
)
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, learn_format, open_renderer
from tplc.verify.artifact import load_module

MUTATIONS = amount(75, sweep=400)
SLIPS = 40  # of each example
STATES = 40  # the same
CUTS = 8  # of each output of an example


@pytest.mark.sweep(17)
@pytest.mark.parametrize("name", [form.name for form in formats()])
def test_messages_of_the_verification(name: str) -> None:
    tally = messages_agree([named(name)])
    assert tally.outputs > 20
    # The limits are for broken outputs: what a template renders is read alike.
    assert tally.unexplained == []
    assert tally.same == tally.outputs


@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", [form.name for form in formats()])
def test_slips(name: str) -> None:
    """Parser and PEG undo the slips of tolerances in the same way."""
    tally = slips_agree([named(name)], SLIPS)
    assert tally.unexplained == []
    assert tally.outputs - tally.same <= math.ceil(0.03 * tally.outputs)


@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", [form.name for form in formats()])
def test_calls_that_are_not_parsed(name: str) -> None:
    """Parser, PEG and interpreter read mutated outputs alike if calls are left in the content."""
    tally = states_agree([named(name)], STATES)
    assert tally.unexplained == []


@pytest.mark.parametrize(
    "text", ["@@store(", "hm\n@@store(", '@@st,ore {"at": 1} @@>.<\n', 'hm\n@@st,ore {"at": 1} @@>.<\n']
)
def test_openers_that_begin_no_call_leave_reasoning_open(text: str) -> None:
    """They are like text, so they end reasoning only if a call follows, also if calls are not parsed."""
    form, reasoning = named("forced-open"), text.removesuffix(">.<\n")
    for parse_tool_calls in (True, False):
        message = form.parser.parse(text, parse_tool_calls=parse_tool_calls)
        assert (message["reasoning_content"], message["content"]) == (reasoning, None)
        assert engine_of(form).parse(text, parse_tool_calls=parse_tool_calls) == message


def check_no_call(name: str, text: str) -> None:
    form = named(name)
    message = form.parser.parse(text)
    assert message["tool_calls"] == []
    assert engine_of(form).parse(text) == message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("parameter-tags", '<DEED>to "look">{"q": 1}'),
        ("parameter-tags", '<DEED>\n<DOto "look">{"q": 1}'),
        ("cdata-values", '<ACT NAMEto "look">{"q": 1}'),
        ("python-literals", '[RUN]{\'CALLABLE look {"a": 1}'),
    ],
)
def test_short_openers_in_another_spelling_open_only_calls_of_known_tools(name: str, text: str) -> None:
    check_no_call(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "json-array",
            '«aside»Hm\n«wishes»[{"name": "f\n«wishes»[{"name": "find", "arguments": {"at": "it"}}]«/wishes»',
        ),
        ("markers-by-shape", '(~muse~)Hm\n(~do~){"call": "f\n(~do~){"call": "find", "with": {"at": "it"}}(~/do~)'),
        ("name-as-key", '(scratch Hm\n(use [{"f\n(use [{"find": {"at": "it"}}] use)%%\n'),
        ("tagged-json", '<musing>\nHm\n<fn>\n{"name": "f\n<fn>\n{"name": "find", "arguments": {"at": "it"}}\n</fn>'),
        ("wrapped-content", '<#plan#>Hm\n<#acts#>\n{"tool": "f\n<#acts#>\n{"tool": "find", "input": {}}\n<#/acts#>'),
    ],
)
def test_a_call_that_fails_in_reasoning_is_text_up_to_its_end(name: str, text: str) -> None:
    """Another opener in the name of the first opens nothing, in reasoning as in content."""
    check_no_call(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("keyword-calls", '<.code.>[look(at="""Oslo""", q="x")]<./code.><./.>'),
        ("keyword-calls", '<.code.>[look(at="""Oslo"""q="x")]<./code.><./.>'),
        ("bare-keyword-calls", '[look(at="""Oslo"""\nq="x")]~~'),
        ("words-in-calls", '⟨do look at """Oslo""" q "x"⟩⟪stop⟫'),
    ],
)
def test_three_quotes_are_no_empty_value_before_a_string(name: str, text: str) -> None:
    form = named(name)
    message = form.parser.parse(text)
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"at": "Oslo", "q": "x"}']
    assert engine_of(form).parse(text) == message


@pytest.mark.parametrize("name", ["list_all\n", "\nlist_all", " list_all ", "\n  list_all \n "])
def test_white_space_around_a_name_that_comes_again(name: str) -> None:
    form, text = named("addressed-parts"), f' to list_all:><run name="{name}">\n</run><:over:>'
    message = form.parser.parse(text)
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["list_all"]
    assert engine_of(form).parse(text) == message


def test_an_opener_in_the_singular_is_not_read_as_another_one() -> None:
    """The call's opener begins like the section's, which is plural."""
    source = """
{%- for m in messages %}{% if m.role == 'assistant' %}{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '<|steps_begin|>' * loop.first ~ '<|step_begin|>function<|of|>' ~ c.function.name ~ '\n' }}
{{- c.function.arguments | tojson ~ '<|step_end|>' ~ '<|steps_end|>' * loop.last }}
{%- endfor %}{{ '<|over|>' }}{% else %}{{ m.role ~ ': ' ~ m.content ~ '\n' }}{% endif %}{% endfor %}"""
    text = '<|steps_begin|><|step_begin|>function<|off|>look\n{"at": "it"}<|step_end|><|steps_end|><|over|>'
    with open_renderer(source) as renderer:
        ir = learn_format(renderer, name="steps.jinja", source_text=source)
    message = load_module(generate(ir, "python")).parse(text)
    assert message["tool_calls"] == []
    assert PegEngine(ir).parse(text) == message


@pytest.mark.sweep(1)
def test_mutations() -> None:
    tally = mutations_agree(formats(), MUTATIONS)
    assert tally.outputs >= MUTATIONS
    assert tally.unexplained == []
    assert tally.limits[MISTAKES] <= math.ceil(MOST_MISTAKES * tally.outputs)
    assert tally.same > 0.98 * tally.outputs


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", [form.name for form in formats()])
def test_outputs_of_the_examples(name: str) -> None:
    form = named(name)
    for text in form.outputs:
        for tools in (form.tools, None):
            for cut in {len(text), *range(0, len(text), max(1, len(text) // CUTS))}:
                tally = Tally()
                compare(form, engine_of(form), text[:cut], tools, tally)
                # Only a cut may come under a limit, and that has to say what is the same all the same.
                assert tally.unexplained == [] and not tally.limits[MISTAKES], (text[:cut], tally)
                assert tally.same == 1 or cut < len(text), (text, tools)


IN_PLACE_OF_A_NAME = ('{"be', '{"be": [1', '{"be": 1}', '{"be": "x}', "[1", '[1, {"a": 2}', "[1]", "{", "tr", "1")


@pytest.mark.parametrize(("name", "opener"), [("tagged-json", "<fn>"), ("json-array", "«wishes»["), ("bare-json", "")])
def test_an_output_that_ends_where_a_name_should_be(name: str, opener: str) -> None:
    form, tally = named(name), Tally()
    for value in IN_PLACE_OF_A_NAME:
        for key in ('{"name": ', '{"name" ', '{"tool" ', '{"x": 1, "name": '):
            compare(form, engine_of(form), opener + key + value, form.tools, tally)
    assert tally.unexplained == []
    assert tally.same == tally.outputs


EVERY = amount(60, sweep=10)  # of the outputs; `make agreement` has them all


@cache
def collected(template: Path) -> tuple[ModuleType, PegEngine]:
    source = template.read_text(encoding="utf-8")
    with open_renderer(source, special_tokens={"bos_token": "<s>", "eos_token": "</s>"}) as renderer:
        ir = learn_format(renderer, name=template.name, source_text=source)
    return load_module(generate(ir, "python")), PegEngine(ir)


@pytest.mark.sweep(1)
def test_collected_outputs(shared: Path) -> None:
    """Outputs of real models are compared if their folder exists."""
    lines = (shared / "cases" / "llamacpp.jsonl").read_text(encoding="utf-8").splitlines()[::EVERY]
    different = []
    for case in map(json.loads, lines):
        parser, engine = collected(shared / "templates" / case["template"])
        options: dict[str, Any] = {
            "tools": case["tools"] or None,
            "prompt": case["prompt"],
            "parse_reasoning": case["reasoning_format"] != "none",
            "echo": bool(case["continue_final_message"]),
            "continue_final_message": bool(case["continue_final_message"]),
        }
        if parser.parse(case["input"], **options) != engine.parse(case["input"], **options):
            different.append(case["id"])
    assert len(lines) > 0
    assert different == []
