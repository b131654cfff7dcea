"""Raw values that nothing closes: they end where what follows reads as the next argument, or as the end of the call.

    f(a=first, second, b=2)   the value of a is "first, second": `second` is no key, `b` is one

A parser takes the first place where what follows can be read so; text may hold anything but that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tplc.backends.gbnf import codepoints
from tplc.backends.gbnf.automaton import Automaton, build, from_expr, minimal
from tplc.backends.gbnf.codepoints import Ranges
from tplc.backends.gbnf.expressions import Chars, Expr, alt, lit, rep, seq
from tplc.backends.gbnf.until import SPACE

# What a key may hold, so that it is known for one behind a value.
KEY_CHARACTERS = codepoints.complement(codepoints.union(SPACE, codepoints.of("=:,(){}[]")))
LONGEST_KEY = 64
_WORD = Chars(KEY_CHARACTERS)
_SPACE = rep(Chars(SPACE), 0, None)


@dataclass(frozen=True, slots=True)
class Behind:
    """What follows a call's arguments.

    `closing`: the text that closes the call; `ends`: what may come behind that; `separator`, a name and `name_end`:
    the next call.
    """

    closing: str
    ends: tuple[str, ...]
    separator: str
    name_end: str


@dataclass(frozen=True, slots=True)
class Pair:
    """What comes before a value: `separator` `opening` KEY `key_end`; `keys` None: any word may be one."""

    separator: str
    opening: str
    key_end: str
    keys: tuple[str, ...] | None


def text_before(pair: Pair, end: str, behind: Behind) -> Automaton:
    """Texts behind which either the next pair or the end of the arguments is the first thing that ends a value."""
    ending = from_expr(alt(_next_pair(pair), _end(end, behind)))
    real = tuple(_real_ends(pair, end, behind))

    def step(states: Iterable[int], code: int) -> frozenset[int]:
        return frozenset(
            to for state in states for ranges, to in ending.edges[state] if codepoints.contains(ranges, code)
        )

    def ends(states: frozenset[int]) -> bool:
        """Whether no end that begins in the text is completed by what follows it."""
        for text in real:
            running = states
            for character in text:
                running = step(running, ord(character))
                if running & ending.accepting:
                    return False
        return True

    def edges(states: frozenset[int]) -> Iterable[tuple[Ranges, frozenset[int]]]:
        held = states | {0}
        for ranges in _parts(edge for state in held for edge, _ in ending.edges[state]):
            to = step(held, ranges[0][0])
            if not to & ending.accepting:
                yield ranges, to

    return minimal(build(frozenset[int](), edges, ends))


def _parts(sets: Iterable[Ranges]) -> list[Ranges]:
    """The coarsest sets of characters of which each given set is a union."""
    parts = [codepoints.ALL]
    for one in dict.fromkeys(sets):
        cut = [part for old in parts for part in (codepoints.intersection(old, one), codepoints.minus(old, one))]
        parts = [part for part in cut if part]
    return parts


def _next_pair(pair: Pair) -> Expr:
    key = rep(_WORD, 1, None) if pair.keys is None else alt(*(lit(key) for key in pair.keys))
    return _spaced(lit(pair.separator.strip()), lit(pair.opening.strip()), key, lit(pair.key_end.strip()))


def _end(end: str, behind: Behind) -> Expr:
    call = _spaced(lit(behind.separator.strip()), rep(_WORD, 1, None), lit(behind.name_end.strip()))
    following = [lit(text.strip()) for text in behind.ends if text.strip()]
    return _spaced(lit((end + behind.closing).strip()), alt(*following, call))


def _spaced(*parts: Expr) -> Expr:
    found: list[Expr] = []
    for part in parts:
        found += [part, _SPACE]
    return seq(*found[:-1])


def _real_ends(pair: Pair, end: str, behind: Behind) -> Iterable[str]:
    for key in pair.keys or ("k",):
        yield pair.separator + pair.opening + key + pair.key_end
    closed = end + behind.closing
    for text in behind.ends:
        yield closed + text
    yield closed + behind.separator + "f" + behind.name_end
