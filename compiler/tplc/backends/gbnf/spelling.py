"""Raw text up to a marker, as rules that read *through* the marker.

    text ::= [^<]* ("<" ([^</] rest | "/" ([^<p] rest)?)?)* "</p"        rest ::= [^<]*

One rule for each state in which another character may follow, written at once where the text is free.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

from tplc.backends.gbnf.write import literals, one_of
from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import minimal
from tplc.grammars.regular.automaton_rules import right_linear
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import alt, chars, lit, rep, seq
from tplc.grammars.regular.nodes import NEVER, Alt, Automaton, Chars, Expr, Lit, Ref, Rep, Seq, Written
from tplc.grammars.regular.rules import Rules
from tplc.grammars.regular.until import Beginnings, Stop, all_but, ending_in, without

# How many groups may be in one another.
_DEEPEST = 20


class GbnfSpelling:
    """Text that an automaton describes: right-recursive rules, one for each state."""

    def ending_in(self, rules: Rules, hint: str, stop: Stop, forbidden: tuple[str, ...]) -> Expr:
        if not forbidden and hint == "text":
            return text_through(rules, hint, stop)
        return right_linear(rules, hint, ending_in([stop], forbidden), chars)

    def without(self, rules: Rules, hint: str, forbidden: tuple[str, ...], end: str = "") -> Expr:
        return right_linear(rules, hint, minimal(without(forbidden, end)), chars)

    def automaton(self, rules: Rules, hint: str, automaton: Automaton, write: Callable[[Ranges], Expr]) -> Expr:
        return right_linear(rules, hint, automaton, write)

    def before_token(self, text: str) -> str | None:
        return None  # tokens spell text


GBNF = GbnfSpelling()


class TokenGbnfSpelling(GbnfSpelling):
    """The same, where llama.cpp reads the grammar: a marker that is a token is that token, by its number.

    numbers {"<call>": 7}:  "<call>\\n{"  →  <[7]> "\\n{"
    """

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        longest = sorted(numbers, key=len, reverse=True)
        self._cut = re.compile("(" + "|".join(map(re.escape, longest)) + ")")

    def before_token(self, text: str) -> str | None:
        found = self._cut.search(text)
        return None if found is None else text[: found.start()]

    def in_tokens(self, expr: Expr) -> Expr:
        """Return the expression with its texts in runs of text and tokens."""
        if isinstance(expr, Lit):
            # At odd places stand what it was cut at.
            parts = enumerate(self._cut.split(expr.text))
            return seq(*(Written(f"<[{self._numbers[part]}]>", ()) if at % 2 else lit(part) for at, part in parts))
        if isinstance(expr, Seq):
            return seq(*map(self.in_tokens, expr.items))
        if isinstance(expr, Alt):
            return alt(*map(self.in_tokens, expr.items))
        return rep(self.in_tokens(expr.item), expr.low, expr.high) if isinstance(expr, Rep) else expr


def text_through(rules: Rules, hint: str, stop: Stop) -> Expr:
    """Return the rules of `ending_in` for one stop, written at once: a grammar may have one for each of thousands of
    names."""
    if stop.core and stop.core[0] not in stop.core[1:]:
        return _in_pieces(rules, hint, stop)
    machine = Beginnings((stop.text, stop.core))
    ends = machine.holding((stop.text,))
    barred = machine.holding((stop.core,)) - ends
    if any(stop.text[:length] in barred for length in range(len(stop.text))):
        return NEVER
    return _Through(rules, hint, machine, ends, barred).written()


def _in_pieces(rules: Rules, hint: str, stop: Stop) -> Expr:
    """Return text in pieces, cut before each first character of the marker; no piece begins with the whole marker."""
    first = stop.core[0]
    rest = rules.kept(("rest", first), lambda: _rest(rules, first))
    inner = ""
    names: tuple[str, ...] = (rest,)
    for count, letter in enumerate(reversed(stop.core[1:])):
        if count and count % _DEEPEST == 0:
            inner = _named(rules, hint, inner, names)
            names = (inner, rest)
        going_on = f" | {_one(letter)} {_maybe(inner)}" if inner else ""
        inner = f"{_neither(first + letter)} {rest}{going_on}"
    begun = f"{_one(first)} {_maybe(inner)}" if inner else ""
    pieces = f"({begun})* " if inner else ""
    whole = f"{_neither(first)}* {pieces}{' '.join(literals(stop.text))}"
    return Ref(_named(rules, hint, whole, names if inner else ()))


def _rest(rules: Rules, first: str) -> str:
    made = rules.library("rest", rep(Chars(all_but(first)), 0, None))
    assert isinstance(made, Ref)
    return made.name


def _named(rules: Rules, hint: str, text: str, names: tuple[str, ...]) -> str:
    name = rules.reserve(hint)
    rules.define(name, Written(text, names))
    return name


def _maybe(inner: str) -> str:
    return f"({inner})?" if " " in inner else f"{inner}?"


@functools.lru_cache(maxsize=4096)
def _one(letter: str) -> str:
    return one_of(codepoints.of(letter))


@functools.lru_cache(maxsize=4096)
def _neither(letters: str) -> str:
    return one_of(all_but(letters))


class _Through:
    _DEEPEST = 3

    def __init__(
        self, rules: Rules, hint: str, machine: Beginnings, ends: frozenset[str], barred: frozenset[str]
    ) -> None:
        self._rules = rules
        self._hint = hint
        self._machine = machine
        self._ends = ends
        self._barred = barred
        self._names: dict[str, str] = {}
        self._todo: list[str] = []
        self._met: dict[str, None] = {}
        self._shared = machine.shared()

    def written(self) -> Expr:
        first = self._name("")
        while self._todo:
            state = self._todo.pop()
            self._met = {}
            body = self._body(state, 0)
            self._rules.define(self._names[state], Written(body, tuple(self._met)))
        return Ref(first)

    def _name(self, state: str) -> str:
        if state not in self._names:
            self._names[state] = self._rules.reserve(self._hint)
            self._todo.append(state)
        name = self._names[state]
        self._met[name] = None
        return name

    def _body(self, state: str, depth: int) -> str:
        run, ways = "", []
        for ranges, to in self._machine.moves(state, self._barred):
            begins = one_of(ranges)
            if to == state:
                run = f"{begins}* "
            elif to in self._ends:
                ways.append(begins)
            elif to in self._shared or depth == self._DEEPEST:
                ways.append(f"{begins} {self._name(to)}")
            else:
                ways.append(f"{begins} ({self._body(to, depth + 1)})")
        whole = " | ".join(ways)
        return f"{run}({whole})" if run and len(ways) > 1 else run + whole
