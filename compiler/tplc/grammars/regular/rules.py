"""The rules of a grammar under construction.

rules.add("city", lit("Paris"))  →  Ref("city")         city ::= "Paris"
rules.add("town", lit("Paris"))  →  Ref("city")         the same body is the same rule
rules.add("city", lit("Rome"))   →  Ref("city-2")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tplc.grammars.regular.expressions import alt, names, rep, seq
from tplc.grammars.regular.names import rule_name
from tplc.grammars.regular.nodes import NEVER, Alt, Expr, Ref, Rep, Seq

if TYPE_CHECKING:
    from tplc.grammars.regular.codepoints import Ranges
    from tplc.grammars.regular.nodes import Automaton
    from tplc.grammars.regular.until import Stop

ROOT = "root"
Kept = TypeVar("Kept")


class TooManyRules(Exception):
    """One part of a grammar would take more rules than all of it may have."""


class TextSpelling(Protocol):
    """How a target writes what only an automaton says, and which texts it has to write in parts."""

    def ending_in(self, rules: Rules, hint: str, stop: Stop, forbidden: tuple[str, ...]) -> Expr:
        """Return any text with none of `forbidden`, up to the first stop."""

    def without(self, rules: Rules, hint: str, forbidden: tuple[str, ...], end: str = "") -> Expr:
        """Return any text with none of `forbidden`, and with `end` at its end."""

    def automaton(self, rules: Rules, hint: str, automaton: Automaton, write: Callable[[Ranges], Expr]) -> Expr: ...

    def before_token(self, text: str) -> str | None:
        """Return the text before the first part that is a token, which no text matches; None if no part is one."""


class Rules:
    def __init__(self, spelling: TextSpelling) -> None:
        self.spelling = spelling
        self._most: int | None = None
        self._bodies: dict[str, Expr] = {}
        self._taken: set[str] = {ROOT}
        self._numbers: dict[str, int] = {}
        self._by_body: dict[Expr, str] = {}
        self._library: dict[str, None] = {}
        self._kept: dict[object, Any] = {}

    def kept(self, key: object, make: Callable[[], Kept]) -> Kept:
        """Return the result of `make` for this key; it is made once for these rules."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Kept = self._kept[key]
        return found

    def add(self, hint: str, body: Expr) -> Expr:
        if isinstance(body, Ref) or body in (NEVER, Seq(())):
            return body
        name = self._by_body.get(body)
        if name is None:
            name = self.reserve(hint)
            self.define(name, body)
        return Ref(name)

    def library(self, name: str, body: Expr) -> Expr:
        """Add a rule that many others use; it is written at the end."""
        made = self.add(name, body)
        if isinstance(made, Ref):
            self._library[made.name] = None
        return made

    def reserve(self, hint: str) -> str:
        base = rule_name(hint)
        name = base
        while name in self._taken:
            self._numbers[base] = self._numbers.get(base, 1) + 1
            name = f"{base}-{self._numbers[base]}"
        self._taken.add(name)
        return name

    def allow(self, more: int | None) -> None:
        """Allow this many more rules from now on; None: any number."""
        self._most = None if more is None else len(self._bodies) + more

    def define(self, name: str, body: Expr) -> None:
        if self._most is not None and len(self._bodies) >= self._most:
            raise TooManyRules
        self._bodies[name] = body
        self._by_body.setdefault(body, name)

    def body(self, name: str) -> Expr:
        return self._bodies[name]

    def rewrite(self, change: Callable[[str, Expr], Expr]) -> None:
        """Replace the body of each rule by the result of `change`; rules that `change` adds stay as they are."""
        for name in list(self._bodies):
            self._bodies[name] = change(name, self._bodies[name])

    def finished(self, root: Expr) -> dict[str, Expr]:
        """Return all rules that `root` leads to, root first, in order of use, without rules that match nothing."""
        bodies = _productive({ROOT: root, **self._bodies})
        order: dict[str, None] = {}
        todo = [ROOT]
        while todo:
            name = todo.pop()
            if name not in order:
                order[name] = None
                todo.extend(reversed(names(bodies.get(name, NEVER))))
        written = [name for name in order if name not in self._library]
        written += [name for name in self._library if name in order]
        return {name: bodies.get(name, NEVER) for name in written}


def _productive(bodies: dict[str, Expr]) -> dict[str, Expr]:
    """Leave out alternatives that can't end, such as an object that must contain itself."""
    good: set[str] = set()
    # The rules that a rule waits for: it is checked again when these can end, not after every other rule it names.
    waiting: dict[str, list[str]] = {}
    # Rules are mostly made after those they use.
    todo = list(reversed(bodies))
    while todo:
        name = todo.pop()
        if name in good:
            continue
        missing = _missing(bodies[name], good)
        if missing is None:
            good.add(name)
            todo.extend(waiting.pop(name, ()))
        else:
            for one in missing:
                waiting.setdefault(one, []).append(name)
    if len(good) == len(bodies):
        return bodies
    return {name: _without(body, good) for name, body in bodies.items() if name in good}


def _missing(expr: Expr, good: set[str]) -> list[str] | None:
    """Return None if the expression can end with rules that can; otherwise rules of which one must be able to end
    first."""
    if isinstance(expr, Ref):
        return None if expr.name in good else [expr.name]
    if isinstance(expr, Rep):
        return _missing(expr.item, good) if expr.low else None
    if isinstance(expr, Seq):
        return next((missing for item in expr.items if (missing := _missing(item, good)) is not None), None)
    if not isinstance(expr, Alt):
        return None
    found: list[str] = []
    for item in expr.items:
        missing = _missing(item, good)
        if missing is None:
            return None
        found += missing
    return found


def _without(expr: Expr, good: set[str]) -> Expr:
    if isinstance(expr, Ref):
        return expr if expr.name in good else NEVER
    if isinstance(expr, Seq):
        return seq(*(_without(item, good) for item in expr.items))
    if isinstance(expr, Alt):
        return alt(*(_without(item, good) for item in expr.items))
    if isinstance(expr, Rep):
        return rep(_without(expr.item, good), expr.low, expr.high)
    return expr
