"""No value contains the markers of its call, also if texts before them are missing; the exceptions are named here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.backends.values_and_markers import KNOWN, NOTATIONS, SLIPS, VALUES, outputs, tools, wrong_readings
from tests.conftest import amount

_CALL = frozenset(["first call not closed"])
# A value without a closer goes on to the next marker that the format writes after it, where no tool has the next key.
_PAIR = frozenset(["no value closed"])
# The opener of a call is the opener of a pair and a word, and a pair may have that word as its key.
_WORD = frozenset(["first call not closed", "last value not closed"])
# Text contains what its template does not write between values: white space, a separator, or a pair of a key that
# no tool has.
_TEXT = frozenset(SLIPS)
EXCEPTIONS = {
    "keywords": _CALL,
    "keywords alone": _CALL,
    "keyword lines": _CALL,
    "results": _CALL,
    "raw tags": _PAIR,
    "raw lines of tags": _PAIR,
    "raw elements": _PAIR | _WORD,
    "raw in brackets": _PAIR,
    "raw keywords": _TEXT,
    "raw expressions": _TEXT,
    "raw options": _TEXT,
    "raw bars": _TEXT,
}


@pytest.mark.sweep(204)
@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("name", NOTATIONS)
def test_values_end_before_markers(name: str, value: Any) -> None:
    found = [one for known in KNOWN[: amount(1, sweep=4)] for one in wrong_readings(name, value, known)]
    assert [one for one in found if one[0] not in EXCEPTIONS.get(name, ())] == []


@pytest.mark.sweep(12)
@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("name", [name for name, slips in EXCEPTIONS.items() if slips is _TEXT])
def test_values_whose_keys_are_known_end_before_markers(name: str, value: Any) -> None:
    wrong = {slip for slip, _, _ in wrong_readings(name, value, "all")}
    assert wrong <= {slip for slip in SLIPS if "separator" in slip or "before the call" in slip or slip in _CALL}


def test_slips_change_what_they_say() -> None:
    written = dict(outputs(NOTATIONS["keywords"], 1))
    assert written["none"] == "<|calls|>[f(x=1, y=1), g(z=1)]<|/calls|>"
    assert written["separator after the last pair"] == "<|calls|>[f(x=1, y=1,), g(z=1,)]<|/calls|>"
    assert written["last call not closed"] == "<|calls|>[f(x=1, y=1), g(z=1]<|/calls|>"
    assert tools(1, "first") == [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in (("f", {"x": {"type": "integer"}}), ("g", {"z": {"type": "integer"}}))
    ]
