"""Formats that need a special token which was not given: every command reports it, and --strict makes it an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import TEMPLATE, Run

ENDED = TEMPLATE.replace("'<end>'", "eos_token")
MANIFEST = """\
[models.hut]
source = "hut.jinja"
outputs = ["hut.py"]
"""
GIVEN = MANIFEST + 'special-tokens = {eos_token = "</s>"}\n'
STANDS = (
    'hut.jinja: eos_token is not given: in turn.end, "<eos_token:not-given>" stands for it, which no output ends '
    "with: give "
)
IN_MANIFEST = 'special-tokens = {eos_token = "TEXT"} in the manifest, or the model\'s folder as the source'
FAILED = f"hut.jinja: an answer ends with eos_token, which is not given\n    give {IN_MANIFEST}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tplc.toml").write_text(MANIFEST)
    (tmp_path / "hut.jinja").write_text(ENDED)
    return tmp_path


def test_build_warns_each_time(run: Run, project: Path) -> None:
    built = run("build")
    assert (built.code, built.out) == (
        0,
        "built    hut: hut.py (all messages)\n"
        f"warning  hut: {STANDS}{IN_MANIFEST}\n"
        "1 model: 1 built, 0 current, 0 failed\n",
    )
    assert run("build").out.splitlines() == [
        "current  hut",
        f"warning  hut: {STANDS}{IN_MANIFEST}",
        "1 model: 0 built, 1 current, 0 failed",
    ]
    [outcome] = json.loads(run("build", "--json").out)
    assert outcome["warnings"] == [
        {"name": "hut.jinja", "line": 0, "column": 0, "text": (STANDS + IN_MANIFEST).removeprefix("hut.jinja: ")}
    ]


def test_check_warns_in_every_format(run: Run, project: Path) -> None:
    run("build")
    checked = run("check", "--junit", "junit.xml")
    assert (checked.code, checked.out) == (
        0,
        f"hut.py: current\ntplc.toml: warning: hut: {STANDS}{IN_MANIFEST}\n",
    )
    shown = f"{STANDS}{IN_MANIFEST}".replace("<", "&lt;").replace(">", "&gt;")
    assert (project / "junit.xml").read_text() == (
        '<?xml version="1.0" encoding="utf-8"?>\n<testsuite name="tplc" tests="1" failures="0">\n'
        f'  <testcase classname="hut" name="hut.py"><system-out>warning: {shown}</system-out></testcase>\n'
        "</testsuite>\n"
    )
    assert run("check", "--format", "github").out == f"::warning file=tplc.toml::hut: {STANDS}{IN_MANIFEST}\n"
    [finding] = json.loads(run("check", "--json").out)
    assert [warning["text"] for warning in finding["warnings"]] == [(STANDS + IN_MANIFEST).removeprefix("hut.jinja: ")]


@pytest.mark.parametrize("asked", [("--strict",), ()])
def test_strict_makes_it_an_error(run: Run, project: Path, asked: tuple[str, ...]) -> None:
    if not asked:
        (project / "tplc.toml").write_text(MANIFEST + "strict = true\n")
    built = run("build", *asked)
    assert (built.code, built.out) == (
        1,
        f"failed   hut: {FAILED}warning  hut: {STANDS}{IN_MANIFEST}\n1 model: 0 built, 0 current, 1 failed\n",
    )
    assert not (project / "hut.py").exists()
    checked = run("check", *asked)
    assert (checked.code, checked.out) == (
        1,
        f"tplc.toml: failed: hut: {FAILED}tplc.toml: warning: hut: {STANDS}{IN_MANIFEST}\n",
    )
    (project / "tplc.toml").write_text(GIVEN)
    assert run("build", *asked).out == "built    hut: hut.py (all messages)\n1 model: 1 built, 0 current, 0 failed\n"
    assert 'STOP = ("</s>",)' in (project / "hut.py").read_text()
    assert run("check", *asked).out == "hut.py: current\n"


def test_a_token_in_another_place_is_no_error(run: Run, project: Path) -> None:
    """Only a missing token that ends an answer makes a parser useless."""
    header = TEMPLATE.replace("{{- '<' + m.role + '>' }}", "{{- (eos_token or '') + '<' + m.role + '>' }}")
    (project / "hut.jinja").write_text(header)
    assert run("build", "--strict").code == 0


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", ["python", "peg", "json", "vllm", "sglang"])
def test_strict_compiles_for_every_target(run: Run, project: Path, target: str) -> None:
    refused = run("compile", "hut.jinja", "-t", target, "-o", "made", "--strict")
    assert (refused.code, refused.err) == (
        1,
        "tplc: hut.jinja: an answer ends with eos_token, which is not given\n"
        "    give it with --token eos_token=TEXT or --token tokenizer_config.json, or name the model's folder as the "
        "source\n",
    )
    assert not (project / "made").exists()
    given = ("--token", "eos_token=</s>")
    assert run("compile", "hut.jinja", "-t", target, "-o", "made", "--strict", *given).code == 0


def test_compile_reports_it_as_json(run: Run, project: Path) -> None:
    report = json.loads(run("compile", "hut.jinja", "-o", "hut.py", "--json").err)
    [warning] = report["warnings"]
    assert warning["text"].startswith("eos_token is not given: in turn.end")


@pytest.mark.parametrize("command", ["parse", "try", "lint", "observe", "diff"])
def test_commands_that_use_the_format_warn(run: Run, project: Path, command: str) -> None:
    (project / "out.txt").write_text("Hi.")
    other = {"lint": (), "diff": ("hut.jinja",)}.get(command, ("out.txt",))
    done = run(command, "hut.jinja", *other)
    warning = (
        "warning: hut.jinja: an answer ends with eos_token, which is not given\n"
        "    give it with --token eos_token=TEXT or --token tokenizer_config.json, or name the model's folder as the "
        "source\n"
    )
    assert done.code == 0 and set(done.err.split(warning)) == {""}
    assert run(command, "hut.jinja", *other, "--token", "eos_token=</s>").err == ""


def test_prepare_warns(run: Run, project: Path) -> None:
    request = json.dumps({"messages": [{"role": "user", "content": "Hi."}]})
    warning = "an answer ends with eos_token, which is not given, so no stop text stands for it: give its text"
    done = run("prepare", "hut.jinja", stdin=request)
    assert (done.code, done.err, json.loads(done.out)["stop"]) == (0, f"warning: stop: {warning}\n", [])
    done = run("prepare", "hut.jinja", "--token", "eos_token=</s>", stdin=request)
    assert (done.err, json.loads(done.out)["stop"]) == ("", ["</s>"])


def test_census_notes_it(run: Run, project: Path) -> None:
    [entry] = json.loads(run("census", "hut.jinja", "--json").out)["entries"]
    assert entry["warnings"] == [STANDS + "the model's folder as the source, which knows its tokens"]


def test_what_a_grammar_loosens_is_a_warning_of_the_build(run: Run, project: Path) -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    tool = {"type": "function", "function": {"name": "look", "parameters": parameters}}
    (project / "tools.json").write_text(json.dumps([tool]))
    (project / "hut.jinja").write_text(TEMPLATE)
    (project / "tplc.toml").write_text(MANIFEST.replace("hut.py", "hut.gbnf") + 'tools = "tools.json"\n')
    shown = run("compile", "hut.jinja", "-o", "other.gbnf", "--tools", "tools.json").err
    [loosened] = [line.removeprefix("loosened").strip() for line in shown.splitlines() if line.startswith("loosened")]
    assert f"warning  hut: hut.gbnf: loosened: {loosened}\n" in run("build").out
    assert run("build", "--strict").code == 1


def test_verify_names_the_token_that_an_artifact_was_made_with(run: Run, project: Path) -> None:
    assert run("compile", "hut.jinja", "-o", "hut.py", "-q", "--token", "eos_token=</s>").code == 0
    verified = run("verify", "hut.jinja", "hut.py")
    row = (
        'not given    eos_token: in turn.end, "<eos_token:not-given>" stands for it; give it with --token '
        "eos_token=TEXT or --token tokenizer_config.json, or name the model's folder as the source\n"
    )
    assert (verified.code, verified.out[: len(row)]) == (1, row)
    given = run("verify", "hut.jinja", "hut.py", "--token", "eos_token=</s>")
    assert (given.code, "not given" in given.out) == (0, False)
