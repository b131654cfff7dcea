"""`make lint`: the figures of README.md, docs/limits.md and a decision are current.

They come from docs/coverage.md (`make coverage`), docs/performance.md (`make bench`) and the examples.
"""

from __future__ import annotations

import re

from benchmarks.size import reasons
from tests.conftest import ROOT
from tests.example_case import load_examples, standalone_parser

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
COVERAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")


SPEED = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
LIMITS = " ".join((ROOT / "docs" / "limits.md").read_text(encoding="utf-8").split())
LINES = (ROOT / "docs" / "decisions" / "standalone-by-default.md").read_text(encoding="utf-8")


def figures(label: str) -> tuple[str, ...]:
    line = re.search(rf"^- {re.escape(label)}: (.*)$", COVERAGE, re.MULTILINE)
    assert line is not None, label
    return tuple(re.findall(r"\d+", line[1]))


def test_templates() -> None:
    good, seen, *_ = figures("templates that the compiler was built against, compiled and verified")
    right, unseen, *_ = figures("templates that it was not built against")
    assert f"Of {seen} templates of real models that it was built against, {good} compile and verify. " in README
    assert f"Of {unseen} others, {right} do. " in README


def test_outputs() -> None:
    first, of_first = figures("outputs of llamacpp.jsonl equal to what is expected")
    second, of_second = figures("outputs of vllm.jsonl equal to what is expected")
    counts = f"{first} of {of_first} and {second} of {of_second} outputs"
    assert f"The default parsers reproduce the recorded answer for {counts} of real models." in README


def test_messages() -> None:
    least, most, _ = figures("messages that a template is verified with")
    assert f"A template is verified with {least} to {most} messages." in README


def test_there_is_nothing_that_went_wrong() -> None:
    assert figures("internal errors") == ("0",)
    assert figures("outputs where a chunking differs from the whole")[0] == "0"


def measured(kinds: list[str]) -> tuple[int, int]:
    """Return the least and the most microseconds per 1,000 characters of these kinds, from the first table."""
    found = [re.search(rf"^\| {re.escape(kind)} \| (\d+) \|", SPEED, re.MULTILINE) for kind in kinds]
    values = [int(match[1]) for match in found if match]
    assert len(values) == len(kinds)
    return min(values), max(values)


def test_speed() -> None:
    least, most = measured(["content", "content, this project's documents"])
    arguments = ("one long string", "source code")
    calls = measured([f"{kind} call, {held}" for kind in ("JSON", "tagged") for held in arguments])
    content = f"takes {least} to {most} µs per 1,000 characters of content"
    assert f"{content} and {calls[0]} to {calls[1]} µs for calls with long arguments" in README


def test_the_time_of_a_compile() -> None:
    speed = " ".join(SPEED.split())
    shown = re.search(r"(\d+) templates took a median of ([\d.]+) s .*?\(the slowest ([\d.]+) s", speed)
    assert shown is not None
    many, median, slowest = shown.groups()
    assert f"a median of {median} s of processor time, {slowest} s for the slowest of {many} real templates" in LIMITS


def test_the_size_of_parsers() -> None:
    sizes = sorted(len(standalone_parser(example.name).encode()) for example in load_examples())
    shown = re.search(r"The parsers of the examples are (\d+) to (\d+) kB of Python", LIMITS)
    assert shown is not None
    # As near as a reader cares for.
    assert abs(sizes[0] / 1000 - int(shown[1])) < 5
    assert abs(sizes[-1] / 1000 - int(shown[2])) < 5


def test_what_the_lines_of_parsers_are_for() -> None:
    shown = [row.split(" | ") for row in LINES.splitlines() if row.startswith("| ")]
    measured = [row.split(" | ") for row in reasons()]
    assert [(row[0], row[-1]) for row in shown] == [(row[0], row[-1]) for row in measured]
    for row, other in zip(shown[2:], measured[2:], strict=True):
        for lines, now in zip(row[1:-1], other[1:-1], strict=True):
            assert abs(int(lines or 0) - int(now or 0)) <= max(5, int(now or 0) // 20), row[0]
