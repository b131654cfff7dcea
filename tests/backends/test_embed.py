"""Of the runtime a parser holds what its format can reach."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence

import pytest

from tests.conftest import ROOT
from tplc.backends.python import generate
from tplc.backends.python.embed import _without, embed
from tplc.driver import load_ir
from tplc.verify.artifact import load_module


def parser_of(example: str, *, openai: bool = False) -> str:
    ir = load_ir((ROOT / "examples" / example / "out" / "ir.json").read_text(encoding="utf-8"))
    return generate(ir, openai=openai)


def methods(source: str) -> set[str]:
    classes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    return {f"{node.name}.{item.name}" for node in classes for item in node.body if isinstance(item, ast.FunctionDef)}


CODE = """
class StreamParser({base}):
    {attributes}

    def _content(self) -> bool:
        {statement}
"""


def embedded(statement: str, base: str = "TurnStates", attributes: str = 'HEADS = ("",)') -> str:
    code = CODE.format(base=base, attributes=attributes, statement=statement)
    return embed(code.split("\n"), [base]).text


def test_a_chat_without_calls_reads_none() -> None:
    found = methods(parser_of("plain-chat"))
    assert not {name for name in found if re.search(r"call|counting|release|slots", name)}


@pytest.mark.parametrize(("openai", "imported"), [(False, False), (True, True)])
def test_what_only_chat_completions_need(openai: bool, imported: bool) -> None:
    assert ("import uuid" in parser_of("tagged-json", openai=openai)) == imported


def test_a_flag_brings_its_branches() -> None:
    statement = "return self._until(Scanner(), 'content') != ''"
    assert "_counting" not in embedded(statement)
    assert "def _counting" in embedded(statement, attributes="AT_LINES = True")
    assert "_at_end" not in embedded(statement, attributes="AT_LINES = True")
    assert "def _at_end" in embedded(statement, attributes="AT_ENDS = True")


def test_what_a_nearer_class_stands_in_for() -> None:
    statement = "return self._begin_object('{') is None"
    assert "Objects._finish" not in methods(embedded(statement, "CallObjects"))
    assert {"CallObjects._finish", "TurnStates._finish"} <= methods(embedded(statement, "CallObjects"))
    assert {"RawPairs._finish", "Pairs._finish"} <= methods(embedded("return self._pairs()", "RawPairs"))


def test_branches_that_are_left_out() -> None:
    source = """
def f(self, x):
    # More of it.
    if self.FIRST and x:
        return 1
    if self.FIRST or self.SECOND:
        return 2
    if x and self.FIRST:
        return 3
    if self.FIRST:
        return 4
    else:
        return 5
"""
    left = """
def f(self, x):
    if self.FIRST or self.SECOND:
        return 2
    if x and self.FIRST:
        return 3
    if self.FIRST:
        return 4
    else:
        return 5"""
    assert without(source, ["FIRST"]) == left
    assert "return 2" not in without(source, ["FIRST", "SECOND"])
    assert without(source) + "\n" == source


def without(source: str, off: Sequence[str] = (), on: Sequence[str] = ()) -> str:
    branches = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.If)]
    return _without(source, branches, frozenset(off), frozenset(on))


def test_what_is_always_so_is_not_asked() -> None:
    source = """def f(self):
    # Why.
    if self.FIRST:
        # What.
        if self.SECOND and self.x:
            return 1
    if self.FIRST and (self.x or self.y):
        return 2
    if self.FIRST and (self.x) and (self.y):
        return 3
    elif self.SECOND and self.y:
        return 4
    if self.FIRST or self.x:
        return 5
    if self.FIRST:
        return 6
    else:
        return 7
"""
    asked = """def f(self):
    # Why.
    # What.
    if self.x:
        return 1
    if self.x or self.y:
        return 2
    if (self.x) and (self.y):
        return 3
    elif self.y:
        return 4
    if self.FIRST or self.x:
        return 5
    if self.FIRST:
        return 6
    else:
        return 7"""
    assert without(source, on=["FIRST", "SECOND"]) == asked


def test_a_method_that_only_others_stand_in_for_has_its_signature() -> None:
    signature = "    def _call(self) -> bool:\n        raise NotImplementedError\n"
    text = embedded("return self._try_call('content')", "CallObjects")
    assert signature in text
    assert "def _slots" not in text
    header = 'HEADER = ("",)'
    assert "CallObjects._call" in methods(embedded("return self._try_call('content')", "CallObjects", header))
    assert "Slots._slots" in methods(embedded("return self._try_call('content')", "CallObjects", header))


@pytest.mark.parametrize("example", ["plain-chat", "parameter-tags", "tagged-json"])
def test_chat_completions_have_all_without_a_command_line(example: str) -> None:
    ir = load_ir((ROOT / "examples" / example / "out" / "ir.json").read_text(encoding="utf-8"))
    module = load_module(generate(ir, openai=True, main=False))
    completion = module.ChatCompletion("m")
    chunks = [*completion.read({"choices": [{"index": 0, "text": "Hi."}]}), *completion.finish()]
    assert "Hi." in json.dumps(chunks)
    if example == "plain-chat":
        assert "Slots._slots" not in methods(generate(ir, openai=True))
