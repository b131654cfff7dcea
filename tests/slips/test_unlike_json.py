"""What JSON doesn't have, but a parser reads as it is meant: quotes, literals and commas of other languages.

Each is reported, in every chunking, and doesn't make the message incomplete.
"""

from __future__ import annotations

import json

import pytest

from tests.fuzz.formats import Format, formats
from tests.slips.bases import TOOLS, WEATHER
from tests.slips.measure import answers, cuts, joined, read, reading

CHANGES = {
    "typographic quotes": ('"Oslo"', "“Oslo”"),
    "single quotes": ('"Oslo"', "'Oslo'"),
    "a key in single quotes": ('"city"', "'city'"),
    "escaped quotes": ('"Oslo"', '\\"Oslo\\"'),
    "a comma too many": ("3}", "3,}"),
    "an object in a string": ('{"city": "Oslo", "days": 3}', '"{\\"city\\": \\"Oslo\\", \\"days\\": 3}"'),
    "another key": ('"arguments"', '"args"'),
}
CASES = [
    (form, change)
    for form in formats()
    for name, answer in answers(form.ir)
    for change, (before, _) in CHANGES.items()
    if name == "call" and before in answer.text and '{"city": "Oslo", "days": 3}' in answer.text
]


@pytest.mark.parametrize(("form", "change"), CASES, ids=lambda one: getattr(one, "name", one))
def test_what_json_lacks_is_reported(form: Format, change: str) -> None:
    text = dict(answers(form.ir))["call"].text
    assert not read(form.parser, text, TOOLS)[0].diagnostics
    text = text.replace(*CHANGES[change])
    stream, _ = read(form.parser, text, TOOLS)
    [call] = stream.message["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == WEATHER
    assert not stream.incomplete
    [diagnostic] = stream.diagnostics
    assert diagnostic.code in ("arguments_repaired", "call_repaired", "other_form_of_calls")
    for chunks in cuts(text, text):
        other, deltas = read(form.parser, text, TOOLS, chunks)
        assert (joined(deltas), list(other.diagnostics)) == (reading(stream), list(stream.diagnostics))
