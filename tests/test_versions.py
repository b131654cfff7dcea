"""Parsers of earlier versions keep working, by themselves and in every command; IRs must be made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.conftest import ROOT
from tests.example_case import load_example
from tplc.verify.artifact import load_module

# Each holds what its version made of examples/tagged-json.
VERSIONS = sorted((ROOT / "tests" / "cases" / "versions").iterdir())
EXAMPLE = load_example(ROOT / "examples" / "tagged-json")
versions = pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)


@versions
def test_a_parser_of_then_reads_what_it_read(folder: Path) -> None:
    module = load_module((folder / "parser.py").read_text(encoding="utf-8"))
    assert folder.name == module.TPLC_VERSION
    for output in EXAMPLE.outputs:
        assert module.parse(output.text) == output.message


@versions
def test_commands_take_a_parser_of_then(folder: Path, run: Run, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    parser, output = str(folder / "parser.py"), EXAMPLE.outputs[0]
    result = run("parse", parser, stdin=output.text)
    assert (result.code, json.loads(result.out)) == (0, output.message)
    template = str(EXAMPLE.folder / "template.jinja")
    result = run("verify", template, parser, "--json")
    failures = json.loads(result.out)["failures"]
    # What follows the end of the turn is content to them; servers cut it off.
    after_turn = [line for line in failures if "with all text that is rendered after it" in line]
    assert (result.code, failures[1:]) == (1, after_turn)
    assert run("try", parser, stdin=output.text).code == 0
    result = run("parse", parser, "--continue-final-message", stdin=output.text)
    problem = "made by an older tplc, without --continue-final-message: generate it again"
    assert (result.code, result.err) == (2, f"tplc: {parser}: {problem}\n")


@versions
@pytest.mark.parametrize("command", [["inspect"], ["parse"], ["diff"]])
def test_an_ir_of_then_says_what_to_do(folder: Path, command: list[str], run: Run) -> None:  # noqa: F811 - the fixture
    path = str(folder / "ir.json")
    others = [path] if command == ["diff"] else []
    result = run(*command, path, *others, stdin="")
    problem = (
        'version: expected IR version 2 (an earlier tplc wrote this: compile the template "template.jinja" again, '
        "tplc compile TEMPLATE -o ir.json), got 1"
    )
    assert (result.code, result.out, result.err) == (2, "", f"tplc: {path}: {problem}\n")
