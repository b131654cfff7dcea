"""Find places where the longest match would be the wrong one.

    start: A "b"        A: "a" | "ab" "c"       →  [("A", "A")]: after "a", the "b" of "ab" is taken for A's own

The engine reads the terminal that goes furthest, and never turns back.  So a terminal may end only where nothing that
is read next to it continues with a character that may follow.  The check takes in every pair of places that the same
text leads to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tplc.backends.lark.arrange import Arranged
from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import TooLarge, from_expr
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import alt, rep, seq
from tplc.grammars.regular.nodes import Alt, Automaton, Chars, Expr, Lit, Ref, Rep, Seq, Spelled, Written
from tplc.grammars.regular.rules import ROOT

_MOST_PAIRS = 400_000
_BRACE = codepoints.of("{")


class Unclear(Exception):
    """The comparison exceeded its limit of steps, so its result is unknown."""


def conflicts(made: Arranged) -> list[tuple[Expr, Expr]]:
    """Return pairs of terminals: the first may end where the second continues. Raise Unclear if that can't be
    decided."""
    try:
        return _Check(made).conflicts()
    except TooLarge:
        raise Unclear from None


@dataclass
class _Position:
    """A terminal, a token or a schema where it is, and the places that may come next; None is the end."""

    symbol: Expr
    next: list[_Position | None] = field(default_factory=list)


@dataclass(frozen=True)
class _Part:
    """The places that a part of a rule begins and ends with; whether it may be empty."""

    first: tuple[_Position, ...]
    last: tuple[_Position, ...]
    empty: bool


class _Check:
    def __init__(self, made: Arranged) -> None:
        self._made = made
        self._automata: dict[Expr, Automaton] = {}
        self._shared: dict[tuple[Expr, Expr], bool] = {}
        self._going_on: dict[tuple[Expr, Expr], Ranges] = {}
        self._beginnings: dict[Expr, tuple[Ranges, bool]] = {}
        self._empty = self._empty_rules()
        self._bodies: dict[str, _Part] = {}
        self._places: list[_Position] = []
        self._calls: list[tuple[str, _Position]] = []
        self._link()

    # Positions (Glushkov), with rules called and returned from

    def _empty_rules(self) -> dict[str, bool]:
        """Return for each rule whether it may be empty."""
        found = dict.fromkeys(self._made.rules, False)
        while True:
            new = {name: self._may_be_empty(body, found) for name, body in self._made.rules.items()}
            if new == found:
                return found
            found = new

    def _may_be_empty(self, expr: Expr, rules: Mapping[str, bool]) -> bool:
        if isinstance(expr, Seq):
            return all(self._may_be_empty(item, rules) for item in expr.items)
        if isinstance(expr, Alt):
            return any(self._may_be_empty(item, rules) for item in expr.items)
        if isinstance(expr, Rep):
            return expr.low == 0 or self._may_be_empty(expr.item, rules)
        if isinstance(expr, Ref) and expr.name in self._made.rules:
            return rules[expr.name]
        return not isinstance(expr, Written) and self._begun(expr)[1]

    def _link(self) -> None:
        # A call of a rule is a place of its own, which leads into the rule; what the rule ends with leads back.
        for name, body in self._made.rules.items():
            self._bodies[name] = self._part(body)

    def _part(self, expr: Expr) -> _Part:
        if isinstance(expr, Seq):
            return self._in_a_row([self._part(item) for item in expr.items])
        if isinstance(expr, Alt):
            parts = [self._part(item) for item in expr.items]
            first = tuple(place for part in parts for place in part.first)
            last = tuple(place for part in parts for place in part.last)
            return _Part(first, last, any(part.empty for part in parts))
        if isinstance(expr, Rep):
            part = self._part(expr.item)
            if expr.high != 1:
                _lead(part.last, part.first)
            return _Part(part.first, part.last, part.empty or expr.low == 0)
        place = _Position(expr)
        self._places.append(place)
        if isinstance(expr, Ref) and expr.name in self._made.rules:
            self._calls.append((expr.name, place))
        return _Part((place,), (place,), self._may_be_empty(expr, self._empty))

    def _in_a_row(self, parts: list[_Part]) -> _Part:
        first: list[_Position] = []
        last: list[_Position] = []
        empty = True
        for part in parts:
            _lead(last, part.first)
            first += part.first if empty else ()
            last = [*(last if part.empty else ()), *part.last]
            empty = empty and part.empty
        return _Part(tuple(first), tuple(last), empty)

    def _begins(self, places: Iterable[_Position | None]) -> list[_Position | None]:
        """Return the terminals at these places, or at the beginning of the rules that are called there."""
        found: dict[int, _Position | None] = {}
        todo = list(places)
        seen: set[int] = set()
        while todo:
            place = todo.pop()
            if place is None:
                found[0] = None
            elif id(place) not in seen:
                seen.add(id(place))
                if self._is_call(place):
                    todo += self._bodies[place.symbol.name].first  # type: ignore[union-attr]
                else:
                    found[id(place)] = place
        return list(found.values())

    def _is_call(self, place: _Position) -> bool:
        return isinstance(place.symbol, Ref) and place.symbol.name in self._made.rules

    def _after(self) -> dict[int, list[_Position | None]]:
        """Return the places that may follow each place, after rules are entered and left."""
        returns: dict[str, list[_Position | None]] = {name: [] for name in self._made.rules}
        returns[ROOT] = [None]
        enders: dict[int, list[str]] = {}
        for name, part in self._bodies.items():
            for place in part.last:
                enders.setdefault(id(place), []).append(name)
        after: dict[int, dict[int, _Position | None]] = {id(place): {} for place in self._places}
        changed = True
        while changed:
            changed = False
            for place in self._places:
                reached = after[id(place)]
                new: list[_Position | None] = list(place.next)
                for name in enders.get(id(place), ()):
                    new += returns[name]
                for one in new:
                    if id(one) not in reached:
                        reached[id(one)] = one
                        changed = True
            for name, place in self._calls:
                known = {id(one) for one in returns[name]}
                more = [one for one in after[id(place)].values() if id(one) not in known]
                # A rule that may be empty can be skipped, so its followers also follow the rules that lead to it.
                returns[name] += more
                changed = changed or bool(more)
        return {place: list(found.values()) for place, found in after.items()}

    # The pairs of places that the same text leads to

    def conflicts(self) -> list[tuple[Expr, Expr]]:
        after = {place: self._begins(next_) for place, next_ in self._after().items()}
        todo: list[tuple[_Position, _Position]] = []
        seen: set[tuple[int, int]] = set()
        found: dict[tuple[Expr, Expr], None] = {}

        def meet(places: list[_Position | None], others: list[_Position | None]) -> None:
            for one in places:
                for other in others:
                    if one is not None and other is not None and (id(one), id(other)) not in seen:
                        seen.add((id(one), id(other)))
                        todo.append((one, other))
            if len(seen) > _MOST_PAIRS:
                raise Unclear

        start = self._begins(self._bodies[ROOT].first)
        meet(start, start)
        while todo:
            one, other = todo.pop()
            if self._may_continue(one, other, after):
                found[one.symbol, other.symbol] = None
            if self._overlap(one.symbol, other.symbol):
                meet(after[id(one)], after[id(other)])
        return list(found)

    def _may_continue(self, one: _Position, other: _Position, after: Mapping[int, list[_Position | None]]) -> bool:
        if isinstance(one.symbol, Written) or isinstance(other.symbol, Written):
            # What opens a schema's object is no terminal's.
            opened = codepoints.intersection(self._first_of(one.symbol), self._first_of(other.symbol))
            return one.symbol != other.symbol and bool(opened)
        following = codepoints.union(*(self._first_of(place.symbol) for place in after[id(one)] if place))
        if not following or self._openings_differ(one.symbol, other.symbol):
            return False
        return bool(codepoints.intersection(self._beyond(one.symbol, other.symbol), following))

    def _first_of(self, symbol: Expr) -> Ranges:
        if isinstance(symbol, Written):
            return _BRACE if symbol.text.startswith("%json") else ()
        return self._begun(symbol)[0]

    def _begun(self, expr: Expr) -> tuple[Ranges, bool]:
        """Return the characters that a terminal may begin with, and whether it may be empty."""
        if expr not in self._beginnings:
            self._beginnings[expr] = self._first_and_empty(expr)
        return self._beginnings[expr]

    def _first_and_empty(self, expr: Expr) -> tuple[Ranges, bool]:
        if isinstance(expr, Lit):
            return codepoints.of(expr.text[0]), False
        if isinstance(expr, Chars):
            return expr.ranges, False
        if isinstance(expr, Ref):
            return self._begun(self._made.terminals[expr.name])
        if isinstance(expr, Spelled):
            first = codepoints.union(*(ranges for ranges, _ in expr.automaton.edges[0]))
            return first, 0 in expr.automaton.accepting
        if isinstance(expr, Rep):
            first, empty = self._begun(expr.item)
            return first, empty or expr.low == 0
        assert isinstance(expr, Seq | Alt)
        parts = [self._begun(item) for item in expr.items]
        if isinstance(expr, Alt):
            return codepoints.union(*(first for first, _ in parts)), any(empty for _, empty in parts)
        reached = next((place + 1 for place, (_, empty) in enumerate(parts) if not empty), len(parts))
        return codepoints.union(*(first for first, _ in parts[:reached])), all(empty for _, empty in parts)

    def _openings_differ(self, one: Expr, other: Expr) -> bool:
        """Return whether the first characters of two expressions differ: a quick check that is usually true."""
        first, second = self._opening(one), self._opening(other)
        return not first.startswith(second) and not second.startswith(first)

    def _opening(self, expr: Expr) -> str:
        if isinstance(expr, Ref):
            return self._opening(self._made.terminals[expr.name])
        if isinstance(expr, Seq):
            return self._opening(expr.items[0]) if expr.items else ""
        return expr.text if isinstance(expr, Lit) else ""

    def _overlap(self, one: Expr, other: Expr) -> bool:
        """Return whether some text matches both."""
        if isinstance(one, Written) or isinstance(other, Written) or one == other:
            return one == other
        key = (one, other)
        if key not in self._shared:
            apart = self._openings_differ(one, other)
            self._shared[key] = not apart and _overlap(self._automaton(one), self._automaton(other))
        return self._shared[key]

    def _beyond(self, one: Expr, other: Expr) -> Ranges:
        """Return the characters with which the second may continue after a text of the first."""
        key = (one, other)
        if key not in self._going_on:
            self._going_on[key] = _beyond(self._automaton(one), self._automaton(other))
        return self._going_on[key]

    def _automaton(self, expr: Expr) -> Automaton:
        if expr not in self._automata:
            self._automata[expr] = from_expr(self._whole(expr))
        return self._automata[expr]

    def _whole(self, expr: Expr) -> Expr:
        """Return a terminal with all that it names inlined, and without counts, as a terminal that may continue with
        more of something does so before the count is reached."""
        if isinstance(expr, Ref):
            return self._whole(self._made.terminals[expr.name])
        if isinstance(expr, Seq):
            return seq(*map(self._whole, expr.items))
        if isinstance(expr, Alt):
            return alt(*map(self._whole, expr.items))
        if isinstance(expr, Rep):
            counted = expr.high is not None and expr.high > 1
            return rep(self._whole(expr.item), min(expr.low, 1), None if counted else expr.high)
        assert isinstance(expr, Lit | Chars | Spelled)
        return expr


def _lead(places: Iterable[_Position], to: Iterable[_Position]) -> None:
    targets = list(to)
    for place in places:
        place.next += targets


def _overlap(one: Automaton, other: Automaton) -> bool:
    todo, seen = [(0, 0)], {(0, 0)}
    while todo:
        left, right = todo.pop()
        if left in one.accepting and right in other.accepting:
            return True
        for ranges, to in one.edges[left]:
            for others, partner in other.edges[right]:
                if (to, partner) not in seen and codepoints.intersection(ranges, others):
                    seen.add((to, partner))
                    todo.append((to, partner))
    return False


def _beyond(one: Automaton, other: Automaton) -> Ranges:
    found: Ranges = ()
    # An empty text is no match that anything could go beyond: states count that a character leads to.
    todo, seen = [(0, 0)], set[tuple[int, int]]()
    while todo:
        left, right = todo.pop()
        for ranges, to in one.edges[left]:
            for others, partner in other.edges[right]:
                if (to, partner) not in seen and codepoints.intersection(ranges, others):
                    seen.add((to, partner))
                    todo.append((to, partner))
                    if to in one.accepting:
                        found = codepoints.union(found, *(more for more, _ in other.edges[partner]))
    return found
