"""From ids to text and the ranges of special tokens."""

from __future__ import annotations

import time

import pytest

from tplc_runtime.tokens import Detokenizer

for package in ("tokenizers", "tiktoken", "sentencepiece"):
    pytest.importorskip(package)

from tests.special.round_trip import wrong  # noqa: E402
from tests.special.tokenizers_of_tests import NAMES, Made, made, named  # noqa: E402

EACH = pytest.mark.parametrize("one", NAMES, indirect=True)


@pytest.fixture
def one(request: pytest.FixtureRequest) -> Made:
    return named(request.param)


def test_all_tokenizers_are_tried() -> None:
    assert tuple(each.name for each in made()) == NAMES


@EACH
def test_texts_come_as_the_tokenizer_decodes_them(one: Made) -> None:
    assert list(wrong(one, 150)) == []


@EACH
def test_a_character_is_never_split(one: Made) -> None:
    detokenizer = Detokenizer(one.tokenizer)
    pieces = [detokenizer.feed([number])[0] for number in one.encode("é世😀 é世😀")]
    assert "\ufffd" not in "".join(pieces) + detokenizer.finish()[0]


@EACH
def test_what_is_incomplete_comes_at_the_end(one: Made) -> None:
    ids = one.encode("a 𝛀𝛀")
    while one.decode(ids)[-1] != "\ufffd":
        ids = ids[:-1]
    detokenizer = Detokenizer(one.tokenizer)
    text = detokenizer.feed(ids)[0]
    assert "\ufffd" not in text
    rest = detokenizer.finish()[0]
    # How many of them stand for the bytes of one character is the decoder's own.
    assert (text.lstrip(), {*rest}) == ("a 𝛀", {"\ufffd"})


@pytest.mark.sweep(3)
@EACH
def test_time_is_linear_also_for_bytes_that_are_no_text(one: Made) -> None:
    ids = one.encode("a 𝛀")
    half = next(ids[:n] for n in range(len(ids), 0, -1) if one.decode(ids[:n])[-1] == "\ufffd")[-1:]

    def seconds(count: int) -> float:
        detokenizer, started = Detokenizer(one.tokenizer), time.process_time()
        detokenizer.feed(half * count)
        detokenizer.finish()
        return time.process_time() - started

    seconds(10)
    assert seconds(8000) < 16 * max(seconds(1000), 0.002)


def test_special_tokens_are_known_by_their_range() -> None:
    one = named("byte-level, large")
    ids = one.tokenizer.encode("a <fn> é<|end of text|><tool>x").ids
    text = "a <fn> é<|end of text|><tool>x"
    assert Detokenizer(one.tokenizer).feed(ids) == (text, [(2, 6), (8, 23)])
    assert Detokenizer(one.tokenizer, ["<tool>"]).feed(ids) == (text, [(2, 6), (8, 23), (23, 29)])


def test_text_that_spells_a_token_has_no_range() -> None:
    one = named("tiktoken, merges")
    special = one.tokenizer.encode_single_token("<fn>")
    ids = [*one.encode("the <fn> "), special]
    assert Detokenizer(one.tokenizer).feed(ids) == ("the <fn> <fn>", [(9, 13)])


def test_a_special_token_after_half_a_character() -> None:
    one = named("tiktoken, bytes")
    special = one.tokenizer.encode_single_token("<fn>")
    assert Detokenizer(one.tokenizer).feed([0xE4, special, 0x61]) == ("\ufffd<fn>a", [(1, 5)])
    level = named("byte-level, small")
    half, number = level.encode("𝛀")[:1], level.tokenizer.token_to_id("<fn>")
    assert Detokenizer(level.tokenizer).feed([*half, number]) == ("\ufffd<fn>", [(1, 5)])


def test_a_space_at_the_beginning_of_an_answer_after_a_prompt() -> None:
    one = named("bytes as a last resort, first space dropped")
    ids = one.encode("you")
    assert Detokenizer(one.tokenizer).feed(ids)[0] == "you"
    assert Detokenizer(one.tokenizer, prompt=one.encode("Hi")).feed(ids)[0] == " you"


def test_a_tokenizer_of_another_kind() -> None:
    with pytest.raises(TypeError) as caught:
        Detokenizer("gpt2")
    assert str(caught.value) == "str: expected a fast tokenizer, or one of tiktoken or SentencePiece"
