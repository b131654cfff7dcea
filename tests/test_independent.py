"""The independent round trip, on templates of the tests: what verifies comes back here as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.independent import Result, check, summary

CASES = ROOT / "tests" / "cases" / "learn"


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", ["plain", "arguments-as-a-list-of-pairs", "arguments-inside-a-string", "counters"])
def test_what_verifies_comes_back(name: str) -> None:
    result = check(CASES / f"{name}.jinja")
    assert (result.verified, result.wrong) == (True, ())
    assert result.equal >= 5


def test_a_template_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "no.jinja"
    path.write_text("{{ raise_exception('no') }}")
    assert check(path) == Result("no", False, 0, {}, ())


def test_summary() -> None:
    results = [Result("a", True, 7, {"not shown": 2}, ("x",)), Result("b", False, 0, {}, ())]
    assert summary(results) == (
        "1 of 2 templates verified; of their messages 7 came back, 1 did not (in 1 templates); not counted: 2 not shown"
    )
