"""Whether a tool's schema allows a call's arguments, for schemas from strangers.

    Allowed({"required": ["city"]}, Draft202012Validator).error({})  →  the error of "required"

So many steps, no patterns (one may take for ever), no schema from elsewhere: what cannot be judged so raises one of
NOT_JUDGED.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import validators
from jsonschema.exceptions import SchemaError, UnknownType, best_match
from jsonschema.validators import SPECIFICATIONS  # type: ignore[attr-defined]
from referencing.exceptions import Unresolvable

MOST_STEPS = 20_000  # of a schema's keywords, for one call's arguments
_NOT_LOOKED_AT = ("pattern", "patternProperties", "unevaluatedProperties")


class TooManySteps(Exception):
    """A schema that branches in itself is not looked at to its end."""


# An invalid schema, one that can't be applied, or one that takes too long.
NOT_JUDGED = (
    SchemaError, UnknownType, Unresolvable, TooManySteps, re.error,
    RecursionError, ValueError, TypeError, AttributeError, LookupError,
)  # fmt: skip


class Allowed:
    """Checks values against a schema. `kind`: jsonschema's validator for the schema's dialect. Raises one of NOT_JUDGED
    for an invalid schema."""

    def __init__(self, schema: Mapping[str, Any] | bool, kind: Any) -> None:
        self._left = 0
        kind.check_schema(schema)
        extend: Any = validators.extend
        checks = {keyword: self._counted(check) for keyword, check in kind.VALIDATORS.items()}
        checks |= dict.fromkeys(_NOT_LOOKED_AT, _nothing)
        if "additionalProperties" in checks:
            checks["additionalProperties"] = _without_patterns(checks["additionalProperties"])
        self._validator = extend(kind, checks)(_one_dialect(schema), registry=SPECIFICATIONS)

    def error(self, value: object) -> Any:
        """Return the first error of a value as jsonschema reports it; None if the value is allowed."""
        self._left = MOST_STEPS
        return best_match(self._validator.iter_errors(value))

    def _counted(self, check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def counted(*given: Any) -> Iterator[Any]:
            self._left -= 1
            if self._left < 0:
                raise TooManySteps
            yield from check(*given) or ()

        return counted


def _nothing(*_: object) -> Iterator[Any]:
    return iter(())


def _without_patterns(check: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    def additional(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
        return _nothing() if "patternProperties" in schema else check(validator, allowed, instance, schema)

    return additional


def _one_dialect(schema: Any) -> Any:
    """Raise an error for a part that names another dialect, which another validator would judge."""
    if isinstance(schema, dict):
        named = isinstance(schema.get("$schema"), str)
        return {key: _one_dialect(value) for key, value in schema.items() if not (named and key == "$schema")}
    return [_one_dialect(item) for item in schema] if isinstance(schema, list) else schema
