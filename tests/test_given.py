"""Mistakes of callers of the Python API are reported as such, not by a trace of internals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tplc
from tests.cli.conftest import TEMPLATE
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR

TARGETS = "there are python, peg, gbnf, json, response_template, structural_tag, lark, vllm, sglang"
LIMITS = (
    "there are render_seconds, wall_seconds, cpu_seconds, total_seconds, memory_mb, output_chars, source_chars, "
    "range_items, number_bits, probe_chars, marker_chars, total_memory_mb"
)
TOOLS = 'tools such as {"type": "function", "function": {"name": …}}'
NO_IR = "ir: expected a TemplateIR, as compile_template gives it, got"


@pytest.fixture(scope="module")
def ir() -> TemplateIR:
    return tplc.compile_template(TEMPLATE)


@pytest.mark.parametrize(
    ("text", "given", "error"),
    [
        (None, {}, "source_text: expected the text of a template (str), got None"),
        (b"{{ x }}", {}, "source_text: expected the text of a template (str), got bytes"),
        (
            Path("chat.jinja"),
            {},
            f"source_text: expected the text of a template (str), got {type(Path()).__name__}: read it first "
            "(path.read_text())",
        ),
        ("", {}, "template: the template is empty"),
        (" \n", {"name": "hut"}, "hut: the template is empty"),
        (
            "chat.jinja",
            {},
            "template: the template contains no Jinja, so all conversations render the same: "
            "give the text of the file, and not its name",
        ),
        ("Hello\nthere.", {}, "template: the template contains no Jinja, so all conversations render the same"),
        (TEMPLATE, {"name": 5}, "name: expected what the template is called (str), got int"),
        (TEMPLATE, {"target": "gbfn"}, f"no target is called 'gbfn' (did you mean gbnf?): {TARGETS}"),
        (TEMPLATE, {"target": None}, f"no target is called None: {TARGETS}"),
        (TEMPLATE, {"seed": "x"}, "seed: expected a whole number, got str"),
        (TEMPLATE, {"seed": None}, "seed: expected a whole number, got None"),
        (TEMPLATE, {"thorough": "no"}, "thorough: expected True or False, got str"),
        (
            TEMPLATE,
            {"limits": 5},
            'limits: expected Limits (tplc.render), or such as {"memory_mb": 512}, got int',
        ),
        (TEMPLATE, {"limits": {"patience": 5}}, f"limit patience: no such limit; {LIMITS}"),
        (TEMPLATE, {"limits": {"memory_mb": "5"}}, "limit memory_mb='5': expected a number"),
        (
            TEMPLATE,
            {"special_tokens": ["</s>"]},
            'special_tokens: expected texts by their names, such as {"eos_token": "…"}, got list',
        ),
        (TEMPLATE, {"special_tokens": {"eos_token": 2}}, "special_tokens['eos_token']: expected text (str), got int"),
        (TEMPLATE, {"tolerances": ["x"]}, "tolerances[0]: expected Tolerance (tplc.ir.nodes), got str"),
        (TEMPLATE, {"tolerances": {}}, "tolerances: expected a list of Tolerance (tplc.ir.nodes), got dict"),
        (TEMPLATE, {"catalogue": [{}]}, "catalogue[0]: expected Entry (tplc.catalogue), got dict"),
        (TEMPLATE, {"examples": "x"}, "examples: expected a list of Example (tplc.examples), got str"),
    ],
)
def test_compile_template(text: Any, given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, TplcError)) as caught:
        tplc.compile_template(text, **given)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda ir: tplc.generate(None, "python"), f"{NO_IR} None"),  # type: ignore[arg-type]
        (lambda ir: tplc.generate("{{ x }}", "python"), f"{NO_IR} str"),  # type: ignore[arg-type]
        (lambda ir: tplc.generate(ir, "pyhton"), f"no target is called 'pyhton' (did you mean python?): {TARGETS}"),
        (lambda ir: tplc.grammar(None), f"{NO_IR} None"),  # type: ignore[arg-type]
        (lambda ir: tplc.grammar(ir, tools="look"), f"tools: expected a list of {TOOLS}, got str"),  # type: ignore[arg-type]
        (lambda ir: tplc.structural_tag(ir, tools=[5]), f"tools[0]: expected {TOOLS}, got int"),  # type: ignore[list-item]
        (lambda ir: tplc.spans(ir, None), "text: expected what a model wrote (str), got None"),  # type: ignore[arg-type]
        (lambda ir: tplc.load_ir({}), "text: expected the JSON of an IR (str), got dict"),  # type: ignore[arg-type]
        (lambda ir: tplc.ChatTemplate(None), "source: expected the text of a template (str), got None"),  # type: ignore[arg-type]
        (lambda ir: tplc.ChatTemplate(TEMPLATE, ir={}), f"{NO_IR} dict"),  # type: ignore[arg-type]
        (lambda ir: tplc.prepare(TEMPLATE, None), "request: expected an object with messages, got nothing"),  # type: ignore[arg-type]
    ],
)
def test_the_others(ir: TemplateIR, call: Callable[[TemplateIR], object], error: str) -> None:
    with pytest.raises((TypeError, TplcError)) as caught:
        call(ir)
    assert str(caught.value) == error


def test_limits_by_name(ir: TemplateIR) -> None:
    assert tplc.compile_template(TEMPLATE, limits={"total_seconds": 100}) == ir


def test_the_former_name_of_an_argument() -> None:
    """`unsaid` still works in place of `on_inexpressible`, with a warning."""
    found: list[list[object]] = [[], []]
    tplc.compile_template(TEMPLATE, target="response_template", on_inexpressible=found[0].append)
    with pytest.warns(DeprecationWarning, match="unsaid is now called on_inexpressible"):
        tplc.compile_template(TEMPLATE, target="response_template", unsaid=found[1].append)
    assert found[0] == found[1]
