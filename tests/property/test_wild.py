"""Wild templates: the generator repeats itself, its kinds are all there, and some of what it makes is learned.

`make random-wild` compiles many and prints the rate by kind.
"""

from __future__ import annotations

import pytest

from tests.property.idiom_calls import IDIOMS
from tests.property.report_wild import KEPT, Outcome, compile_wild, table
from tests.property.wild_calls import FAMILIES
from tests.property.wild_design import FIRST_IDIOM, FIRST_WRITTEN, SHAPES, TWISTS, wild_template
from tests.property.written_calls import CONSTRUCTIONS
from tplc.render import Renderer

SEEDS = range(300)
# One of each kind of call that is learned.
LEARNED = (0, 2, 3, 6, 7, 44, 1010, 1070, 1319)


def test_seeds_repeat() -> None:
    assert [wild_template(seed) for seed in SEEDS] == [wild_template(seed) for seed in SEEDS]
    assert not set(KEPT) & set(SEEDS)


def test_seeds_cover_the_kinds() -> None:
    kinds = {kind for seed in SEEDS for kind in wild_template(seed).kinds}
    assert len(kinds) == len(FAMILIES) + len(TWISTS) + 1  # and no calls


def test_later_seeds_write_calls_that_look_like_text() -> None:
    kinds = {kind for seed in range(FIRST_WRITTEN, FIRST_WRITTEN + 300) for kind in wild_template(seed).kinds}
    assert len(kinds) == len(CONSTRUCTIONS) + len(TWISTS) + 3  # escaped content and reasoning, and no calls


def test_last_seeds_write_calls_as_people_copy_them() -> None:
    kinds = {kind for seed in range(FIRST_IDIOM, FIRST_IDIOM + 1500) for kind in wild_template(seed).kinds}
    assert len(kinds) == len(IDIOMS) + len(TWISTS) + len(SHAPES) + 3  # escaped content and reasoning, and no calls


@pytest.mark.parametrize(
    "seed",
    [*range(0, 60, 3), *range(FIRST_WRITTEN, FIRST_WRITTEN + 20), *range(FIRST_IDIOM, FIRST_IDIOM + 30)],
)
def test_templates_render(seed: int) -> None:
    call = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {"at": "it", "n": 2}}}
    answer = {"role": "assistant", "content": "So.", "reasoning_content": "Hm.", "tool_calls": [call]}
    with Renderer(wild_template(seed).source) as renderer:
        text = renderer.render([{"role": "user", "content": "Why?"}, answer])
    assert text.index("Why?") < text.rindex("So.")


@pytest.mark.sweep(9)
@pytest.mark.parametrize(
    "seed",
    [
        *(20052, 20605, 20668, 20789, 21253, 21318, 21481),  # an end that is words, and a token after the conversation
        *(30042, 30212),  # `tool=f {…};` directly after the content
        *(30025, 30183),  # the same, with the end of the turn and its header between calls
        *(30043, 30076),  # f(value="it's"): the value has the quotes
        *(30028, 30077),  # a section after content, with a line for each call
        40188,  # values without an end of their own, before a closer with the name
    ],
)
def test_no_verified_design_is_wrong(seed: int) -> None:
    assert compile_wild(seed).group == "verified"


@pytest.mark.parametrize("seed", [80059, 80145])  # a call without arguments after content; a space or a line break
def test_every_reader_reads_designs_alike(seed: int) -> None:
    assert compile_wild(seed, readers=True).group == "verified"


@pytest.mark.sweep(10)
@pytest.mark.parametrize("seed", LEARNED)
def test_learned(seed: int) -> None:
    outcome = compile_wild(seed)
    assert outcome.verified, f"{outcome.kinds}: {outcome.reported}"


def test_table() -> None:
    outcomes = [
        Outcome(1, ("lines", "mode"), "", True, ""),
        Outcome(2, ("lines",), "", False, "cause: so it is"),
        Outcome(3, ("fence",), "no end", False, ""),
        Outcome(4, ("mode",), "", True, "", ("want this, got that",)),
        Outcome(5, ("mode",), "", True, "", (), ("want </p>",)),
    ]
    assert table(outcomes).splitlines() == [
        "fence                               0 of 1",
        "lines                               1 of 2",
        "mode                                3 of 3, 2 of them wrong",
        "unambiguous: 2 verified but wrong, 1 verified, 1 refused with a cause of 4",
        "ambiguous: 1 failed without a cause of 1",
        "1 of the wrong designs end a raw value at its own closing marker (docs/limits.md)",
    ]
