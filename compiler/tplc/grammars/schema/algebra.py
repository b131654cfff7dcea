"""And, or, not for shapes, one JSON type at a time.

    integer from 1  and  number to 9   →  integer from 1 to 9
    not (string of at most 3)          →  string of at least 4, or any other type

What members must be is only named (`Sub`), so "and" joins names and "not" asks for a name of the opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from tplc.grammars.regular.numbers import Bound
from tplc.grammars.schema.shapes import (
    ANYTHING,
    EVERYTHING,
    ArrayShape,
    Contains,
    Evaluated,
    NamePattern,
    NumberShape,
    ObjectShape,
    Shapes,
    StringShape,
    Sub,
)

MOST_ALTERNATIVES = 100
ShapeT = TypeVar("ShapeT")


class TooManyAlternatives(Exception):
    """A combination of schemas whose alternatives multiply beyond use."""


def union(first: Shapes, second: Shapes) -> Shapes:
    return Shapes(
        first.null or second.null,
        tuple(value for value in (True, False) if value in first.booleans or value in second.booleans),
        _distinct((*first.numbers, *second.numbers)),
        _distinct((*first.strings, *second.strings)),
        _distinct((*first.arrays, *second.arrays)),
        _distinct((*first.objects, *second.objects)),
    )


def intersection(first: Shapes, second: Shapes) -> Shapes:
    if first == EVERYTHING:
        return second
    if second == EVERYTHING:
        return first
    return Shapes(
        first.null and second.null,
        tuple(value for value in first.booleans if value in second.booleans),
        _products(first.numbers, second.numbers, _both_numbers),
        _products(first.strings, second.strings, _both_strings),
        _products(first.arrays, second.arrays, _both_arrays),
        _products(first.objects, second.objects, _both_objects),
    )


def _products(
    first: tuple[ShapeT, ...], second: tuple[ShapeT, ...], both: Callable[[ShapeT, ShapeT], ShapeT]
) -> tuple[ShapeT, ...]:
    if len(first) * len(second) > MOST_ALTERNATIVES and min(len(first), len(second)) > 1:
        raise TooManyAlternatives
    return _distinct(both(left, right) for left in first for right in second)


def _distinct(shapes: Iterable[ShapeT]) -> tuple[ShapeT, ...]:
    return tuple(dict.fromkeys(shapes))


def joined(first: Sub, second: Sub) -> Sub:
    return first if not second else tuple(sorted({*first, *second}))


def tightest_low(first: Bound | None, second: Bound | None) -> Bound | None:
    if first is None or second is None:
        return first or second
    return max(first, second, key=lambda bound: (bound.value, not bound.inclusive))


def tightest_high(first: Bound | None, second: Bound | None) -> Bound | None:
    if first is None or second is None:
        return first or second
    return min(first, second, key=lambda bound: (bound.value, bound.inclusive))


def _both_numbers(first: NumberShape, second: NumberShape) -> NumberShape:
    kinds = {kind for kind in (first.integer, second.integer) if kind is not None}
    values = _both_values(first.values, second.values)
    return NumberShape(
        next(iter(kinds)) if kinds else None,
        tightest_low(first.low, second.low),
        tightest_high(first.high, second.high),
        _distinct((*first.multiples, *second.multiples)),
        () if len(kinds) == 2 else values,
        _distinct((*first.excluded, *second.excluded)),
    )


def _both_values(first: tuple[ShapeT, ...] | None, second: tuple[ShapeT, ...] | None) -> tuple[ShapeT, ...] | None:
    if first is None or second is None:
        return first if second is None else second
    return tuple(value for value in first if value in second)


def _lower(first: int | None, second: int | None) -> int | None:
    return min((value for value in (first, second) if value is not None), default=None)


def _both_strings(first: StringShape, second: StringShape) -> StringShape:
    return StringShape(
        max(first.low, second.low),
        _lower(first.high, second.high),
        _distinct((*first.patterns, *second.patterns)),
        _both_values(first.values, second.values),
        _distinct((*first.excluded, *second.excluded)),
    )


def _both_arrays(first: ArrayShape, second: ArrayShape) -> ArrayShape:
    count = max(len(first.prefix), len(second.prefix))
    evaluated = None if first.evaluated is None or second.evaluated is None else max(first.evaluated, second.evaluated)
    return ArrayShape(
        tuple(joined(item_at(first, index), item_at(second, index)) for index in range(count)),
        joined(first.rest, second.rest),
        max(first.low, second.low),
        _lower(first.high, second.high),
        _distinct((*first.contains, *second.contains)),
        first.unique or second.unique,
        evaluated,
    )


def item_at(shape: ArrayShape, index: int) -> Sub:
    return shape.prefix[index] if index < len(shape.prefix) else shape.rest


def _both_objects(first: ObjectShape, second: ObjectShape) -> ObjectShape:
    properties = dict(first.properties)
    for name, sub in second.properties:
        properties[name] = joined(properties.get(name, ANYTHING), sub)
    return ObjectShape(
        tuple(properties.items()),
        _distinct((*first.required, *second.required)),
        _distinct((*first.patterns, *second.patterns)),
        _distinct((*first.others, *second.others)),
        joined(first.names, second.names),
        max(first.low, second.low),
        _lower(first.high, second.high),
        first.declared or second.declared,
        Evaluated(
            _distinct((*first.evaluated.names, *second.evaluated.names)),
            _distinct((*first.evaluated.patterns, *second.evaluated.patterns)),
            first.evaluated.everything or second.evaluated.everything,
        ),
    )


# Not


def complement(shapes: Shapes, opposite: Callable[[Sub], Sub], never: Sub) -> tuple[Shapes, bool]:
    """Return the shapes that the given ones exclude, and whether the result is exact; if not, it allows too much."""
    exact = True

    def negated(
        parts: tuple[ShapeT, ...], whole: ShapeT, opposites: Callable[[ShapeT], tuple[list[ShapeT], bool]]
    ) -> Shapes:
        nonlocal exact
        found = EVERYTHING
        for part in parts:
            alternatives, complete = opposites(part)
            exact = exact and complete
            if complete:
                found = intersection(found, _of_type(alternatives))
        return found if parts else EVERYTHING

    numbers = negated(shapes.numbers, NumberShape(), _not_number).numbers
    strings = negated(shapes.strings, StringShape(), _not_string).strings
    arrays = negated(shapes.arrays, ArrayShape(), lambda shape: _not_array(shape, opposite)).arrays
    objects = negated(shapes.objects, ObjectShape(), lambda shape: _not_object(shape, opposite, never)).objects
    booleans = tuple(value for value in (True, False) if value not in shapes.booleans)
    return Shapes(not shapes.null, booleans, numbers, strings, arrays, objects), exact


def _of_type(alternatives: Iterable[object]) -> Shapes:
    shapes = list(alternatives)
    return Shapes(
        numbers=tuple(shape for shape in shapes if isinstance(shape, NumberShape)),
        strings=tuple(shape for shape in shapes if isinstance(shape, StringShape)),
        arrays=tuple(shape for shape in shapes if isinstance(shape, ArrayShape)),
        objects=tuple(shape for shape in shapes if isinstance(shape, ObjectShape)),
    )


def _not_number(shape: NumberShape) -> tuple[list[NumberShape], bool]:
    found = []
    if shape.integer is not None:
        found.append(NumberShape(integer=not shape.integer))
    if shape.low is not None:
        found.append(NumberShape(high=replace(shape.low, inclusive=not shape.low.inclusive)))
    if shape.high is not None:
        found.append(NumberShape(low=replace(shape.high, inclusive=not shape.high.inclusive)))
    found += [NumberShape(multiples=((step, not wanted),)) for step, wanted in shape.multiples]
    if shape.values is not None:
        found.append(NumberShape(excluded=shape.values))
    if shape.excluded:
        found.append(NumberShape(values=shape.excluded))
    return found, True


def _not_string(shape: StringShape) -> tuple[list[StringShape], bool]:
    found = []
    if shape.low:
        found.append(StringShape(high=shape.low - 1))
    if shape.high is not None:
        found.append(StringShape(low=shape.high + 1))
    found += [StringShape(patterns=(NamePattern(p.text, not p.wanted, p.is_format),)) for p in shape.patterns]
    if shape.values is not None:
        found.append(StringShape(excluded=shape.values))
    if shape.excluded:
        found.append(StringShape(values=shape.excluded))
    return found, True


def _not_array(shape: ArrayShape, opposite: Callable[[Sub], Sub]) -> tuple[list[ArrayShape], bool]:
    found = []
    if shape.low:
        found.append(ArrayShape(high=shape.low - 1))
    if shape.high is not None:
        found.append(ArrayShape(low=shape.high + 1))
    for index, sub in enumerate(shape.prefix):
        if sub != ANYTHING:
            before = (ANYTHING,) * index
            found.append(ArrayShape(prefix=(*before, opposite(sub)), low=index + 1))
    for wanted in shape.contains:
        if wanted.low:
            found.append(ArrayShape(contains=(Contains(wanted.sub, 0, wanted.low - 1),)))
        if wanted.high is not None:
            found.append(ArrayShape(contains=(Contains(wanted.sub, wanted.high + 1, None),)))
    exact = not shape.unique
    if shape.rest != ANYTHING:
        if shape.prefix:
            exact = False
        else:
            found.append(ArrayShape(contains=(Contains(opposite(shape.rest)),)))
    return found, exact


def _not_object(shape: ObjectShape, opposite: Callable[[Sub], Sub], never: Sub) -> tuple[list[ObjectShape], bool]:
    found = [ObjectShape(properties=((name, never),)) for name in shape.required]
    for name, sub in shape.properties:
        if sub != ANYTHING:
            found.append(ObjectShape(properties=((name, opposite(sub)),), required=(name,)))
    if shape.low:
        found.append(ObjectShape(high=shape.low - 1))
    if shape.high is not None:
        found.append(ObjectShape(low=shape.high + 1))
    # "Some other member is not as it must be" can't be said.
    inexpressible = shape.names != ANYTHING or any(sub != ANYTHING for _, sub in shape.patterns)
    return found, not inexpressible and all(others.sub == ANYTHING for others in shape.others)
