"""The PEG from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parsimonious.grammar import Grammar

from tests.cli.conftest import Run

OUTPUT = '<why>Hm.</why>Sure.<call>{"name": "look", "arguments": {"at": "you"}}</call><end>'
MESSAGE = {
    "role": "assistant",
    "content": "Sure.",
    "reasoning_content": "Hm.",
    "tool_calls": [{"id": None, "type": "function", "function": {"name": "look", "arguments": '{"at": "you"}'}}],
}


def test_parse_with_the_peg(run: Run, template: Path) -> None:
    run("compile", "chat.jinja", "-o", "chat.json", "-q")
    for source in ("chat.jinja", "chat.json"):
        result = run("parse", source, "--with-peg", stdin=OUTPUT)
        assert (result.code, json.loads(result.out), result.err) == (0, MESSAGE, "")


def test_parse_a_cut_output_with_the_peg(run: Run, template: Path) -> None:
    result = run("parse", "chat.jinja", "--with-peg", stdin='<call>{"name": "look", "arguments": {"at": "y')
    assert json.loads(result.out)["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": "y"}'}
    assert (result.code, result.err) == (0, "the output is incomplete\n")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["chat.jinja", "--with-peg", "--stream"], "--with-peg reads whole outputs: leave --stream out"),
        (
            ["chat.py", "--with-peg"],
            "--with-peg needs a template or an IR: a generated parser has no PEG",
        ),
    ],
)
def test_usage(run: Run, template: Path, arguments: list[str], error: str) -> None:
    result = run("parse", *arguments, stdin="")
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {error}\n")


def test_too_deep(run: Run, template: Path) -> None:
    text = '<call>{"name": "look", "arguments": {"at": ' + "[" * 5000
    result = run("parse", "chat.jinja", "--with-peg", stdin=text)
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "tplc: the output nests deeper than 100 levels, which is what the PEG engine takes: "
        "use the generated parser, which has no limit\n"
    )


def test_inspect_the_peg(run: Run, template: Path) -> None:
    result = run("inspect", "chat.jinja", "--peg")
    assert (result.code, result.err) == (0, "")
    assert Grammar(result.out).default_rule.name == "turn"


def test_compile_for_a_response_format(run: Run, template: Path) -> None:
    Path("schema.json").write_text('{"properties": {"city": {"type": "string"}}}', encoding="utf-8")
    result = run("compile", "chat.jinja", "-o", "chat.peg", "-q", "--json-schema", "schema.json")
    assert (result.code, result.err) == (0, "")
    text = Path("chat.peg").read_text(encoding="utf-8")
    Grammar(text)
    assert 'key_for_answer_city   = "\\"city\\""\n' in text


def test_a_response_format_as_servers_take_it_holds_the_schema(run: Run, template: Path) -> None:
    schema = '{"properties": {"city": {"type": "string"}}}'
    Path("schema.json").write_text(schema, encoding="utf-8")
    wrapped = f'{{"type": "json_schema", "json_schema": {{"name": "place", "schema": {schema}}}}}'
    Path("format.json").write_text(wrapped, encoding="utf-8")
    for name in ("schema", "format"):
        result = run("compile", "chat.jinja", "-o", f"{name}.peg", "-q", "--json-schema", f"{name}.json")
        assert (result.code, result.err) == (0, "")
    from_schema, from_format = (Path(f"{name}.peg").read_text(encoding="utf-8") for name in ("schema", "format"))
    assert from_format == from_schema.replace("schema.peg", "format.peg").replace("schema.json", "format.json")
