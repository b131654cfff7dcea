"""White space before text that may begin with any: the text has it already.

start: GAP CONTENT    →    start: CONTENT
"""

from __future__ import annotations

from collections.abc import Mapping

from tplc.grammars.regular.automaton import TooLarge, both, from_expr, is_empty, negation
from tplc.grammars.regular.expressions import alt, nullable, rep, seq
from tplc.grammars.regular.nodes import Alt, Chars, Expr, Ref, Rep, Seq, Spelled


def without_spare_space(bodies: Mapping[str, Expr]) -> dict[str, Expr]:
    absorber = _Absorber(bodies)
    return {name: absorber.rewritten(body) for name, body in bodies.items()}


class _Absorber:
    def __init__(self, bodies: Mapping[str, Expr]) -> None:
        self._bodies = bodies
        self._known: dict[tuple[Expr, Expr], bool] = {}

    def rewritten(self, expr: Expr) -> Expr:
        if isinstance(expr, Seq):
            items: list[Expr] = []
            for item in reversed(expr.items):
                items[:0] = self._before(self.rewritten(item), items)
            return seq(*items)
        if isinstance(expr, Alt):
            return alt(*map(self.rewritten, expr.items))
        return rep(self.rewritten(expr.item), expr.low, expr.high) if isinstance(expr, Rep) else expr

    def _before(self, item: Expr, items: list[Expr]) -> list[Expr]:
        """Return the item in a list; without it if what follows begins with it, then alternatives that don't get it."""
        if not items or self._has(items[0], item):
            return [item] * (not items)
        after = items[0]
        if isinstance(after, Alt) and any(self._has(way, item) for way in after.items):
            items[0] = alt(*(way if self._has(way, item) else seq(item, way) for way in after.items))
            return []
        return [item]

    def _has(self, text: Expr, space: Expr) -> bool:
        """Return whether the text, or each of several alternatives, may begin with all of this white space."""
        text = self._named(text)
        if isinstance(text, Alt):
            return all(self._has(item, space) for item in text.items)
        if isinstance(text, Seq):
            return bool(text.items) and self._has(text.items[0], space)
        space = self._named(space)
        if not isinstance(text, Spelled) or not isinstance(space, Rep) or not isinstance(space.item, Chars):
            return False
        key = (space, text)
        if key not in self._known:
            self._known[key] = nullable(space) and self._absorbs(space, text)
        return self._known[key]

    def _named(self, expr: Expr) -> Expr:
        return self._named(self._bodies[expr.name]) if isinstance(expr, Ref) else expr

    def _absorbs(self, space: Expr, text: Spelled) -> bool:
        try:
            return is_empty(both(from_expr(seq(space, text)), negation(text.automaton)))
        except TooLarge:
            return False
