r"""What the writers of values share: the schema that is read, the rules and the report, and one rule for each schema.

"#/properties/city"  →  the rule weather-city, made once and referred to from then on
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from tplc.grammars.regular.expressions import walk
from tplc.grammars.regular.nodes import Expr, Ref
from tplc.grammars.regular.rules import Rules
from tplc.grammars.schema.reader import SchemaReader
from tplc.grammars.schema.report import Report
from tplc.grammars.schema.shapes import (
    ANYTHING,
    Sub,
)
from tplc.ir.nodes import Dialect

_DEEPEST = 48
_LARGEST_INLINE = 8
_STRUCTURE = frozenset(
    {"properties", "$defs", "definitions", "items", "prefixItems", "anyOf", "oneOf", "allOf", *map(str, range(10))}
)


@dataclass(frozen=True, slots=True)
class SchemaReading:
    """How schemas are taken.

    `closed`: an object whose schema lists properties, and says nothing of others, has no others.
    `plain_integers`: an integer is written without ".0".
    """

    closed: bool = True
    plain_integers: bool = True
    any_order: bool = False
    formats: bool = True


class SchemaContext:
    """The schema that is being written, one after another (`read`), into one set of rules."""

    def __init__(self, rules: Rules, report: Report, dialect: Dialect, reading: SchemaReading) -> None:
        self.rules = rules
        self.report = report
        self.dialect = dialect
        self.reading = reading
        self._shared: dict[object, Expr] = {}
        self._made: dict[object, Expr] = {}
        self._making: dict[object, str | None] = {}
        self._depth = 0
        self._name = ""

    def read(self, reader: SchemaReader, name: str) -> None:
        """Take up another schema; `name` is the beginning of its rules' names."""
        self.reader = reader
        self._name = name
        self._made = {}

    def once(self, key: object, sub: Sub, make: Callable[[], Expr]) -> Expr:
        """Return what `make` makes, or a reference to it: it is made once for each key, and may refer to itself."""
        made = self._shared if sub == ANYTHING else self._made
        if key in made:
            return made[key]
        if key in self._making:
            name = self._making[key]
            if name is None:
                name = self._making[key] = self.rules.reserve(self.hint(sub))
            return Ref(name)
        self._making[key] = None
        self._depth += 1
        body = make()
        self._depth -= 1
        name = self._making.pop(key)
        if name is not None:
            self.rules.define(name, body)
            body = Ref(name)
        elif not isinstance(body, Ref) and any(True for _ in islice(walk(body), _LARGEST_INLINE, None)):
            body = self.rules.add(self.hint(sub), body)
        made[key] = body
        return body

    def hint(self, sub: Sub) -> str:
        """Return a name for the rules of a part of the schema."""
        if sub == ANYTHING:
            return "value"
        if sub == (-1,):
            return f"{self._name}-arguments"
        words = [word for word in self.reader.path(sub).split("/")[1:] if word not in _STRUCTURE]
        if "$defs" in self.reader.path(sub) or "definitions" in self.reader.path(sub):
            return "-".join(words) or self._name
        return "-".join([self._name, *words]) if words else f"{self._name}-arguments"

    def is_too_deep(self, sub: Sub) -> bool:
        """Return whether the schema is nested too deeply: any value is allowed then, and the report says so."""
        if self._depth <= _DEEPEST or sub == ANYTHING:
            return False
        self.report.looser("type", self.reader.path(sub), f"any value: nested more than {_DEEPEST} deep")
        return True
