"""docs/architecture.md: the picture and the tables name what the repository has, and the worked diffs apply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests import pictures
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "architecture.md"
TEXT = PAGE.read_text(encoding="utf-8")
Golden = Callable[[Path, str], None]


def test_pictures_are_current(golden: Golden) -> None:
    golden(pictures.FOLDER / "architecture.svg", pictures.architecture())
    golden(pictures.FOLDER / "recording.svg", pictures.recording())


def test_boxes_are_folders() -> None:
    boxes = json.loads((pictures.FOLDER / "architecture.json").read_text(encoding="utf-8"))["boxes"]
    assert [box["folder"] for box in boxes if not (ROOT / box["folder"]).is_dir()] == []


def test_every_folder_has_a_row() -> None:
    rows = re.findall(r"^\| `([\w/.]+)` \|", TEXT, re.MULTILINE)
    known = [row for row in rows if "NAME" not in row]
    missing = [row for row in known if not (ROOT / "compiler/tplc" / row).exists() and not (ROOT / row).exists()]
    assert missing == []
    folders = {path.parent.name for path in (ROOT / "compiler/tplc").glob("*/__init__.py")}
    assert folders - {row.rstrip("/") for row in rows} == set()


def test_every_file_that_is_named_exists() -> None:
    named = re.findall(r"`((?:compiler|runtime|tests|schemas|docs|examples)/[\w./-]+)`", TEXT)
    assert named
    assert [name for name in named if "NAME" not in name and not (ROOT / name).exists()] == []


def test_worked_diffs_are_of_this_code() -> None:
    """The lines that a diff adds occur in the file that it names: the page shows code as it is now."""
    for block in re.findall(r"^```diff\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL):
        parts = re.split(r"^\+\+\+ (\S+)\n", block, flags=re.MULTILINE)[1:]
        assert parts
        for name, diff in zip(parts[::2], parts[1::2], strict=True):
            lines = {line.strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()}
            added = [line[1:].strip() for line in diff.splitlines() if line.startswith("+") and line[1:].strip()]
            assert added
            assert [line for line in added if line not in lines] == [], name


def test_decisions_are_listed() -> None:
    listed = re.findall(r"\(decisions/([\w-]+\.md)\)", TEXT)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs/decisions").glob("*.md"))


def test_targets_of_make_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = (ROOT / name for name in ("CONTRIBUTING.md", "docs/architecture.md", "README.md"))
    found = {name for page in pages for name in re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))}
    assert found - targets == set()


def test_hooks_of_developers_run_what_is_installed() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    modules = re.findall(r"entry: \.venv/bin/(?:python -m )?(\w+)(?:\.(\w+))?", text)
    assert modules == [("ruff", ""), ("ruff", ""), ("mypy", ""), ("tests", "words"), ("pytest", "")]
    assert [f"{name}.{part}" for name, part in modules if part and not (ROOT / name / f"{part}.py").is_file()] == []
