"""Mutations of a template: each kind as it is, and those of a whole template compile verified.

`make mutations` makes them of all templates in ../shared.
"""

from __future__ import annotations

import random

import pytest

from tests.conftest import ROOT
from tests.property.mutated import Mutation, mutations, tokens
from tests.property.report_mutations import Outcome, table
from tplc.driver import compile_template

SOURCE = r"{{ '<|user|>\n' ~ m.content ~ '</s_end>' }}{{ '[CALL]' }}"
MUTATIONS = [
    Mutation("rename", "{{ '<|hun|>\\n' ~ m.content ~ '</fylzim_fylska>' }}{{ '[GNE]' }}"),
    Mutation("reshape", "{{ '@~quaplu~@\\n' ~ m.content ~ '</s_end>' }}{{ '[CALL]' }}"),
    Mutation("swap", "{{ '</s_end>\\n' ~ m.content ~ '<|user|>' }}{{ '[CALL]' }}"),
    Mutation("drop", "{{ '<|user|>\\n' ~ m.content ~ '' }}{{ '[CALL]' }}"),
    Mutation("separate", "{{ '<|user|>' ~ m.content ~ '</s_end>' }}{{ '[CALL]' }}"),
    Mutation("move", "{{ '\\n<|user|>' ~ m.content ~ '</s_end>' }}{{ '[CALL]' }}"),
    Mutation("double", "{{ '<|user|><|vokpluska|>\\n' ~ m.content ~ '</s_end>' }}{{ '[CALL]' }}"),
    Mutation("word", "{{ '<|user|>\\n' ~ m.content ~ '</s_end>' }}{{ 'tools.' }}"),
]
WHOLE = (ROOT / "tests" / "cases" / "learn" / "content-opener-ends-reasoning.jinja").read_text(encoding="utf-8")


def test_mutations() -> None:
    assert tokens(SOURCE) == ["</s_end>", "<|user|>", "[CALL]"]
    assert list(mutations(SOURCE, random.Random(1))) == MUTATIONS
    assert list(mutations("{{ messages[0].content }}", random.Random(1))) == []


# What is escaped may be refused.
LEARNED = [mutation for mutation in mutations(WHOLE, random.Random(3)) if mutation.kind != "escape"]


@pytest.mark.sweep(5)
@pytest.mark.parametrize("mutation", LEARNED, ids=lambda mutation: mutation.kind)
def test_mutations_are_learned(mutation: Mutation) -> None:
    result = compile_template(mutation.source, name=f"{mutation.kind}.jinja").verification
    assert (result.verified, result.failures) == (True, ())


def test_table() -> None:
    outcomes = [
        Outcome("a", "rename", True, ""),
        Outcome("b", "rename", False, "cause: so it is"),
        Outcome("c", "rename", True, "", ("want this, got that",)),
        Outcome("a", "drop", False, ""),
    ]
    assert table(outcomes).splitlines() == [
        "rename          2 of 3, 1 of them wrong",
        "drop            0 of 1",
        "all: 1 verified but wrong, 1 verified, 1 refused with a cause, 1 failed without a cause of 4",
    ]
