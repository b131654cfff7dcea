"""Finite automata: what patterns need that grammars don't have, "and" and "not".

    both(from_expr(P), from_expr(Q)), negation(from_expr(P))

States are numbers, 0 the first.  A state's edges have disjoint sets of characters; where none fits, the text is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.nodes import Alt, Automaton, Chars, Edge, Expr, Lit, Rep, Seq, Spelled

MOST_STATES = 1500
_MOST_STEPS = 20_000

State = TypeVar("State", bound=Hashable)


class TooLarge(Exception):
    """The automaton would be too large to be written."""


def matches(automaton: Automaton, text: str) -> bool:
    state = 0
    for character in text:
        found = next((to for ranges, to in automaton.edges[state] if codepoints.contains(ranges, ord(character))), None)
        if found is None:
            return False
        state = found
    return state in automaton.accepting


def is_empty(automaton: Automaton) -> bool:
    return not _trimmed(automaton).accepting


def build(
    first: State, edges: Callable[[State], Iterable[tuple[Ranges, State]]], ends: Callable[[State], bool]
) -> Automaton:
    """Return an automaton from the states that can be reached from `first`."""
    numbers: dict[State, int] = {first: 0}
    order = [first]
    table: list[tuple[Edge, ...]] = []
    for state in order:
        row: dict[int, list[Ranges]] = {}
        for ranges, to in edges(state):
            if to not in numbers:
                numbers[to] = len(order)
                order.append(to)
            row.setdefault(numbers[to], []).append(ranges)
        if len(order) > MOST_STATES:
            raise TooLarge
        table.append(tuple((_together(parts), to) for to, parts in row.items()))
    return Automaton(tuple(table), frozenset(number for number, state in enumerate(order) if ends(state)))


def both(first: Automaton, second: Automaton) -> Automaton:
    def edges(state: tuple[int, int]) -> Iterable[tuple[Ranges, tuple[int, int]]]:
        for left, to_left in first.edges[state[0]]:
            for right, to_right in second.edges[state[1]]:
                shared = codepoints.intersection(left, right)
                if shared:
                    yield shared, (to_left, to_right)

    return minimal(build((0, 0), edges, lambda pair: pair[0] in first.accepting and pair[1] in second.accepting))


def negation(automaton: Automaton) -> Automaton:
    sink = len(automaton.edges)
    table = []
    for row in automaton.edges:
        rest = codepoints.complement(codepoints.union(*(ranges for ranges, _ in row)))
        table.append((*row, (rest, sink)) if rest else row)
    table.append(((codepoints.ALL, sink),))
    return minimal(Automaton(tuple(table), frozenset(range(sink + 1)) - automaton.accepting))


def from_texts(texts: Iterable[str]) -> Automaton:
    """Return the automaton of a finite set of texts: a trie."""
    children: list[dict[str, int]] = [{}]
    ends = set()
    for text in texts:
        state = 0
        for character in text:
            if character not in children[state]:
                children[state][character] = len(children)
                children.append({})
            state = children[state][character]
        ends.add(state)
    rows = (tuple((codepoints.of(character), to) for character, to in row.items()) for row in children)
    return Automaton(tuple(rows), frozenset(ends))


def begun(automaton: Automaton, character: str) -> Automaton | None:
    """Return the automaton of texts that may follow the character; None if no text begins with it."""
    for ranges, to in automaton.edges[0]:
        if codepoints.contains(ranges, ord(character)):
            swap = {0: to, to: 0}
            rows = [automaton.edges[swap.get(state, state)] for state in range(len(automaton.edges))]
            turned = tuple(tuple((ranges, swap.get(to, to)) for ranges, to in row) for row in rows)
            return minimal(Automaton(turned, frozenset(swap.get(state, state) for state in automaton.accepting)))
    return None


def minimal(automaton: Automaton) -> Automaton:
    """Join states that can't be distinguished (Moore)."""
    trimmed = _trimmed(automaton)
    block = [int(state in trimmed.accepting) for state in range(len(trimmed.edges))]
    count = len(set(block))
    while True:
        signatures: dict[object, int] = {}
        block = [
            signatures.setdefault((block[state], _grouped(trimmed.edges[state], block)), len(signatures))
            for state in range(len(trimmed.edges))
        ]
        if len(signatures) == count:
            break
        count = len(signatures)
    rows: list[tuple[Edge, ...]] = [()] * count
    for state, number in enumerate(block):
        rows[number] = _grouped(trimmed.edges[state], block)
    return Automaton(tuple(rows), frozenset(block[state] for state in trimmed.accepting))


def _grouped(row: tuple[Edge, ...], block: list[int]) -> tuple[Edge, ...]:
    to_block: dict[int, list[Ranges]] = {}
    for ranges, to in row:
        to_block.setdefault(block[to], []).append(ranges)
    return tuple(sorted((_together(parts), to) for to, parts in to_block.items()))


def _together(parts: list[Ranges]) -> Ranges:
    return parts[0] if len(parts) == 1 else codepoints.union(*parts)


def _trimmed(automaton: Automaton) -> Automaton:
    """Return the automaton without states from which none accepts; an empty one keeps its first state."""
    sources: dict[int, set[int]] = {}
    for state, row in enumerate(automaton.edges):
        for _, to in row:
            sources.setdefault(to, set()).add(state)
    alive = set(automaton.accepting)
    todo = list(alive)
    while todo:
        for state in sources.get(todo.pop(), ()):
            if state not in alive:
                alive.add(state)
                todo.append(state)
    if 0 not in alive:
        return Automaton(((),), frozenset())
    order, seen = [0], {0}
    for state in order:
        for _, to in automaton.edges[state]:
            if to in alive and to not in seen:
                seen.add(to)
                order.append(to)
    numbers = {state: number for number, state in enumerate(order)}
    rows = (tuple((ranges, numbers[to]) for ranges, to in automaton.edges[state] if to in numbers) for state in order)
    return Automaton(tuple(rows), frozenset(numbers[state] for state in automaton.accepting if state in numbers))


# From expressions


class _Steps:
    """Thompson's construction: `edges` read a character, `free` none."""

    def __init__(self) -> None:
        self.edges: list[list[Edge]] = []
        self.free: list[list[int]] = []

    def state(self) -> int:
        if len(self.edges) > _MOST_STEPS:
            raise TooLarge
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def add(self, expr: Expr, start: int) -> int:
        """Read `expr` from `start`; the state after it."""
        if isinstance(expr, Lit):
            for character in expr.text:
                start = self._read(codepoints.of(character), start)
            return start
        if isinstance(expr, Chars):
            return self._read(expr.ranges, start)
        if isinstance(expr, Seq):
            for item in expr.items:
                start = self.add(item, start)
            return start
        if isinstance(expr, Alt):
            end = self.state()
            for item in expr.items:
                self.free[self.add(item, start)].append(end)
            return end
        if isinstance(expr, Rep):
            return self._repeat(expr, start)
        if isinstance(expr, Spelled):
            return self._embed(expr.automaton, start)
        raise TypeError(f"a rule cannot be part of a regular expression: {expr}")

    def _read(self, ranges: Ranges, start: int) -> int:
        end = self.state()
        self.edges[start].append((ranges, end))
        return end

    def _embed(self, automaton: Automaton, start: int) -> int:
        states, end = [self.state() for _ in automaton.edges], self.state()
        self.free[start].append(states[0])
        for state, row in zip(states, automaton.edges, strict=True):
            self.edges[state] += [(ranges, states[to]) for ranges, to in row]
        for state in automaton.accepting:
            self.free[states[state]].append(end)
        return end

    def _repeat(self, expr: Rep, start: int) -> int:
        for _ in range(expr.low):
            start = self.add(expr.item, start)
        end = self.state()
        if expr.high is None:
            self.free[start].append(end)
            self.free[self.add(expr.item, end)].append(end)
            return end
        for _ in range(expr.high - expr.low):
            self.free[start].append(end)
            # A state of its own: a loop inside the item must not lead back over this way out.
            fresh = self.state()
            self.free[start].append(fresh)
            start = self.add(expr.item, fresh)
        self.free[start].append(end)
        return end


def from_expr(expr: Expr) -> Automaton:
    steps = _Steps()
    first = steps.state()
    last = steps.add(expr, first)
    closures: dict[int, frozenset[int]] = {}

    def closure(states: Iterable[int]) -> frozenset[int]:
        found: set[int] = set()
        for state in states:
            if state not in closures:
                closures[state] = _reached(steps.free, state)
            found |= closures[state]
        return frozenset(found)

    def edges(states: frozenset[int]) -> Iterable[tuple[Ranges, frozenset[int]]]:
        moves = [edge for state in sorted(states) for edge in steps.edges[state]]
        for ranges, targets in split(moves):
            yield ranges, closure(targets)

    return minimal(build(closure([first]), edges, lambda states: last in states))


def _reached(free: list[list[int]], state: int) -> frozenset[int]:
    found, todo = {state}, [state]
    while todo:
        for to in free[todo.pop()]:
            if to not in found:
                found.add(to)
                todo.append(to)
    return frozenset(found)


def split(moves: list[Edge]) -> Iterable[tuple[Ranges, tuple[int, ...]]]:
    """Cut overlapping sets into disjoint ones, each with all the states it leads to."""
    events: list[tuple[int, int, int]] = []
    for ranges, to in moves:
        for low, high in ranges:
            events.append((low, 1, to))
            events.append((high + 1, -1, to))
    events.sort()
    active: dict[int, int] = {}
    parts: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    at = 0
    for place, sign, to in events:
        if place > at and active:
            parts.setdefault(tuple(sorted(active)), []).append((at, place - 1))
        at = place
        active[to] = active.get(to, 0) + sign
        if not active[to]:
            del active[to]
    return ((codepoints.union(pairs), targets) for targets, pairs in parts.items())
