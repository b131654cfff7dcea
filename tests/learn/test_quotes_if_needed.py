"""Values that are JSON strings only if they could not be bare: they come back in every chunking."""

from __future__ import annotations

import json
from itertools import product

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
from tplc.driver import compile_template
from tplc.ir.nodes import StringStyle, TemplateIR

AROUND = {
    "tags": ("<do>", "</do>"),
    "brackets": ("[do ", "]"),
    "tokens": ("<|do|>", "<|done|>"),
    "lines": ("\\nTool ", "\\n\\n"),
    "a tag in itself": ("<do ", "/>"),
}
PAIRS = {"spaces": (" ", ""), "options": (" --", ""), "bars": (" | ", ""), "elements": ("<p=", "</p>")}
KEY_ENDS = {"spaces": "=", "options": "=", "bars": ": ", "elements": ">"}
NEEDED = {
    "spaces or quotes": "' ' in v or '\"' in v or '\\n' in v or '\\\\' in v",
    "all but letters": "not (v | replace('_', '') | replace('-', '')).isalnum()",
    "markup": "' ' in v or '\"' in v or '<' in v or '\\n' in v or '\\\\' in v or '|' in v",
}


def compiled(around: str, between: str, needed: str, dump: str = "v | tojson") -> tuple[str, TemplateIR]:
    opened, closed = AROUND[around]
    before, after = PAIRS[between]
    bare = f"v is string and not ({NEEDED[needed]})"
    pair = f"{{{{- '{before}' ~ k ~ '{KEY_ENDS[between]}' ~ (v if {bare} else {dump}) ~ '{after}' }}}}"
    call = f"{{{{- '{opened}' ~ c.function.name }}}}{pairs(pair)}{{{{- '{closed}' }}}}"
    source = source_of(CONTENT + calls(call))
    return source, compile_template(source, name="t", special_tokens=TOKENS)


@pytest.mark.sweep(29)
@pytest.mark.parametrize(("around", "between", "needed"), [*product(AROUND, PAIRS, NEEDED)])
def test_messages_come_back(around: str, between: str, needed: str) -> None:
    source, ir = compiled(around, between, needed)
    assert ir.verification.failures == ()
    assert ir.tools.dialect is not None
    assert ir.tools.dialect.wrap == StringStyle('"', '"', "json")
    assert read_back(source, ir, readers=True) == ((), ())


def test_every_reader_reads_strings_alike() -> None:
    readers = EveryReader(compiled("tags", "spaces", "spaces or quotes")[1])
    for value, text in (
        ('"a b=c"', "a b=c"),
        ('"\\"x\\" </do>\\n"', '"x" </do>\n'),
        ("it's", "it's"),
        ('"é\\u00e9"', "éé"),
    ):
        (call,) = readers.parse(f"<do>f q={value} n=1</do><|e|>")["tool_calls"]
        assert json_of(call) == {"q": text, "n": 1}
    assert readers.differ == []


def json_of(call: dict[str, dict[str, str]]) -> object:
    return json.loads(call["function"]["arguments"])
