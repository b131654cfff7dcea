"""Probe words never reach a template, and come back from what it writes."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import amount
from tests.example_case import load_examples
from tplc.driver import learn_format, open_renderer
from tplc.ir.serialize import dumps
from tplc.render import Renderer
from tplc.render.disguise import Disguise

WORDS = [
    "zquser0x", "zqcontent0x", "zqkey0x", "zqkey1x", "zqkey0token0x", "zqvalue0n0x", "zqvalue0n1x", "zqvalue1n0x",
    "zqname0x", "zqname1x", "zqname0token0x", "zqid0wwwww", "zqid1wwwww", "zqid0", "zqka0x", "zqkb0x", "zqs0x", "zqs1x",
]  # fmt: skip
SORTED = [("zqkey0x", "zqkey1x"), ("zqka0x", "zqkb0x"), ("zqs0x", "zqs1x"), ("zqvalue0n0x", "zqvalue0n1x")]


def disguises() -> st.SearchStrategy[Disguise]:
    chances = st.none() | st.integers().map(random.Random)
    return st.builds(lambda source, chance: Disguise(source, chance=chance), st.text(max_size=9), chances)


@given(disguises(), st.lists(st.sampled_from([*WORDS, " ", "\n", "w", "0", "a", "_", "é"])))
def test_every_text_comes_back(disguise: Disguise, pieces: list[str]) -> None:
    text = "".join(pieces)
    hidden = disguise.hide(text)
    assert disguise.show(hidden) == text
    assert len(hidden) == len(text)


@given(disguises())
def test_words_are_letters_and_sorted_as_the_words_they_replace(disguise: Disguise) -> None:
    hidden = {word: disguise.hide(word) for word in WORDS}
    assert [word for word in hidden.values() if not re.fullmatch("[a-z]+", word)] == []
    assert [(a, b) for a in hidden.values() for b in hidden.values() if a != b and a in b] == []
    assert [pair for pair in SORTED if not hidden[pair[0]] < hidden[pair[1]]] == []


def test_words_are_the_templates_own() -> None:
    assert Disguise("a").hide("zqcontent0x") == Disguise("a").hide("zqcontent0x") == "kunubovetbz"
    assert Disguise("b").hide("zqcontent0x") == "ponulicotdm"


def test_no_word_occurs_in_the_template() -> None:
    word = Disguise("a").hide("zqcontent0x")
    source = f"a {{# {word} #}}"
    assert Disguise(source).hide("zqcontent0x") not in source


def test_a_template_sees_none_of_the_probes_words() -> None:
    seen = "{{ messages[0].content }} {{ 'zq' in messages | string }} {{ messages[0].content | length }}"
    with Renderer(seen) as renderer:
        assert renderer.render([{"role": "user", "content": "zqcontent0x"}]) == "zqcontent0x False 11"
        traced = renderer.trace([{"role": "user", "content": "zqcontent0x"}])
        assert traced.text == "zqcontent0x False 11"


def test_words_in_pieces_are_the_words_letters() -> None:
    cut = "{% for c in messages[0].content %}{{ c | upper }} {% endfor %}{{ messages[0].content[2:5] }}"
    with Renderer(cut) as renderer:
        renderer.render([{"role": "user", "content": "zqcontent0x"}])
        assert renderer.differs_in_other_words() is None
    with Renderer(cut + "\n{{ messages[0].content[0] < 'n' }}") as renderer:
        renderer.render([{"role": "user", "content": "zqcontent0x"}])
        # Every second word begins with a letter of the other half: three of five words show it, so every fourth look
        # does.
        assert {renderer.differs_in_other_words() for _ in range(200)} == {None, 2}


@pytest.mark.sweep(1)
def test_another_seed_learns_the_same_format() -> None:
    """In every example, the format doesn't depend on the words that were drawn."""
    for example in load_examples()[:: amount(3, sweep=1)]:
        irs = set[str]()
        for _ in range(2):
            with open_renderer(example.source, name="t", special_tokens=example.special_tokens) as renderer:
                renderer._disguise = Disguise(f"{example.source}{len(irs)}")
                irs.add(
                    dumps(
                        learn_format(
                            renderer, name="t", source_text=example.source, special_tokens=example.special_tokens
                        )
                    )
                )
        assert len(irs) == 1, example.name
