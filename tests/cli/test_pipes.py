"""What happens to a command whose output nobody reads, or nobody can hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SHELL = "set -o pipefail; {command} | head -c 1 > /dev/null"
TPLC = f"{sys.executable} -m tplc"


@pytest.mark.parametrize(
    "command",
    [
        "explain -vv chat.jinja",
        "schema ir",
        "inspect chat.jinja --json",
        "compile chat.jinja --json 2>&1 > /dev/null",
        "compile --help",
    ],
)
def test_a_closed_pipe_ends_a_command_quietly(template: Path, tmp_path: Path, command: str) -> None:
    """With the exit code of SIGPIPE, as any program; none where all was written before the pipe was closed."""
    shell = SHELL.format(command=f"{TPLC} {command}")
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.returncode in (141, 0)


def test_what_nobody_reads_at_all(template: Path, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tplc", "explain", "chat.jinja"]
    done = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("options", [[], ["--stream"]], ids=str)
def test_a_generated_parser_behind_a_closed_pipe(run: Run, template: Path, tmp_path: Path, options: list[str]) -> None:
    assert run("compile", "chat.jinja", "-o", "parser.py", "-q").code == 0
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "parser.py", *options]
    done = subprocess.run(command, cwd=tmp_path, input="Hi.\n" * 100, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (-13, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "command", [["schema", "ir"], ["schema"], ["compile", "chat.jinja"], ["explain", "chat.jinja"]]
)
def test_a_disk_that_is_full(template: Path, tmp_path: Path, command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tplc", *command], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    told = done.stderr.splitlines()[-1]
    assert (done.returncode, told) == (2, "tplc: standard output: cannot be written: No space left on device")


def test_standard_output_that_is_closed(tmp_path: Path) -> None:
    done = subprocess.run(["bash", "-c", f"{TPLC} schema >&-"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
