"""Structural tags and the doctor from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]


def test_compile(run: Run, template: Path, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    asked = ("compile", "chat.jinja", "-o", "chat.structural_tag.json", "--tools", "tools.json", "-q")
    assert run(*asked).code == 0
    tag = json.loads((tmp_path / "chat.structural_tag.json").read_text())
    assert (tag["type"], tag["format"]["type"], tag["format"]["triggers"]) == (
        "structural_tag",
        "triggered_tags",
        ['<call>{"name":'],
    )
    # Written once, it is known as our own.
    assert run(*asked, "--tool-choice", "required", "--tag-reasoning", "outside").code == 0
    assert json.loads((tmp_path / "chat.structural_tag.json").read_text())["format"]["type"] == "grammar"
    assert run(*asked, "--legacy").code == 0
    assert json.loads((tmp_path / "chat.structural_tag.json").read_text())["triggers"] == ['<call>{"name":']


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["-t", "structural_tag"], "a grammar is made for one request: give --tools FILE or --json-schema FILE"),
        (["-t", "structural_tag", "--tag-reasoning", "x"], "--tag-reasoning x: expected inside or outside"),
        (["-t", "peg", "--tag-reasoning", "outside"], "--tag-reasoning is for --target structural_tag, not for peg"),
        (["-t", "gbnf", "--legacy"], "--legacy is for --target structural_tag, not for gbnf"),
        (["-t", "peg", "--openai"], "--openai is for --target python, not for peg"),
        (["-t", "vllm", "--openai"], "--openai is for --target python, not for vllm"),
        (["-t", "peg", "--name", "x"], "--name is for --target vllm or sglang, not for peg"),
        (["-t", "sglang", "--name", "a b"], "--name 'a b': expected ASCII letters, digits, '-', '_' and '.'"),
    ],
)
def test_usage(run: Run, template: Path, arguments: list[str], error: str) -> None:
    result = run("compile", "chat.jinja", *arguments)
    assert (result.code, result.err) == (2, f"tplc: {error}\n")


def test_doctor(run: Run, template: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    added = {"1": {"content": "<call>", "special": True}, "2": {"content": "<end>", "special": True}}
    config = {"chat_template": template.read_text(), "added_tokens_decoder": added}
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    result = run("doctor", "model")
    assert result.code == 0
    assert [line for line in result.out.splitlines() if not line.startswith(" ") and line][:4] == [
        "format",
        "vLLM",
        "SGLang",
        "llama.cpp",
    ]
    assert '  marker     "<end>" is one token\n' in result.out
    assert "  grammar    none as GBNF: in a grammar request every special token is empty" in result.out
    reported = json.loads(run("doctor", "model", "--json").out)
    marker = {"place": "format", "what": "marker", "text": "one token", "values": ["<end>"], "tokens": ["<end>"]}
    assert marker in reported
