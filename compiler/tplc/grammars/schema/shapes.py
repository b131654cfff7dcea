"""The values that a schema allows, one JSON type at a time.

    {"type": ["integer", "null"], "minimum": 1}  →  Shapes(null=True, numbers=(NumberShape(integer=True, low=1),))

A `Shapes` is a union; the shapes of one type are alternatives.  Members and items are named by `Sub`: numbers of
schemas that all have to hold, looked up in the reader, so that recursive schemas are finite.  `()` allows everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tplc.grammars.regular.numbers import Bound

Sub = tuple[int, ...]
ANYTHING: Sub = ()
TypeName = Literal["null", "boolean", "number", "string", "array", "object"]
TYPE_NAMES: tuple[TypeName, ...] = ("null", "boolean", "number", "string", "array", "object")


@dataclass(frozen=True, slots=True)
class NumberShape:
    """`integer` None: with or without a fraction.  `values`: only these.  `multiples`: of (step, or not of it)."""

    integer: bool | None = None
    low: Bound | None = None
    high: Bound | None = None
    multiples: tuple[tuple[Fraction, bool], ...] = ()
    values: tuple[Fraction, ...] | None = None
    excluded: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class NamePattern:
    text: str
    wanted: bool = True
    is_format: bool = False


@dataclass(frozen=True, slots=True)
class StringShape:
    low: int = 0
    high: int | None = None
    patterns: tuple[NamePattern, ...] = ()
    values: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contains:
    sub: Sub
    low: int = 1
    high: int | None = None


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """`evaluated`: how many first items a schema has looked at (None: all), for unevaluatedItems."""

    prefix: tuple[Sub, ...] = ()
    rest: Sub = ANYTHING
    low: int = 0
    high: int | None = None
    contains: tuple[Contains, ...] = ()
    unique: bool = False
    evaluated: int | None = 0


@dataclass(frozen=True, slots=True)
class Others:
    """A clause for the members whose names are not in `names` and match none of `patterns`."""

    names: tuple[str, ...]
    patterns: tuple[str, ...]
    sub: Sub


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Which members some schema has looked at, for unevaluatedProperties."""

    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    everything: bool = False


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """`patterns`: what members whose names match must be; `names`: what names must be.

    `declared`: some schema listed properties, so that what it does not list was perhaps forgotten.
    """

    properties: tuple[tuple[str, Sub], ...] = ()
    required: tuple[str, ...] = ()
    patterns: tuple[tuple[str, Sub], ...] = ()
    others: tuple[Others, ...] = ()
    names: Sub = ANYTHING
    low: int = 0
    high: int | None = None
    declared: bool = False
    evaluated: Evaluated = Evaluated()


@dataclass(frozen=True, slots=True)
class Shapes:
    null: bool = False
    booleans: tuple[bool, ...] = ()
    numbers: tuple[NumberShape, ...] = ()
    strings: tuple[StringShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    objects: tuple[ObjectShape, ...] = ()


EVERYTHING = Shapes(True, (True, False), (NumberShape(),), (StringShape(),), (ArrayShape(),), (ObjectShape(),))
NOTHING = Shapes()


def types_of(shapes: Shapes) -> tuple[TypeName, ...]:
    allowed = {
        "null": shapes.null,
        "boolean": bool(shapes.booleans),
        "number": bool(shapes.numbers),
        "string": bool(shapes.strings),
        "array": bool(shapes.arrays),
        "object": bool(shapes.objects),
    }
    return tuple(name for name in TYPE_NAMES if allowed[name])


def only(shapes: Shapes, types: tuple[TypeName, ...]) -> Shapes:
    return Shapes(
        shapes.null and "null" in types,
        shapes.booleans if "boolean" in types else (),
        shapes.numbers if "number" in types else (),
        shapes.strings if "string" in types else (),
        shapes.arrays if "array" in types else (),
        shapes.objects if "object" in types else (),
    )
