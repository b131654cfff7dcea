"""Schemas that nest deep, with numbers of many digits in them: a grammar, what it loosens listed, or a clear error."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.tools import tool
from tests.ir_small import ALL as SMALL
from tplc.backends.gbnf import SchemaTooDeep, grammar

NESTINGS: dict[str, Callable[[Any], Any]] = {
    "object": lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"]},
    "optional": lambda inner: {"type": "object", "properties": {"a": inner}},
    "others": lambda inner: {"type": "object", "additionalProperties": inner},
    "array": lambda inner: {"type": "array", "items": inner},
    "prefix": lambda inner: {"type": "array", "prefixItems": [inner], "minItems": 1},
    "contains": lambda inner: {"type": "array", "contains": inner},
    "anyOf": lambda inner: {"anyOf": [inner, {"type": "null"}]},
    "not": lambda inner: {"not": inner},
}
NUMBERS: dict[str, Any] = {
    "no bounds": {"type": "integer"},
    "many digits": {"type": "integer", "minimum": -(7**400), "maximum": 7**500},
    "more digits than are counted": {"type": "integer", "minimum": 10**900 + 7, "maximum": 10**2000 + 7},
    "many decimals": {"type": "number", "exclusiveMinimum": 5e-324, "maximum": 1.7976931348623157e308},
    "multiples": {"type": "integer", "multipleOf": 7, "maximum": 7**300},
}


def nested(inner: Any, nesting: str, depth: int) -> Any:
    for _ in range(depth):
        inner = NESTINGS[nesting](inner)
    return inner


@pytest.mark.sweep(40)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("form", ["json-calls", "nested", "plain"])
def test_deep_schemas(form: str, nesting: str, number: str) -> None:
    for depth in (1, 46, 200):
        schema = nested(NUMBERS[number], nesting, depth)
        if form == "plain":
            made = grammar(SMALL["plain"], json_schema=schema)
        else:
            made = grammar(SMALL[form], tools=[tool("f", {"x": schema})], tool_choice="required")
        listed = " ".join(str(entry) for entry in made.not_expressed if entry.effect == "looser")
        # Names that closing markers repeat have to be known, so such a format has no others.
        steps = nesting not in ("anyOf", "not") and (form, nesting) != ("nested", "others")
        assert ("any value: nested more than 48 deep" in listed) == (depth == 200 and steps)
        assert len(made.text) > 100


@needs_engine
def test_the_opposite_of_what_is_loosened_is_loose() -> None:
    """A grammar never accepts less than the schema allows, so the opposite of a looser schema must be looser too."""
    for depth in (3, 4, 60, 61):
        made = grammar(SMALL["plain"], json_schema=nested({"type": "integer"}, "not", depth))
        assert accepts(made.text, "1" if depth % 2 == 0 else "true")
        assert bool(made.not_expressed) == (depth > 40)
    made = grammar(SMALL["plain"], json_schema={"not": {"type": "string", "pattern": "(a)\\1"}})
    assert accepts(made.text, '"b"')
    assert [str(entry) for entry in made.not_expressed if entry.keyword == "not"] == [
        "#: not: a part of it is left out (looser)"
    ]


def test_what_the_stack_does_not_hold() -> None:
    schema = nested(NUMBERS["many digits"], "object", 40)

    def called_from(depth: int) -> str:
        if depth:
            return called_from(depth - 1)
        return grammar(SMALL["json-calls"], tools=[tool("f", {"x": schema})]).text

    assert called_from(0)
    with pytest.raises(SchemaTooDeep) as caught:
        for depth in range(0, 1000, 10):
            called_from(depth)
    assert str(caught.value) == "f: the schema nests too deep for the stack that is left: make it flatter"


@needs_engine
@pytest.mark.parametrize("kind", ["integer", "number"])
def test_bounds_of_many_digits(kind: str) -> None:
    """Numbers within the bounds are accepted; others aren't, up to the digits that count."""
    chance = random.Random(kind)
    for digits in (1, 19, 49, 78, 309):
        low, high = sorted(chance.randrange(10 ** (digits - 1), 10**digits) for _ in range(2))
        low = chance.choice([low, -low])
        made = grammar(SMALL["plain"], json_schema={"type": kind, "minimum": low, "maximum": high})
        exact = digits < 50
        assert [str(entry) for entry in made.not_expressed] == [
            f"#: {keyword}: only the first 50 digits count (looser)" for keyword in ("minimum", "maximum") if not exact
        ]
        for value in (low, high, (low + high) // 2, low + 1, high - 1):
            assert accepts(made.text, json.dumps(value))
        near = 1 if exact else 10 ** (digits - 49)
        for value in (low - 2 * near, high + 2 * near, -10 * high, 10 * high):
            assert not accepts(made.text, json.dumps(value))


@needs_engine
def test_a_bound_of_a_power_of_ten_is_exact() -> None:
    made = grammar(SMALL["plain"], json_schema={"type": "number", "minimum": 1e300})
    assert made.not_expressed == ()
    assert accepts(made.text, "1" + 300 * "0" + ".0")
    assert not accepts(made.text, 300 * "9" + ".9")
