"""Example pairs show a format; pairs that can't are reported."""

from __future__ import annotations

import json

import pytest

from tplc.driver import compile_template, generate
from tplc.errors import SourceError
from tplc.examples import read_example
from tplc.ir.nodes import PairArguments, Slot, Text
from tplc.verify import load_artifact

SILENT = """{%- for m in messages -%}<{{ m.role }}>
{{ m.content }}</>
{%- endfor -%}{%- if add_generation_prompt -%}<assistant>
{% endif -%}"""


def pair(text: str, *calls: tuple[str, dict[str, object]], content: str = "", reasoning: str = "") -> dict[str, object]:
    message = {
        "role": "assistant",
        "content": content or None,
        "reasoning_content": reasoning,
        "tool_calls": [{"type": "function", "function": {"name": n, "arguments": a}} for n, a in calls],
    }
    return {"message": message, "text": text}


KEYWORD_PAIRS = [
    pair('Now.«do»[look(at="sky")]«done»', ("look", {"at": "sky"}), content="Now."),
    pair("«do»[f(a=1), g(a=1, b=2)]«done»", ("f", {"a": 1}), ("g", {"a": 1, "b": 2})),
    pair('«do»[set(c={"on": True, "n": 3})]«done»', ("set", {"c": {"on": True, "n": 3}})),
]
TAG_PAIRS = [
    pair("<use f>\n<in k>x</in>\n<in l>2</in>\n</use>", ("f", {"k": "x", "l": 2})),
    pair("<use g>\n<in m>y</in>\n</use>\n<use h>\n<in n>z</in>\n</use>", ("g", {"m": "y"}), ("h", {"n": "z"})),
]
JSON_PAIRS = [
    pair('{@f {"k": "x", "l": [1]}@}', ("f", {"k": "x", "l": [1]})),
    pair('{@f {"k": "x"}@} {@g {}@}', ("f", {"k": "x"}), ("g", {})),
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("pairs", "layout", "output", "calls"),
    [
        (
            KEYWORD_PAIRS,
            ["«do»[", "name", "(", "arguments", ")", ", ", "]«done»"],
            'Well.«do»[play(song="a, b", loud=False, at=None)]«done»',
            [("play", {"song": "a, b", "loud": False, "at": None})],
        ),
        (
            TAG_PAIRS,
            ["", "<use ", "name", ">\n", "arguments", "\n</use>", "\n", ""],
            "<use play>\n<in song>a b</in>\n<in times>2</in>\n</use>",
            [("play", {"song": "a b", "times": 2})],
        ),
        (
            JSON_PAIRS,
            ["", "{@", "name", " ", "arguments", "@}", " ", ""],
            '{@f {"deep": {"er": [null]}}@} {@g {}@}',
            [("f", {"deep": {"er": [None]}}), ("g", {})],
        ),
    ],
)
def test_pairs_teach_calls(
    pairs: list[dict[str, object]],
    layout: list[str],
    output: str,
    calls: list[tuple[str, dict[str, object]]],
) -> None:
    examples = [read_example(json.loads(json.dumps(p)), f"line {i}") for i, p in enumerate(pairs, 1)]
    ir = compile_template(SILENT, name="silent.jinja", examples=examples)
    tools = ir.tools
    items = [item.text if isinstance(item, Text) else item.kind for item in tools.call]
    assert [tools.section_start, *items, tools.separator, tools.section_end] == layout
    assert ir.verification.verified, ir.verification.failures
    message = load_artifact(generate(ir, "python")).parse(output, tools=None, prompt=None)
    got = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in message["tool_calls"]]
    assert got == calls


def test_pairs_teach_reasoning() -> None:
    examples = [read_example(pair("(hm)No.(/hm) Yes.", content=" Yes.", reasoning="No."), "line 1")]  # type: ignore[arg-type]
    ir = compile_template(SILENT, name="silent.jinja", examples=examples)
    assert (ir.reasoning.mode, ir.reasoning.start, ir.reasoning.end) == ("tag_based", "(hm)", "(/hm)")


def test_repeated_keys_in_closers_are_slots() -> None:
    examples = [read_example(p, "line") for p in TAG_PAIRS]  # type: ignore[arg-type]
    ir = compile_template(SILENT, name="silent.jinja", examples=examples)
    assert isinstance(ir.tools.arguments, PairArguments)
    assert ir.tools.arguments.pair == (Text("<in "), Slot("key"), Text(">"), Slot("value"), Text("</in>"))


def test_a_value_that_is_not_in_the_text_is_named() -> None:
    examples = [read_example(pair("«do»[look(at=moon)]", ("look", {"at": "sky"})), "line 1")]  # type: ignore[arg-type]
    with pytest.raises(SourceError) as raised:
        compile_template(SILENT, name="silent.jinja", examples=examples)
    assert str(raised.value) == 'line 1: the text does not hold "sky"'


TEXT, NUMBER, TWO = (
    pair('<use>look(at="sky")</use>', ("look", {"at": "sky"})),
    pair("<use>look(at=2)</use>", ("look", {"at": 2})),
    pair("<use>look(at=2, to=3)</use>", ("look", {"at": 2, "to": 3})),
)
_SHOW = "cause: no example pair shows {}; add one to the file of --example"


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("pairs", "lacking"),
    [
        ([TEXT], ["a call with two arguments", "a value that isn't text"]),
        ([NUMBER], ["a call with two arguments", "a value that is text"]),
        ([TWO], ["a value that is text"]),
        ([TEXT, NUMBER], ["a call with two arguments"]),
        ([TEXT, TWO], []),
        ([TAG_PAIRS[0]], []),
    ],
)
def test_what_no_pair_shows_is_reported(pairs: list[dict[str, object]], lacking: list[str]) -> None:
    examples = [read_example(p, "line") for p in pairs]  # type: ignore[arg-type]
    result = compile_template(SILENT, name="silent.jinja", examples=examples).verification
    assert (result.verified, list(result.failures)) == (not lacking, [_SHOW.format(what) for what in lacking])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, 'p.jsonl: line 1: is not an example: expected {"message": {…}, "text": "…", "tools": […]}'),
        ({"message": {"tool_calls": 3}, "text": ""}, "p.jsonl: line 1: message.tool_calls: expected a list"),
        (
            {"message": {"tool_calls": [{}]}, "text": ""},
            'p.jsonl: line 1: message.tool_calls[0]: expected {"function": {"name": "…", "arguments": {…}}}',
        ),
        (
            {"message": {"tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}, "text": ""},
            "p.jsonl: line 1: message.tool_calls[0]: its arguments aren't JSON: Expecting property name enclosed in "
            "double quotes at line 1, column 2",
        ),
    ],
)
def test_what_is_no_example_is_reported(data: dict[str, object], message: str) -> None:
    with pytest.raises(SourceError) as raised:
        read_example(data, "p.jsonl: line 1")  # type: ignore[arg-type]
    assert str(raised.value) == message
