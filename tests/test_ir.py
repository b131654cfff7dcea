"""The IR's printed form, its JSON, its schema, its checker, and the text of messages."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests import ir_small
from tests.conftest import ROOT
from tplc.errors import BadIR, BadMessage
from tplc.ir import nodes
from tplc.ir.check import check
from tplc.ir.nodes import JSON_STYLE, PairArguments, Reasoning, Slot, TemplateIR, Text, Tolerance, Verification
from tplc.ir.printed import printed
from tplc.ir.serialize import dumps, from_dict, loads, to_dict
from tplc.ir.write import write_message, write_value

CASES = ROOT / "tests" / "cases" / "ir"
SCHEMA = json.loads((ROOT / "schemas" / "ir.schema.json").read_text(encoding="utf-8"))
VALUES = {
    "s": "a 'b' \"c\"\n\\ü",
    "n": -1.5e10,
    "i": 7,
    "t": True,
    "z": None,
    "l": ["x", False, None, [], {"k": [1]}],
    "o": {"p": {"q": "r"}, "e": {}},
}
MESSAGES: tuple[dict[str, Any], ...] = (
    {"content": "Hello"},
    {"content": "Hello", "reasoning_content": "So."},
    {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
    {"reasoning_content": "So.", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": "b"}'}}]},
    {
        "content": "Both:",
        "tool_calls": [
            {"function": {"name": "all", "arguments": VALUES}},
            {"function": {"name": "one", "arguments": {"a": 1}}},
        ],
    },
)


@pytest.mark.parametrize("name", ir_small.ALL)
def test_printed(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(CASES / f"{name}.ir", printed(ir_small.ALL[name]))


@pytest.mark.parametrize("name", ir_small.ALL)
def test_written_messages(name: str, golden: Callable[[Path, str], None]) -> None:
    ir = ir_small.ALL[name]
    messages = [m for m in MESSAGES if ir.tools.format != "none" or "tool_calls" not in m]
    rows = [json.dumps(message, ensure_ascii=False) + "\n" + write_message(ir, message) + "\n" for message in messages]
    golden(CASES / f"{name}.txt", "\n".join(rows))


@pytest.mark.parametrize(
    ("closer", "ended"),
    [
        ("\n</call>", "\n</call><out><eos>\n"),
        ("</call><eos>", "</call><eos>"),
        ("</call><x><eos>\n", "</call><x><eos>\n"),
        ("</call><stop>", "</call><stop>"),
    ],
)
def test_what_closes_calls_can_end_the_turn(closer: str, ended: str) -> None:
    ir = ir_small.JSON_CALLS
    ir = replace(
        ir, tools=replace(ir.tools, section_end=closer), turn=replace(ir.turn, ends=("<out><eos>\n", "<stop>"))
    )
    call = {"function": {"name": "f", "arguments": {}}}
    assert write_message(ir, {"tool_calls": [call]}) == '<call>\n{"name": "f", "arguments": {}}' + ended


def test_excused_messages_of_several_contexts_are_one() -> None:
    message, other = {"content": "a "}, {"content": "a"}
    twice = nodes.Excused("content", "outer white space", message, other, "a<e>")
    once = replace(twice, title="content and calls")
    result = Verification(excused=(twice, once, replace(twice, render="<think></think>a<e>")))
    assert result.distinct_excused == (twice, once)


@pytest.mark.parametrize("name", ir_small.ALL)
def test_json_both_ways(name: str) -> None:
    ir = ir_small.ALL[name]
    assert loads(dumps(ir)) == ir
    jsonschema.Draft202012Validator(SCHEMA).validate(to_dict(ir))


@pytest.mark.parametrize("name", ir_small.ALL)
def test_hand_written_irs_hold(name: str) -> None:
    assert check(ir_small.ALL[name]) == []


def test_schema_and_nodes_agree() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    described = {name: set(part["properties"]) - {"kind"} for name, part in SCHEMA["$defs"].items() if name != "Layout"}
    described["TypeWord"] |= set()
    described["Tolerance"] |= {"kind"}
    described["Ambiguity"] |= {"kind"}
    described["Excused"] |= {"kind"}
    described["NeedsTools"] |= {"kind"}
    classes = {
        name: {field.name for field in dataclasses.fields(node)}
        for name, node in vars(nodes).items()
        if dataclasses.is_dataclass(node) and isinstance(node, type) and name not in {"Text", "Slot", "TemplateIR"}
    }
    assert described == classes
    assert set(SCHEMA["properties"]) == {field.name for field in dataclasses.fields(TemplateIR)}


def test_schema_enums_are_the_nodes_literals() -> None:
    def enum(part: str, name: str) -> tuple[str, ...]:
        return tuple(SCHEMA["$defs"][part]["properties"][name]["enum"])

    assert enum("Reasoning", "mode") == typing.get_args(nodes.ReasoningMode)
    assert enum("Content", "mode") == typing.get_args(nodes.ContentMode)
    assert enum("Content", "with_calls") == typing.get_args(nodes.ContentPlace)
    assert enum("Tools", "format") == typing.get_args(nodes.ToolFormat)
    assert enum("CallId", "position") == typing.get_args(nodes.IdPosition)
    assert enum("StringStyle", "escape") == typing.get_args(nodes.Escape)
    assert enum("Captured", "by") == typing.get_args(nodes.CapturedBy)
    assert enum("TypeWord", "type") == typing.get_args(nodes.JsonType)
    assert SCHEMA["properties"]["version"]["const"] == nodes.IR_VERSION


def test_every_property_of_the_schema_is_described() -> None:
    parts = {"": SCHEMA, **SCHEMA["$defs"]}
    bare = [f"{p}.{n}" for p, d in parts.items() for n, v in d.get("properties", {}).items() if "description" not in v]
    assert bare == []


def _broken(path: str, value: object) -> dict[str, Any]:
    data = json.loads(dumps(ir_small.JSON_CALLS))
    *outer, last = path.split(".")
    target: Any = data
    for name in outer:
        target = target[int(name)] if name.isdigit() else target[name]
    if value is KeyError:
        del target[last]
    else:
        target[int(last) if last.isdigit() else last] = value
    return dict(data)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("version", 1, "version: expected IR version 2 (an earlier tplc wrote this: compile the template "
         '"json-calls.jinja" again, tplc compile TEMPLATE -o ir.json), got 1'),
        ("version", 3, "version: expected IR version 2 (a later tplc wrote this: update), got 3"),
        ("version", True, "version: expected the IR version, a whole number, got true"),
        ("version", KeyError, "version: expected the IR version, a whole number, got null"),
        ("turn.header", KeyError, "turn.header: expected a value, got none"),
        ("turn.prompts", "x", 'turn.prompts: expected a list, got "x"'),
        ("turn.prompts.1.head", 3, "turn.prompts[1].head: expected a string, got 3"),
        ("turn.prompts.1.context", [], "turn.prompts[1].context: expected an object, got []"),
        (
            "reasoning.mode",
            "some",
            'reasoning.mode: expected one of "none", "tag_based", "delimiter", "forced_open", "forced_closed", '
            '"tools_only", got "some"',
        ),
        ("tools.parallel", 1, "tools.parallel: expected true or false, got 1"),
        (
            "tools.call.1",
            {"slot": "nam"},
            'tools.call[1].slot: expected one of "name", "id", "index", "count", "arguments", "key", "type", "value", '
            'got "nam"',
        ),
        ("tools.call.1", 5, 'tools.call[1]: expected a string or {"slot": KIND}, got 5'),
        ("tools.call", {}, 'tools.call: expected a list of strings and {"slot": KIND}, got {}'),
        (
            "tools.arguments",
            {"kind": "x"},
            'tools.arguments: expected an object with "kind": "object" or "pairs", got {"kind": "x"}',
        ),
        ("tools.json.name", "name", 'tools.json.name: expected a list, got "name"'),
        ("content.colour", "red", "content.colour: expected one of the members mode, start, end, with_calls, "
         "got an unknown one"),
        ("capabilities", None, "capabilities: expected an object, got null"),
    ],
)  # fmt: skip
def test_malformed_ir_names_the_path(path: str, value: object, message: str) -> None:
    with pytest.raises(BadIR) as caught:
        from_dict(_broken(path, value))
    assert str(caught.value) == message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "IR: expected a JSON object, got []"),
        ("{", "IR: expected JSON (Expecting property name enclosed in double quotes at line 1, column 2)"),
        ("[" * 100_000, "IR: expected JSON that can be read: this is nested too deeply"),
    ],
)
def test_text_that_is_no_ir(text: str, message: str) -> None:
    with pytest.raises(BadIR) as caught:
        loads(text)
    assert str(caught.value) == message


def test_what_may_be_left_out_of_the_json() -> None:
    data = to_dict(ir_small.PLAIN)
    for name in ("preserved_tokens", "tolerances", "verification"):
        del data[name]
    assert from_dict(data) == ir_small.PLAIN


TOOLS = ir_small.JSON_CALLS.tools
TAGGED = ir_small.TAGGED.tools
PAIRS = typing.cast(PairArguments, TAGGED.arguments)


@pytest.mark.parametrize(
    ("changes", "violations"),
    [
        (
            {"turn": replace(ir_small.JSON_CALLS.turn, header="<cat>", anchors=("", "x", "x"))},
            [
                "turn.prompts[0]: text does not end with the header and the head",
                "turn.prompts[1]: text does not end with the header and the head",
                "turn.anchors[0]: is an empty text",
                "turn.anchors: 'x' stands 2 times",
            ],
        ),
        ({"turn": replace(ir_small.PLAIN.turn, prompts=())},
         ["turn.prompts: there is none; the default generation prompt is prompts[0]",
          "reasoning.mode: forced_open, but the default generation prompt does not leave it open"]),
        ({"reasoning": Reasoning("none", "<r>")}, ["reasoning: the mode is none, but start, end or key is set"]),
        ({"reasoning": Reasoning("delimiter", "<r>", "</r>")},
         ["reasoning.start: the mode is delimiter, which has no start"]),
        ({"reasoning": Reasoning("tag_based", "", "")},
         ["reasoning.end: the mode tag_based needs a marker that ends reasoning",
          "reasoning.start: the mode tag_based needs a marker that starts reasoning"]),
        ({"reasoning": Reasoning("forced_closed", "<r>\n", "\n</r>")},
         ["reasoning.mode: forced_closed, but the default generation prompt does not close it"]),
        ({"content": nodes.Content("plain", "<c>")},
         ["content: the mode is plain, but start or end is more than white space"]),
        ({"content": nodes.Content("always_wrapped")},
         ["content: the mode is always_wrapped, but neither start nor end is set"]),
        ({"tools": nodes.Tools(section_start="<c>")},
         ["tools: the format is none, but a marker, layout or dialect is set"]),
        ({"tools": replace(TOOLS, dialect=None, json=None)},
         ["tools.dialect: the format json_native needs one",
          "tools.json: is set for the format json_native, and for no other"]),
        ({"tools": replace(TOOLS, call=(Text("a"), Text(""), Slot("key"), Slot("value")))},
         ["tools.call[1]: is an empty text",
          "tools.call[1]: is a text after a text; neighbours are joined",
          "tools.call[3]: follows another slot directly; no marker separates them",
          'tools.call: the slot "arguments" stands 0 times, expected once',
          'tools.call: the slot "name" is missing',
          'tools.call: the slot "key" does not belong in a call',
          'tools.call: the slot "value" does not belong in a call']),
        ({"tools": replace(TOOLS, json=nodes.JsonFields("", "", (), (), id=("id",)))},
         ["tools.json: name and arguments need a path of keys each",
          "tools.json.id: a path goes with the slot id in tools.call, and the other way"]),
        ({"tools": replace(TOOLS, arguments=None)}, ["tools.arguments: the format json_native needs them"]),
        ({"tools": replace(TOOLS, arguments=PAIRS)},
         ["tools.arguments: the format json_native has an object",
          'tools.arguments.pair: the slot "type" goes with tools.dialect.types, and the other way']),
        ({"tools": replace(TAGGED, arguments=replace(PAIRS, pair=(Slot("key"), Text("="), Slot("name"))))},
         ['tools.arguments.pair: the slot "value" is missing',
          'tools.arguments.pair: the slot "name" does not belong in a pair',
          'tools.arguments.pair: the slot "type" goes with tools.dialect.types, and the other way']),
        ({"tools": replace(TOOLS, dialect=replace(ir_small.JSON, top=ir_small.RAW))},
         ["tools.dialect: the arguments are one object, so top equals in_object"]),
        ({"tools": replace(TAGGED, dialect=replace(TAGGED.dialect, wrap=nodes.StringStyle("|\n", "", "none")))},
         ["tools.dialect.wrap: a string needs what opens and what closes it"]),
        ({"tools": replace(TOOLS, call_id=nodes.CallId("post_args", (Text("#"), Slot("id")), "["))},
         ["tools.call_id.pattern: is not a regular expression: unterminated character set at position 0",
          "tools.call_id.layout: its items do not stand in a row in tools.call"]),
        ({"tolerances": (Tolerance("kindness"), Tolerance("variant", text="x"))},
         ["tolerances[0].kind: no tolerance is called kindness",
          "tolerances[1].marker: a variant needs it",
          "tolerances[1].reason: a variant needs it"]),
        ({"verification": Verification(verified=True, messages=1, passed=2)},
         ["verification.passed: is more than the number of messages"]),
        ({"verification": Verification(verified=True)},
         ["verification.verified: is true, but not every message came back"]),
    ],
)  # fmt: skip
def test_violations(changes: dict[str, Any], violations: list[str]) -> None:
    assert list(map(str, check(replace(ir_small.JSON_CALLS, **changes)))) == violations


def test_head_is_cut_off_where_it_fits() -> None:
    reasoned = {"reasoning_content": "So.", "content": "Hi"}
    assert write_message(ir_small.JSON_CALLS, reasoned, head="<r>\n") == "So.\n</r>\n\nHi<eos>\n"
    assert write_message(ir_small.JSON_CALLS, {"content": "Hi"}, head="<r>\n") == "Hi<eos>\n"


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("[1]", "message: tool_calls[0].function.arguments is not a JSON object"),
        ("{", "message: tool_calls[0].function.arguments is not JSON: Expecting property name enclosed in double "
         "quotes at line 1, column 2"),
    ],
)  # fmt: skip
def test_arguments_that_cannot_be_written(message: str, error: str) -> None:
    with pytest.raises(BadMessage) as caught:
        write_message(ir_small.JSON_CALLS, {"tool_calls": [{"function": {"name": "f", "arguments": message}}]})
    assert str(caught.value) == error


def test_calls_that_cannot_be_written() -> None:
    with pytest.raises(BadMessage) as caught:
        write_message(ir_small.PLAIN, {"tool_calls": [{"function": {"name": "f", "arguments": {}}}]})
    assert str(caught.value) == "message: tool_calls this template does not write tool calls"


def test_names_in_an_object_among_raw_text_are_quoted_as_its_strings() -> None:
    value = {'say "hi"': "\\"}
    dialect = ir_small.TAGGED.tools.dialect
    assert dialect is not None and not dialect.top.strings
    assert write_value(dialect, value, dialect.top) == json.dumps(value)


def test_strings_of_every_style() -> None:
    text = "a'b\"c\\d\ne\tü\u2028\U0001f600"
    json_ascii = replace(JSON_STYLE, strings=(nodes.StringStyle('"', '"', "json", ascii=True),))
    python_ascii = replace(ir_small.PYTHON, strings=(nodes.StringStyle("'", "'", "python", ascii=True),))
    for value in (text, "it's", 'say "x"', "both ' and \"", "back\\'slash", ""):
        assert write_value(ir_small.JSON, value, JSON_STYLE) == json.dumps(value, ensure_ascii=False)
        assert write_value(ir_small.JSON, value, json_ascii) == json.dumps(value)
        assert write_value(ir_small.JSON, value, ir_small.PYTHON) == repr(value)
        assert eval(write_value(ir_small.JSON, value, python_ascii)) == value
    nested = {"a": [1, {"b": None, "c": [True, "x'"]}], "d": {}}
    python = nodes.Dialect(ir_small.PYTHON, ir_small.PYTHON, ir_small.PYTHON)
    assert write_value(python, nested, ir_small.PYTHON) == repr(nested)
    assert write_value(ir_small.JSON, nested, JSON_STYLE) == json.dumps(nested)
    pretty = replace(ir_small.JSON, indent=2)
    assert write_value(pretty, nested, JSON_STYLE) == json.dumps(nested, indent=2)
