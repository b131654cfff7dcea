"""A request's tools and a value's text take bounded time."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import pytest

from tplc.lower.lexemes import lexemes_of
from tplc_runtime.scanner import is_truncated
from tplc_runtime.schema import types_of, variants
from tplc_runtime.values import literal_of


@pytest.mark.parametrize("text", ["0" * 100_000 + "..", "0_" * 50_000 + "..", "-" + "0" * 100_000 + "e", "." * 100_000])
def test_no_number_takes_long(text: str) -> None:
    started = time.process_time()
    assert literal_of(text, {}) is None
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("007", "7"), ("00.5", "0.5"), (".5", "0.5"), ("1_000", "1000"), ("+3", "3"), ("-0.", None), ("00", None),
        ("0_0", "0"), ("00.", None), ("00e5", None), ("05e5", "5e5"), ("5.", "5.0"), ("0.", None), ("-00", None),
    ],
)  # fmt: skip
def test_numbers_that_json_does_not_write(text: str, expected: str | None) -> None:
    assert literal_of(text, {}) == expected


def nested(depth: int, *, copies: bool) -> dict[str, Any]:
    """Return unions of 64 inside of each other: by equal references, or all written out, with one object in memory for
    each."""
    root: dict[str, Any] = {"$defs": {"d0": {"type": "string"}}}
    for level in range(1, depth + 1):
        below = {"$ref": f"#/$defs/d{level - 1}"}
        root["$defs"][f"d{level}"] = {"anyOf": [dict(below) if copies else below for _ in range(64)]}
    return {**root, "$ref": f"#/$defs/d{depth}"}


@pytest.mark.parametrize("copies", [False, True])
def test_nested_unions_take_no_time(copies: bool) -> None:
    schema = nested(3, copies=copies)
    started = time.process_time()
    assert types_of(schema, schema) == {"string"}
    assert time.process_time() - started < 1


def test_too_many_variants_say_nothing() -> None:
    inner = [{"anyOf": [{"type": "string"} for _ in range(64)]} for _ in range(64)]
    assert len(variants({"anyOf": inner[:32]}, {})) == 32 * 64
    assert variants({"anyOf": inner}, {}) == [{}]
    assert types_of({"anyOf": inner}, {}) is None


def test_a_marker_takes_memory_as_it_is_long() -> None:
    def taken(length: int) -> int:
        marker = "".join(chr(97 + at % 26) for at in range(length))
        tracemalloc.start()
        try:
            found = lexemes_of([("call", [f"<{marker}>", f"<{marker} {marker}>"]), ("end", [f"</{marker}>"])])
            cores = [lexeme.spelled for lexeme in found.all]
            for text, truncated in ((f"<{marker}", True), (f"<{marker}  {marker}", True), (f"<{marker}>", False)):
                assert any(is_truncated(core, text) for core in cores) == truncated
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert taken(16_000) < 6 * taken(4000)
