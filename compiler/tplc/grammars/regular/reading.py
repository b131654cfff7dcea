"""Whether the rules of a grammar accept a text: what an engine would say, without one.

    GrammarReading(rules, "abbb").accepts(Seq((Lit("a"), Ref("bs"))))  →  True

Every rule is tried once at each place, with all the places where it can end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton_rules import right_linear
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import chars
from tplc.grammars.regular.nodes import Alt, Automaton, Chars, Expr, Lit, Ref, Rep, Seq, Spelled
from tplc.grammars.regular.rules import Rules
from tplc.grammars.regular.until import Stop, ending_in, without


class Unspelled:
    """No spelling: texts that only an automaton describes stay automata."""

    def ending_in(self, rules: Rules, hint: str, stop: Stop, forbidden: tuple[str, ...]) -> Expr:
        return Spelled("", ending_in([stop], forbidden))

    def without(self, rules: Rules, hint: str, forbidden: tuple[str, ...], end: str = "") -> Expr:
        return Spelled("", without(forbidden, end))

    def automaton(self, rules: Rules, hint: str, automaton: Automaton, write: Callable[[Ranges], Expr]) -> Expr:
        return Spelled("", automaton) if write is chars else right_linear(rules, hint, automaton, write)

    def before_token(self, text: str) -> str | None:
        return None


class GrammarReading:
    """One text, read by the rules."""

    def __init__(self, rules: Rules, text: str) -> None:
        self._rules = rules
        self._text = text
        self._known: dict[tuple[str, int], frozenset[int]] = {}
        self._readers: dict[type, Callable[[Expr, int], frozenset[int]]] = {
            Lit: self._lit,
            Chars: self._chars,
            Seq: self._seq,
            Alt: self._alt,
            Rep: self._rep,
            Ref: self._ref,
            Spelled: self._spelled,
        }

    def accepts(self, expr: Expr) -> bool:
        return len(self._text) in self._ends(expr, 0)

    def _ends(self, expr: Expr, at: int) -> frozenset[int]:
        """Return the places where the expression can end if it begins at `at`."""
        return self._readers[type(expr)](expr, at)

    def _lit(self, expr: Expr, at: int) -> frozenset[int]:
        text = cast(Lit, expr).text
        return frozenset([at + len(text)]) if self._text.startswith(text, at) else frozenset()

    def _chars(self, expr: Expr, at: int) -> frozenset[int]:
        found = at < len(self._text) and codepoints.contains(cast(Chars, expr).ranges, ord(self._text[at]))
        return frozenset([at + 1]) if found else frozenset()

    def _seq(self, expr: Expr, at: int) -> frozenset[int]:
        places = frozenset([at])
        for item in cast(Seq, expr).items:
            places = frozenset().union(*(self._ends(item, place) for place in places))
        return places

    def _alt(self, expr: Expr, at: int) -> frozenset[int]:
        return frozenset().union(*(self._ends(item, at) for item in cast(Alt, expr).items))

    def _rep(self, expr: Expr, at: int) -> frozenset[int]:
        repeated = cast(Rep, expr)
        places, found, count = {at}, set[int](), 0
        while places and (repeated.high is None or count <= repeated.high):
            if count >= repeated.low:
                places -= found
                found |= places
            places = {end for place in places for end in self._ends(repeated.item, place)}
            count += 1
        return frozenset(found)

    def _ref(self, expr: Expr, at: int) -> frozenset[int]:
        key = cast(Ref, expr).name, at
        if key not in self._known:
            self._known[key] = self._ends(self._rules.body(key[0]), at)
        return self._known[key]

    def _spelled(self, expr: Expr, at: int) -> frozenset[int]:
        automaton = cast(Spelled, expr).automaton
        states, found = {0}, set[int]()
        while states:
            if states & automaton.accepting:
                found.add(at)
            if at == len(self._text):
                break
            char = ord(self._text[at])
            states = {
                to for state in states for ranges, to in automaton.edges[state] if codepoints.contains(ranges, char)
            }
            at += 1
        return frozenset(found)
