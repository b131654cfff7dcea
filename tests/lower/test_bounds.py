"""Readers look ahead as far as the bounds say and no farther, whole and a character at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests import ir_small
from tests.backends.parsers import parser_for, streamed
from tplc.backends.peg.engine import PegEngine
from tplc.ir.nodes import JSON_STYLE, Dialect, PairArguments, Slot, StringStyle, TemplateIR, Text
from tplc_runtime.pattern import LONGEST_FOLLOW, LONGEST_KEY, LOOK_BACK, MOST_SPACE

RAW = replace(JSON_STYLE, strings=())


def keywords(dialect: Dialect) -> TemplateIR:
    tools = replace(
        ir_small.KEYWORDS.tools,
        section_start="<do>",
        section_end="</do>",
        separator="; ",
        call=(Slot("name"), Text("("), Slot("arguments"), Text(")")),
        arguments=PairArguments("", (Slot("key"), Text("="), Slot("value")), ", ", "", ""),
        dialect=dialect,
    )
    return replace(ir_small.KEYWORDS, tools=tools)


def raw_keywords() -> TemplateIR:
    """Return the format of <do>f(a=Paris, France, b=2)</do>."""
    return keywords(Dialect(RAW, JSON_STYLE, JSON_STYLE))


def quoted_keywords() -> TemplateIR:
    """Return the format of <do>f(a='it's', b=2)</do>."""
    style = replace(JSON_STYLE, strings=(StringStyle("'", "'", "none"),), key_open="'", key_close="'")
    return keywords(Dialect(style, style, style))


IR, QUOTED = raw_keywords(), quoted_keywords()


def values(text: str, ir: TemplateIR = IR) -> list[dict[str, Any]]:
    """Return the arguments that parser and PEG read, whole and a character at a time."""
    parser = parser_for(ir)
    message = dict(parser.parse(text))
    assert streamed(parser, list(text)) == message
    assert dict(PegEngine(ir).parse(text)) == message
    return [json.loads(call["function"]["arguments"]) for call in message["tool_calls"]]


@pytest.mark.parametrize("space", [0, 1, 16])
@pytest.mark.parametrize("size", [1, 64])
def test_pairs_are_seen_as_far_as_that(space: int, size: int) -> None:
    key, gap = "k" * size, " " * space  # before a separator it is the value's
    assert values(f"<do>f(a=Paris{gap},{gap}{key}{gap}=x)</do>") == [{"a": f"Paris{gap}", key: "x"}]


@pytest.mark.parametrize("space", [0, 1, 16])
def test_further_calls_are_seen_as_far_as_that(space: int) -> None:
    name, gap = "n" * LONGEST_KEY, " " * space
    assert values(f"<do>f(a=Paris){gap};{gap}{name}{gap}(b=x)</do>") == [{"a": "Paris"}, {"b": "x"}]


@pytest.mark.parametrize("space", [0, 1, 16])
@pytest.mark.parametrize("size", [1, 64])
def test_quotes_that_are_not_escaped_are_read_with_what_follows(space: int, size: int) -> None:
    """A quote, or a word, ends the value if another pair or call follows, so the parser waits for that."""
    key, gap = "k" * size, " " * space
    assert values(f"<do>f(a='it's'{gap},{gap}{key}{gap}='x')</do>", QUOTED) == [{"a": "it's", key: "x"}]
    assert values(f"<do>f(a='it'){gap};{gap}{key}{gap}(b='x')</do>", QUOTED) == [{"a": "it"}, {"b": "x"}]
    assert values(f"<do>f(a=two words{gap},{gap}{key}{gap}=1)</do>", QUOTED) == [{"a": "two words", key: 1}]


def test_a_value_ends_where_the_next_pair_opens_with_punctuation() -> None:
    """Nothing separates the pairs: the opener of one may be the end of a value, so the parser waits for it."""
    pairs = PairArguments("", (Text("- "), Slot("key"), Text(": "), Slot("value")), "", "", "")
    call = (Text("## "), Slot("name"), Slot("arguments"), Text("##"))
    ir = keywords(Dialect(RAW, JSON_STYLE, JSON_STYLE))
    tools = replace(ir.tools, section_start="", section_end="", separator="", call=call, arguments=pairs)
    assert values("## f- a: Paris- b: 2 - 1##", replace(ir, tools=tools)) == [{"a": "Paris", "b": "2 - 1"}]


def test_what_is_longer_is_text() -> None:
    key = "k" * (LONGEST_KEY + 1)
    assert values(f"<do>f(a=Paris, {key}=x)</do>") == [{"a": f"Paris, {key}=x"}]
    gap = " " * (MOST_SPACE + 1)
    assert values(f"<do>f(a=Paris,{gap}k=x)</do>") == [{"a": f"Paris,{gap}k=x"}]


def test_the_longest_end_is_held_whole() -> None:
    """The longest end consists of white space, the closer, the separator and another call's name with the text that
    ends it."""
    longest = 4 * MOST_SPACE + LONGEST_KEY + len(");(")
    assert longest <= LONGEST_FOLLOW
    assert LONGEST_FOLLOW + MOST_SPACE + 1 <= LOOK_BACK
