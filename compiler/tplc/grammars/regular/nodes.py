"""The nodes of expressions and automata.

    Seq((Lit("a"), Rep(Chars(((98, 100),)), 0, None)))    "a" [b-d]*

`expressions` builds them in their simplest form.  The same nodes serve on two levels: text as a model writes it (the
grammar), and the characters of a JSON string before a dialect quotes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.codepoints import Ranges

Edge = tuple[Ranges, int]


@dataclass(frozen=True, slots=True)
class Automaton:
    """A finite automaton: the edges of each state, the first being state 0, and the states that accept."""

    edges: tuple[tuple[Edge, ...], ...]
    accepting: frozenset[int]


@dataclass(frozen=True, slots=True)
class Lit:
    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Seq:
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Rep:
    """A repetition. `high`: None for no upper bound."""

    item: Expr
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Ref:
    """A rule by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Written:
    """A right side as the target writes it, never empty, and the rules that it names: all of them match something."""

    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spelled:
    """Texts that an automaton reads, and how the target writes them."""

    text: str
    automaton: Automaton


Expr = Lit | Chars | Seq | Alt | Rep | Ref | Written | Spelled

EMPTY = Seq(())
NEVER = Alt(())
ANY_CHARACTER = Chars(codepoints.ALL)
