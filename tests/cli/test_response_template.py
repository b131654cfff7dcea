"""Response templates from the command line."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

here = importlib.util.find_spec("transformers") is not None
needs_parser = pytest.mark.skipif(not here, reason="transformers is not installed: its parser verifies these")


@needs_parser
def test_compile(run: Run, template: Path, tmp_path: Path) -> None:
    result = run("compile", "chat.jinja", "-o", "chat.response_template.json", "--json")
    report = json.loads(result.err)
    assert (result.code, report["wrote"]) == (0, "chat.response_template.json")
    assert [one["feature"] for one in report["not_expressed"]] == ["closing text in an argument"]
    assert json.loads((tmp_path / "chat.response_template.json").read_text())["fields"]["content"]["join"] == ""
    # Written once, it is known as our own.
    assert run("compile", "chat.jinja", "-o", "chat.response_template.json", "-q").code == 0


@needs_parser
def test_strict_refuses(run: Run, template: Path, tmp_path: Path) -> None:
    result = run("compile", "chat.jinja", "-o", "chat.response_template.json", "--strict")
    assert (result.code, (tmp_path / "chat.response_template.json").exists()) == (1, False)
    assert result.err.startswith(
        "tplc: chat.jinja: response_template cannot express this format: closing text in an argument "
        "(the first text like a call's end ends the call)\n    for example "
    )


@needs_parser
def test_into_a_tokenizer_config(run: Run, template: Path, tmp_path: Path) -> None:
    config = tmp_path / "tokenizer_config.json"
    config.write_bytes(b'{\r\n    "a": [1,   2],\r\n    "z": "\xc3\xa9"\r\n}')
    assert run("compile", "chat.jinja", "--into", str(config), "-q").code == 0
    text = config.read_bytes().decode()
    assert text.startswith(
        '{\r\n    "a": [1,   2],\r\n    "z": "é",\r\n    "response_template": {\r\n        "version": 1'
    )
    assert text.endswith("}\r\n}")
    again = run("compile", "chat.jinja", "--into", str(config), "-q")
    assert (again.code, config.read_bytes().decode()) == (0, text)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--into", "x.json", "-t", "peg"], "--into is for --target response_template, not for peg"),
        (["--into", "x.json", "-o", "y.json"], "--into names the file that is written: leave --output out"),
        (["-t", "response_template", "--profile", "x"], "no profile is called 'x': there are transformers, servers"),
        (
            ["-t", "peg", "--profile", "servers"],
            "--profile is for --target response_template, not for peg",
        ),
        (
            ["-t", "response_template", "--allow-unverified"],
            "--allow-unverified: a response template has no place for a mark, so none is written unverified",
        ),
        (
            ["-t", "response_template", "--tools", "x.json"],
            "--tools is for --target gbnf, structural_tag, lark or peg, not for response_template",
        ),
        (["--into", "none.json"], "none.json: there is no such file\n    this folder has no *.json"),
    ],
)
def test_usage(run: Run, template: Path, arguments: list[str], error: str) -> None:
    result = run("compile", "chat.jinja", *arguments)
    assert (result.code, result.err) == (2, f"tplc: {error}\n")


def test_the_parser_is_missing(run: Run, template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    result = run("compile", "chat.jinja", "-t", "response_template")
    assert (result.code, result.out, result.err) == (
        2,
        "",
        "tplc: a response template is verified with transformers (5.15 to 5.23 tested), which is not installed: "
        "pip install 'tplc[transformers]'\n",
    )
