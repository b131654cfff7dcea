"""Raw values that end with the call's closer, before their own: every reader reads them whole."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template, generate
from tplc.verify.artifact import load_module

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
SPACED = (" 2", "2 ", " true", "null\t", " [1]", '{"q": 1} ')
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
    for value, keys in product(SPACED, ("a", "ab")):  # text: the template writes no white space around other values
        given = dict.fromkeys(keys, value)
        inside = "".join(f"{opens}{key}{key_ends}{each}{closes}" for key, each in given.items())
        message = readers.parse(f"{start}f{name_end}{inside}{end}")
        assert [json.loads(one["function"]["arguments"]) for one in message["tool_calls"]] == [given]
    assert readers.differ == []


def dumped(given: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{key}": "{value}"' for key, value in given.items()) + "}"


# Nothing but the call's closer ends these values: the opener of a call, the text after the name, that before a key and
# after it, and the closer.
UNCLOSED = {
    "tags": ("<call ", ">", "<arg ", ">", "</call>"),
    "tokens": ("<|fn|>", "", "<|k|>", "<|v|>", "<|/fn|>"),
    "brackets": ("[do ", "]", "@", ": ", "[/do]"),
    "lines": ("<call>", "", "\\n", "=", "</call>\\n"),
    "a section": ("<call ", ">", "<arg ", ">", "</call>"),
}


@pytest.mark.parametrize("kind", UNCLOSED)
def test_a_value_that_its_only_end_cuts_is_incomplete(kind: str) -> None:
    opened, named, before, key_end, closed = UNCLOSED[kind]
    one = pairs(f"{{{{- '{before}' ~ k ~ '{key_end}' ~ (v if v is string else v | tojson) }}}}")
    call = f"{{{{- '{opened}' ~ c.function.name ~ '{named}' }}}}{one}{{{{- '{closed}' }}}}"
    section = ("<calls>", "</calls>") if kind == "a section" else ("", "")
    ir = compile_template(
        source_of(CONTENT + f"{{%- if m.tool_calls %}}{section[0]}{calls(call)}{section[1]}{{%- endif %}}"),
        name="t",
        special_tokens=TOKENS,
    )
    end = closed.removesuffix("\\n")
    assert ir.verification.failures == ()
    titles = [f"string: the marker {end!r} {where}: " for where in ("in it", "alone")]
    listed = zip(titles, ir.verification.not_read, strict=True)
    assert [text.startswith(title) for title, text in listed] == [True, True]
    parser, engine = load_module(generate(ir, "python")), PegEngine(ir)
    start, name_end, opens, key_ends, closes = (text.replace("\\n", "\n") for text in UNCLOSED[kind])
    for value, key, number in product(("@", "a@", "a @ b", "@b", "x@@ y", "@.", "a\n@\nb", "@ y"), "ab", (1, 2)):
        given = {"a": "x", key: value.replace("@", end)}
        inside = "".join(f"{opens}{name}{key_ends}{each}" for name, each in given.items())
        text = f"Hi.{section[0]}{f'{start}f{name_end}{inside}{closes}' * number}{section[1]}"
        for tools in (None, TOOLS):
            for chunks in ([text], list(text)):
                stream = parser.StreamParser(tools=tools)
                for chunk in chunks:
                    stream.feed(chunk)
                stream.finish()
                assert stream.incomplete != (_arguments(stream.message) == [given] * number), text
            read = engine.parse(text, tools=tools)
            assert read["tool_calls"] == stream.message["tool_calls"]
    whole = f"Say {end} so.{section[0]}{start}f{name_end}{opens}a{key_ends}x{closes}{section[1]}Hi."
    stream = parser.StreamParser()
    stream.feed(whole)
    stream.finish()
    assert (stream.message["content"], stream.incomplete) == (f"Say {end} so.Hi.", False)


def _arguments(message: dict[str, Any]) -> list[dict[str, str]]:
    return [json.loads(call["function"]["arguments"]) for call in message["tool_calls"]]
