"""Raw text up to a marker, as rules that read *through* the marker.

    text ::= [^<]* [<] text-1        text-1 ::= [/] text-2 | [<] text-1 | [^/<] text        …

One state for each beginning of a marker (Aho-Corasick).  The text can't hold a marker, not even one that overlaps its
own beginning; a grammar that says "text without the marker, then the marker" lets those through.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tplc.backends.gbnf import codepoints
from tplc.backends.gbnf.automaton import Automaton, build
from tplc.backends.gbnf.codepoints import Ranges

SPACE = codepoints.of("\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000")
SPACE = codepoints.union(SPACE, codepoints.span("\u2000", "\u200a"))


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
    machine = _Machine(sorted(whole | bare))

    def ends(state: str) -> bool:
        return any(state.endswith(text) for text in whole)

    def edges(state: str) -> Iterable[tuple[Ranges, str]]:
        if ends(state):
            return
        for ranges, to in machine.moves(state):
            # Only a state of its own can end with a marker.
            if not to or ends(to) or not any(to.endswith(text) for text in bare):
                yield ranges, to

    return build("", edges, ends)


def without(forbidden: Iterable[str]) -> Automaton:
    """Texts that hold none of the markers."""
    markers = sorted({text for text in forbidden if text})
    machine = _Machine(markers)

    def edges(state: str) -> Iterable[tuple[Ranges, str]]:
        for ranges, to in machine.moves(state):
            if not any(to.endswith(text) for text in markers):
                yield ranges, to

    return build("", edges, lambda state: True)


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
        self._beginnings = {marker[:length] for marker in markers for length in range(len(marker) + 1)}
        self._next: dict[str, list[str]] = {}
        for beginning in sorted(self._beginnings):
            if beginning:
                self._next.setdefault(beginning[:-1], []).append(beginning[-1])
        self._moves: dict[str, dict[str, Ranges]] = {}

    def moves(self, state: str) -> Iterable[tuple[Ranges, str]]:
        """Where each character leads; those that begin nothing lead to the empty beginning."""
        known = self._moves.get(state)
        if known is None:
            known = self._moves[state] = self._computed(state)
        for to, ranges in known.items():
            yield ranges, to
        others = codepoints.complement(codepoints.union(*known.values()))
        yield others, ""

    def _computed(self, state: str) -> dict[str, Ranges]:
        found: dict[str, Ranges] = {}
        for begin in self._suffixes(state):
            for letter in self._next.get(begin, ()):
                if not any(to.endswith(letter) for to in found):
                    found[begin + letter] = codepoints.of(letter)
        return found

    def _suffixes(self, state: str) -> Iterable[str]:
        """The beginnings that the text read so far ends with, the longest first."""
        return (state[at:] for at in range(len(state) + 1) if state[at:] in self._beginnings)
