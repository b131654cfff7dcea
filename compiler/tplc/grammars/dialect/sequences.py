"""Members of objects and items of arrays, separators between them, in as few rules as that takes.

a (required), b (optional), others   →  a (", " b)? (", " other)*
a and b both optional                →  (a (", " b)? | b)?
at least two of a, b, c              →  one rule for each (place, count): `_machine`
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from tplc.grammars.regular.expressions import alt, opt, rep, seq
from tplc.grammars.regular.nodes import EMPTY, NEVER, Expr, Ref
from tplc.grammars.regular.rules import Rules

_MOST_STATES = 2000
_MOST_ANY_ORDER = 5
State = TypeVar("State", bound=Hashable)


class TooManyStates(Exception):
    """Counting would take more rules than it is worth."""


@dataclass(frozen=True, slots=True)
class Member:
    expr: Expr
    required: bool
    name: str = ""


@dataclass(frozen=True, slots=True)
class ObjectMembers:
    """The members of an object. `other`: the form of any further member, None if there can't be any."""

    named: tuple[Member, ...]
    other: Expr | None
    separator: Expr
    low: int = 0
    high: int | None = None


def in_order(rules: Rules, hint: str, members: ObjectMembers) -> Expr:
    """Return the named members in their order, optional ones possibly skipped, then the others."""
    required = sum(member.required for member in members.named)
    most = None if members.other is not None else len(members.named)
    if members.low <= required and (members.high is None or (most is not None and most <= members.high)):
        return _plain_order(rules, hint, members)
    return _counted(rules, hint, members)


def _plain_order(rules: Rules, hint: str, members: ObjectMembers) -> Expr:
    named, separator = members.named, members.separator
    others = EMPTY if members.other is None else rep(seq(separator, members.other), 0, None)
    first = next((index for index, member in enumerate(named) if member.required), None)
    if first is not None:
        before = [opt(seq(member.expr, separator)) for member in named[:first]]
        after = [_following(member, separator) for member in named[first + 1 :]]
        return seq(*before, named[first].expr, *after, others)
    heads: list[Expr] = []
    if members.other is not None:
        heads.append(seq(members.other, others))
    tail = others
    for index in range(len(named) - 1, -1, -1):
        # A member is at the head of one alternative and in the tail of those before: one rule for all.
        expr = rules.add(f"{hint}-member", named[index].expr) if index else named[index].expr
        heads.append(seq(expr, tail))
        tail = seq(opt(seq(separator, expr)), tail)
        if len(named) > 3:
            tail = rules.add(f"{hint}-rest", tail)
    return opt(alt(*reversed(heads)))


def _following(member: Member, separator: Expr) -> Expr:
    whole = seq(separator, member.expr)
    return whole if member.required else opt(whole)


def _counted(rules: Rules, hint: str, members: ObjectMembers) -> Expr:
    named = [Member(rules.add(f"{hint}-member", member.expr), member.required) for member in members.named]
    cap = members.low if members.high is None else members.high
    if (len(named) + 1) * (cap + 1) > _MOST_STATES:
        raise TooManyStates

    def moves(state: tuple[int, int]) -> list[tuple[Expr, tuple[int, int]]]:
        place, count = state
        found: list[tuple[Expr, tuple[int, int]]] = []
        if members.high is not None and count == members.high:
            return found
        more = min(count + 1, cap) if members.high is None else count + 1
        for index in range(place, len(named)):
            found.append((named[index].expr, (index + 1, more)))
            if named[index].required:
                return found
        if members.other is not None:
            found.append((members.other, (len(named), more)))
        return found

    def ends(state: tuple[int, int]) -> bool:
        return state[1] >= members.low and not any(member.required for member in named[state[0] :])

    return machine(rules, hint, (0, 0), moves, ends, members.separator)


def in_any_order(rules: Rules, hint: str, members: ObjectMembers) -> Expr | None:
    """Return a rule for each named member at most once, in any order; None if that takes too many rules.

    Of more members than a few, only the required ones are kept count of: an optional one may then come twice.
    """
    required = [index for index, member in enumerate(members.named) if member.required]
    counting = members.low > len(required) or members.high is not None
    watched = list(range(len(members.named))) if len(members.named) <= _MOST_ANY_ORDER else required
    if len(watched) > _MOST_ANY_ORDER or (counting and len(watched) < len(members.named)):
        return None
    cap = members.low if members.high is None else members.high
    if (1 << len(watched)) * (cap + 1 if counting else 1) > _MOST_STATES:
        return None
    named = [rules.add(f"{hint}-member", member.expr) for member in members.named]

    def moves(state: tuple[frozenset[int], int]) -> list[tuple[Expr, tuple[frozenset[int], int]]]:
        used, count = state
        if members.high is not None and count == members.high:
            return []
        more = (count + 1 if members.high is not None else min(count + 1, cap)) if counting else 0
        found = [
            (named[index], (used | {index} if index in watched else used, more))
            for index in range(len(named))
            if index not in used
        ]
        return found if members.other is None else [*found, (members.other, (used, more))]

    def ends(state: tuple[frozenset[int], int]) -> bool:
        return state[0].issuperset(required) and (not counting or state[1] >= members.low)

    first: tuple[frozenset[int], int] = (frozenset(), 0)
    return machine(rules, hint, first, moves, ends, members.separator)


def machine(
    rules: Rules,
    hint: str,
    first: State,
    moves: Callable[[State], list[tuple[Expr, State]]],
    ends: Callable[[State], bool],
    separator: Expr,
) -> Expr:
    """Return elements one after another, with one rule for each state.  States that reach no end are left out."""
    order = [first]
    seen = {first}
    table: dict[State, list[tuple[Expr, State]]] = {}
    for state in order:
        table[state] = [(expr, to) for expr, to in moves(state) if expr != NEVER]
        for _, to in table[state]:
            if to not in seen:
                seen.add(to)
                order.append(to)
        if len(order) > _MOST_STATES:
            raise TooManyStates
    good = {state for state in order if ends(state)}
    changed = True
    while changed:
        more = {state for state in order if state not in good and any(to in good for _, to in table[state])}
        good |= more
        changed = bool(more)
    if first not in good:
        return NEVER
    # A state after which nothing can come needs no rule.
    open_states = [state for state in order if state in good and any(to in good for _, to in table[state])]
    refs: dict[State, Expr] = {state: Ref(rules.reserve(f"{hint}-more")) for state in open_states}

    def written(state: State, lead: Expr) -> Expr:
        ways = [seq(lead, expr, refs.get(to, EMPTY)) for expr, to in table[state] if to in good]
        return alt(*ways, EMPTY) if ends(state) else alt(*ways)

    for state, ref in refs.items():
        assert isinstance(ref, Ref)
        rules.define(ref.name, written(state, separator))
    return written(first, EMPTY)


# Items of arrays


@dataclass(frozen=True, slots=True)
class Items:
    prefix: tuple[Expr, ...]
    rest: Expr
    separator: Expr
    low: int
    high: int | None


def items(rules: Rules, hint: str, array: Items) -> Expr:
    possible = next((index for index, expr in enumerate(array.prefix) if expr == NEVER), None)
    high = array.high
    if possible is not None:
        high = possible if high is None else min(high, possible)
    elif array.rest == NEVER:
        high = len(array.prefix) if high is None else min(high, len(array.prefix))
    if high is not None and high < array.low:
        return NEVER
    prefix = array.prefix[:high]
    tail = _repeated(array, len(prefix), high)
    for index in range(len(prefix) - 1, 0, -1):
        whole = seq(array.separator, prefix[index], tail)
        tail = whole if index < array.low else opt(whole)
        if index % 6 == 0:
            tail = rules.add(f"{hint}-rest", tail)
    if not prefix:
        return tail
    whole = seq(prefix[0], tail)
    return whole if array.low else opt(whole)


def _repeated(array: Items, before: int, high: int | None) -> Expr:
    low = max(array.low - before, 0)
    most = None if high is None else high - before
    if most == 0:
        return EMPTY
    following = seq(array.separator, array.rest)
    if before:
        return rep(following, low, most)
    first = seq(array.rest, rep(following, max(low - 1, 0), None if most is None else most - 1))
    return first if low else opt(first)
