"""A collection of templates at once."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

import tplc.page
from tests.cli.conftest import TEMPLATE, Run, run  # noqa: F401 - a fixture
from tplc.census.changes import ChangedTemplate, changes
from tplc.census.entry import CensusEntry, entry_of, shared_formats, without_name
from tplc.census.page import page
from tplc.census.run import census
from tplc.census.sources import sources_in
from tplc.census.table import encoded, read
from tplc.errors import SourceError

MUTE = "{% for m in messages %}{% if m.role == 'user' %}[{{ m.content }}]{% endif %}{% endfor %}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two templates of one format, one that writes no answers, and a file that isn't a
    template."""
    place = tmp_path / "models"
    (place / "deep").mkdir(parents=True)
    (place / "a.jinja").write_text(TEMPLATE, encoding="utf-8")
    (place / "deep" / "b.jinja").write_text("{# the same, in other words #}" + TEMPLATE, encoding="utf-8")
    (place / "mute.jinja").write_text(MUTE, encoding="utf-8")
    (place / "wrong.jinja").write_text("{% if %}", encoding="utf-8")
    (place / "model").mkdir()
    config = json.dumps({"chat_template": TEMPLATE})
    (place / "model" / "tokenizer_config.json").write_text(config, encoding="utf-8")
    return place


def test_sources_of_a_folder_and_of_a_list(folder: Path, tmp_path: Path) -> None:
    names = [Path(source).relative_to(folder).as_posix() for source in sources_in(str(folder))]
    assert names == ["a.jinja", "deep/b.jinja", "model", "mute.jinja", "wrong.jinja"]
    listed = tmp_path / "list.txt"
    listed.write_text("org/model  # of the hub\n\n# nothing\n./x.jinja\norg/model\n", encoding="utf-8")
    assert sources_in(str(listed)) == ["org/model", "./x.jinja"]
    assert sources_in(str(folder / names[0])) == [str(folder / names[0])]  # a template itself
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="there are no templates in it"):
        sources_in(str(tmp_path / "empty"))


def test_what_came_of_each(folder: Path) -> None:
    done: list[str] = []
    sources = [*sources_in(str(folder)), "nowhere.jinja"]
    entries = census(sources, jobs=2, progress=done.append)
    assert done == sources == [entry.source for entry in entries]
    assert [entry.state for entry in entries] == [*["verified"] * 3, "refused", "refused", "unreadable"]
    assert [(entry.reasoning, entry.content, entry.calls) for entry in entries[:3]] == [
        ("tag_based", "plain", "json_native")
    ] * 3
    assert entries[0].messages == entries[0].passed > 20
    assert [bool(entry.cause) for entry in entries] == [False] * 3 + [True] * 3
    [(_, group)] = shared_formats(entries)
    assert [Path(entry.source).name for entry in group] == ["a.jinja", "b.jinja", "model"]


def test_the_table_comes_back(folder: Path, tmp_path: Path) -> None:
    entries = [entry_of(str(folder / "a.jinja")), entry_of(str(folder / "wrong.jinja"))]
    for name in ("t.jsonl", "t.parquet"):
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        (tmp_path / name).write_bytes(encoded(entries, name))
        assert read(str(tmp_path / name)) == [replace(entry, seconds=0.0) for entry in entries]
        slower = [replace(entry, seconds=entry.seconds + 1) for entry in entries]
        assert encoded(slower, name) == encoded(entries, name)
    (tmp_path / "x.jsonl").write_text("[1]\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"x\.jsonl: is not a census table"):
        read(str(tmp_path / "x.jsonl"))


def test_what_changed() -> None:
    before = [
        CensusEntry("a", "verified", sha256="1", format="f"),
        CensusEntry("b", "verified", sha256="2", format="f"),
        CensusEntry("c", "refused", "why", sha256="3"),
        CensusEntry("d", "verified"),
    ]
    now = [
        CensusEntry("a", "not verified", "the closer is missing", sha256="1", format="g"),
        CensusEntry("b", "verified", sha256="9", format="f", warnings=("chance",)),
        CensusEntry("c", "verified", sha256="3", format="h"),
        CensusEntry("e", "verified"),
    ]
    assert changes(before, now) == [
        ChangedTemplate("a", "verified → not verified (the closer is missing)", worse=True),
        ChangedTemplate("a", "another format (the same template)"),
        ChangedTemplate("b", "new warning: chance"),
        ChangedTemplate("c", "refused → verified"),
        ChangedTemplate("e", "new: verified"),
        ChangedTemplate("d", "gone"),
    ]
    assert changes(before, before) == []


def test_the_page_quotes_what_templates_say() -> None:
    written = page([CensusEntry("<script>", "refused", "a & b\x1b[31m")], [ChangedTemplate("<b>", "new")])
    assert "<script>" not in written and "&lt;script&gt;" in written and "a &amp; b\\u001b[31m" in written
    assert "http" not in written.replace("http-equiv", "")


def entries_of(path: Path) -> list[CensusEntry]:
    return read(str(path))


def dying(source: str, limits: object) -> CensusEntry:
    """End like a compile whose process is killed."""
    if source == "killer":
        os._exit(9)
    return CensusEntry(source, "verified")


def test_a_process_that_dies_takes_no_other_template_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tplc.census.run.entry_of", dying)
    sources = ["a", "killer", "b", "c", "d"]
    found = [(entry.source, entry.state, entry.cause) for entry in census(sources, jobs=2)]
    died = ("killer", "internal error", "the process that compiled it died")
    assert found == [died if source == "killer" else (source, "verified", "") for source in sources]


def test_an_unwritable_output_is_reported_before_any_work(run: Run, folder: Path) -> None:  # noqa: F811 - the fixture
    (folder.parent / "file").touch()
    result = run("census", "models", "-o", "file/one.jsonl")
    assert (result.code, result.err) == (
        2,
        "tplc: file/one.jsonl: cannot be written: file is not a folder\n",
    )
    assert result.out == ""
    assert run("census", "models", "-o", "one.csv").err == "tplc: one.csv: a table is written as .parquet or .jsonl\n"


def test_the_command(run: Run, folder: Path, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    result = run("census", "models", "-o", "one.jsonl", "--html", "one.html", "--jobs", "1")
    assert (result.code, result.err) == (0, "wrote one.jsonl\nwrote one.html\n")
    lines = result.out.splitlines()
    assert lines[:4] == [
        "templates       5",
        "verified        3",
        "refused         2",
        "formats         1, 1 of them in several templates",
    ]
    [shared] = {entry.format for entry in entries_of(tmp_path / "one.jsonl") if entry.format}
    assert lines[4] == f"  {shared}: a.jinja, deep/b.jinja, model"
    assert [line.split(": ")[:2] for line in lines[5:]] == [
        ["  mute.jinja", "refused"],
        ["  wrong.jinja", "refused"],
    ]
    assert (tmp_path / "one.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    result = run("census", "models", "-o", "two.jsonl", "--against", "one.jsonl", "--jobs", "1")
    assert (result.code, result.out.splitlines()[-1]) == (0, "nothing changed since one.jsonl")
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    (folder / "a.jinja").write_text(MUTE, encoding="utf-8")
    result = run("census", "models", "--against", "one.jsonl", "--jobs", "1")
    *_, changed, last = result.out.splitlines()
    assert (result.code, last) == (1, "1 changed since one.jsonl")
    assert changed.startswith("  a.jinja: verified → refused (")
    result = run("census", "models", "--against", "one.jsonl", "--json", "--jobs", "1")
    assert (result.code, result.err) == (1, "tplc: 1 of the templates that verified no longer do\n")
    report = json.loads(result.out)
    found = report["changes"]
    assert report["shared_formats"] == {shared: ["models/deep/b.jinja", "models/model"]}
    assert [entry["source"] for entry in report["entries"]] == sources_in("models")
    assert [(change["source"], change["worse"]) for change in found] == [("models/a.jinja", True)]
    result = run("census", "models", "-o", "one.jsonl")
    assert (result.code, result.err) == (
        2,
        "tplc: one.jsonl: already exists; use --force to overwrite it\n",
    )


def test_paths_are_those_within_the_folder(run: Run, folder: Path) -> None:  # noqa: F811 - the fixture
    shown = run("census", str(folder), "--html", "census.html")
    assert shown.code == 0
    assert [line.split(":")[0].strip() for line in shown.out.splitlines() if "refused:" in line] == [
        "mute.jinja",
        "wrong.jinja",
    ]
    assert str(folder) not in shown.out
    written = Path("census.html").read_text(encoding="utf-8")
    assert "<title>Census of models</title>" in written and "<h1>Census of models</h1>" in written
    assert "<td>deep/b.jinja</td>" in written and str(folder) not in written
    headings = re.findall("<h2>(.*?)</h2>", written)
    assert headings == ["Summary", "Formats of several templates", "Templates"]
    again = run("census", str(folder), "-o", "census.jsonl")
    assert again.code == 0 and str(folder / "a.jinja") in Path("census.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a.jinja: the template is empty", "the template is empty"),
        ("deep/a.jinja: the template is empty", "the template is empty"),
        ("./deep/a.jinja: this is not UTF-8 text", "this is not UTF-8 text"),
        ("../models/deep/a.jinja: this is not UTF-8 text", "this is not UTF-8 text"),
        ("a.jinja:2: unexpected '}'", "line 2: unexpected '}'"),
        ("a.jinja:2:6: Encountered unknown tag 'fi'.", "line 2, column 6: Encountered unknown tag 'fi'."),
        ("cause: the name has no end", "cause: the name has no end"),
    ],
)
def test_a_cause_does_not_repeat_the_name(text: str, shown: str) -> None:
    assert without_name(text, "deep/a.jinja") == shown


def test_the_page_names_what_is_ambiguous() -> None:
    written = page([CensusEntry("a", "verified", ambiguities=("integer or string", "null or string"))])
    assert '<td class="prose">ambiguous: integer or string, null or string</td>' in written


def test_no_word_of_the_page_is_broken() -> None:
    style = (Path(tplc.page.__file__).parent / "page.css").read_text(encoding="utf-8")
    assert ".figures td { font-variant-numeric: tabular-nums; overflow-wrap: break-word; }" in style
    assert ".figures th { width: auto; white-space: nowrap; }" in style
    assert ".wide { overflow-x: auto; }" in style
