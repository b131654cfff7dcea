"""Calls that look like text, directly after content, with raw values that contain the texts between pairs and around
calls: they are calls if a tool is known, in every chunking and by every reader."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, source_of
from tests.property.every_reader import EveryReader
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR
from tplc.lower.lower import lower

BRACKETS = {
    "a list": ("[", "(", ")", ", ", "]"),
    "a list of objects": ("[", "{", "}", ", ", "]"),
    "parentheses": ("(", "(", ")", "; ", ")"),
    "signs": ("$", "(", ")", "\\n", ""),
    "words": ("call ", "(", ")", "\\n", "\\n"),
    "a colon": ("do: ", " [", "]", "\\n", "\\n"),
    "braces": ("{", "[", "]", ", ", "}"),
}
SEPARATORS = (", ", "; ", " | ", ",", " & ")
KEY_ENDS = ("=", ": ")
VALUES: tuple[Any, ...] = (
    [1, 2],
    ["a@b", "c (d) e"],
    {"k": "x@y", "l": [1, {"m": None}]},
    '"Paris@France"',
    "Paris@France",
    "x (y) z",
    "[x] and {y}",
)


def compiled(brackets: str, separator: str, key_end: str) -> TemplateIR:
    start, opened, closed, between, end = BRACKETS[brackets]
    value = "(v if v is string else v | tojson)"
    pair = f"{{{{- k ~ '{key_end}' ~ {value} ~ ('{separator}' if not loop.last else '') }}}}"
    one = (
        f"{{{{- c.function.name ~ '{opened}' }}}}"
        f"{{%- for k, v in c.function.arguments.items() %}}{pair}{{%- endfor %}}{{{{- '{closed}' }}}}"
    )
    single = calls(f"{{{{- '{start}' if loop.first else '{between}' }}}}{one}{{{{- '{end}' if loop.last else '' }}}}")
    return compile_template(source_of(CONTENT + single), name="t", special_tokens=TOKENS)


def written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def with_separator(value: Any, separator: str) -> Any:
    return json.loads(json.dumps(value).replace("@", separator))


TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {"q": {}, "n": {}}}}}
    for name in ("f", "g")
]


@pytest.mark.sweep(72)
@pytest.mark.parametrize(("brackets", "separator", "key_end"), [*product(BRACKETS, SEPARATORS, KEY_ENDS)])
def test_values_with_separators_are_read(brackets: str, separator: str, key_end: str) -> None:
    ir = compiled(brackets, separator, key_end)
    if not lower(ir).calls.whole:
        pytest.skip("the opener does not look like text, or no steps stand for the call")
    readers = EveryReader(ir)
    start, opened, closed, _, end = (text.replace("\\n", "\n") for text in BRACKETS[brackets])
    for value in VALUES:
        expected = with_separator(value, separator)
        call = f"f{opened}q{key_end}{written(expected)}{separator}n{key_end}1{closed}"
        message = readers.parse(f"It is so.{start}{call}{end}", tools=TOOLS)
        found = [json.loads(one["function"]["arguments"]) for one in message["tool_calls"] or ()]
        assert found == [{"q": expected, "n": 1}], (value, message)
        assert message["content"] == "It is so."
    assert readers.differ == []
