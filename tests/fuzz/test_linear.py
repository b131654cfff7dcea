"""Hostile outputs take time and memory in proportion to their length (`make hostile` measures seconds).

Counted, not timed: calls of functions, and characters that are looked at again because they are not decided yet.  What
a single call into the regular expressions costs shows in neither, so there is a coarse bound on processor time as well.
"""

from __future__ import annotations

import gc
import sys
from types import FrameType

import pytest

from benchmarks.hostile import CLASSES, Hostile, chunks_of, module_of, peak_bytes, seconds

SMALL, LARGE = 16_384, 65_536
MOST = 4.4  # times as much for four times the length
MOST_BYTES = 120  # for each character
TITLES = [f"{hostile.title}, {hostile.example}" for hostile in CLASSES]


def work(hostile: Hostile, size: int, chunk: int) -> tuple[int, int]:
    """Return the number of calls, and of characters in the buffer at every chunk."""
    parser = module_of(hostile.example).StreamParser()
    pieces = list(chunks_of(hostile.text(size), chunk))
    buf = ""
    calls = characters = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for piece in pieces:
            parser.feed(piece)
            characters += len(parser._buf) if parser._buf is not buf else 0
            buf = parser._buf
        parser.finish()
        assert parser.message["role"] == "assistant"
    finally:
        sys.setprofile(before)
    return calls, characters


@pytest.mark.sweep(39)
@pytest.mark.parametrize("hostile", CLASSES, ids=TITLES)
@pytest.mark.parametrize("chunk", [64, LARGE], ids=["in 64s", "at once"])
def test_work_grows_with_the_length(hostile: Hostile, chunk: int) -> None:
    calls, characters = work(hostile, SMALL, chunk)
    more_calls, more_characters = work(hostile, LARGE, chunk)
    assert more_calls <= MOST * max(calls, 2000)
    assert more_characters <= MOST * max(characters, 4 * SMALL)


@pytest.mark.sweep(20)
@pytest.mark.parametrize("hostile", CLASSES, ids=TITLES)
def test_time_is_not_quadratic(hostile: Hostile) -> None:
    """Eight times the length takes far less than sixty-four times as long: less than half of that."""
    gc.disable()  # it would look through everything that the other tests have left
    try:
        short = max(min(seconds(hostile, 4096, 0) for _ in range(2)), 0.0005)
        assert min(seconds(hostile, 32_768, 0) for _ in range(2)) <= 30 * short
    finally:
        gc.enable()


@pytest.mark.sweep(19)
@pytest.mark.parametrize("hostile", CLASSES, ids=TITLES)
def test_memory_grows_with_the_length(hostile: Hostile) -> None:
    assert peak_bytes(hostile, SMALL, 64) <= MOST_BYTES * SMALL
