"""Pairs that nothing opens: values may contain their closer, keys begin as calls do, and types follow keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.independent import TOKENS, round_trip
from tests.learn.test_inversions import RAW, VALUE, close, name, pairs, template_with
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
from tplc.driver import compile_template
from tplc.ir.write import write_message

TYPE = "('str' if v is string else 'any')"


def calls_of(key: str, values: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Yield messages with a call that has the key and each value, first, between other keys, and alone."""
    for value in values:
        for arguments in ({key: value, "n": 1}, {"a": "x", key: value, "b": True}, {key: value}):
            call = {"id": "lakes0000", "type": "function", "function": {"name": "pin", "arguments": arguments}}
            yield {"role": "assistant", "content": "", "tool_calls": [call, call]}


def assert_read(source: str, messages: Iterator[dict[str, Any]]) -> None:
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    readers = EveryReader(ir)
    assert round_trip(source, ir, readers, [*messages]).wrong == ()
    assert readers.differ == []
    assert read_back(source, ir, readers=True) == ((), ())


@pytest.mark.sweep(5)
@pytest.mark.parametrize("close_of_value", ["<|,|>", "</p>", " [end]\\n", "<|,|>\\n"])
@pytest.mark.parametrize("key", ['k ~ "="', 'k ~ ": "', f'k ~ ":" ~ {TYPE} ~ "="', f'"* " ~ k ~ "(" ~ {TYPE} ~ ")->"'])
def test_a_raw_value_may_contain_its_closer(key: str, close_of_value: str) -> None:
    """A pair or the end of the call has to follow that, and keys with punctuation are keys as well."""
    call = name("<call ", ">") + pairs(key, f'"{close_of_value}"', RAW) + close("</call>")
    inside = close_of_value.strip().removesuffix("\\n")
    values = (f"x {inside} y", f"{inside}{inside}", f"x{inside}", f"{inside}, and")
    assert_read(template_with(call), calls_of("q", values))
    assert_read(template_with(call), calls_of("filter[name]", ("x", 5)))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("symbol", ["$", "@", "#", "!"])
@pytest.mark.parametrize(
    ("name_end", "key_end", "join", "end"),
    [("{", '": "', "; ", "}"), ("(", '"="', ", ", ")"), (": ", '"="', ", ", ";"), ("\\n", '": "', "\\n", "\\n</fn>")],
)
def test_a_key_may_begin_with_the_symbol_that_opens_calls(
    symbol: str, name_end: str, key_end: str, join: str, end: str
) -> None:
    call = name(f"\\n{symbol}", name_end) + pairs(f"k ~ {key_end}", '""', VALUE, join=join) + close(end)
    assert_read(template_with(call), calls_of(f"{symbol}ref", ("x", 5, [1, {"a": "b"}])))


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("value", "join"), [(VALUE, "; "), (VALUE, "\\n"), (RAW, "<;>")])
def test_a_type_may_follow_a_key_after_white_space(value: str, join: str) -> None:
    key = f'k ~ " " ~ {TYPE} ~ ": "'
    call = name("<call ", ">\\n") + pairs(key, '""', value, join=join) + close("\\n</call>")
    assert_read(template_with(call), calls_of("q", ("x", "5", 5, False, {"a": "b c: d"})))


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("between", "value"),
    [("&", f"{RAW} | urlencode"), ("<|;|>", RAW), (" <and> ", RAW), ("&", f"{RAW} | replace('&', '&amp;')")],
)
def test_keys_may_have_punctuation_after_what_no_value_contains(between: str, value: str) -> None:
    call = name("<call ", "?") + pairs('k ~ "="', '""', f"({value})", join=between) + close("</call>")
    ir = compile_template(template_with(call), name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    for message in calls_of("filter[name]", ("x", 5, "a (b) {c}")):
        written = write_message(ir, {"content": "", "tool_calls": message["tool_calls"]})
        readers = EveryReader(ir)
        found = [json.loads(call["function"]["arguments"]) for call in readers.parse(written)["tool_calls"]]
        assert found == [call["function"]["arguments"] for call in message["tool_calls"]]
        assert readers.differ == []
