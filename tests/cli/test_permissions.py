"""Files and folders that may not be read or written: each command names them with the next step."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import TEMPLATE
from tests.conftest import ROOT

# Root reads and writes everything, unless it gives up its capabilities.
WITHOUT_CAPABILITIES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()
pytestmark = pytest.mark.skipif(
    bool(WITHOUT_CAPABILITIES) and shutil.which("setpriv") is None, reason="root, and setpriv is not installed"
)
UNREADABLE = "may not be read\n    check its permissions, and those of its folder"
UNWRITABLE = "cannot be written: Permission denied\n    check the permissions of its folder"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with an unreadable folder, an unwritable folder, and an unreadable file."""
    for name in ("hidden", "fixed"):
        (tmp_path / name).mkdir()
    for name in ("hut.jinja", "hidden/hut.jinja", "fixed/hut.jinja", "secret.jinja"):
        (tmp_path / name).write_text(TEMPLATE)
    for name in ("out.jsonl", "secret.jsonl"):
        (tmp_path / name).write_text('{"text": "Hi."}\n')
    (tmp_path / "fixed/tplc.toml").write_text('[models.hut]\nsource = "hut.jinja"\noutputs = ["hut.py"]\n')
    (tmp_path / "hidden.toml").write_text('[models.hut]\nsource = "secret.jinja"\noutputs = ["hut.py"]\n')
    modes = {"hidden": 0, "fixed": 0o555, "secret.jinja": 0, "secret.jsonl": 0}
    for name, mode in modes.items():
        (tmp_path / name).chmod(mode)
    yield tmp_path
    for name in modes:
        (tmp_path / name).chmod(0o755)


READ = [
    "compile hidden/hut.jinja -o x.py",
    "compile secret.jinja -o x.py",
    "compile hut.jinja -o x.py --catalogue hidden",
    "compile hut.jinja -o x.py --token hidden",
    "compile hut.jinja -o x.py --tolerances secret.jinja",
    "compile hut.jinja -o x.py --tokenizer hidden",
    "doctor hidden",
    "census hidden",
    "observe hut.jinja secret.jsonl",
    "parse hut.jinja hidden/x",
    "parse hidden/hut.jinja",
    "parse hut.jinja --tools secret.jinja",
    "mask hut.jinja out.jsonl --tokenizer hidden",
    "build -m hidden.toml",
    "check -m hidden/tplc.toml",
    "observe hut.jinja hidden/out.jsonl",
    "census hidden/list.txt",
    "verify hut.jinja hidden/hut.py",
    "compile hut.jinja -o x.py --catalogue hidden/deep/variants",
]
OF_ROWS = ["parse hut.jinja hidden --column text -o rows", "parse hut.jinja secret.jsonl --column text -o x.jsonl"]
WRITTEN = [
    "compile hut.jinja -o fixed/x.py --quiet",
    "census hut.jinja -o fixed/x.jsonl",
    "census hut.jinja --html fixed/x.html",
    "explain hut.jinja --html fixed/x.html",
    "observe hut.jinja out.jsonl -o fixed/x.json",
    "init hut.jinja -o fixed/x.toml",
    "new fixed/x",
    "build -m fixed/tplc.toml",
]


# Starting Python and tplc takes longer than any of the commands: one process forks a child for each.
PROGRAM = """
import json, os, sys, tempfile
from tests.quick.server import import_modules, share
from tplc.cli import main
share()
import_modules()
for line in sys.stdin:
    folder, arguments = json.loads(line)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            sys.stdin = open(os.devnull)
            for kept, number in ((sys.stdin, 0), (out, 1), (err, 2)):
                os.dup2(kept.fileno(), number)
            code = 70  # of what isn't an exit
            try:
                main(arguments)
                code = 0
            except SystemExit as exit:
                code = exit.code or 0
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = [os.pread(kept.fileno(), 1 << 20, 0).decode() for kept in (out, err)]
    print(json.dumps([code, *texts]), flush=True)
"""


class Limited:
    """Runs commands in a process that may not read and write everything."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, folder: Path, command: str) -> subprocess.CompletedProcess[str]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(folder), command.split()]) + "\n")
        self._process.stdin.flush()
        code, out, err = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(command, code, out, err)


@pytest.fixture(scope="module")
def limited() -> Iterator[Limited]:
    command = [*WITHOUT_CAPABILITIES, sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Limited(process)


@pytest.mark.sweep(7)
@pytest.mark.parametrize("command", READ)
def test_what_may_not_be_read(guarded: Path, limited: Limited, command: str) -> None:
    done = limited(guarded, command)
    named = next(word for word in command.split() if word.startswith(("hidden", "secret")))
    name = {"hidden.toml": "secret.jinja"}.get(named, named)
    said = done.stdout + done.stderr
    assert re.search(rf"{name}(/tokenizer\.json)?: {UNREADABLE}\n", said) and "Traceback" not in said
    assert done.returncode == 2


@pytest.mark.parametrize("command", OF_ROWS)
def test_rows_that_may_not_be_read(guarded: Path, limited: Limited, command: str) -> None:
    pytest.importorskip("pyarrow")
    done = limited(guarded, command)
    assert (done.returncode, done.stderr) == (2, f"tplc: {command.split()[2]}: {UNREADABLE}\n")


@pytest.mark.sweep(5)
@pytest.mark.parametrize("command", WRITTEN)
def test_what_may_not_be_written(guarded: Path, limited: Limited, command: str) -> None:
    done = limited(guarded, command)
    name = next((word for word in command.split() if word.startswith("fixed/x")), "fixed/hut.py")
    said = done.stdout + done.stderr
    assert f"{name}: {UNWRITABLE}\n" in said and "Traceback" not in said
    assert done.returncode == 2
    assert sorted(path.name for path in (guarded / "fixed").iterdir()) == ["hut.jinja", "tplc.toml"]


def test_rows_that_may_not_be_written(guarded: Path, limited: Limited) -> None:
    pytest.importorskip("pyarrow")
    done = limited(guarded, "parse hut.jinja out.jsonl --column text -o fixed/x.jsonl")
    assert (done.returncode, done.stderr) == (2, f"tplc: fixed/x.jsonl: {UNWRITABLE}\n")
