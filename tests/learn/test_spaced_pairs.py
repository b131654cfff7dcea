"""Pairs with raw values that only white space, or a little punctuation after it, separates: they come back in every
chunking, after closers of all kinds."""

from __future__ import annotations

import ast
import json
from itertools import product

import pytest

from tests.backends.parsers import parser_for, streamed
from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR

VALUE = "(v if v is string else v | tojson)"
AROUND = {
    "tags": ("<do>", "</do>"),
    "brackets": ("[do ", "]"),
    "tokens": ("<|do|>", "<|done|>"),
    "a tag and a line end": ("<do>", "\\n"),
    "lines": ("\\nTool ", "\\n\\n"),
}
BETWEEN = {"spaces": "  ", "a tab": "\\t", "options": " -", "bars": " | ", "line ends": "\\n", "items": "\\n- "}


def compiled(around: str, between: str, key_end: str) -> tuple[str, TemplateIR]:
    opened, closed = AROUND[around]
    pair = f"{{{{- '{BETWEEN.get(between, between)}' ~ k ~ '{key_end}' ~ {VALUE} }}}}"
    call = f"{{{{- '{opened}' ~ c.function.name }}}}{pairs(pair)}{{{{- '{closed}' }}}}"
    source = source_of(CONTENT + calls(call))
    return source, compile_template(source, name="t", special_tokens=TOKENS)


@pytest.mark.sweep(60)
@pytest.mark.parametrize(("around", "between", "key_end"), [*product(AROUND, BETWEEN, ["=", ": "])])
def test_messages_come_back(around: str, between: str, key_end: str) -> None:
    source, ir = compiled(around, between, key_end)
    assert ir.verification.failures == ()
    assert read_back(source, ir, readers=True) == ((), ())


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("around", "between", "text", "arguments"),
    [
        ("tags", " ", "<do>f city=New York unit=C</do>", '{"city": "New York", "unit": "C"}'),
        ("a tag and a line end", " ", "<do>f city=New York unit=C\n<|e|>", '{"city": "New York", "unit": "C"}'),
        ("a tag and a line end", "options", "<do>f -a=x <do> <|e|> y\n", '{"a": "x <do> <|e|> y"}'),
        ("lines", "items", "\nTool f\n- a=x\n- b=Tool\ny\n\n", '{"a": "x", "b": "Tool\\ny"}'),
    ],
)
def test_every_reader_reads_them_alike(around: str, between: str, text: str, arguments: str) -> None:
    readers = EveryReader(compiled(around, between, "=")[1])
    message = readers.parse(text)
    assert readers.differ == []
    assert [one["function"]["arguments"] for one in message["tool_calls"]] == [arguments]


NESTED = ('{"a": "x@b@y"}', '["x@b@y z", [1, {"b": "it\'s"}]]', '{"a": "\\""}', "[]")
PLAIN = ("{'a': 'x@b@\\'y'}", '["x@b@y', '{"a": "x@b@y"} more', "[it's@b@y]", "{k}", "[1] and [2@b@3")


def shown(*texts: str) -> list[str]:
    return [text.replace("\\n", "\n").replace("\\t", "\t") for text in texts]


@pytest.mark.sweep(16)
@pytest.mark.parametrize(("around", "between"), [*product(AROUND, ("spaces", "options", "bars"))])
def test_lists_and_objects_end_with_their_last_bracket(around: str, between: str) -> None:
    readers = EveryReader(compiled(around, between, "=")[1])
    opened, closed, pair = shown(*AROUND[around], BETWEEN[between])
    for value in NESTED:
        written = value.replace("@", pair, 1).replace("@", "=")
        message = readers.parse(f"{opened}f{pair}q={written}{pair}n=1{closed}")
        (call,) = message["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"q": ast.literal_eval(written), "n": 1}
    assert readers.differ == []


@pytest.mark.sweep(30)
@pytest.mark.parametrize(("around", "between"), [*product(AROUND, BETWEEN)])
def test_other_text_with_brackets_is_read_alike_in_chunks(around: str, between: str) -> None:
    parser = parser_for(compiled(around, between, "=")[1])
    opened, closed, pair = shown(*AROUND[around], BETWEEN[between])
    for value in (*NESTED, *PLAIN):
        text = f"{opened}f{pair}q={value.replace('@', pair, 1).replace('@', '=')}{pair}n=1{closed}"
        for end in range(len(text) - 8, len(text) + 1):
            assert streamed(parser, [*text[:end]]) == parser.parse(text[:end])


def test_the_turn_may_end_without_the_line_end_before_it() -> None:
    readers = EveryReader(compiled("a tag and a line end", "bars", "=")[1])
    message = readers.parse("<do>f | a=x | b=y<|e|>")
    assert readers.differ == []
    assert message["tool_calls"][0]["function"]["arguments"] == '{"a": "x", "b": "y"}'


def test_a_name_that_contains_what_ends_keys_is_no_key() -> None:
    readers = EveryReader(compiled("a tag and a line end", "line ends", ": ")[1])
    schema = {"type": "object", "properties": {"at": {}, "q": {}}}
    tools = [{"type": "function", "function": {"name": name, "parameters": schema}} for name in ("pin", "maps:find")]
    message = readers.parse("<do>pin\nat: a b\n<do>maps:find\nq: a b\n<|e|>", tools=tools)
    assert readers.differ == []
    functions = [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
    assert functions == [("pin", '{"at": "a b"}'), ("maps:find", '{"q": "a b"}')]
