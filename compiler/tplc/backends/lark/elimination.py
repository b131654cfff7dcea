"""Write an automaton as one regular expression, by eliminating its states one after another.

0 -a→ 1, 1 -b→ 1, 1 -c→ 2 (accepting)   →   "a" "b"* "c"
"""

from __future__ import annotations

from collections.abc import Callable

from tplc.grammars.regular.automaton import TooLarge
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import alt, rep, seq, walk
from tplc.grammars.regular.nodes import EMPTY, NEVER, Automaton, Expr

_MOST_NODES = 4000
_MOST_STATES = 200


def as_expression(automaton: Automaton, write: Callable[[Ranges], Expr]) -> Expr:
    """Raises TooLarge where the expression would be many times the automaton."""
    if len(automaton.edges) > _MOST_STATES:
        raise TooLarge
    first, last = -1, -2
    table: dict[int, dict[int, Expr]] = {first: {0: EMPTY}, last: {}}
    for state, row in enumerate(automaton.edges):
        table[state] = {}
        for ranges, to in row:
            table[state][to] = alt(table[state].get(to, NEVER), write(ranges))
        if state in automaton.accepting:
            table[state][last] = EMPTY
    left = set(range(len(automaton.edges)))
    while left:
        state = min(left, key=lambda one: (_weight(table, one), one))
        left.remove(state)
        _leave_out(table, state)
    return table[first].get(last, NEVER)


def _leave_out(table: dict[int, dict[int, Expr]], state: int) -> None:
    outgoing = table.pop(state)
    again = rep(outgoing.pop(state, NEVER), 0, None)
    for row in table.values():
        incoming = row.pop(state, NEVER)
        if incoming == NEVER:
            continue
        for to, expr in outgoing.items():
            row[to] = alt(row.get(to, NEVER), seq(incoming, again, expr))
            if _size(row[to]) > _MOST_NODES:
                raise TooLarge


def _weight(table: dict[int, dict[int, Expr]], state: int) -> int:
    """Return by how much leaving out a state lengthens the expression: each way in is joined with each way out."""
    ways_in = [row[state] for number, row in table.items() if number != state and state in row]
    ways_out = [expr for to, expr in table[state].items() if to != state]
    loop = _size(table[state].get(state, NEVER))
    sizes_in, sizes_out = sum(map(_size, ways_in)), sum(map(_size, ways_out))
    return sizes_in * len(ways_out) + sizes_out * len(ways_in) + loop * len(ways_in) * len(ways_out)


def _size(expr: Expr) -> int:
    return sum(1 for _ in walk(expr))
