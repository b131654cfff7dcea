"""README and docs: every code block runs, and prints what the document says.

`pytest --update tests/test_docs.py` writes what was really printed into the documents (read the diff!).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents import RUN, SHOWN, matches, read_blocks, run_document, updated
from tests.ir_reference import REFERENCE, ir_reference
from tplc.cli.app import app

DOCUMENTS = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


# The pages that a reader starts with always run.
FIRST = ("README.md", "quickstart.md", "python.md")
RUNNING = [
    pytest.param(path, id=path.name, marks=[] if path.name in FIRST else pytest.mark.sweep(5)) for path in DOCUMENTS
]
NEEDS = re.compile(r"^<!-- needs: (\w+) -->$", re.MULTILINE)
USES = re.compile(r"^<!-- uses: ([\w.]+) -->$", re.MULTILINE)


@pytest.mark.parametrize("path", RUNNING)
def test_document_runs(path: Path, tmp_path: Path, update: bool) -> None:
    text = path.read_text(encoding="utf-8")
    missing = [package for package in NEEDS.findall(text) if find_spec(package) is None]
    if missing:
        pytest.skip(f"{path.name} needs {', '.join(missing)}, which is not installed")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name in USES.findall(text):
        (tmp_path / name).write_bytes((ROOT / "docs" / name).read_bytes())
    steps = list(run_document(text, tmp_path))
    assert [step.source for step in steps if "Traceback (most recent call last)" in step.actual] == []
    if update:
        path.write_text(updated(text, steps), encoding="utf-8")
        return
    place = path.relative_to(ROOT).as_posix()
    for step in steps:
        if not step.as_expected:
            assert step.actual == step.expected, f"{place}:{step.line}: {step.source}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_blocks_are_of_known_kinds(path: Path) -> None:
    blocks = read_blocks(path.read_text(encoding="utf-8"))
    assert [(block.line, block.language) for block in blocks if block.language not in RUN | SHOWN] == []


PAGES = [*DOCUMENTS, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs/decisions").glob("*.md"))]
PAGES += sorted((ROOT / "examples").rglob("README.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    links = LINK.findall(path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def sections(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as sites make them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_existing_sections(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]*\.md|)#([^)\s]+)\)", path.read_text(encoding="utf-8"))
    assert [(page, place) for page, place in links if place not in sections(path.parent / page if page else path)] == []


def test_what_a_document_says_is_compared(tmp_path: Path) -> None:
    text = (
        "# T\n\n```console\n$ echo one\ntwo\n$ echo a; echo b; echo c\na\n...\nc\n```\n\n"
        "```python\nprint(3)\n```\n\n```text\n4\n```\n"
    )
    steps = list(run_document(text, tmp_path))
    assert [(step.line, step.source, step.expected, step.actual, step.as_expected) for step in steps] == [
        (5, "echo one", "two\n", "one\n", False),
        (7, "echo a; echo b; echo c", "a\n...\nc\n", "a\nb\nc\n", True),
        (17, "print(3)\n", "4\n", "3\n", False),
    ]
    assert updated(text, steps) == text.replace("two", "one").replace("4", "3")


def test_a_place_is_made_for_what_is_printed(tmp_path: Path) -> None:
    text = "```python\nprint(3)\n```\nMore.\n"
    wanted = "```python\nprint(3)\n```\n\n```text\n3\n```\nMore.\n"
    assert updated(text, list(run_document(text, tmp_path))) == wanted
    assert [step.as_expected for step in run_document(wanted, tmp_path)] == [True]


def test_files_and_blocks_that_are_not_run(tmp_path: Path) -> None:
    text = (
        "<!-- file: a/b.txt -->\n\n```text\nhello\n```\n\n```console\n$ cat a/b.txt\nhello\n```\n\n"
        "<!-- not run: x -->\n```console\n$ false\nno\n```\n"
    )
    assert [(step.source, step.as_expected) for step in run_document(text, tmp_path)] == [("cat a/b.txt", True)]


def test_any_lines() -> None:
    assert matches(["..."], []) and matches(["a", "...", "d"], list("abcd")) and matches(["...", "..."], ["a"])
    assert not matches(["a", "..."], ["b"]) and not matches([], ["a"]) and not matches(["a"], [])


def test_ir_reference_is_current(golden: Callable[[Path, str], None]) -> None:
    golden(REFERENCE, ir_reference())


def test_one_page_lists_every_command() -> None:
    listed = re.findall(r"^\| `tplc (\w+)", (ROOT / "docs" / "commands.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [command.name for command in app.registered_commands]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_page_has_the_same_hut(path: Path) -> None:
    """A reader follows several pages in one folder: a file of one name has one content."""
    text = path.read_text(encoding="utf-8")
    shown = [block.text for block in read_blocks(text) if block.file == "hut.jinja"]
    assert shown in ([], [(ROOT / "docs" / "hut.jinja").read_text(encoding="utf-8")])
    assert bool(shown) + ("<!-- uses: hut.jinja -->" in text) <= 1


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_every_page_says_who_it_is_for(path: Path) -> None:
    below = re.split(r"^# .+\n\n", path.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)[1]
    assert re.match(r"For (?:people|everyone|developers|maintainers|programs|projects)\b", below)


def test_hooks_and_action_run_what_there_is() -> None:
    names = {command.name for command in app.registered_commands}
    reported = [(ROOT / name).read_text(encoding="utf-8") for name in (".pre-commit-hooks.yaml", "action.yml")]
    used = [re.findall(r"^ *(?:(?:entry|run): )?tplc (\w+)", text, re.MULTILINE) for text in reported]
    assert used == [["check", "build"], ["check"]]
    assert {name for names_of_file in used for name in names_of_file} <= names


def test_every_threat_names_its_tests() -> None:
    """The table of SECURITY.md names a threat, what stops it, and existing files or folders of tests."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8").split("## Threats")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == ["threat", "what stops it", "test"]
    assert len(rows) > 12
    for threat, stopped, tests in rows[1:]:
        assert threat
        assert stopped
        named = re.findall(r"`([^`]+)`", tests)
        assert named, threat
        for name in named:
            if name.startswith("make "):
                assert f"\n{name.removeprefix('make ')}: " in (ROOT / "Makefile").read_text(encoding="utf-8"), name
                continue
            path = ROOT / name
            files = [path] if path.is_file() else sorted(path.glob("test_*.py"))
            assert any("def test_" in file.read_text(encoding="utf-8") for file in files), f"{threat}: {name}"
