"""The engine's limits, and its messages about them."""

from __future__ import annotations

import sys

import pytest

from tests.fluent import case
from tplc.backends.peg.engine import DEPTH_LIMIT, SIZE_LIMIT, InputTooDeep, InputTooLarge, OutputCutOff, PegEngine


@pytest.fixture(scope="module")
def engine() -> PegEngine:
    return case("tagged-json").engines.peg


def nested(depth: int) -> str:
    value = "[" * (depth - 1) + "]" * (depth - 1)
    return '<fn>\n{"name": "f", "arguments": {"a": ' + value + "}}\n</fn>"


def test_size(engine: PegEngine) -> None:
    with pytest.raises(InputTooLarge) as caught:
        engine.parse("x" * (SIZE_LIMIT + 1))
    assert str(caught.value) == (
        "the output has 1,000,001 characters, and the PEG engine takes 1,000,000: "
        "use the generated parser, which has no limit"
    )


def test_depth_up_to_the_limit(engine: PegEngine) -> None:
    before = sys.getrecursionlimit()
    for text in (nested(DEPTH_LIMIT), nested(DEPTH_LIMIT)[: -DEPTH_LIMIT // 2]):
        message = engine.parse(text)
        assert len(message["tool_calls"]) == 1
    assert sys.getrecursionlimit() == before


def test_depth_beyond_the_limit(engine: PegEngine) -> None:
    with pytest.raises(InputTooDeep) as caught:
        engine.parse(nested(5000))
    assert str(caught.value) == (
        "the output nests deeper than 100 levels, which is what the PEG engine takes: "
        "use the generated parser, which has no limit"
    )


def test_brackets_in_content_are_no_depth(engine: PegEngine) -> None:
    text = "[{(" * 20_000
    assert engine.parse(text)["content"] == text


def test_cut_output_is_refused_on_request(engine: PegEngine) -> None:
    text = '<fn>\n{"name": "f", "arguments": {"a": 1'
    with pytest.raises(OutputCutOff) as caught:
        engine.parse(text, partial=False)
    assert str(caught.value) == "the output stops inside a part, at character 39: allow partial outputs to read it"
    assert engine.parse(text + "}}\n</fn>", partial=False)["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'


def test_what_the_end_cuts_is_no_text(engine: PegEngine) -> None:
    """As in the generated parsers, the message ends before a truncated marker, which is kept separately."""
    call = '<fn>\n{"name": "f", "arguments": {}}'
    for text, said in [
        ("Hi.\n<f", ("Hi.\n<f", 0, False, "")),
        ("Hi.\n<fn", ("Hi.", 0, True, "\n<fn")),
        ('Hi.\n<fn>\n{"na', ("Hi.", 0, True, '\n<fn>\n{"na')),
        (call, (None, 1, True, "")),
        (call + "\n<", (None, 1, True, "<")),
        (call + "\n</fn>\n<fn>\n{", (None, 1, True, "<fn>\n{")),
    ]:
        read = engine.read(text)
        assert (read.message["content"], len(read.message["tool_calls"]), read.incomplete, read.trailing) == said


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    "piece",
    [
        "<musing>",
        "<fn>",
        '<fn>{"name"',
        '<fn>{"a": 1, ',
        '<fn>{"a": "b',
        "</fn>",
        "\n\n   ",
        "{",
        '"',
        "[k]x[/k]",
        "<fn> ",
    ],
)
def test_no_text_takes_more_than_linear_time(engine: PegEngine, piece: str) -> None:
    """Twice the text takes about twice the work, counted in steps, because clocks aren't reliable."""

    def steps(size: int) -> int:
        count = 0

        def trace(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(trace)
        try:
            engine.parse(piece * (size // len(piece)))
        except InputTooDeep:
            return size
        finally:
            sys.setprofile(None)
        return count

    steps(200)
    assert steps(8000) < 2.5 * steps(4000) + 2000
