"""`tplc compile --watch`, as it is typed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue

import pytest

from tests.cli.conftest import TEMPLATE, Run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals of Linux")
SECONDS = 60


class Watching:
    """A running command, and what it says line by line."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tplc", "compile", *arguments, "--watch"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.lines: Queue[str] = Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as said:
            for line in said:
                self.lines.put(line.rstrip("\n"))

    def until(self, start: str) -> str:
        while True:
            line = self.lines.get(timeout=SECONDS)
            if line.startswith(start):
                return line

    def interrupted(self) -> int:
        os.killpg(self.process.pid, signal.SIGINT)
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(SECONDS)
        self.reader.join(SECONDS)
        return code


def test_it_compiles_again(tmp_path: Path) -> None:
    source = TEMPLATE
    template = tmp_path / "hut.jinja"
    template.write_text(source)
    watching = Watching(tmp_path, "hut.jinja", "-o", "hut.py")
    try:
        assert watching.until("watching") == "watching hut.jinja; Ctrl-C ends it"
        watching.until("wrote        hut.py")
        assert '"<call>' in (tmp_path / "hut.py").read_text()
        template.write_text(source.replace("call>", "do>"))
        assert watching.until("wrote") == "wrote        hut.py"
        assert '"<do>' in (tmp_path / "hut.py").read_text()
        # A wrong template is reported, and the file stays as it was.
        template.write_text(source + "{% if %}")
        assert watching.until("tplc: ").startswith("tplc: hut.jinja")
        template.write_text(source)
        assert watching.until("wrote") == "wrote        hut.py"
        assert '"<call>' in (tmp_path / "hut.py").read_text()
    finally:
        code = watching.interrupted()
    assert code in (130, -signal.SIGINT)


def test_what_cannot_be_watched(run: Run, tmp_path: Path) -> None:
    reported = run("compile", "builtin:chatml", "--watch")
    assert (reported.code, reported.err) == (2, "tplc: --watch: builtin:chatml is not a file that changes: name one\n")
    watching = Watching(tmp_path, "none.jinja", "-o", "hut.py")
    assert watching.until("tplc: ") == "tplc: none.jinja: there is no such file or folder"
    assert watching.ended() == 2
