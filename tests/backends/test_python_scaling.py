"""What four times the text costs, counted in calls of functions: the same on every machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import FrameType, ModuleType
from typing import Any

import pytest

from benchmarks.grid import message
from benchmarks.schemas import CHUNK, FORMATS, ratio_of_functions, small_call
from tests.backends.parsers import ir_of, parser_of
from tests.hostile.growth import TIMES
from tplc.ir.own_markers import opening_of_calls
from tplc.ir.write import write_message

WORDS = "the quick brown fox, jumps over (the) lazy dog. "


def calls_made(module: ModuleType, chunks: Sequence[str], *, remembered: bool = True) -> int:
    """Return how many functions, Python's and C's, a parser calls.  Patterns are compiled before that: they are when
    a process first uses them.  Unless `remembered`, caches are empty: they hold the results of a short text only."""
    for whole in ("".join(chunks)[:4096], ""):
        first = module.StreamParser()
        for chunk in [whole] if whole else [*chunks[:500], *chunks[-500:]]:
            first.feed(chunk)
        first.finish()
    for value in vars(module).values():
        if not remembered and hasattr(value, "cache_clear"):
            value.cache_clear()
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    parser = module.StreamParser()
    sys.setprofile(profile)
    try:
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
    finally:
        sys.setprofile(None)
    return count


def output(name: str, kind: str, size: int, words: str = WORDS) -> str:
    ir = ir_of(name)
    prose = (words * (size // len(words) + 1))[:size]
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if kind == "content":
        message["content"] = prose
    elif kind == "reasoning":
        message.update(reasoning_content=prose, content="So.")
    elif kind == "string":
        message["tool_calls"] = [_call({"text": prose})]
    elif kind == "objects":
        message["tool_calls"] = [_call({"rows": [{"n": i, "ok": True} for i in range(size // 22)]})]
    else:
        message["tool_calls"] = [_call({"n": i, "text": "snow"}) for i in range(size // 60)]
    return write_message(ir, message)


def _call(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": "abcdefghi", "type": "function", "function": {"name": "write", "arguments": arguments}}


@pytest.mark.sweep(17)
@pytest.mark.parametrize("chunk", [1, 4, 64, 0])
@pytest.mark.parametrize("kind", ["content", "reasoning", "string", "objects", "calls"])
@pytest.mark.parametrize("name", ["tagged-json", "parameter-tags", "string-delimiters", "nested-elements"])
def test_four_times_the_text(name: str, kind: str, chunk: int) -> None:
    counts = []
    for size in (16 * 1024, 64 * 1024):
        text = output(name, kind, size)
        chunks = [text[i : i + chunk] for i in range(0, len(text), chunk)] if chunk else [text]
        counts.append(calls_made(parser_of(name), chunks, remembered=False))
    # A text of one chunk takes the same few calls for any length.
    assert counts[1] <= 4.4 * counts[0]


# Processor time follows it, and is noisy: python -m benchmarks.schemas prints both, and time is at most 1.3.
MOST_FOR_TOOLS = 1.27


@pytest.mark.sweep(5)
@pytest.mark.parametrize("chunk", [0, CHUNK])
@pytest.mark.parametrize("name", FORMATS)
def test_tools_cost_little_for_small_calls(name: str, chunk: int) -> None:
    assert ratio_of_functions(parser_of(name), small_call(name), chunk) <= MOST_FOR_TOOLS


@pytest.mark.sweep(18)
@pytest.mark.parametrize(
    "piece",
    ["<", "<f", "<fn", "<fn>", "<fn>{", '<fn>{"name": "', "[", '{"a":', " ", "\n", "\\", '"', "\0", "<~/~>", "</fn>"],
)
def test_hostile_text_is_no_different(piece: str) -> None:
    module = parser_of("tagged-json")
    for prefix in ("", '<fn>\n{"name": "f", "arguments": '):
        counts = []
        for size in (4 * 1024, 16 * 1024):
            text = prefix + piece * (size // len(piece))
            counts.append(calls_made(module, list(text), remembered=False))
        assert counts[1] <= 4.4 * counts[0]


@pytest.mark.sweep(9)
@pytest.mark.parametrize("unit", ["{}", "```{}", "y ```{}", "{}{{x", "```py\nx\n```{}"])
@pytest.mark.parametrize("name", ["tagged-json", "keyword-calls", "json-array", "tagged-name-json", "cdata-values"])
def test_openers_without_calls_take_linear_time(name: str, unit: str) -> None:
    """Searches for an end that isn't there are no calls of functions: processor time, the least of three."""
    opener = opening_of_calls(ir_of(name).tools)
    short, long = (unit.format(opener) * count for count in (1_000, 4_000))
    assert min(_seconds(name, long) for _ in range(3)) < TIMES * min(_seconds(name, short) for _ in range(3)) + 0.02


def _seconds(name: str, text: str, chunk: int = 0) -> float:
    chunks = [text[at : at + chunk] for at in range(0, len(text), chunk)] if chunk else [text]
    stream = parser_of(name).StreamParser()
    start = time.process_time()
    for each in chunks:
        stream.feed(each)
    stream.finish()
    return time.process_time() - start


def test_plain_text_takes_few_calls() -> None:
    """Most text takes this path: `feed`, and its tests of the chunk."""
    text = WORDS.replace("\n", " ") * 100
    chunks = [text[i : i + 4] for i in range(0, len(text), 4)]
    assert calls_made(parser_of("tagged-json"), chunks) <= 3 * len(chunks)


@pytest.mark.parametrize("kind", ["content", "string"])
@pytest.mark.parametrize("name", ["tagged-json", "parameter-tags"])
def test_code_takes_few_calls(name: str, kind: str) -> None:
    """White space at the end of a chunk, quotes and escapes cost little more than plain text."""
    text = output(name, kind, 8 * 1024, words='def f(a):\n\tif a < "b\\n":\n        return a\n\n')
    chunks = [text[i : i + 4] for i in range(0, len(text), 4)]
    assert calls_made(parser_of(name), chunks) <= 12 * len(chunks)


# What a chunk of four characters costs at most, in calls of functions: content, one long string, numbers, small calls.
MOST_CALLS = {
    "tagged-json": (2.3, 3.4, 8, 15.5),
    "parameter-tags": (2.3, 3.4, 3, 31.8),
    "addressed-parts": (2.3, 3.5, 3, 28),
    "string-delimiters": (2.6, 4.4, 18, 35),
    "keyword-calls": (2.2, 3.4, 16, 56.5),
}


@pytest.mark.parametrize("name", MOST_CALLS)
def test_a_chunk_takes_no_more_calls_than_it_did(name: str) -> None:
    found = []
    for kind in ("content", "long string", "numbers", "small calls"):
        text = write_message(ir_of(name), message(kind, 16 * 1024))
        chunks = [text[i : i + 4] for i in range(0, len(text), 4)]
        calls_made(parser_of(name), chunks)  # what is done once is not counted
        found.append(calls_made(parser_of(name), chunks) / len(chunks))
    assert all(count <= most for count, most in zip(found, MOST_CALLS[name], strict=True)), found


def test_short_openers_in_a_row_are_text_at_once() -> None:
    """Only two of them are looked at together, so the text before them isn't kept."""
    stream = parser_of("parameter-tags").StreamParser()
    assert sum(len(stream.feed("<deed>")) for _ in range(100)) > 40


def test_white_space_is_not_examined_again_where_a_marker_has_some() -> None:
    call = '(use [{"get_forecast": {"city": "Oslo"}}]'
    short, long = (_seconds("name-as-key", call + " " * size + "use)", CHUNK) for size in (40_000, 160_000))
    assert long < TIMES * short + 0.02
