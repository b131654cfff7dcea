"""Lark grammars from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
ASKED = ("compile", "chat.jinja", "-o", "chat.lark", "--tools", "tools.json", "-q")
ADDED = [{"id": 7, "content": "<call>", "special": False}, {"id": 8, "content": "</call>", "special": True}]


@pytest.fixture
def tools(template: Path, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))


@pytest.mark.usefixtures("tools")
def test_without_a_tokenizer(run: Run, tmp_path: Path) -> None:
    result = run(*ASKED)
    assert result.code == 0
    assert result.err == (
        'text markers "</call>" "</why>" "<call>" "<end>" "<why>": if one of these is a special token of the model, '
        "the grammar never matches it; give the tokenizer with --tokenizer tokenizer.json, or "
        "name the model's folder as the source\n"
    )
    lines = (tmp_path / "chat.lark").read_text().splitlines()
    assert lines[0] == "%llguidance {}"
    assert lines[2] == "// To regenerate: tplc compile chat.jinja -o chat.lark --tools tools.json"
    # Written once, it is known as our own.
    assert run(*ASKED, "--tool-choice", "none").code == 0
    assert (
        (tmp_path / "chat.lark")
        .read_text()
        .endswith("// No rules: nothing is constrained, so give an engine no grammar.\n")
    )


@pytest.mark.usefixtures("tools")
def test_with_a_tokenizer(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": ADDED}))
    assert run(*ASKED, "--tokenizer", "tokenizer.json").err == ""
    text = (tmp_path / "chat.lark").read_text()
    assert '// Tokens: "</call>" "<call>"\n' in text and "(<call> " in text
    assert " --tokenizer tokenizer.json\n" in text
    made = run("compile", "chat.jinja", "-t", "lark", "--tools", "tools.json", "--tokenizer", ".", "--json")
    report = json.loads(made.err)["grammar"]
    assert (report["tokens"], report["texts"]) == (["</call>", "<call>"], ["</why>", "<end>", "<why>"])
    assert (
        'text markers not tokens of this tokenizer: "</why>" "<end>" "<why>"'
        in run("compile", "chat.jinja", "-t", "lark", "--tools", "tools.json", "--tokenizer", "tokenizer.json").err
    )


@pytest.mark.usefixtures("tools")
def test_a_model_that_has_its_tokenizer(run: Run, template: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "chat_template.jinja").write_text(template.read_text())
    (model / "tokenizer.json").write_text(json.dumps({"added_tokens": ADDED}))
    assert "(<call> " in run("compile", "model", "-t", "lark", "--tools", "tools.json").out


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["-t", "lark"], "a grammar is made for one request: give --tools FILE or --json-schema FILE"),
        (
            ["-t", "peg", "--tokenizer", "x"],
            "--tokenizer is for --target python, json, gbnf, structural_tag, lark, vllm or sglang, not for peg",
        ),
        (
            ["-t", "lark", "--tools", "tools.json", "--tokenizer", "tools.json"],
            "tools.json: expected a JSON object at the top, found a list",
        ),
        (
            ["-t", "lark", "--tools", "tools.json", "--tokenizer", "."],
            ".: lists no added tokens\n    name a tokenizer.json, a tokenizer_config.json with "
            "added_tokens_decoder, or a GGUF file",
        ),
    ],
)
def test_usage(run: Run, arguments: list[str], error: str) -> None:
    result = run("compile", "chat.jinja", *arguments)
    assert (result.code, result.err) == (2, f"tplc: {error}\n")


@pytest.mark.usefixtures("tools")
def test_another_version(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tplc.targets.lark.version", lambda name: "0.6.1")
    result = run(*ASKED)
    assert (result.code, result.err) == (
        1,
        "tplc: llguidance 0.6.1 is installed, and 1.7.6 to 1.9.1 were tested: pip install 'tplc[lark]'\n",
    )
    assert not (tmp_path / "chat.lark").exists()
