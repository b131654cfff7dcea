"""The random templates themselves: each renders its messages as its design says, before any compiler sees it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.property.random_messages import turn_text
from tests.property.random_templates import RandomTemplate, random_template
from tplc.render import Renderer

SEEDS = range(60)
QUESTION = [{"role": "user", "content": "Why?"}]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_render_is_what_the_design_says(seed: int) -> None:
    template = random_template(seed)
    design = template.design
    appended = design.header if design.always_prompts else ""
    with Renderer(template.source) as renderer:
        before = renderer.render(QUESTION).removesuffix(appended)
        for message in template.messages():
            shown = message
            if design.reasoning and design.reasoning.shown == "never":
                shown = replace(message, reasoning=None)
            full = renderer.render([*QUESTION, message.for_template(design)])
            assert full == before + turn_text(design, shown) + appended


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_prompt_and_answer_make_a_turn(seed: int) -> None:
    template = random_template(seed)
    exchanges = list(template.exchanges())
    assert exchanges, template.summary
    with Renderer(template.source) as renderer:
        for exchange in exchanges:
            prompt = renderer.render(QUESTION, add_generation_prompt=True, **exchange.variables)
            turn = prompt[prompt.rindex(template.design.header) :] + exchange.text
            pieces = (exchange.message.reasoning, exchange.message.content, *(c.name for c in exchange.message.calls))
            assert all(piece in turn for piece in pieces if piece is not None)


def test_seeds_repeat() -> None:
    assert [random_template(seed) for seed in SEEDS] == [random_template(seed) for seed in SEEDS]


def test_seeds_cover_the_designs() -> None:
    templates = [random_template(seed) for seed in range(500)]
    families = {t.design.calls.family if t.design.calls else "no calls" for t in templates}
    assert families == {
        "bare array",
        "bare keywords",
        "bare object",
        "channels",
        "delimited",
        "elements",
        "keywords",
        "name as key",
        "name then object",
        "no calls",
        "object array",
        "pairs",
        "recipients",
        "run together",
        "tagged object",
    }
    assert {t.design.prompt for t in templates} == {
        "bare",
        "opened",
        "closed",
        "opened_on",
        "closed_off",
        "opened_or_closed",
        "closed_or_opened",
    }
    assert len(_ambiguities(templates)) == 5
    assert 20 < sum(t.ambiguous for t in templates) < 100


def _ambiguities(templates: list[RandomTemplate]) -> set[str]:
    return {kind for template in templates for kind in template.ambiguities}
