"""The benchmark of many rows still runs: its parsers, its rows, and a run in one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import million
from tests.example_case import EXAMPLES, load_example

ROWS = 60


def test_rows_come_back_as_a_loop_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = [load_example(EXAMPLES / name) for name in ("plain-chat", "tagged-json")]
    monkeypatch.setattr(million, "load_examples", lambda: some)
    monkeypatch.setattr(million, "LARGE", 5000)
    work = million.Work(tmp_path, 1)
    work.write_parsers()
    work.write_rows(ROWS)
    work.run(ROWS, "pyarrow")
    assert work.compared_with_loop(ROWS)
