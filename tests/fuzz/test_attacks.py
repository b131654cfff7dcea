"""Run hand-written attacks against every example's parser, with and without tools, whole and in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.fuzz.check import check
from tests.fuzz.formats import Format, formats
from tests.fuzz.outputs import markers_of
from tplc.errors import TplcError
from tplc.ir.write import write_parts

LONGEST = 1500


def parts_of(form: Format, name: str) -> list[str]:
    function = {"name": name, "arguments": {"a": "b", "c": [1, {"d": None}]}}
    message: dict[str, Any] = {"content": "Hi", "reasoning_content": "Hm"}
    try:
        return [
            part.text
            for part in write_parts(form.ir, {**message, "tool_calls": [{"id": "call00001", "function": function}]})
        ]
    except TplcError:  # a format without calls
        return [part.text for part in write_parts(form.ir, message)]


def attacks(form: Format) -> Iterator[tuple[str, str]]:
    name = form.tools[0]["function"]["name"] if form.tools else "f"
    parts = parts_of(form, name)
    whole = "".join(parts)
    marks = [mark.strip() for mark in sorted(set(markers_of(form.ir))) if mark.strip()]
    before = next((at for at, part in enumerate(parts) if "b" in part and at > 0), len(parts) - 1)
    head, tail = "".join(parts[:before]), "".join(parts[before + 1 :])
    yield "markers doubled", "".join(mark + mark for mark in marks)
    yield "markers woven together", "".join("".join(chars) for chars in zip(*(mark.ljust(12) for mark in marks)))  # noqa: B905
    yield "the output in its own argument", whole.replace("b", whole)
    yield "backwards", whole[::-1]
    yield "every beginning", "".join(whole[:at] for at in range(0, len(whole), 7))
    yield "halves of all parts", "".join(part[: max(1, len(part) // 2)] for part in parts)
    yield "a call again and again, never closed", "".join(parts[: before + 1]) * 30
    yield "closers alone", tail * 30
    for sign in ("\0", "\u0301", "\u200b", "\u202e"):
        yield f"{sign!a} between all characters", sign.join(whole)
    yield "a byte order mark", "\ufeff" + whole
    yield "Windows' line ends", whole.replace("\n", "\r\n")
    yield "other line ends", whole.replace("\n", "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
    yield "other spaces", whole.replace(" ", "\t\u00a0\u3000")
    yield "capitals", whole.upper()
    yield "wide letters", "".join(chr(ord(char) + 0xFEE0) if 33 <= ord(char) < 127 else char for char in whole)
    yield "half a surrogate pair", whole.replace("b", "\ud83d") + "\ude00" + whole
    yield "a number beyond numbers", f'{head}{{"a": 1e{"9" * 400}, "b": -{"0" * 400}}}{tail}'
    yield "backslashes at all ends", "".join(part + "\\" for part in parts)
    yield "quotes at all ends", "".join(part + '"' for part in parts)
    yield "JSON in JSON in JSON", json.dumps(json.dumps(json.dumps({"a": whole})))
    for other in ("f\n\"'<>{}[]\0\u2028", "", "n" * 700):
        yield f"the name {other[:12]!r}", whole.replace(name, other)


OPTIONS: tuple[Mapping[str, Any], ...] = ({}, {"parse_reasoning": False}, {"parse_tool_calls": False})


@pytest.mark.sweep(14)
@pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)
def test_attack(form: Format) -> None:
    tried = 0
    for title, output in attacks(form):
        text = output[:LONGEST]
        for options in ({"tools": form.tools or None}, *OPTIONS):
            pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
            assert check(form, text, options, pieces).broken == (), title
            tried += 1
    assert tried == 26 * 4
