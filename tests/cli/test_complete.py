"""What a shell offers for values, asked as the script that `tplc --install-completion` writes asks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import TEMPLATE, Run
from tplc.driver import TARGETS

MANIFEST = """\
[models.hut]
source = "hut.jinja"
outputs = ["hut.py"]

[models."hall-2.1"]
source = "hut.jinja"
outputs = ["hall.py"]
"""
Offered = Callable[[str], list[str]]


@pytest.fixture
def offered(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Offered:
    (tmp_path / "hut.jinja").write_text(TEMPLATE, encoding="utf-8")
    (tmp_path / "tplc.toml").write_text(MANIFEST, encoding="utf-8")

    def call(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_TPLC_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        return run().out.split()

    return call


OFFERED = [
    ("tplc compile a.jinja --target p", ["python", "peg"]),
    ("tplc compile a.jinja -t ", [*TARGETS, "training"]),
    ("tplc compile a.jinja --profile s", ["servers"]),
    ("tplc compile a.jinja --runtime ", ["standalone", "shared", "installed"]),
    ("tplc compile a.jinja --tag-reasoning o", ["outside"]),
    ("tplc compile a.jinja --limit render", ["render_seconds="]),
    ("tplc compile built", ["builtin:chatml"]),
    ("tplc inspect builtin:c", ["builtin:chatml"]),
    ("tplc compile ", []),
    ("tplc parse a.py rows.parquet --engine r", ["ray"]),
    ("tplc census list --engine ", ["processes", "ray"]),
    ("tplc check --format g", ["github"]),
    ("tplc build ", ["hut", "hall-2.1"]),
    ("tplc build hut ", ["hall-2.1"]),
    ("tplc check -m tplc.toml ha", ["hall-2.1"]),
    ("tplc check -m nowhere.toml ha", []),
]


@pytest.mark.parametrize(("line", "words"), OFFERED)
def test_values(offered: Offered, line: str, words: list[str]) -> None:
    assert offered(line) == words
