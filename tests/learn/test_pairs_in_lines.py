"""Pairs in lines: values between punctuation, tables, and calls that a blank line separates; and parts whose openers
begin alike."""

from __future__ import annotations

from itertools import product

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.learn.test_spaced_pairs import VALUE
from tests.property.report_wild import read_back
from tplc.driver import compile_template

AROUND = {
    "a section": ("{{- '<ini>\\n[[' ~ c.function.name ~ ']]\\n' }}", "{{- '</ini>' }}"),
    "tags": ("{{- '<call ' ~ c.function.name ~ '>\\n' }}", "{{- '</call>' }}"),
}
# What opens a pair, ends its key, and closes its value.
LINES = {
    "semicolons": ("", " = ", " ;;\\n"),
    "a semicolon": ("", ": ", ";\\n"),
    "a word and a semicolon": ("let ", " = ", " ;"),
    "commas": ("", " => ", ",\\n"),
    "stars": ("* ", ": ", " *\\n"),
    "a full stop": ("", " := ", " .\\n"),
    "bars": ("| ", " = ", " |\\n"),
    "cells": ("| ", " | ", " |\\n"),
    "colons": (": ", ": ", " :\\n"),
}
OPENERS = {"a heading": "\\n## Tool: ", "brackets": "\\n[tool] ", "a word": "\\n\\nTOOL "}
PARTS = {
    "headings": ("# Thinking\\n", "# Answer\\n", "# Tools\\n"),
    "bold words": ("**Thought:** ", "**Answer:** ", "**Calls:**\\n"),
    "brackets": ("[think] ", "[answer] ", "[call]\\n"),
    "words": ("THOUGHT:\\n", "ANSWER:\\n", "CALL:\\n"),
    "headings and blank lines": ("## Reasoning\\n\\n", "## Response\\n\\n", "## Actions\\n\\n"),
}


def come_back(turn: str) -> None:
    source = source_of(turn)
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    assert read_back(source, ir, readers=True) == ((), ())


def of_values(around: str, line: str, value: str) -> str:
    (opened, closed), (before, key_end, after) = AROUND[around], LINES[line]
    return CONTENT + calls(opened + pairs(f"{{{{- '{before}' ~ k ~ '{key_end}' ~ {value} ~ '{after}' }}}}") + closed)


@pytest.mark.parametrize("line", ["semicolons", "cells"])
def test_raw_values_before_punctuation(line: str) -> None:
    come_back(of_values("tags", line, VALUE))


@pytest.mark.sweep(18)
@pytest.mark.parametrize(("around", "line", "value"), [*product(AROUND, LINES, [VALUE, "(v | tojson)"])])
def test_values_before_punctuation(around: str, line: str, value: str) -> None:
    come_back(of_values(around, line, value))


def test_rows_of_a_table() -> None:
    row = pairs("{{- '| ' ~ k ~ ' | ' ~ (v | tojson) ~ ' |\\n' }}")
    come_back(CONTENT + calls("{{- '\\n### ' ~ c.function.name ~ '\\n| key | value |\\n|---|---|\\n' }}" + row))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("opener", OPENERS)
def test_a_blank_line_between_calls(opener: str) -> None:
    pair = pairs(f"{{{{- '- ' ~ k ~ ': ' ~ {VALUE} ~ '\\n' }}}}")
    come_back(CONTENT + calls(f"{{{{- '{OPENERS[opener]}' ~ c.function.name ~ '\\n' }}}}" + pair))


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("parts", "space"), [("headings", "\\n\\n"), *product([*PARTS][1:], ["\\n\\n", "\\n"])])
def test_parts_whose_openers_begin_alike(parts: str, space: str) -> None:
    thought, answer, call = PARTS[parts]
    come_back(
        f"{{%- if m.reasoning_content %}}{{{{- '{thought}' ~ m.reasoning_content ~ '{space}' }}}}{{%- endif %}}"
        f"{{%- if m.content %}}{{{{- '{answer}' ~ m.content ~ '{space}' }}}}{{%- endif %}}"
        f"{{%- if m.tool_calls %}}{{{{- '{call}' }}}}{{%- endif %}}"
        + calls("{{- '- ' ~ c.function.name ~ ': ' ~ (c.function.arguments | tojson) ~ '\\n' }}")
    )
