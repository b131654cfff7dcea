"""What commands answer to slips of their users: whole messages."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from tests.cli.conftest import TEMPLATE, Run

MANIFEST = '[models.hut]\nsource = "hut.jinja"\noutputs = ["hut.json"]\n'
BOM = "\ufeff"


@pytest.fixture
def here(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "hut.jinja").write_text(TEMPLATE)
    (tmp_path / "tplc.toml").write_text(MANIFEST)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (["build", "hot"], "tplc.toml: no model is called 'hot' (did you mean hut?); there are hut"),
        (["check", "hut.json"], "tplc.toml: hut.json is a file of the model hut, not a model; there are hut"),
        (["build", "./hut.jinja"], "tplc.toml: ./hut.jinja is a file of the model hut, not a model; there are hut"),
        (["compile", "hut.jinja", "-o", "."], ".: is a directory\n    name a file to write"),
        (
            ["check", "--format", "gitub"],
            "no format is called 'gitub' (did you mean github?): there are text, github, json",
        ),
        (
            ["new", "den", "--layout", "keyword"],
            "no layout is called 'keyword' (did you mean keywords?): there are json, parameters, keywords, channels",
        ),
        (
            ["explain", "hut.jinja", "--example", "pretty.json"],
            "pretty.json:1:2: is not JSON: Expecting property name enclosed in double quotes\n"
            "    expected one JSON object per line: write each pair on one line",
        ),
        (["census", "hut.jinja", "--against", "rows.jsonl"], "rows.jsonl: is not a census table: a row has no source"),
    ],
)
def test_message(run: Run, here: Path, command: list[str], error: str) -> None:
    (here / "pretty.json").write_text('{\n  "message": {}\n}\n')
    (here / "rows.jsonl").write_text('{"text": "Hi."}\n')
    result = run(*command)
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {error}\n")


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        (
            ["compile", "hut.jinja", "-t", "trainig"],
            "no target is called 'trainig' (did you mean training?): there are ",
        ),
        (["schema", "chek"], "no schema is called 'chek' (did you mean check?): there are "),
        (
            ["inspect", "hut.jinja", "--limit", "memry_mb=9"],
            "limit memry_mb: no such limit (did you mean memory_mb?); ",
        ),
        (["inspect", "hut.jinja", "--tolerances", "kind.json"], "kind.json: tolerances[0].kind: expected variant, or "),
        (
            ["inspect", "hut.jinja", "--tolerances", "role.json"],
            'role.json: tolerances[0].marker: "turn.end" is not a marker of this format (did you mean turn.ends?): ',
        ),
    ],
)
def test_a_similar_name_is_named(run: Run, here: Path, command: list[str], meant: str) -> None:
    role = {"kind": "variant", "marker": "turn.end", "text": "<fin>", "reason": "seen"}
    (here / "role.json").write_text(json.dumps({"tolerances": [role]}))
    (here / "kind.json").write_text('{"tolerances": [{"kind": "python_litrals"}]}')
    result = run(*command)
    assert (result.code, result.out, result.err[: len(meant) + 6]) == (2, "", f"tplc: {meant}")
    if "kind.json" in command:
        assert result.err.endswith(" (did you mean python_literals?)\n")


def failure(message: str, kind: str = "UsageError", **place: Any) -> dict[str, Any]:
    error = {"type": kind, "message": message, "name": None, "line": None, "column": None}
    return {"error": error | place, "exit_code": 2}


def test_errors_of_options_are_json(run: Run, here: Path) -> None:
    for command in (["check", "--json"], ["check", "--format", "json"], ["check", "--format=json"]):
        assert json.loads(run(*command, "--xyzzy").out) == failure("No such option: --xyzzy")
    assert json.loads(run("diff", "hut.jinja", "--json").out) == failure("Missing argument 'SECOND'.")
    twice = run("mask", "--json", "--tokenizer", "a", "--tokenizer", "b")
    assert json.loads(twice.out) == failure("--tokenizer is given twice but takes one value; give it once")
    compiled = run("compile", "--json", "--xyzzy")
    assert (compiled.code, compiled.out, json.loads(compiled.err)) == (2, "", failure("No such option: --xyzzy"))
    assert run("render", "--json").out == ""


def test_an_error_has_its_place(run: Run, here: Path) -> None:
    (here / "tplc.toml").write_text(MANIFEST + "sead = 1\n")
    error = json.loads(run("check", "--json").out)["error"]
    assert (error["name"], error["line"], error["column"]) == ("tplc.toml", 4, 1)
    (here / "pairs.jsonl").write_text('{"message": {}\n')
    error = json.loads(run("explain", "hut.jinja", "--example", "pairs.jsonl", "--json").out)["error"]
    assert (error["name"], error["line"], error["column"]) == ("pairs.jsonl", 1, 15)
    (here / "pairs.jsonl").write_text('\n{"message": {"tool_calls": 3}, "text": ""}\n')
    error = json.loads(run("explain", "hut.jinja", "--example", "pairs.jsonl", "--json").out)["error"]
    assert (error["name"], error["line"], error["column"]) == ("pairs.jsonl", 2, None)
    (here / "out: line 4").mkdir()
    error = json.loads(run("observe", "hut.jinja", "out: line 4/x.jsonl", "--json").out)["error"]
    assert (error["name"], error["line"], error["column"]) == ("out: line 4/x.jsonl", None, None)
    (here / "tools.json").write_text("[\n1")
    error = json.loads(run("observe", "hut.jinja", "x.txt", "--tools", "tools.json", "--json").out)["error"]
    assert (error["name"], error["line"], error["column"]) == ("tools.json", 2, 2)


@pytest.mark.parametrize("by_variable", [True, False])
def test_annotations_are_relative_to_the_repository(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, *, by_variable: bool
) -> None:
    (here / "part").mkdir()
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    if by_variable:
        monkeypatch.setenv("GITHUB_WORKSPACE", str(here))
    else:
        subprocess.run(["git", "init", "-q"], cwd=here, check=True)
    monkeypatch.chdir(here / "part")
    result = run("check", "--format", "github")
    assert result.out == "::error file=hut.json::hut: missing: tplc build writes it\n"


def test_a_byte_order_mark_is_no_part_of_an_input(run: Run, here: Path) -> None:
    for name, text in (
        ("tools.json", "[]"),
        ("tolerances.json", '{"tolerances": []}'),
        ("messages.json", '[{"role": "user", "content": "Hi"}]'),
        ("tplc.toml", MANIFEST),
        ("out.txt", "Hi.<end>"),
    ):
        (here / name).write_text(BOM + text)
    given = ["--tools", "tools.json", "--tolerances", "tolerances.json"]
    for more in ([], ["--stream"]):
        assert BOM not in run("parse", "hut.jinja", "out.txt", *given, *more).out.replace("\\ufeff", BOM)
    assert run("render", "hut.jinja", "messages.json").out == "<user>Hi<end><assistant>"
    assert run("build", "-q").code == 0
    assert run("check").out == "hut.json: current\n"


def test_only_line_ends_differ(run: Run, here: Path) -> None:
    assert (run("build", "--quiet").out, run("check").code) == ("", 0)
    template, artifact = here / "hut.jinja", here / "hut.json"
    template.write_bytes(template.read_bytes().replace(b"\n", b"\r\n"))
    assert run("check").out == "hut.json: current\n"
    artifact.write_bytes(artifact.read_bytes().replace(b"\n", b"\r\n"))
    assert run("check").out == (
        "hut.json: edited: only line ends differ: it has those of Windows "
        "(.gitattributes: the line `FILE -text` keeps them)\n"
    )


def test_a_source_that_cannot_be_read(run: Run, here: Path) -> None:
    (here / "list.txt").write_text("no/such/folder/hut.jinja\n")
    result = run("census", "list.txt", "-j", "1", "-o", "table.jsonl")
    assert result.code == 2
    assert result.out.splitlines()[-1] == "  no/such/folder/hut.jinja: unreadable: there is no such file or folder"
    assert result.err.splitlines()[-1] == "tplc: 1 of 1 sources cannot be read"
    assert json.loads((here / "table.jsonl").read_text())["state"] == "unreadable"


def test_a_training_template_is_written_again(run: Run, here: Path) -> None:
    beginnings = ("", "\n", "  ", "x\n", "  {%- if true %}a{% endif %}\n")
    for beginning in beginnings:
        (here / "hut.jinja").write_text(beginning + TEMPLATE)
        assert run("compile", "hut.jinja", "-t", "training", "-o", "training.jinja", "-q").code == 0
        made = (here / "training.jinja").read_text()
        comment, _, rest = made.partition("\n")
        assert comment.startswith("{# Generated by tplc ")
        environment = Environment(trim_blocks=True, lstrip_blocks=True)
        plain = [
            text.replace("{%- generation", "{%- if true").replace("{% generation", "{% if true")
            for text in (made, rest)
        ]
        plain = [text.replace("endgeneration", "endif") for text in plain]
        first, second = (environment.from_string(text).render(messages=[]) for text in plain)
        assert first == second


def test_an_artifact_of_another_template(run: Run, here: Path) -> None:
    assert run("build").code == 0
    (here / "other.jinja").write_text(TEMPLATE.replace("call>", "order>"))
    lines = run("verify", "other.jinja", "hut.json").out.splitlines()
    assert lines[0] == "template     another one than the artifact was made from: the SHA-256 differ"
    assert not [line for line in lines if line.startswith("ambiguous")]
