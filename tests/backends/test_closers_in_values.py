"""Raw values that contain their own closing marker come back: the last before the call's next marker closes the value.

The parser in any chunking, and the PEG; with the tools and without them.
"""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import streamed
from tests.fuzz.formats import named
from tests.learn.test_inversions import RAW, close, name, pairs, template_with
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template, generate
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.verify.artifact import load_module
from tplc.verify.battery import KEY, closer_of_values

# Pairs with an opener, with a key that opens them, with a key that closes them, with white space between and without.
SOURCES = {
    "a terminator after each pair": name("<|call|>", "<|in|>")
    + pairs('k ~ "<|eq|>"', '"<|,|>"', RAW)
    + close("<|/call|>"),
    "attributes": name("<call ", ">") + pairs("'<p=' ~ k ~ '>'", "'</p>'", RAW) + close("</call>"),
    "lines": name("<call ", ">") + pairs("'\\n<p=' ~ k ~ '>'", "'</p>'", RAW) + close("\\n</call>"),
    "keys in closers": name("<call ", ">") + pairs("'<' ~ k ~ '>'", "'</' ~ k ~ '>'", RAW) + close("</call>"),
    "keys in closers with a word": name("<call ", ">")
    + pairs("'[x:' ~ k ~ ']'", "'[/x:' ~ k ~ ']'", RAW)
    + close("</call>"),
    "short closers": name("<call ", ">") + pairs("'(' ~ k ~ ': '", "'|;|)'", RAW) + close("</call>"),
}
EXAMPLES = ("addressed-parts", "key-value-tags", "parameter-tags", "typed-attributes")
VALUES = ("@", "a @ b", "@@", "a @\n b", "@ a @ b @", "a@", "@a", "x@ y\n@ z", "@ " * 40 + "a")
TOOLS = [
    {
        "type": "function",
        "function": {"name": "store", "parameters": {"type": "object", "properties": {"value": {}, "n": {}}}},
    }
]


@cache
def format_of(kind: str) -> tuple[TemplateIR, ModuleType, PegEngine]:
    if kind in EXAMPLES:
        ir, parser = named(kind).ir, named(kind).parser
    else:
        ir = compile_template(template_with(SOURCES[kind]), name="t")
        assert ir.verification.failures == ()
        parser = load_module(generate(ir, "python"))
    return ir, parser, PegEngine(ir)


@pytest.mark.sweep(14)
@pytest.mark.parametrize("tools", [None, TOOLS], ids=["no tools", "tools"])
@pytest.mark.parametrize("kind", [*SOURCES, *EXAMPLES])
def test_the_closer_that_the_call_goes_on_after_counts(kind: str, tools: Any) -> None:
    ir, parser, peg = format_of(kind)
    closer = closer_of_values(ir).replace(KEY, "value")
    assert closer
    for value in (text.replace("@", closer) for text in VALUES):
        for arguments in ({"value": value, "n": 2}, {"n": 2, "value": value}, {"value": value}):
            call = {"id": "abcdef123", "function": {"name": "store", "arguments": json.dumps(arguments)}}
            text = write_message(ir, {"content": None, "tool_calls": [call, call][: 1 + ir.tools.parallel]})
            whole = parser.parse(text, tools=tools)
            found = [json.loads(one["function"]["arguments"]) for one in whole["tool_calls"]]
            assert found == [arguments] * (1 + ir.tools.parallel), text
            for size in (1, 2, 5):
                chunks = [text[at : at + size] for at in range(0, len(text), size)]
                assert streamed(parser, chunks, tools=tools) == whole
            assert peg.read(text, tools=tools or []).message == whole, text


WORDS = {
    "lines": ("begin ", "k ~ ' is '", "end\\n"),
    "no line end": ("begin ", "k ~ ': '", "end"),
    "an opener": ("begin ", "'set ' ~ k ~ ' to '", "END_CALL\\n"),
    "two words": ("begin ", "k ~ ': '", "end call\\n"),
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", WORDS)
def test_a_word_in_a_line_of_a_value_closes_no_call(kind: str) -> None:
    opened, before, closer = WORDS[kind]
    call = name(opened, "\\n") + pairs(before, "'\\n'", RAW) + close(closer)
    ir = compile_template(template_with(call), name="t")
    parser, peg, word = load_module(generate(ir, "python")), PegEngine(ir), closer.removesuffix("\\n")
    for value in (f"a\n{word}. b", f"a\n{word} of b\nc", f"a\n{word}ing", f"{word}.", f"a\n{word}, b"):
        arguments = {"value": value, "n": 2}
        one = {"function": {"name": "store", "arguments": json.dumps(arguments)}}
        text = write_message(ir, {"content": None, "tool_calls": [one]})
        whole = parser.parse(text)
        assert [json.loads(one["function"]["arguments"]) for one in whole["tool_calls"]] == [arguments], text
        for size in (1, 2, 5):
            assert streamed(parser, [text[at : at + size] for at in range(0, len(text), size)]) == whole
        assert peg.read(text, tools=[]).message == whole
