"""The figures of the README are those that `make coverage` wrote into docs/coverage.md."""

from __future__ import annotations

import re

from tests.conftest import ROOT

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
COVERAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")


def figures(label: str) -> tuple[str, ...]:
    line = re.search(rf"^- {re.escape(label)}: (.*)$", COVERAGE, re.MULTILINE)
    assert line is not None, label
    return tuple(re.findall(r"\d+", line[1]))


def test_templates() -> None:
    good, seen, *_ = figures("templates that the compiler was built against, compiled and verified")
    right, unseen, *_ = figures("templates that it was not built against")
    assert f"Of {seen} templates of real models that it was built against, {good} compile and verify; " in README
    assert f"of {unseen} that it was not built against, {right}. " in README


def test_outputs() -> None:
    first, of_first = figures("outputs of llamacpp.jsonl equal to what is expected")
    second, of_second = figures("outputs of vllm.jsonl equal to what is expected")
    assert f"Of {of_first} and {of_second} outputs of real models with an answer recorded for them" in README
    assert f"what plain `tplc compile` writes reads {first} and {second} so" in README


def test_messages() -> None:
    least, most, _ = figures("messages that a template is verified with")
    assert f"Messages of every kind that the template can write, {least} to {most} of them," in README


def test_there_is_nothing_that_went_wrong() -> None:
    assert figures("internal errors") == ("0",)
    assert figures("outputs where a chunking differs from the whole")[0] == "0"
