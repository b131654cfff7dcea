"""Write automata as grammar rules.

the automaton of /a*b/    →    rule ::= "a"* "b"
"""

from __future__ import annotations

from collections.abc import Callable

from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import alt, opt, rep, seq
from tplc.grammars.regular.nodes import EMPTY, NEVER, Automaton, Expr, Ref
from tplc.grammars.regular.rules import Rules


def to_expr(rules: Rules, hint: str, automaton: Automaton, write: Callable[[Ranges], Expr]) -> Expr:
    """Return the language of the automaton, in the spelling of the rules' target."""
    return rules.spelling.automaton(rules, hint, automaton, write)


def right_linear(rules: Rules, hint: str, automaton: Automaton, write: Callable[[Ranges], Expr]) -> Expr:
    """Return right-recursive rules, one for each state that several others lead to or that leads back to itself."""
    return _RuleWriter(rules, hint, automaton, write).written()


class _RuleWriter:
    _DEEPEST = 3

    def __init__(self, rules: Rules, hint: str, automaton: Automaton, write: Callable[[Ranges], Expr]) -> None:
        self._rules = rules
        self._hint = hint
        self._edges = automaton.edges
        self._accepting = automaton.accepting
        self._write = write
        self._names: dict[int, str] = {}
        self._todo: list[int] = []
        entered = [1] + [0] * (len(automaton.edges) - 1)
        for row in automaton.edges:
            for _, to in row:
                entered[to] += 1
        self._shared = {state for state, count in enumerate(entered) if count > 1}

    def written(self) -> Expr:
        first = self._state(0, depth=0)
        while self._todo:
            state = self._todo.pop()
            self._rules.define(self._names[state], self._body(state, depth=0))
        return first

    def _state(self, number: int, *, depth: int) -> Expr:
        row = self._edges[number]
        if not row:
            return EMPTY if number in self._accepting else NEVER
        if len(row) == 1 and row[0][1] == number:
            # Nothing but itself follows: no rule is needed.
            return rep(self._write(row[0][0]), 0, None)
        if number not in self._shared and depth < self._DEEPEST:
            return self._body(number, depth=depth)
        if number not in self._names:
            self._names[number] = self._rules.reserve(self._hint)
            self._todo.append(number)
        return Ref(self._names[number])

    def _body(self, number: int, *, depth: int) -> Expr:
        chain: list[Expr] = []
        while len(self._edges[number]) == 1 and number not in self._accepting:
            ranges, to = self._edges[number][0]
            chain.append(self._write(ranges))
            number = to
            if number in self._shared or not self._edges[number]:
                return seq(*chain, self._state(number, depth=depth))
        row = self._edges[number]
        ways = [seq(self._write(ranges), self._state(to, depth=depth + 1)) for ranges, to in row if to != number]
        run = rep(alt(*(self._write(ranges) for ranges, to in row if to == number)), 0, None)
        return seq(*chain, run, opt(alt(*ways)) if number in self._accepting else alt(*ways))
