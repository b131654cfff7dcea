"""From JSON Schema to shapes: references followed, and, or and not worked out.

    {"allOf": [{"minimum": 1}, {"maximum": 9}], "type": "integer"}  →  NumberShape(integer=True, low=1, high=9)

What has no place in a shape is reported and left out, which allows more and never less.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from tplc.grammars.schema import algebra, strings
from tplc.grammars.schema.document import Document, Subschema, Unresolved
from tplc.grammars.schema.keywords import Keywords, exact, shown
from tplc.grammars.schema.report import Report
from tplc.grammars.schema.shapes import (
    ANYTHING,
    EVERYTHING,
    NOTHING,
    ArrayShape,
    NamePattern,
    NumberShape,
    ObjectShape,
    Others,
    Shapes,
    StringShape,
    Sub,
)
from tplc.ir.nodes import Json

_DEEPEST = 40
_MOST_ONE_OF = 40
_APPLICATORS = ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "enum", "const")
_DEPENDENTS = ("dependentRequired", "dependentSchemas", "dependencies")


@dataclass(frozen=True, slots=True)
class _Opposite:
    """A schema that is only the opposite of others."""

    sub: Sub


class _StillReading(Exception):
    """A schema is needed while it is being read."""


class SchemaReader:
    """Reads one document.  `formats`: whether `format` is asserted."""

    def __init__(self, schema: Json, report: Report, *, formats: bool = True) -> None:
        self.document = Document(schema)
        self.report = report
        self._keywords = Keywords(self.sub, report, formats=formats)
        self._nodes: list[Subschema | _Opposite] = []
        self._numbers: dict[object, int] = {}
        self._read: dict[Sub, Shapes] = {}
        # Schemas that were read as more than they allow, and how often one of them was asked for again.
        self._loosened: set[Sub] = set()
        self._times_loosened = 0
        self._void: dict[Sub, bool] = {}
        self._reading: list[Sub] = []
        self._probing = 0
        self._looking = 0
        self.never = self._number("never", replace(self.document.root, schema=False))
        self.root = self.sub(self.document.root)

    def sub(self, place: Subschema) -> Sub:
        if place.schema is True or place.schema == {}:
            return ANYTHING
        if place.schema is False:
            return self.never
        if isinstance(place.schema, dict):
            return self._number(id(place.schema), place)
        self.report.looser("schema", place.path, f"anything: {shown(place.schema)} is not a schema")
        return ANYTHING

    def opposite(self, sub: Sub) -> Sub:
        if sub == ANYTHING:
            return self.never
        if sub == self.never:
            return ANYTHING
        if len(sub) == 1:
            node = self._nodes[sub[0]]
            if isinstance(node, _Opposite):
                return node.sub
        return self._number(("not", sub), _Opposite(sub))

    def path(self, sub: Sub) -> str:
        for number in sub:
            node = self._nodes[number]
            if isinstance(node, Subschema):
                return node.path
        return "#"

    def schema(self, sub: Sub) -> Json:
        """Return the one schema with this number; None if there are several, or if it isn't in the document."""
        node = self._nodes[sub[0]] if len(sub) == 1 else None
        return node.schema if isinstance(node, Subschema) else None

    def shapes(self, sub: Sub) -> Shapes:
        if sub in self._read:
            self._times_loosened += sub in self._loosened
            return self._read[sub]
        if sub in self._reading and self._probing:
            raise _StillReading
        if sub in self._reading:
            self.report.looser("$ref", self.path(sub), "anything: the schema refers to itself without a step between")
            return EVERYTHING
        if len(self._reading) > _DEEPEST:
            done = f"anything: more than {_DEEPEST} schemas in one another without a step between"
            self.report.looser("schema", self.path(sub), done)
            return EVERYTHING
        before = self._losses()
        self._reading.append(sub)
        found = EVERYTHING
        for number in sub:
            found = self._both(found, self._shapes_of(number), self.path(sub))
        self._reading.pop()
        self._read[sub] = found
        if self._losses() > before:
            self._loosened.add(sub)
        return found

    def _losses(self) -> int:
        return self.report.times_looser + self._times_loosened

    def is_void(self, sub: Sub) -> bool:
        """Return whether the schema allows nothing, as far as that is certain."""
        if sub == ANYTHING or self._looking > _DEEPEST:
            return False
        if sub not in self._void:
            self._void[sub] = False
            self._looking += 1
            shapes = self.shapes(sub)
            self._void[sub] = not (
                shapes.null
                or shapes.booleans
                or any(not number_is_void(shape) for shape in shapes.numbers)
                or any(not strings.is_void(shape) for shape in shapes.strings)
                or any(not self.array_is_void(shape) for shape in shapes.arrays)
                or any(not self.object_is_void(shape) for shape in shapes.objects)
            )
            self._looking -= 1
        return self._void[sub]

    def array_is_void(self, shape: ArrayShape) -> bool:
        if shape.high is not None and shape.high < shape.low:
            return True
        return any(self.is_void(algebra.item_at(shape, index)) for index in range(min(shape.low, 50)))

    def object_is_void(self, shape: ObjectShape) -> bool:
        if shape.high is not None and shape.high < max(shape.low, len(shape.required)):
            return True
        return any(map(self.is_void, self.members(shape, shape.required).values()))

    def members(self, shape: ObjectShape, names: Iterable[str]) -> dict[str, Sub]:
        """Return the constraints on the members of these names."""
        properties = dict(shape.properties)
        found = {}
        for name in names:
            sub = properties.get(name, ANYTHING)
            for pattern, wanted in shape.patterns:
                if _name_fits(pattern, name):
                    sub = algebra.joined(sub, wanted)
            for others in shape.others:
                if name not in others.names and not any(_name_fits(pattern, name) for pattern in others.patterns):
                    sub = algebra.joined(sub, others.sub)
            found[name] = sub if self._may_be_called(name, shape.names) else self.never
        return found

    def _may_be_called(self, name: str, names: Sub) -> bool:
        return names == ANYTHING or any(strings.fits(shape, name) for shape in self.shapes(names).strings)

    # Reading

    def _number(self, key: object, node: Subschema | _Opposite) -> Sub:
        if key not in self._numbers:
            self._numbers[key] = len(self._nodes)
            self._nodes.append(node)
        return (self._numbers[key],)

    def _both(self, first: Shapes, second: Shapes, path: str) -> Shapes:
        try:
            return algebra.intersection(first, second)
        except algebra.TooManyAlternatives:
            self.report.looser("allOf", path, f"a part is left out: more than {algebra.MOST_ALTERNATIVES} alternatives")
            return first

    def _not(self, sub: Sub, path: str) -> tuple[Shapes, bool]:
        """Return the opposite of a schema, and whether it is exact."""
        before = self._losses()
        shapes = self.shapes(sub)
        if self._losses() > before:
            # The opposite of more than what is meant would be less.
            return EVERYTHING, False
        try:
            return algebra.complement(shapes, self.opposite, self.never)
        except algebra.TooManyAlternatives:
            return EVERYTHING, False

    def _shapes_of(self, number: int) -> Shapes:
        node = self._nodes[number]
        if isinstance(node, _Opposite):
            found, exact = self._not(node.sub, self.path(node.sub))
            if not exact:
                self.report.looser("not", self.path(node.sub), "its opposite allows too much")
            return found
        if node.schema is False:
            return NOTHING
        assert isinstance(node.schema, dict)
        if node.ref_alone and "$ref" in node.schema:
            return self._applied("$ref", node, node.schema)
        found = self._keywords.shapes(node, node.schema)
        for keyword in _APPLICATORS:
            if keyword in node.schema:
                found = self._both(found, self._applied(keyword, node, node.schema), node.path)
        for keyword in _DEPENDENTS:
            if keyword in node.schema:
                for dependent in self._dependents(keyword, node):
                    found = self._both(found, dependent, node.path)
        return self._unevaluated(node, node.schema, found)

    def _applied(self, keyword: str, node: Subschema, schema: dict[str, Json]) -> Shapes:
        if keyword == "const":
            return self._value(node.member("const"))
        if keyword == "if":
            return self._condition(node, schema)
        value = schema[keyword]
        if keyword == "not":
            opposite, exact = self._not(self.sub(node.member("not")), node.path)
            if not exact:
                self.report.looser("not", node.path, "a part of it is left out")
            return opposite
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            return self._reference(keyword, node, value)
        if not isinstance(value, list) or (not value and keyword != "enum"):
            self.report.looser(keyword, node.path, f"left out: {shown(value)} is not a list of schemas")
            return EVERYTHING
        if keyword == "enum":
            return self._enum(node, value)
        subs = [self.sub(node.member(keyword, index)) for index in range(len(value))]
        if keyword == "oneOf":
            return self._one_of(node, subs)
        found = EVERYTHING if keyword == "allOf" else NOTHING
        for sub in subs:
            found = self._both(found, self.shapes(sub), node.path) if keyword == "allOf" else self._or(found, sub)
        return found

    def _or(self, found: Shapes, sub: Sub) -> Shapes:
        return algebra.union(found, self.shapes(sub))

    def _reference(self, keyword: str, node: Subschema, value: Json) -> Shapes:
        if keyword == "$recursiveRef":
            value = "#"
        if not isinstance(value, str):
            self.report.looser(keyword, node.path, f"anything: {shown(value)} is not a reference")
            return EVERYTHING
        if keyword == "$dynamicRef" and self.document.dynamic(value.partition("#")[2]) > 1:
            self.report.looser(keyword, node.path, "taken as $ref: several schemas have this dynamic anchor")
        if self.document.is_ambiguous(value, node):
            done = "applies to the $ref next to it, as from draft 2019-09 on; $schema names the draft"
            self.report.looser("$id", node.path, done)
        try:
            return self.shapes(self.sub(self.document.resolve(value, node.resolver)))
        except Unresolved as error:
            self.report.looser(keyword, node.path, f"anything: {error}")
            return EVERYTHING

    def _enum(self, node: Subschema, values: list[Json]) -> Shapes:
        # Most enums are of strings: one shape contains them all.
        plain = dict.fromkeys(value for value in values if isinstance(value, str))
        found = Shapes(strings=(StringShape(values=tuple(plain)),)) if plain else NOTHING
        for index, value in enumerate(values):
            if not isinstance(value, str):
                found = algebra.union(found, self._value(node.member("enum", index)))
        numbers = [value for shape in found.numbers for value in shape.values or ()]
        return replace(found, numbers=(NumberShape(values=tuple(dict.fromkeys(numbers))),)) if numbers else found

    def _value(self, place: Subschema) -> Shapes:
        """Return the shapes of exactly this value."""
        value = place.schema
        if value is None:
            return Shapes(null=True)
        if isinstance(value, bool):
            return Shapes(booleans=(value,))
        if isinstance(value, int | float):
            return Shapes(numbers=(NumberShape(values=(exact(value),)),))
        if isinstance(value, str):
            return Shapes(strings=(StringShape(values=(value,)),))
        if isinstance(value, list):
            items = tuple(self._constant(place.member(index)) for index in range(len(value)))
            return Shapes(arrays=(ArrayShape(items, self.never, len(items), len(items)),))
        members = tuple((name, self._constant(place.member(name))) for name in value)
        names = tuple(value)
        return Shapes(objects=(ObjectShape(members, names, (), (Others(names, (), self.never),), declared=True),))

    def _constant(self, place: Subschema) -> Sub:
        wrapped = replace(place, schema={"const": place.schema})
        return self._number(("const", json.dumps(place.schema)), wrapped)

    def _one_of(self, node: Subschema, subs: list[Sub]) -> Shapes:
        if len(subs) > _MOST_ONE_OF:
            self.report.looser("oneOf", node.path, f"taken as anyOf: more than {_MOST_ONE_OF} alternatives")
            return self._any_of(subs)
        pairs = [(i, j) for i in range(len(subs)) for j in range(i)]
        clashes = {pair for pair in pairs if not self._disjoint(subs[pair[0]], subs[pair[1]])}
        if not clashes:
            return self._any_of(subs)
        found = NOTHING
        for index, sub in enumerate(subs):
            alone = self.shapes(sub)
            for other in range(len(subs)):
                if (index, other) in clashes or (other, index) in clashes:
                    rest, exact_rest = self._not(subs[other], node.path)
                    if not exact_rest:
                        self.report.looser("oneOf", node.path, "taken as anyOf where alternatives overlap")
                    alone = self._both(alone, rest, node.path)
            found = algebra.union(found, alone)
        return found

    def _any_of(self, subs: list[Sub]) -> Shapes:
        found = NOTHING
        for sub in subs:
            found = self._or(found, sub)
        return found

    def _disjoint(self, first: Sub, second: Sub) -> bool:
        both = algebra.joined(first, second)
        depth, looking, known = len(self._reading), self._looking, dict(self._void)
        self._probing += 1
        try:
            if algebra.intersection(self.shapes(first), self.shapes(second)) == NOTHING:
                return True
            return self.is_void(both)
        except algebra.TooManyAlternatives:
            return False
        except _StillReading:
            # A member leads back to a schema that is being read: nothing is known of it yet.
            del self._reading[depth:]
            self._looking = looking
            self._void = known
            return False
        finally:
            self._probing -= 1

    def _condition(self, node: Subschema, schema: dict[str, Json]) -> Shapes:
        if "then" not in schema and "else" not in schema and "unevaluatedProperties" not in schema:
            return EVERYTHING
        met = self.sub(node.member("if"))
        condition = self.shapes(met)
        opposite, exact_opposite = self._not(met, node.path)
        if not exact_opposite:
            self.report.looser("if", node.path, "then and else are both allowed where it is not clear")
        then = self.shapes(self.sub(node.member("then"))) if "then" in schema else EVERYTHING
        otherwise = self.shapes(self.sub(node.member("else"))) if "else" in schema else EVERYTHING
        return algebra.union(self._both(condition, then, node.path), self._both(opposite, otherwise, node.path))

    def _dependents(self, keyword: str, node: Subschema) -> list[Shapes]:
        schema = cast("dict[str, Json]", node.schema)
        members = schema[keyword]
        if not isinstance(members, dict):
            self.report.looser(keyword, node.path, f"left out: {shown(members)} is not an object")
            return []
        found = []
        for name, wanted in members.items():
            absent = replace(EVERYTHING, objects=(ObjectShape(properties=((name, self.never),)),))
            if isinstance(wanted, list):
                names = tuple(item for item in wanted if isinstance(item, str))
                present = replace(EVERYTHING, objects=(ObjectShape(required=names),)) if names else EVERYTHING
            else:
                present = self.shapes(self.sub(node.member(keyword, name)))
            having = Shapes(objects=(ObjectShape(required=(name,)),))
            found.append(algebra.union(absent, self._both(having, present, node.path)))
        return found

    def _unevaluated(self, node: Subschema, schema: dict[str, Json], found: Shapes) -> Shapes:
        if "unevaluatedProperties" in schema:
            sub = self.sub(node.member("unevaluatedProperties"))
            found = replace(found, objects=tuple(_close(shape, sub) for shape in found.objects))
        if "unevaluatedItems" in schema:
            sub = self.sub(node.member("unevaluatedItems"))
            if any(shape.contains for shape in found.arrays):
                self.report.looser("unevaluatedItems", node.path, "left out next to contains")
            else:
                found = replace(found, arrays=tuple(_close_items(shape, sub) for shape in found.arrays))
        return found


def _close(shape: ObjectShape, sub: Sub) -> ObjectShape:
    seen = shape.evaluated
    if seen.everything:
        return shape
    others = (*shape.others, Others(seen.names, seen.patterns, sub))
    return replace(shape, others=others, evaluated=replace(seen, everything=True))


def _close_items(shape: ArrayShape, sub: Sub) -> ArrayShape:
    if shape.evaluated is None:
        return shape
    seen = shape.evaluated
    count = max(len(shape.prefix), seen)
    prefix = [algebra.item_at(shape, index) for index in range(count)]
    prefix[seen:] = [algebra.joined(item, sub) for item in prefix[seen:]]
    return replace(shape, prefix=tuple(prefix), rest=algebra.joined(shape.rest, sub), evaluated=None)


def number_is_void(shape: NumberShape) -> bool:
    if shape.values is not None:
        return not any(number_fits(shape, value) for value in shape.values)
    if shape.low is None or shape.high is None:
        return False
    if (shape.low.value, not shape.low.inclusive) > (shape.high.value, False):
        return True
    return shape.low.value == shape.high.value and not number_fits(shape, shape.low.value)


def number_fits(shape: NumberShape, value: Fraction) -> bool:
    low, high = shape.low, shape.high
    return (
        (shape.values is None or value in shape.values)
        and value not in shape.excluded
        and (shape.integer is None or (value.denominator == 1) is shape.integer)
        and (low is None or value > low.value or (low.inclusive and value == low.value))
        and (high is None or value < high.value or (high.inclusive and value == high.value))
        and all(((value / step).denominator == 1) is wanted for step, wanted in shape.multiples)
    )


def _name_fits(pattern: str, name: str) -> bool:
    return strings.fits(StringShape(patterns=(NamePattern(pattern),)), name)
