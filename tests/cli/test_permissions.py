"""Files and folders that may not be read or written: each command names them with the next step."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import TEMPLATE

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


def limited(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WITHOUT_CAPABILITIES, sys.executable, "-m", "tplc", *command.split()],
        cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("command", READ)
def test_what_may_not_be_read(guarded: Path, command: str) -> None:
    done = limited(guarded, command)
    named = next(word for word in command.split() if word.startswith(("hidden", "secret")))
    name = {"hidden.toml": "secret.jinja"}.get(named, named)
    said = done.stdout + done.stderr
    assert re.search(rf"{name}(/tokenizer\.json)?: {UNREADABLE}\n", said) and "Traceback" not in said
    assert done.returncode == 2


@pytest.mark.parametrize("command", OF_ROWS)
def test_rows_that_may_not_be_read(guarded: Path, command: str) -> None:
    pytest.importorskip("pyarrow")
    done = limited(guarded, command)
    assert (done.returncode, done.stderr) == (2, f"tplc: {command.split()[2]}: {UNREADABLE}\n")


@pytest.mark.parametrize("command", WRITTEN)
def test_what_may_not_be_written(guarded: Path, command: str) -> None:
    done = limited(guarded, command)
    name = next((word for word in command.split() if word.startswith("fixed/x")), "fixed/hut.py")
    said = done.stdout + done.stderr
    assert f"{name}: {UNWRITABLE}\n" in said and "Traceback" not in said
    assert done.returncode == 2
    assert sorted(path.name for path in (guarded / "fixed").iterdir()) == ["hut.jinja", "tplc.toml"]


def test_rows_that_may_not_be_written(guarded: Path) -> None:
    pytest.importorskip("pyarrow")
    done = limited(guarded, "parse hut.jinja out.jsonl --column text -o fixed/x.jsonl")
    assert (done.returncode, done.stderr) == (2, f"tplc: fixed/x.jsonl: {UNWRITABLE}\n")
