"""Raw text up to a marker, as automata that read *through* the marker.

    matches(through([stop_at("</p>")]), "a < b</p>")  →  True

The text can't contain a marker, not even one that overlaps its own beginning; a grammar that says "text without the
marker, then the marker" lets those through.  Where a marker's first character comes again in it, and for several
markers at once, there is one state for each beginning of a marker (Aho-Corasick).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import both, build, from_expr
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import lit, rep, seq
from tplc.grammars.regular.nodes import ANY_CHARACTER, Automaton

SPACE = codepoints.of("\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000")
SPACE = codepoints.union(SPACE, codepoints.span("\u2000", "\u200a"))


@dataclass(frozen=True, slots=True)
class Stop:
    """A marker that ends text: `core` can be nowhere in it, and what ends it is `lead` and `core` together."""

    lead: str
    core: str

    @property
    def text(self) -> str:
        return self.lead + self.core


def stop_at(marker: str) -> Stop:
    """Return the stop for a marker.  Its leading white space belongs to the template only directly before its core."""
    core = marker.lstrip()
    return Stop(marker[: len(marker) - len(core)], core) if core else Stop("", marker)


def ending_in(stops: Iterable[Stop], forbidden: Iterable[str] = ()) -> Automaton:
    """Return texts that end with the first stop they hold."""
    stops = tuple(stops)
    whole = {stop.text for stop in stops}
    bare = {stop.core for stop in stops} | {text for text in forbidden if text}
    machine = Beginnings(whole | bare)
    ends = machine.holding(whole)
    # Only a state of its own can end with a marker.
    barred = machine.holding(bare) - ends

    def edges(state: str) -> Iterable[tuple[Ranges, str]]:
        return () if state in ends else machine.moves(state, barred)

    return build("", edges, ends.__contains__)


def without(forbidden: Iterable[str], end: str = "") -> Automaton:
    """Return texts that contain none of the markers, and that end with `end`."""
    markers = {text for text in forbidden if text}
    machine = Beginnings(markers)
    barred = machine.holding(markers)
    found = build("", lambda state: machine.moves(state, barred), lambda state: True)
    return both(found, from_expr(seq(rep(ANY_CHARACTER, 0, None), lit(end)))) if end else found


def loosely_quoted(close: str, followers: Ranges) -> Automaton:
    """Return the automaton of texts in quotes without escapes: a quote inside ends the text only before one of
    `followers`."""
    quote, others = (
        codepoints.of(close),
        codepoints.complement(codepoints.union(codepoints.of(close), SPACE, followers)),
    )

    # "text": anywhere; "quote": after a quote; "space": after a quote and white space.
    def edges(state: str) -> Iterable[tuple[Ranges, str]]:
        yield quote, "quote"
        yield others, "text"
        if state == "text":
            yield codepoints.union(SPACE, followers), "text"
        else:
            yield SPACE, "space"

    return build("text", edges, lambda state: True)


class Beginnings:
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
        """Return the states in which the text ends with one of the markers."""
        found = tuple(markers)
        return frozenset(state for state in self._moves if state.endswith(found))

    def shared(self) -> frozenset[str]:
        """Return the states to which several others lead."""
        seen, found = {""}, {""}
        for known in self._moves.values():
            for to in known.values():
                (found if to in seen else seen).add(to)
        return frozenset(found)

    def moves(self, state: str, barred: frozenset[str]) -> Iterable[tuple[Ranges, str]]:
        """Yield where each character leads, without barred states.  Most characters lead to the empty beginning."""
        known = self._moves[state]
        for letter, to in known.items():
            if to not in barred:
                yield codepoints.of(letter), to
        yield all_but("".join(known)), ""


@functools.lru_cache(maxsize=4096)
def all_but(letters: str) -> Ranges:
    return codepoints.complement(codepoints.of(letters))
