"""A parser contains the part of the runtime that its format can reach."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter

import pytest

from tests.conftest import ROOT
from tplc.backends.python import generate
from tplc.backends.python.definitions import assigned, definitions, flags, is_off, source
from tplc.backends.python.embed import FILES, embed
from tplc.backends.python.fold import flag_of_kind, fold
from tplc.backends.python.nodes import defined_names, walk
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
    found = embed(code.split("\n"), [base])
    return "\n".join([found.text, *found.code])


def test_a_chat_without_calls_reads_none() -> None:
    found = methods(parser_of("plain-chat"))
    assert not {name for name in found if re.search(r"call|counting|release|slots", name)}


@pytest.mark.parametrize(("openai", "imported"), [(False, False), (True, True)])
def test_what_only_chat_completions_need(openai: bool, imported: bool) -> None:
    assert ("import uuid" in parser_of("tagged-json", openai=openai)) == imported


def test_a_flag_brings_its_branches() -> None:
    statement = "return self._until(Scanner(), 'content') != ''"
    assert "_counting" not in embedded(statement, attributes="PLACE_DECIDES = False")
    assert "def _counting" in embedded(statement, attributes="HAS_LINE_MARKERS = True")
    assert "_at_end" not in embedded(statement, attributes="HAS_FINAL_MARKERS = False")
    assert "def _at_end" in embedded(statement, attributes="HAS_FINAL_MARKERS = True")


def test_an_attribute_stays_where_it_is_used() -> None:
    assert "    closing = " in embedded("return Style.closing is None")
    assert "    closing = " not in embedded("return Style.next_item is None")


def test_methods_that_a_nearer_class_overrides() -> None:
    statement = "return self._begin_object('{') is None"
    # Classes that are short are joined, but not two of which one refers to a method of the other that it overrides.
    assert finishing(embedded(statement, "CallObjects")) == 2
    assert finishing(embedded("return self._pairs()", "RawPairs")) == 3


def finishing(source: str) -> int:
    return sum(name.endswith("._finish") for name in methods(source))


def test_short_classes_are_joined() -> None:
    source = parser_of("tagged-json")
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert {"Slots", "Repairs"}.isdisjoint(node.name for node in classes)
    parser = {node.name: node for node in classes}["StreamParser"]
    assert [ast.unparse(base) for base in parser.bases] == ["CallObjects"]
    assert max((node.end_lineno or 0) - node.lineno for node in classes if node.name != "Reader") < 350


SOURCE = """def f(self, x):
    # More of it.
    if self.OFF and x:
        return 1
    if self.ON:
        # Why.
        x += 1
    if self.OFF:
        return 2
    elif self.ON and x > 2:
        return 3
    elif self.OFF:
        return 4
    else:
        x += 2
    if x > 3:
        return 5
    elif self.ON:
        return 6
    else:
        return 7
    if self.OFF:
        return 8
    else:
        return 9
    if not self.OFF and (x or self.OFF):
        return 1 if self.ON else 2
    y = x and (self.ON or x) and (self.OFF or not x)
    z = 0 if self.OFF else x if y and not self.OFF else y
    if self.ON and (x or y):
        return f(x if self.OFF else x or y)
    w = (
        (not self.OFF or x)
        and y
        and (self.OFF or z)
    )
    return other(self.SOME, x) if self.SOME else y
"""
FOLDED = """def f(self, x):
    # Why.
    x += 1
    if x > 2:
        return 3
    else:
        x += 2
    if x > 3:
        return 5
    else:
        return 6
    return 9
    if x:
        return 1
    y = x and not x
    z = x if y else y
    if x or y:
        return f(x or y)
    w = y and z
    return other(self.SOME, x) if self.SOME else y"""


def test_flags_are_folded() -> None:
    assert fold(SOURCE, {"ON": True, "OFF": False}.get) == FOLDED
    assert fold(SOURCE, {}.get) + "\n" == SOURCE


@pytest.mark.parametrize(
    ("source", "folded"),
    [
        ("if (\n    self.ON\n    and x\n):\n    y()", "if x:\n    y()"),
        ("if (  # Why.\n    self.ON\n    or x\n):\n    y()\n# Otherwise.\nelse:\n    z()", "y()"),
        ("if self.OFF:\n    y()\n\n# Otherwise.\nelse:\n    z()", "z()"),
        ("x = f(self.ON and\n    y, z)", "x = f(y, z)"),
        ("x = (self.OFF or\n    y)", "x = y"),
        ("x = y if (a if self.ON and b else c) else z", "x = y if (a if b else c) else z"),
        ("x = (a if self.ON and b else c) if y else z", "x = (a if b else c) if y else z"),
    ],
)
def test_flags_are_folded_in_any_layout(source: str, folded: str) -> None:
    assert fold(source, {"ON": True, "OFF": False}.get) == folded


def test_conditions_on_what_holds_something_are_folded_unless_their_value_counts() -> None:
    cases = {
        "if self.FULL and x:\n    y()": "if x:\n    y()",
        "if x and self.FULL:\n    y()": "if x:\n    y()",
        "if self.FULL or x:\n    y()": "y()",
        "x = self.FULL and y": "x = y",
        "x = y and self.FULL": "x = y and self.FULL",
        "x = self.FULL or y": "x = self.FULL or y",
        "x = y if self.FULL else z": "x = y",
        "x = not self.FULL": "x = False",
        "x = self.FULL and self.ON": "x = True",
    }
    assert {source: fold(source, {"ON": True}.get, ["FULL"]) for source in cases} == cases


def test_a_method_that_is_always_overridden_is_declared() -> None:
    text = parser_of("tagged-json")
    assert "    _try_call: ClassVar[Callable[[Any, str], bool]]\n" in text
    assert "NotImplementedError" not in text
    assert "def _slots" not in text
    header = 'HEADER = ("",)'
    assert "def _slots" in embedded("return self._try_call('content')", "CallObjects", header)


@pytest.mark.parametrize("example", ["plain-chat", "parameter-tags", "tagged-json"])
def test_chat_completions_have_all_without_a_command_line(example: str) -> None:
    ir = load_ir((ROOT / "examples" / example / "out" / "ir.json").read_text(encoding="utf-8"))
    module = load_module(generate(ir, openai=True, main=False))
    completion = module.ChatCompletion("m")
    chunks = [*completion.read({"choices": [{"index": 0, "text": "Hi."}]}), *completion.finish()]
    assert "Hi." in json.dumps(chunks)
    if example == "plain-chat":
        assert "Slots._slots" not in methods(generate(ir, openai=True))


@pytest.mark.parametrize(
    ("condition", "folded"),
    [
        ('kind == "stray"', None),
        ('kind != "stray"', "True"),
        ('mark.kind in ("stray", "end")', 'mark.kind == "end"'),
        ('kind not in ("stray", "end", "call")', 'kind not in ("end", "call")'),
        ('kind == "stray" or kind == "end"', 'kind == "end"'),
        ('text == "stray"', 'text == "stray"'),
    ],
)
def test_kinds_of_markers_that_a_format_lacks(condition: str, folded: str | None) -> None:
    source = f"def f(kind, mark, text):\n    if {condition}:\n        return 1\n    return 2\n"
    found = fold(source, {flag_of_kind("stray"): False}.get)
    body = {None: "", "True": "    return 1\n"}.get(folded, f"    if {folded}:\n        return 1\n")
    assert found == f"def f(kind, mark, text):\n{body}    return 2"


def test_the_files_of_the_runtime_share_no_name() -> None:
    """They become one file, where the second of two definitions would replace the first."""
    found = Counter(
        name
        for file in FILES
        for node in ast.parse(source(file)).body
        if not isinstance(node, (ast.Import, ast.ImportFrom))
        for name in defined_names(node)
    )
    assert [name for name, times in found.items() if times > 1] == ["TYPE_CHECKING"]


@pytest.mark.parametrize("file", FILES)
def test_statements_are_found_in_the_text(file: str) -> None:
    """The syntax tree has the same ones, and the same flags."""
    body = ast.parse(source(file)).body
    guarded = [item for node in body if isinstance(node, ast.If) for item in node.body]
    known = [node for node in [*guarded, *body] if defined_names(node) not in ((), ("TYPE_CHECKING",))]
    found = definitions(file)
    assert [one.names for one in found] == [defined_names(node) for node in known]
    for one, node in zip(found, known, strict=True):
        indent = "" if node in body else "    "
        lines = [indent * bool(line) + line for line in one.statement.lines]
        assert lines == source(file).splitlines()[node.end_lineno - len(lines) : node.end_lineno]
        members = [item for item in getattr(node, "body", ()) if one.statement.is_class and defined_names(item)]
        assert [one.names for one in one.statement.members if one.member] == [defined_names(item) for item in members]
        shown = [line for member in one.statement.members for line in member.lines]
        assert shown == list(one.statement.lines)
    values = [
        (item.target.id, is_off(item.value))
        for node in body
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None
        if item.target.id.isupper()
    ]
    assert flags(file) == {name for name, off in values if off}
    assert {name for one in found for name in one.flags} == {name for name, off in values if not off}
    stored = (item for item in walk(ast.parse(source(file))) if isinstance(item, ast.Attribute))
    assert assigned(file) >= {item.attr for item in stored if isinstance(item.ctx, ast.Store) and item.attr.isupper()}
