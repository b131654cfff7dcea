"""Small templates that are not verified as first learned: which repairs are tried, and which one is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tplc.driver import learn_format, open_renderer, verify_ir
from tplc.ir.check import check
from tplc.ir.nodes import Verification
from tplc.ir.printed import printed

CASES = ROOT / "tests" / "cases" / "repair"
TEMPLATES = sorted(CASES.glob("*.jinja"))


def test_the_cases_are_found() -> None:
    assert len(TEMPLATES) >= 5


@pytest.mark.sweep(12)
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_repairs(path: Path, golden: Callable[[Path, str], None]) -> None:
    source = path.read_text(encoding="utf-8")
    repairs: list[str] = []

    def note(reason: str, result: Verification) -> None:
        repairs.append(f"repair: {reason} → {result.messages - result.passed} of {result.messages} failed\n")

    with open_renderer(source, name=path.name) as renderer:
        ir = learn_format(renderer, name=path.name, source_text=source)
        ir = verify_ir(ir, renderer, on_repair=note)
    assert check(ir) == []
    assert ir.verification.verified
    golden(path.with_suffix(".ir"), "".join(repairs) + printed(ir))


@pytest.mark.sweep(12)
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_the_grammar_reads_every_form(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    with open_renderer(source, name=path.name) as renderer:
        ir = verify_ir(learn_format(renderer, name=path.name, source_text=source), renderer)
        assert verify_ir(ir, renderer, target="peg").verification.verified
