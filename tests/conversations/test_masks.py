"""Masks of tokens from spans and offsets."""

from __future__ import annotations

import pytest

from tplc import token_mask
from tplc.conversations import Span
from tplc.errors import UsageError

SPANS = [
    Span(0, 4, 0, "user", "header"),
    Span(4, 8, 1, "assistant", "reasoning", generated=True),
    Span(8, 12, 1, "assistant", "content", generated=True),
    Span(12, 16, 1, "assistant", "arguments", generated=True, call=0),
    Span(16, 18, 1, "assistant", "end", generated=True),
    Span(18, 20, 2, "user", "header"),
]
FITTING = [(0, 4), (4, 6), (6, 8), (8, 12), (12, 16), (16, 18), (18, 20)]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("reasoning", "content", "calls", "end"), [0, 1, 1, 1, 1, 1, 0]),
        (("content", "end"), [0, 0, 0, 1, 0, 1, 0]),
        (("calls",), [0, 0, 0, 0, 1, 0, 0]),
        ((), [0] * 7),
    ],
)
def test_parts(parts: tuple[str, ...], expected: list[int]) -> None:
    for straddling in ("inside", "outside", "error"):
        assert token_mask(SPANS, FITTING, parts, straddling=straddling) == expected  # type: ignore[arg-type]


def test_a_token_over_a_border() -> None:
    offsets = [(0, 5), (5, 9), (9, 17), (17, 20)]
    assert token_mask(SPANS, offsets) == [1, 1, 1, 1]
    assert token_mask(SPANS, offsets, straddling="outside") == [0, 1, 1, 0]
    with pytest.raises(UsageError, match="the token of the characters 0 to 5 straddles a border"):
        token_mask(SPANS, offsets, straddling="error")
    with pytest.raises(UsageError, match="the token of the characters 17 to 20 straddles"):
        token_mask(SPANS, offsets[1:], straddling="error")


def test_tokens_without_characters_and_out_of_order() -> None:
    offsets = [(0, 0), (0, 4), (4, 4), (4, 8), (6, 6), (8, 18), (18, 18), (18, 20), (0, 0)]
    assert token_mask(SPANS, offsets) == [0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert token_mask(SPANS, [(3, 5), (0, 0), (17, 19)]) == [1, 0, 1]
    assert token_mask(SPANS, [(3, 5), (0, 0), (17, 19)], straddling="outside") == [0, 0, 0]


def test_tokens_that_share_a_character() -> None:
    assert token_mask(SPANS, [(0, 4), (4, 5), (4, 5), (5, 8)]) == [0, 1, 1, 1]


def test_wrong_arguments() -> None:
    with pytest.raises(UsageError, match="expected some of reasoning, content, calls, end"):
        token_mask(SPANS, FITTING, ("answer",))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected inside, outside or error"):
        token_mask(SPANS, FITTING, straddling="half")  # type: ignore[arg-type]
