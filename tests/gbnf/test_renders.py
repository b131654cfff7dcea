"""A sample of `tests.gbnf.renders` over the templates next to this project, where there are any."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import SHARED
from tests.gbnf.engine import needs_engine
from tests.gbnf.renders import check_template

TEMPLATES = sorted((SHARED / "templates").glob("*.jinja")) if SHARED.is_dir() else []


@pytest.mark.sweep(30)
@needs_engine
@pytest.mark.slow
@pytest.mark.skipif(not TEMPLATES, reason="no templates next to the project")
@pytest.mark.parametrize("path", TEMPLATES[::4], ids=lambda path: path.stem)
def test_renders_and_walks(path: Path) -> None:
    outcome = check_template(path, every=25, walks=5)
    if outcome is None:
        pytest.skip("the template shows no calls")
    assert (outcome.refusal, outcome.problems) == ("", [])
