"""Raw text up to a marker, as rules that read *through* the marker.

    text ::= [^<]* ("<" ([^</] rest | "/" ([^<p] rest)?)?)* "</p"        rest ::= [^<]*

The text can't hold a marker, not even one that overlaps its own beginning; a grammar that says "text without the
marker, then the marker" lets those through.  Where a marker's first character comes again in it, and for several
markers at once, there is one state for each beginning of a marker (Aho-Corasick).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from tplc.backends.gbnf.regular import codepoints
from tplc.backends.gbnf.regular.automaton import Automaton, build
from tplc.backends.gbnf.regular.codepoints import Ranges
from tplc.backends.gbnf.regular.expressions import NEVER, Chars, Expr, Ref, Written, rep
from tplc.backends.gbnf.regular.rules import Rules
from tplc.backends.gbnf.regular.write import literals, one_of

SPACE = codepoints.of("\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000")
SPACE = codepoints.union(SPACE, codepoints.span("\u2000", "\u200a"))


# How many groups may stand in one another.
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Stop:
    """A marker that ends text: `core` can stand nowhere in it, and what ends it is `lead` and `core` together."""

    lead: str
    core: str

    @property
    def text(self) -> str:
        return self.lead + self.core


def stop_at(marker: str) -> Stop:
    """A marker's leading white space is the template's only right before its core."""
    core = marker.lstrip()
    return Stop(marker[: len(marker) - len(core)], core) if core else Stop("", marker)


def through(stops: Iterable[Stop], forbidden: Iterable[str] = ()) -> Automaton:
    """Texts that end with the first stop they hold."""
    stops = tuple(stops)
    whole = {stop.text for stop in stops}
    bare = {stop.core for stop in stops} | {text for text in forbidden if text}
    machine = _Machine(whole | bare)
    ends = machine.holding(whole)
    # Only a state of its own can end with a marker.
    barred = machine.holding(bare) - ends

    def edges(state: str) -> Iterable[tuple[Ranges, str]]:
        return () if state in ends else machine.moves(state, barred)

    return build("", edges, ends.__contains__)


def text_through(rules: Rules, hint: str, stop: Stop) -> Expr:
    """The rules of `through` for one stop, written at once: a grammar may have one for each of thousands of names."""
    if stop.core and stop.core[0] not in stop.core[1:]:
        return _in_pieces(rules, hint, stop)
    machine = _Machine((stop.text, stop.core))
    ends = machine.holding((stop.text,))
    barred = machine.holding((stop.core,)) - ends
    if any(stop.text[:length] in barred for length in range(len(stop.text))):
        return NEVER
    return _Through(rules, hint, machine, ends, barred).written()


def _in_pieces(rules: Rules, hint: str, stop: Stop) -> Expr:
    """Text is cut before each first character of the marker; no piece begins with the whole marker."""
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
    made = rules.library("rest", rep(Chars(_others(first)), 0, None))
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
    return one_of(_others(letters))


class _Through:
    _DEEPEST = 3

    def __init__(
        self, rules: Rules, hint: str, machine: _Machine, ends: frozenset[str], barred: frozenset[str]
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


def without(forbidden: Iterable[str]) -> Automaton:
    """Texts that hold none of the markers."""
    markers = {text for text in forbidden if text}
    machine = _Machine(markers)
    barred = machine.holding(markers)
    return build("", lambda state: machine.moves(state, barred), lambda state: True)


def quoted_loosely(close: str, followers: Ranges) -> Automaton:
    """Texts between quotes that nothing escapes: a quote inside counts only before what may follow a string."""
    quote, others = (
        codepoints.of(close),
        codepoints.complement(codepoints.union(codepoints.of(close), SPACE, followers)),
    )

    # "text": anywhere; "quote": behind a quote; "space": behind a quote and white space.
    def edges(state: str) -> Iterable[tuple[Ranges, str]]:
        yield quote, "quote"
        yield others, "text"
        if state == "text":
            yield codepoints.union(SPACE, followers), "text"
        else:
            yield SPACE, "space"

    return build("text", edges, lambda state: True)


class _Machine:
    """States are the beginnings of markers: the longest that the text read so far ends with."""

    def __init__(self, markers: Iterable[str]) -> None:
        self._moves: dict[str, dict[str, str]] = {}
        own: dict[str, list[str]] = {"": []}
        for marker in sorted(markers):
            for length in range(1, len(marker) + 1):
                if marker[:length] not in own:
                    own[marker[:length]] = []
                    own[marker[: length - 1]].append(marker[:length])
        # Shorter ones first: what a beginning does with a letter is what its own longest ending does, but for its own.
        endings: dict[str, str] = {}
        for state in sorted(own, key=len):
            endings[state] = self._moves[endings[state[:-1]]].get(state[-1], "") if len(state) > 1 else ""
            self._moves[state] = {to[-1]: to for to in own[state]}
            for letter, to in (self._moves[endings[state]] if state else {}).items():
                self._moves[state].setdefault(letter, to)

    def holding(self, markers: Iterable[str]) -> frozenset[str]:
        """The states in which the text ends with one of the markers."""
        found = tuple(markers)
        return frozenset(state for state in self._moves if state.endswith(found))

    def shared(self) -> frozenset[str]:
        """The states that several others lead to."""
        seen, found = {""}, {""}
        for known in self._moves.values():
            for to in known.values():
                (found if to in seen else seen).add(to)
        return frozenset(found)

    def moves(self, state: str, barred: frozenset[str]) -> Iterable[tuple[Ranges, str]]:
        """Where each character leads, but for those that lead to a barred state; most lead to the empty beginning."""
        known = self._moves[state]
        for letter, to in known.items():
            if to not in barred:
                yield codepoints.of(letter), to
        yield _others("".join(known)), ""


@functools.lru_cache(maxsize=4096)
def _others(letters: str) -> Ranges:
    return codepoints.complement(codepoints.of(letters))
