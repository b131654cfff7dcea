"""Commands that are terminated through the process that watches them end, and leave nothing half written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tplc import cli
from tplc.cli.ending import unwinding
from tplc.cli.watched import CAN_WATCH

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
PARSER = str(ROOT / "examples" / "tagged-json" / "out" / "parser.py")


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not what():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.02)


def family(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [int(child) for child in found]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not CAN_WATCH, reason="commands are watched on Linux only")
@pytest.mark.parametrize(
    ("number", "times", "code"),
    [
        (signal.SIGINT, 1, 130),
        (signal.SIGINT, 3, 130),
        (signal.SIGTERM, 2, -signal.SIGTERM),
        (signal.SIGKILL, 1, -signal.SIGKILL),
    ],
)
def test_signals_for_the_process_that_watches(number: int, times: int, code: int, tmp_path: Path) -> None:
    parquet.write_table(pa.table({"text": ["Hi."] * 1_000_000}), tmp_path / "rows.parquet")
    command = ["parse", PARSER, "rows.parquet", "--column", "text", "-o", "out.parquet", "--engine", "pyarrow"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tplc", *command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_for(lambda: bool(list(tmp_path.glob(".out.parquet.*.half"))))
    [watched] = family(process.pid)
    for _ in range(times):
        os.kill(process.pid, number)
    _, said = process.communicate(timeout=30)
    wait_for(lambda: not runs(watched))
    assert (process.returncode, said) == (code, "")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_an_error_that_an_interrupt_led_to_is_the_interrupt() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), unwinding():
        try:
            raise KeyboardInterrupt
        finally:
            raise TimeoutError
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_interrupt_before_the_command_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Imports take half a second, and somebody may press Ctrl-C then."""

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupted)
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert (ended.value.code, capsys.readouterr().err) == (130, "")
