"""How large a grammar may become, and which schemas are said more generally where it would be larger."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tplc.grammars.regular.expressions import names
from tplc.grammars.regular.nodes import Expr
from tplc.grammars.regular.rules import Rules, TooManyRules
from tplc.grammars.request.errors import GrammarTooLarge, SchemaTooDeep
from tplc.grammars.schema.report import Report
from tplc.ir.nodes import Json

MOST_CHARACTERS = 4_000_000
# A part with more rules than this of a grammar's characters is not worth finishing.
LEAST_OF_RULE = 40


class RequestTooLarge(Exception):
    """These schemas, by their tools ("" is the response format), must be said more generally."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(names)
        self.names = names


def bounded(
    report: Report, name: str, schema: Json, instead: Json, general: frozenset[str], most_characters: int
) -> Json:
    """Return the schema, or a more general one if it would take too much."""
    if name not in general:
        return schema
    what = "any value" if instead is True else "any object"
    report.tool = name
    keyword = "parameters" if name else "schema"
    report.looser(keyword, "#", f"{what}: the grammar would have more than {most_characters:,} characters")
    report.tool = ""
    return instead


def limited(rules: Rules, name: str, most: int | None, make: Callable[[], Expr]) -> Expr:
    """Return the result of `make`; raise an error if it takes more rules than `most`."""
    rules.allow(most)
    try:
        return make()
    except TooManyRules:
        raise RequestTooLarge(frozenset((name,))) from None
    except RecursionError:
        raise SchemaTooDeep(name or "response format") from None
    finally:
        rules.allow(None)


def largest(
    rules: Mapping[str, Expr], sizes: Mapping[str, int], size: int, parts: Mapping[str, Expr], most: int
) -> frozenset[str]:
    """Return the largest schemas, without which the grammar would be small enough."""
    if not parts:
        raise GrammarTooLarge(size, most)
    taken = {name: sum(sizes.get(rule, 0) for rule in _reached(rules, part)) for name, part in parts.items()}
    found: set[str] = set()
    left = size
    for name in sorted(taken, key=lambda name: -taken[name]):
        if left <= most:
            break
        found.add(name)
        left -= taken[name]
    return frozenset(found)


def _reached(rules: Mapping[str, Expr], part: Expr) -> set[str]:
    todo, seen = names(part), set[str]()
    while todo:
        name = todo.pop()
        if name not in seen and name in rules:
            seen.add(name)
            todo += names(rules[name])
    return seen
