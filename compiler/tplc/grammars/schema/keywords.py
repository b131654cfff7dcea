"""The keywords that a schema says of a value by itself, each JSON type's in its shape.

    {"type": "string", "maxLength": 3}  →  Shapes(strings=(StringShape(high=3),))

A keyword of the wrong kind is left out and reported; unknown keywords are remarks, as the standard has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import cast

from tplc.grammars.regular.numbers import Bound
from tplc.grammars.schema import algebra, strings
from tplc.grammars.schema.document import Subschema
from tplc.grammars.schema.report import Report
from tplc.grammars.schema.shapes import (
    ANYTHING,
    TYPE_NAMES,
    ArrayShape,
    Contains,
    Evaluated,
    NamePattern,
    NumberShape,
    ObjectShape,
    Others,
    Shapes,
    StringShape,
    Sub,
    TypeName,
)
from tplc.ir.nodes import Json

_TYPES: dict[str, TypeName] = {
    "null": "null",
    "boolean": "boolean",
    "number": "number",
    "integer": "number",
    "string": "string",
    "array": "array",
    "object": "object",
}


class Keywords:
    """`sub` gives a schema its number; `formats`: whether `format` is asserted."""

    def __init__(self, sub: Callable[[Subschema], Sub], report: Report, *, formats: bool) -> None:
        self._sub = sub
        self._report = report
        self._formats = formats

    def shapes(self, node: Subschema, schema: dict[str, Json]) -> Shapes:
        types = self._types(node, schema) if "type" in schema else TYPE_NAMES
        shapes = Shapes(
            "null" in types,
            (True, False) if "boolean" in types else (),
            (self._number_shape(node, schema),) if "number" in types else (),
            (self._string_shape(node, schema),) if "string" in types else (),
            (self._array_shape(node, schema),) if "array" in types else (),
            (self._object_shape(node, schema),) if "object" in types else (),
        )
        listed = schema.get("type")
        if listed == "integer" or (isinstance(listed, list) and "integer" in listed and "number" not in listed):
            return replace(shapes, numbers=tuple(replace(shape, integer=True) for shape in shapes.numbers))
        return shapes

    def _types(self, node: Subschema, schema: dict[str, Json]) -> tuple[TypeName, ...]:
        listed = schema["type"]
        named = listed if isinstance(listed, list) else [listed]
        unknown = [name for name in named if not isinstance(name, str) or name not in _TYPES]
        if unknown or not named:
            self._report.looser("type", node.path, f"any type: {shown(unknown[0] if unknown else named)} isn't a type")
            return TYPE_NAMES
        types = [_TYPES[cast(str, name)] for name in named]
        return (*types, "null") if schema.get("nullable") is True else tuple(types)

    def _number_shape(self, node: Subschema, schema: dict[str, Json]) -> NumberShape:
        low = high = None
        for keyword in ("minimum", "exclusiveMinimum"):
            bound = self._bound(node, schema, keyword, "minimum")
            low = algebra.tightest_low(low, bound)
        for keyword in ("maximum", "exclusiveMaximum"):
            bound = self._bound(node, schema, keyword, "maximum")
            high = algebra.tightest_high(high, bound)
        step = schema.get("multipleOf")
        if step is None:
            return NumberShape(None, low, high)
        if isinstance(step, bool) or not isinstance(step, int | float) or step <= 0:
            self._report.looser("multipleOf", node.path, f"left out: {shown(step)} is not a positive number")
            return NumberShape(None, low, high)
        return NumberShape(None, low, high, ((exact(step), True),))

    def _bound(self, node: Subschema, schema: dict[str, Json], keyword: str, plain: str) -> Bound | None:
        value = schema.get(keyword)
        if value is None or isinstance(value, bool):
            # In draft 4, exclusiveMinimum: true says something about minimum.
            return None
        if not isinstance(value, int | float) or value != value or value in (float("inf"), float("-inf")):
            self._report.looser(keyword, node.path, f"left out: {shown(value)} is not a number")
            return None
        exclusive = keyword != plain or schema.get(f"exclusive{plain.capitalize()}") is True
        return Bound(exact(value), not exclusive)

    def _count(self, node: Subschema, schema: dict[str, Json], keyword: str) -> int | None:
        value = schema.get(keyword)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value):
            self._report.looser(keyword, node.path, f"left out: {shown(value)} is not a count")
            return None
        return int(value)

    def _string_shape(self, node: Subschema, schema: dict[str, Json]) -> StringShape:
        patterns = []
        for keyword in ("pattern", "format"):
            text = schema.get(keyword)
            if text is None or (keyword == "format" and not self._formats):
                continue
            if not isinstance(text, str):
                self._report.looser(keyword, node.path, f"left out: {shown(text)} is not text")
                continue
            pattern = NamePattern(text, is_format=keyword == "format")
            if pattern.is_format and text not in strings.KNOWN_FORMATS:
                continue
            problem = strings.problem(pattern)
            if problem is None:
                patterns.append(pattern)
            else:
                self._report.looser(keyword, node.path, f"any text: {problem}")
        low, high = self._count(node, schema, "minLength"), self._count(node, schema, "maxLength")
        return StringShape(low or 0, high, tuple(patterns))

    def _array_shape(self, node: Subschema, schema: dict[str, Json]) -> ArrayShape:
        # Before 2020 the items of a tuple were a list under "items", and what follows them "additionalItems".
        tuples = "items" if isinstance(schema.get("items"), list) else "prefixItems"
        after = "additionalItems" if tuples == "items" else "items"
        listed = schema.get(tuples)
        prefix = (
            tuple(self._sub(node.member(tuples, index)) for index in range(len(listed)))
            if isinstance(listed, list)
            else ()
        )
        rest = self._sub(node.member(after)) if after in schema else ANYTHING
        low, high = self._count(node, schema, "minItems"), self._count(node, schema, "maxItems")
        contains: tuple[Contains, ...] = ()
        if "contains" in schema:
            least, most = self._count(node, schema, "minContains"), self._count(node, schema, "maxContains")
            wanted = Contains(self._sub(node.member("contains")), 1 if least is None else least, most)
            contains = (wanted,) if wanted.low or most is not None else ()
        unique = schema.get("uniqueItems") is True
        return ArrayShape(prefix, rest, low or 0, high, contains, unique, None if after in schema else len(prefix))

    def _object_shape(self, node: Subschema, schema: dict[str, Json]) -> ObjectShape:
        properties = tuple((name, self._sub(node.member("properties", name))) for name in self._map(node, "properties"))
        patterns = []
        for text in self._map(node, "patternProperties"):
            problem = strings.problem(NamePattern(text)) or strings.problem(NamePattern(text, wanted=False))
            if problem is None:
                patterns.append((text, self._sub(node.member("patternProperties", text))))
            else:
                self._report.looser("patternProperties", node.path, f"{shown(text)} is left out: {problem}")
        names = tuple(name for name, _ in properties)
        texts = tuple(text for text, _ in patterns)
        required = schema.get("required")
        others: tuple[Others, ...] = ()
        if "additionalProperties" in schema:
            sub = self._sub(node.member("additionalProperties"))
            if len(texts) < len(self._map(node, "patternProperties")):
                sub = ANYTHING
            others = (Others(names, texts, sub),)
        low, high = self._count(node, schema, "minProperties"), self._count(node, schema, "maxProperties")
        return ObjectShape(
            properties,
            tuple(dict.fromkeys(name for name in required if isinstance(name, str)))
            if isinstance(required, list)
            else (),
            tuple(patterns),
            others,
            self._sub(node.member("propertyNames")) if "propertyNames" in schema else ANYTHING,
            low or 0,
            high,
            "properties" in schema,
            Evaluated(names, texts, "additionalProperties" in schema),
        )

    def _map(self, node: Subschema, keyword: str) -> dict[str, Json]:
        schema = cast("dict[str, Json]", node.schema)
        members = schema.get(keyword, {})
        if isinstance(members, dict):
            return members
        self._report.looser(keyword, node.path, f"left out: {shown(members)} is not an object")
        return {}


def exact(value: int | float) -> Fraction:
    """Return the number as it was written: 0.1 is a tenth."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 40 else text[:37] + "..."
