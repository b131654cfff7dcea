"""Entries of the catalogue are valid, do what they declare, and apply by markers alone."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.backends.parsers import ir_of, parser_for, streamed
from tests.conftest import ROOT
from tplc.backends.peg.engine import PegEngine
from tplc.catalogue import Entry, ExpectedOutput, applied_entries, fits, shipped
from tplc.driver import compile_template, learn_format, open_renderer, tolerate
from tplc.ir.check import check
from tplc.ir.nodes import TemplateIR
from tplc.ir.serialize import dumps, loads
from tplc.schemas import load_schema

FOLDER = ROOT / "compiler" / "tplc" / "catalogue"
CASES = ROOT / "tests" / "cases" / "catalogue"
ENTRIES = {entry.name: entry for entry in shipped()}


@cache
def learned(name: str) -> TemplateIR:
    """Return the format of the small template that an entry is tried on."""
    source = (CASES / f"{name}.jinja").read_text(encoding="utf-8")
    with open_renderer(source, name=name) as renderer:
        return learn_format(renderer, name=name, source_text=source)


def reported(message: dict[str, Any]) -> ExpectedOutput:
    calls = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message["tool_calls"]]
    return ExpectedOutput("", message["content"] or "", message["reasoning_content"] or "", tuple(calls))


def read(ir: TemplateIR, text: str) -> ExpectedOutput:
    """Return what every engine reads from a text, in any chunking."""
    module = parser_for(ir)
    message = dict(module.parse(text))
    assert dict(PegEngine(ir).parse(text)) == message
    assert streamed(module, list(text)) == message
    return reported(message)


def wanted(output: ExpectedOutput) -> ExpectedOutput:
    return ExpectedOutput("", output.content, output.reasoning, output.calls)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_entries_are_valid(path: Path) -> None:
    jsonschema.Draft202012Validator(load_schema("catalogue")).validate(json.loads(path.read_text(encoding="utf-8")))


def test_every_entry_is_tried() -> None:
    assert sorted(path.stem for path in CASES.glob("*.jinja")) == sorted(ENTRIES)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
def test_an_entry_does_what_it_says(entry: Entry) -> None:
    plain = learned(entry.name)
    ir = tolerate(plain)
    assert check(ir) == []
    assert loads(dumps(ir)) == ir
    assert dict(applied_entries(ir)) == {entry.name: len(entry.tolerances)}
    for output in entry.outputs:
        assert read(ir, output.text) == wanted(output)
    assert all(reported(dict(parser_for(plain).parse(o.text))) != wanted(o) for o in entry.outputs)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("name", list(ENTRIES))
def test_what_the_template_writes_still_comes_back(name: str) -> None:
    source = (CASES / f"{name}.jinja").read_text(encoding="utf-8")
    for target in ("python", "peg"):
        result = compile_template(source, name=name, target=target).verification  # type: ignore[arg-type]
        assert result.failures == ()
        assert result.verified


def test_entries_apply_by_markers_alone() -> None:
    for name, entry in ENTRIES.items():
        assert [other for other in ENTRIES if fits(entry, learned(other))] == [name]
    for name in ("tagged-json", "plain-chat", "sectioned-ids"):
        assert not [entry for entry in ENTRIES.values() if fits(entry, ir_of(name))]


def test_the_catalogue_can_be_left_out() -> None:
    name = next(iter(ENTRIES))
    assert tolerate(learned(name), (), ()) == learned(name)
    source = (CASES / f"{name}.jinja").read_text(encoding="utf-8")
    assert not applied_entries(compile_template(source, name=name, catalogue=()))
