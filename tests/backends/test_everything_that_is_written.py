"""Texts that a template writes and that were read as another message, although the format was verified.

raw value None, written for the text "None" only  →  the text, also if no tools are given
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.independent import TOKENS
from tests.property.every_reader import EveryReader
from tplc.driver import compile_template, generate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

CASES = Path(__file__).parent.parent / "cases"
PIN = ("pin", {"at": "Oslo", "n": 1})
CODE = "```py\nf(x=1)\n```"


@cache
def learned(name: str) -> TemplateIR:
    return compile_template((CASES / f"{name}.jinja").read_text("utf-8"), name=name, special_tokens=TOKENS)


def read(name: str, text: str, *names: str, types: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """Return what every reader makes of a text.  `names`: the tools that are given; `types`: those of their "at"."""
    properties = {"at": {"type": list(types)}} if types else {}
    parameters = {"type": "object", "properties": properties}
    tools = [{"type": "function", "function": {"name": each, "parameters": parameters}} for each in names]
    reader = EveryReader(learned(name))
    message = reader.parse(text, tools=tools or None)
    assert reader.differ == []
    calls = [call["function"] for call in message["tool_calls"]]
    return message["reasoning_content"], message["content"], [(c["name"], json.loads(c["arguments"])) for c in calls]


@pytest.mark.parametrize("word", ["None", "True", "False"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("authored/macro-xmlish", '\n[[invoke fn=pin]]<arg name="at">WORD</arg>[[/invoke]][[/model]]'),
        ("authored/raw-blocks", "\n=== pin ===\n--- at\nWORD\n=== end ===\n<|done|>\n"),
        ("authored/heredoc-values", "<#tool pin#>\nat<<EOF\nWORD\nEOF\n<#/tool#><#end#>"),
        ("authored/name-and-raw-attrs", '<pin at="WORD" /><|end|>'),
    ],
)
def test_words_that_the_template_writes_for_text_only_are_text(name: str, text: str, word: str) -> None:
    written = text.replace("WORD", word)
    assert read(name, written) == (None, None, [("pin", {"at": word})])
    value = {"None": None, "True": True, "False": False}[word]
    assert read(name, written, "pin", types=("boolean", "null")) == (None, None, [("pin", {"at": value})])


def test_words_that_the_template_writes_for_values_are_values() -> None:
    text = '\n[[invoke fn=pin]]<arg name="at">null</arg>[[/invoke]][[/model]]'
    assert read("authored/macro-xmlish", text) == (None, None, [("pin", {"at": None})])


@pytest.mark.parametrize(
    ("name", "text", "content"),
    [
        ("invertible/calls-after-a-space", ' Hi  <pin {"at": "Oslo", "n": 1}><eos~>\n', "Hi "),
        ("invertible/calls-after-a-space", '   Hi   <pin {"at": "Oslo", "n": 1}><eos~>\n', "  Hi  "),
        ("invertible/calls-after-a-space", '  <pin {"at": "Oslo", "n": 1}><eos~>\n', None),
        ("authored/role-map", ' Hi <fns><fn>pin</fn><in>{"at": "Oslo", "n": 1}</in></fns>', "Hi "),
        ("invertible/content-indented-first", '  Hi <do>pin {"at": "Oslo", "n": 1}</do><eot>', "Hi "),
        ("authored/lines-after-at", "Hi\n\n@@ pin\n@ at: Oslo\n@ n: 1\n@@ end\n<<eot>>\n", "Hi\n"),
    ],
)
def test_white_space_before_calls_belongs_to_content(name: str, text: str, content: str | None) -> None:
    assert read(name, text, "pin") == (None, content, [PIN])


@pytest.mark.parametrize("name", ["ns:tool", "ns.tool", "ns/tool"])
def test_a_name_with_punctuation_before_keys_that_begin_with_it(name: str) -> None:
    text = f'\n(call {name} :q "a b")\n(call {name})<|done|>\n'
    calls = [(name, {"q": "a b"}), (name, {})]
    assert read("authored/lisp", text) == (None, None, calls)
    assert read("authored/lisp", text, name) == (None, None, calls)


@pytest.mark.parametrize("name", ["a/b", "a/", "a"])
def test_a_name_that_contains_what_closes_the_call(name: str) -> None:
    text = f'Ok.<{name} /><{name} at="x" /><|end|>'
    calls = [(name, {}), (name, {"at": "x"})]
    assert read("authored/name-and-raw-attrs", text, name, types=("string",)) == (None, "Ok.", calls)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("invertible/react", f"Thought: {CODE}\nAction: pin\nAction Input: {json.dumps(PIN[1])}\n<eot>"),
        ("invertible/calls-in-reasoning", f"<why>{CODE}<do>pin {json.dumps(PIN[1])}</do></why><eot>"),
    ],
)
def test_code_at_the_end_of_reasoning_keeps_its_fence(name: str, text: str) -> None:
    assert read(name, text) == (CODE, None, [PIN])


@pytest.mark.parametrize("thought", ["Hi", "Hi\n", "Hi\n\n", "\nHi"])
def test_words_that_end_reasoning_take_one_line_end(thought: str) -> None:
    text = f"Thought: {thought}\nFinal Answer: Ok.\n<|eot|>\n"
    assert read("authored/react-without-prompt", text) == (thought, "Ok.", [])


@pytest.mark.parametrize("content", ["\n", " ", "\n\n"])
def test_white_space_that_is_all_of_a_turn_is_its_content(content: str) -> None:
    for end in ("<|eot|>", ""):
        assert read("authored/cut-at-closer-role-between-marks", content + end) == (None, content, [])


@pytest.mark.parametrize("value", ["</call>", "x</call>", "</call> ", "]]", "]"])
def test_a_call_closer_before_brackets_belongs_to_a_value(value: str) -> None:
    text = f'<call name="pin"><at><![CDATA[{value}]]></at></call><|end|>'
    assert read("authored/key-tags-and-cdata", text) == (None, None, [("pin", {"at": value})])
    text = text.replace("</call><|end|>", "<n><![CDATA[1]]></n></call><|end|>")
    assert read("authored/key-tags-and-cdata", text) == (None, None, [("pin", {"at": value, "n": 1})])


@pytest.mark.parametrize("value", ["Oslo", "a > b", "<b>", ">"])
def test_brackets_around_pairs_and_calls(value: str) -> None:
    text = f"<tc pin><at={value}><n=1></tc><|end|>"
    assert read("authored/equals-in-brackets", text) == (None, None, [("pin", {"at": value, "n": 1})])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("authored/args-as-string", '<call>{"name": "pin", "arguments": "{}"}</call><|done|>\n'),
        ("authored/args-as-string", '<call>{"name": "pin", "arguments": "{\\"at\\": \\"Oslo\\"}"}</call><|done|>\n'),
        (
            "authored/nested-function-key",
            '[|calls|][{"id": "c", "type": "function", "function": {"name": "pin", "arguments": {}}}][|/calls|][|end|]',
        ),
        ("invertible/rows-between-bars", '<|t|>\npin|at|"Oslo"|n|1\nask|at|"Rome"\n<|/t|><|done|>\n'),
    ],
)
def test_what_the_template_writes_is_complete_and_needs_no_repair(name: str, text: str) -> None:
    ir = learned(name)
    stream = load_module(generate(ir, "python")).StreamParser()
    stream.feed(text)
    stream.finish()
    assert stream.message["tool_calls"]
    assert (stream.diagnostics, stream.incomplete, ir.verification.verified) == ([], False, True)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        # A key without quotes may be empty.
        ("authored/script-objects", "\nawait tools.pin({ at: { : 1 } });<|done|>\n", {"": 1}),
        ("authored/script-objects", '\nawait tools.pin({ at: { a: "x", : 1 } });<|done|>\n', {"a": "x", "": 1}),
        # The end of a turn is text of a value if the call goes on in the next line.
        ("authored/values-below-their-keys", "<|fn|>pin\nat:\n    a<|end|>\n<|/fn|><|end|>", "a<|end|>"),
    ],
)
def test_values_of_an_argument(name: str, text: str, value: Any) -> None:
    assert read(name, text) == (None, None, [("pin", {"at": value})])


def test_the_next_argument_follows_the_end_of_a_turn_in_a_value() -> None:
    text = "<|fn|>pin\nat:\n    <|end|>\nn:\n    1\n<|/fn|><|end|>"
    assert read("authored/values-below-their-keys", text) == (None, None, [("pin", {"at": "<|end|>", "n": 1})])
    # Without anything after it, it ends the turn.
    assert read("authored/values-below-their-keys", "<|fn|>pin\nat:\n    a<|end|>\n")[2] == [("pin", {"at": "a"})]


@pytest.mark.parametrize("tools", [(), ("pin",)])
def test_a_number_ends_before_a_line_with_any_key(tools: tuple[str, ...]) -> None:
    text = '\n.. call:: pin\n   :n: 1.5\n   :k[0]: "x"\n   :to(a): true\n   :b: 2\n.. endcall\n\n.. end\n'
    found = {"n": 1.5, "k[0]": "x", "to(a)": True, "b": 2}
    assert read("authored/directives", text, *tools) == (None, None, [("pin", found)])


@pytest.mark.parametrize("content", ["Pin", "Pin:", "**pin**", "p i n"])
def test_words_that_read_as_a_tools_name_before_its_call_are_content(content: str) -> None:
    call = '{"type": "tool_use", "id": "a1", "name": "pin", "input": {"at": "Oslo", "n": 1}}'
    assert read("authored/object-per-line", f"{content}\n{call}\n{{eom}}\n", "pin") == (None, content, [PIN])


def test_a_key_that_a_line_end_ends_has_several_words() -> None:
    text = '<x>pin\nthe place\n"Oslo"\nn\n1\n;\n</x></ai>'
    found = [("pin", {"the place": "Oslo", "n": 1})]
    assert read("authored/keys-on-lines-of-their-own", text) == (None, None, found)


def test_white_space_before_calls_that_end_reasoning_is_held_back() -> None:
    text = '<work>Where?\n[run pin {"at": "Oslo", "n": 1}]</work>Hi<|end|>'
    assert read("authored/calls-in-lines-of-thought", text) == ("Where?", "Hi", [PIN])
