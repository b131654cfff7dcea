"""Raw values that end with the call's closer, before their own: every reader reads them whole."""

from __future__ import annotations

from itertools import product

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tplc.driver import compile_template

AROUND = {
    "tags": ('<do fn="', '">', "</do>"),
    "tokens": ("<|fn|>", "<|with|>", "<|/fn|>"),
    "brackets": ("[do ", "]", "[/do]"),
    "tags on lines": ("<call>", "\\n", "</call>\\n"),
}
PAIRS = {
    "sections of text": ('<v n="', '"><![CDATA[', "]]></v>"),
    "tags": ("<p=", ">", "</p>"),
    "keys and values": ("<k>", "</k><v>", "</v>"),
    "lines": ("<k>", "</k>\\n<v>", "</v>\\n"),
    "tokens": ("<|k|>", "<|v|>", "<|/v|>"),
}
VALUES = ("@", "a@", " @", "@ ", "@@", "a @ b", "@b")
TOOL = {"type": "object", "properties": {key: {"type": "string"} for key in "abc"}}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": TOOL}}]


@pytest.mark.sweep(22)
@pytest.mark.parametrize(("around", "pair"), [*product(AROUND, PAIRS)])
def test_values_that_end_with_a_closer(around: str, pair: str) -> None:
    (opened, named, closed), (before, key_end, after) = AROUND[around], PAIRS[pair]
    value = "(v if v is string else v | tojson)"
    one = pairs(f"{{{{- '{before}' ~ k ~ '{key_end}' ~ {value} ~ '{after}' }}}}")
    call = f"{{{{- '{opened}' ~ c.function.name ~ '{named}' }}}}{one}{{{{- '{closed}' }}}}"
    ir = compile_template(source_of(CONTENT + calls(call)), name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    readers = EveryReader(ir)
    start, name_end, end, opens, key_ends, closes = (
        text.replace("\\n", "\n") for text in (opened, named, closed, before, key_end, after)
    )
    for text, keys in product(VALUES, ("a", "ab", "ba", "bac")):
        value = text.replace("@", end.strip())
        given = {key: value if key == "a" else "x" for key in keys}
        inside = "".join(f"{opens}{key}{key_ends}{each}{closes}" for key, each in given.items())
        for tools in (None, TOOLS):
            message = readers.parse(f"{start}f{name_end}{inside}{end}", tools=tools)
            assert [one["function"]["arguments"] for one in message["tool_calls"]] == [dumped(given)]
    assert readers.differ == []


def dumped(given: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{key}": "{value}"' for key, value in given.items()) + "}"
