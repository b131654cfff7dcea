"""Which rules are terminals, one regular expression each, and what is left to rules.

    start: "<call>" name body           where a token of the tokenizer is in it:
    →  start: <call> PART               PART: NAME BODY

A terminal is read as far as it goes, so the more of a text is in one terminal, the less there is to distinguish: all
that is regular and is together becomes one.  Text that is said with "and" and "not" is one by itself: in a larger
one the engine would look through all that follows at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tplc.grammars.regular.expressions import alt, names, seq, walk
from tplc.grammars.regular.expressions import rep as repeated
from tplc.grammars.regular.nodes import EMPTY, Alt, Chars, Expr, Lit, Ref, Rep, Seq, Spelled, Written

_PLAIN = (Lit, Chars)


@dataclass
class Arranged:
    """`rules` and `terminals` by their names; in a rule a `Ref` is one of either, and text stands for itself."""

    rules: dict[str, Expr] = field(default_factory=dict)
    terminals: dict[str, Expr] = field(default_factory=dict)


def arranged(bodies: Mapping[str, Expr]) -> Arranged:
    alone = frozenset(name for name, body in bodies.items() if isinstance(body, Spelled) and body.text)
    return _Arrangement(bodies, _regular(bodies), alone).made()


def replaced(expr: Expr, by: Mapping[Expr, Expr]) -> Expr:
    """Return the expression with each of these parts replaced."""
    if expr in by:
        return by[expr]
    if isinstance(expr, Seq):
        return seq(*(replaced(item, by) for item in expr.items))
    if isinstance(expr, Alt):
        return alt(*(replaced(item, by) for item in expr.items))
    return repeated(replaced(expr.item, by), expr.low, expr.high) if isinstance(expr, Rep) else expr


def rewritten(expr: Expr, change: Callable[[Lit | Spelled], Expr]) -> Expr:
    """Return the expression with `change` applied to each of its texts."""
    if isinstance(expr, Lit | Spelled):
        return change(expr)
    if isinstance(expr, Seq):
        return seq(*(rewritten(item, change) for item in expr.items))
    if isinstance(expr, Alt):
        return alt(*(rewritten(item, change) for item in expr.items))
    return repeated(rewritten(expr.item, change), expr.low, expr.high) if isinstance(expr, Rep) else expr


def _regular(bodies: Mapping[str, Expr]) -> frozenset[str]:
    """Return the rules that reach neither themselves nor a symbol that isn't text."""
    waits = {name: set(names(body)) for name, body in bodies.items() if not _holds_written(body)}
    used: dict[str, list[str]] = {}
    for name, needed in waits.items():
        for other in needed:
            used.setdefault(other, []).append(name)
    todo = [name for name, needed in waits.items() if not needed]
    found = set(todo)
    while todo:
        done = todo.pop()
        for name in used.get(done, ()):
            waits[name].discard(done)
            if not waits[name] and name not in found:
                found.add(name)
                todo.append(name)
    return frozenset(found)


def _holds_written(body: Expr) -> bool:
    return any(isinstance(node, Written | Spelled) for node in walk(body))


class _Arrangement:
    def __init__(self, bodies: Mapping[str, Expr], regular: frozenset[str], alone: frozenset[str]) -> None:
        """Prepare the arrangement.  `alone`: rules that become a terminal each, and part of no other."""
        self._bodies = bodies
        self._regular = regular
        self._alone = alone
        self._found = Arranged()
        self._parts: dict[Expr, str] = {}
        self._name = ""

    def made(self) -> Arranged:
        for name, body in self._bodies.items():
            if name in self._regular or name in self._alone:
                continue
            self._name = name
            self._found.rules[name] = self._body(body)
        root = next(iter(self._bodies))
        if root in self._regular or root in self._alone:
            self._found.rules[root] = Ref("answer")
            self._found.terminals["answer"] = self._bodies[root]
        self._take_used()
        return self._found

    def _take_used(self) -> None:
        """Keep the terminals that others name; the most used ones stay at the end."""
        todo = [name for body in self._found.terminals.values() for name in names(body)]
        todo += [name for body in self._found.rules.values() for name in names(body)]
        met: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in met and (name in self._regular or name in self._alone):
                met.add(name)
                todo += names(self._bodies[name])
        self._found.terminals |= {name: body for name, body in self._bodies.items() if name in met}

    def _is_regular(self, expr: Expr) -> bool:
        if isinstance(expr, Written | Spelled):
            return False
        if isinstance(expr, Ref):
            return expr.name in self._regular
        if isinstance(expr, Seq | Alt):
            return all(map(self._is_regular, expr.items))
        return self._is_regular(expr.item) if isinstance(expr, Rep) else True

    def _body(self, expr: Expr) -> Expr:
        if self._is_regular(expr):
            return self._terminal(expr)
        if isinstance(expr, Rep):
            return repeated(self._body(expr.item), expr.low, expr.high)
        if isinstance(expr, Seq):
            spread = self._spread(expr)
            return Seq(tuple(map(self._run, self._runs(expr)))) if spread is None else self._body(spread)
        if isinstance(expr, Spelled) and expr.text:
            return self._terminal(expr)
        return self._choice(expr) if isinstance(expr, Alt) else expr

    def _spread(self, expr: Seq) -> Expr | None:
        """Move text before alternatives into each of them, so that a terminal contains all of it.  Return None if there
        are no such alternatives."""
        runs = self._runs(expr)
        for place, run in enumerate(runs[1:], 1):
            choice = run[0]
            if isinstance(choice, Alt) and not self._is_regular(choice) and self._is_regular(runs[place - 1][0]):
                before = [item for other in runs[: place - 1] for item in other]
                after = [item for other in runs[place + 1 :] for item in other]
                ways = alt(*(seq(*runs[place - 1], item) for item in choice.items))
                return seq(*before, ways, *after)
        return None

    def _choice(self, expr: Alt) -> Expr:
        """Return the alternatives, joined if they are regular, or regular up to the same rest."""
        by_rest: dict[tuple[Expr, ...], list[Expr]] = {}
        for item in expr.items:
            runs = self._runs(item) if isinstance(item, Seq) else [[item]]
            ahead = runs[0] if self._is_regular(runs[0][0]) else []
            rest = tuple(one for run in runs[1 if ahead else 0 :] for one in run)
            by_rest.setdefault(rest, []).append(seq(*ahead))
        found = [self._body(seq(alt(*ahead), *rest)) for rest, ahead in by_rest.items()]
        return found[0] if len(found) == 1 else Alt(tuple(found))

    def _runs(self, expr: Seq) -> list[list[Expr]]:
        """Return the items of a sequence, with consecutive regular items joined."""
        found: list[list[Expr]] = []
        for item in expr.items:
            if found and self._is_regular(item) and self._is_regular(found[-1][-1]):
                found[-1].append(item)
            else:
                found.append([item])
        return found

    def _run(self, run: list[Expr]) -> Expr:
        return self._terminal(seq(*run)) if self._is_regular(run[0]) else self._body(run[0])

    def _terminal(self, expr: Expr) -> Expr:
        if isinstance(expr, (*_PLAIN, Ref)) or expr == EMPTY:
            return expr
        if expr not in self._parts:
            name, count = f"{self._name}-part", 1
            while name in self._bodies or name in self._found.terminals:
                count += 1
                name = f"{self._name}-part-{count}"
            self._parts[expr] = name
            self._found.terminals[name] = expr
        return Ref(self._parts[expr])
