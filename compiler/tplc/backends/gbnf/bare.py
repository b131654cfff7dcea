"""Raw values that nothing closes: they end where what follows reads as the next argument, or as the end of the call.

    f(a=first, second, b=2)   the value of a is "first, second": `second` is no key, `b` is one
    - a = first\n- b = 2      the value of a is "first": only a line can begin with an argument

A parser takes the first place where what follows can be read so; text may hold anything but that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tplc.backends.gbnf import codepoints
from tplc.backends.gbnf.automaton import Automaton, build, from_expr, minimal
from tplc.backends.gbnf.codepoints import Ranges
from tplc.backends.gbnf.expressions import EMPTY, Chars, Expr, alt, lit, opt, rep, seq
from tplc.backends.gbnf.until import SPACE
from tplc.ir.markers import is_distinctive, pieces_of

# What a key may hold, so that it is known for one behind a value.
KEY_CHARACTERS = codepoints.complement(codepoints.union(SPACE, codepoints.of("=:,(){}[]")))
LONGEST_KEY = 64
_WORD = Chars(KEY_CHARACTERS)
_SPACE = rep(Chars(SPACE), 0, None)
_BLANK = Chars(codepoints.minus(SPACE, codepoints.of("\n")))
_INDENTED = re.compile(r"\n[^\S\n]+\Z")


@dataclass(frozen=True, slots=True)
class Behind:
    """What follows a call's arguments.

    `closing`: the text that closes the call; `ends`: what may come behind that, the end of the section first;
    `separator`, `opener`, a name and `name_end`: the next call.  `name_end` is "" where something else than the name
    follows the opener, or something else than text the name.
    """

    closing: str
    ends: tuple[str, ...]
    separator: str
    opener: str
    name_end: str

    @property
    def next(self) -> str:
        """The text right behind the arguments."""
        return self.closing or self.separator or self.ends[0]


@dataclass(frozen=True, slots=True)
class Pair:
    """What comes before a value: `separator` `opening` KEY `key_end`; `keys` None: any word may be one."""

    separator: str
    opening: str
    key_end: str
    keys: tuple[str, ...] | None

    @property
    def space(self) -> str:
        """The white space that a pair begins with, where nothing else is between it and the value before it."""
        before = self.separator + self.opening
        return "" if self.separator.strip() else before[: len(before) - len(before.lstrip())]


def text_before(pair: Pair, end: str, behind: Behind) -> Automaton:
    """Texts behind which either the next pair or the end of the arguments is the first thing that ends a value."""
    ending = from_expr(_ending(pair, end, behind))
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


def _ending(pair: Pair, end: str, behind: Behind) -> Expr:
    """All that a parser takes for the end of a value: the next pair, the end of the call, the next call."""
    closer = end + behind.closing
    following = [lit(text.strip()) for text in behind.ends if text.strip()]
    after = alt(*following, *_next_call(behind))
    pieces = [lit(piece) for piece in pieces_of(closer)]
    # Of a closer's pieces all but the first may be missing.
    ends = [seq(*pieces[:1], *(opt(seq(_SPACE, piece)) for piece in pieces[1:]), _SPACE if pieces else EMPTY, after)]
    if is_distinctive(closer):
        ends.append(_spaced(*pieces))
    if not pair.space:
        own = any(text[:1].isspace() for text in (pair.separator, end))
        # White space before the end is the value's, unless the template writes some there.
        return seq(_SPACE if own else EMPTY, alt(_next_pair(pair), *ends))
    # What ends the turn does so on any line.
    at_once = [lit(text.strip()) for text in behind.ends if is_distinctive(text)]
    if "\n" not in pair.space:
        return alt(seq(lit(pair.space[0]), alt(_next_pair(pair), *ends)), *at_once)
    indented = rep(_BLANK, 1 if _INDENTED.search(pair.separator + pair.opening) else 0, None)
    begins = alt(seq(indented, _next_pair(pair)), seq(rep(_BLANK, 0, None), alt(*ends)))
    return alt(seq(lit("\n"), begins), *at_once)


def _next_pair(pair: Pair) -> Expr:
    key = rep(_WORD, 1, None) if pair.keys is None else alt(*(lit(key) for key in pair.keys))
    return _spaced(lit(pair.separator.strip()), lit(pair.opening.strip()), key, lit(pair.key_end.strip()))


def _next_call(behind: Behind) -> list[Expr]:
    """A further call, up to what ends its name; none where nothing shows its beginning."""
    opened = [lit(text.strip()) for text in (behind.separator, behind.opener) if text.strip()]
    if behind.name_end.strip():
        return [_spaced(*opened, rep(_WORD, 1, None), lit(behind.name_end.strip()))]
    return [_spaced(*opened)] if opened else []


def _spaced(*parts: Expr) -> Expr:
    """The parts, those that are empty left out, with white space between them."""
    found: list[Expr] = []
    for part in parts:
        if part != EMPTY:
            found += [part, _SPACE]
    return seq(*found[:-1])


def _real_ends(pair: Pair, end: str, behind: Behind) -> Iterable[str]:
    for key in pair.keys or ("k",):
        yield pair.separator + pair.opening + key + pair.key_end
    closed = end + behind.closing
    for text in behind.ends:
        yield closed + text
    yield closed + behind.separator + behind.opener + "f" + behind.name_end
