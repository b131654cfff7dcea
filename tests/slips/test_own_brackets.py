"""Markers in another spelling, but in their own brackets: they are reported if they stay in the text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.backends.parsers import ir_of, parser_of
from tests.slips.bases import TOOLS
from tplc.lower import lower
from tplc.lower.acceptor import Marker
from tplc.lower.garbled import SHORT
from tplc.lower.markerlike import marker_like_texts

ENDS = ("<|x|>", "<|im_end|>", "<-end->", "</b>", "[/x]", "«fin»")
LIKE = " is like a marker, but remains in the message"


def spellings(core: str) -> list[str]:
    first, word, last = re.split(r"([A-Za-z]\w*)", core)
    spaced = [f"{first}{word} {last}", f"{first} {word} {last}", f"{first[0]} {first[1:]}{word}{last}"]
    return [*spaced, core.upper(), f" {first} {word.upper()}{last}"]


@pytest.mark.parametrize("name", ["tagged-json", "recipient-lines"])
@pytest.mark.parametrize("end", ENDS)
def test_ends_of_the_turn_are_like_a_marker(name: str, end: str) -> None:
    found = marker_like_texts(replace(lower(ir_of(name)), ends=(end,)))
    assert found is not None
    for text in spellings(end):
        assert re.search(found.text, f"It is two.{text}"), text
        assert re.search(found.text, f"It is two.{text}\n"), text
    for text in ("It is two.", "a < b", "[1]", f"{end[0]} x y", "x <y> z"):
        assert not re.search(found.text, text), text


@pytest.mark.parametrize("opener", ["<inner voice>", "^<inner voice>", "[turn 2]"])
def test_markers_with_white_space_are_like_a_marker(opener: str) -> None:
    found = marker_like_texts(replace(lower(ir_of("tagged-json")), reasoning_starts=(Marker(opener),)))
    assert found is not None
    assert re.search(found.text, opener.upper() + "An easy one.")


@pytest.mark.parametrize("text", ["</b:go>", "<b:go>", "[/x]", "<|x|>", "</b-go>"])
def test_short_closers_may_have_two_words(text: str) -> None:
    assert SHORT.fullmatch(text)


def test_the_parser_reports_it() -> None:
    stream = parser_of("nested-elements").StreamParser(tools=TOOLS)
    for char in "^<inner voice>An easy one.^</INNER voice>It is two.^[.]^\n":
        stream.feed(char)
    stream.finish()
    assert [each.text for each in stream.diagnostics] == ["</INNER voice>" + LIKE]
