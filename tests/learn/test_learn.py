"""Small templates, one rule of the learner each, against the format that is learned (or what is said of them)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tplc.driver import learn_format, open_renderer
from tplc.errors import TplcError
from tplc.ir.check import check
from tplc.ir.printed import printed

CASES = ROOT / "tests" / "cases" / "learn"
TEMPLATES = sorted(CASES.glob("*.jinja"))


def test_the_cases_are_found() -> None:
    assert len(TEMPLATES) >= 19


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_learned_format(path: Path, golden: Callable[[Path, str], None]) -> None:
    source = path.read_text(encoding="utf-8")
    try:
        with open_renderer(source, name=path.name) as renderer:
            ir = learn_format(renderer, name=path.name, source_text=source)
    except TplcError as error:
        golden(path.with_suffix(".error"), str(error) + "\n")
        return
    assert check(ir) == []
    golden(path.with_suffix(".ir"), printed(ir))
