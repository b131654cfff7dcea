"""Parsers don't look at all that follows, or copy it, for each marker of an output that comes at once."""

from __future__ import annotations

import pytest

from benchmarks.outputs import ROOT
from tests.fuzz.looked_at import counting_parser, looked_at, markers_of

SMALL = 4096
MOST = 4.8  # times as much for four times the length
LEAST = 40  # for each character: less than that may also be a search for something that isn't there
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in ("f", "get_weather")]

# What openers that open no call, closers, failed and tiny calls are repeated as.  "\1" is a call up to its arguments.
FOUND = [
    ("keyword-calls", "<.code.>["),  # a name was looked for in all of the text
    ("parameter-tags", "<do=\n"),
    ("parameter-tags", "<deed>\n<do=f>\n x\n"),
    ("parameter-tags", "<deed>\n<do=f>\n</do>\n</deed> x\n"),
    ("parameter-tags", "<deed>\n<do=f"),  # each was searched for the end of reasoning that nothing closes
    ("array-with-ids", "{{DO}} {"),  # a failed object put all of the text in front of the buffer again
    ("bare-array", "[ {\n"),  # each was read as calls in another form, with all that follows
    ("bare-array", '[{"name": "\n'),
    ("addressed-parts", "to \n"),
    ("keyword-calls", "<.code.> [f{"),  # each object in the place of pairs was read to the end of the text
    ("key-value-tags", "[ability]f{"),
]
UNITS = ["{}", "{}\n", "{} x\n", "{}{{"]
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/template.jinja"))


def growth(example: str, unit: str, with_tools: bool, chunk: int = 0, least: int = SMALL) -> float:
    """Return how many times as many characters are looked at in four times the text."""
    module, tools = counting_parser(example), TOOLS if with_tools else None
    small, large = (looked_at(module, (unit * size)[:size], chunk, tools) for size in (least, 4 * least))
    return large / max(small, LEAST * least)


def is_steep(example: str, unit: str, with_tools: bool, chunk: int) -> bool:
    """Return whether too much is looked at, also in texts that are twice as long.

    Text that is pending is examined again once it has doubled, so one more time in some lengths than in others.
    """
    return all(growth(example, unit, with_tools, chunk, least) > MOST for least in (SMALL, 2 * SMALL))


@pytest.mark.parametrize("with_tools", [False, True])
@pytest.mark.parametrize(("example", "unit"), FOUND)
def test_found_outputs_are_looked_at_in_proportion_to_their_length(example: str, unit: str, with_tools: bool) -> None:
    assert growth(example, unit, with_tools) <= MOST


@pytest.mark.sweep(125)
@pytest.mark.parametrize("chunk", [0, 1000])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_repeated_markers_are_looked_at_in_proportion_to_their_number(example: str, unit: str, chunk: int) -> None:
    """All markers of a format, each repeated alone, where no tools are known and where some are."""
    markers = markers_of(counting_parser(example))
    texts = [unit.format(marker) for marker in markers[:12]] + [unit.format(f"{marker}f") for marker in markers[:3]]
    cases = [(text, known) for text in texts for known in (False, True)]
    steep = [case for case in cases if is_steep(example, *case, chunk)]
    assert steep == []
