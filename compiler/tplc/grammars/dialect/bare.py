"""Raw values that nothing closes: they end where what follows reads as the next argument, or as the end of the call.

    f(a=first, second, b=2)   the value of a is "first, second": `second` is no key, `b` is one
    - a = first\n- b = 2      the value of a is "first": only a line can begin with an argument

A parser takes the first place where what follows can be read so; text may contain anything but that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import build, from_expr, minimal
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import alt, lit, opt, rep, seq
from tplc.grammars.regular.nodes import EMPTY, Automaton, Chars, Expr
from tplc.grammars.regular.until import SPACE
from tplc.lower import Following
from tplc.lower.bounds import NOT_IN_KEYS

# The characters of a key that is recognised after a value.
KEY_CHARACTERS = codepoints.complement(codepoints.union(SPACE, codepoints.of(NOT_IN_KEYS)))
_WORD = Chars(KEY_CHARACTERS)
_SPACE = rep(Chars(SPACE), 0, None)
_BLANK = Chars(codepoints.minus(SPACE, codepoints.of("\n")))


@dataclass(frozen=True, slots=True)
class Around:
    """The texts around a value that nothing closes: the next pair, the call's end, the next call.

    `next_pair` is what comes before its key, and after that; `keys` None: any word may be one.  `closing` closes the
    call, and one of `after` may come then.
    """

    next_pair: tuple[str, str]
    keys: tuple[str, ...] | None
    closing: str
    after: tuple[str, ...]


def text_before(following: Following, around: Around) -> Automaton:
    """Return the automaton of texts in which the first end of a value is the next pair or the end of the arguments."""
    ending = from_expr(_ending(following, around.keys))
    real = tuple(_real_ends(around))

    def step(states: Iterable[int], code: int) -> frozenset[int]:
        return frozenset(
            to for state in states for ranges, to in ending.edges[state] if codepoints.contains(ranges, code)
        )

    def ends(states: frozenset[int]) -> bool:
        """Return whether an end that begins in the text is never completed by the text after it."""
        for text in real:
            running = states
            for character in text:
                running = step(running, ord(character))
                if running & ending.accepting:
                    return False
        return True

    def edges(states: frozenset[int]) -> Iterable[tuple[Ranges, frozenset[int]]]:
        reached = states | {0}
        for ranges in _parts(edge for state in reached for edge, _ in ending.edges[state]):
            to = step(reached, ranges[0][0])
            if not to & ending.accepting:
                yield ranges, to

    return minimal(build(frozenset[int](), edges, ends))


def _parts(sets: Iterable[Ranges]) -> list[Ranges]:
    """Return the coarsest sets of characters of which each given set is a union."""
    parts = [codepoints.ALL]
    for one in dict.fromkeys(sets):
        cut = [part for old in parts for part in (codepoints.intersection(old, one), codepoints.minus(old, one))]
        parts = [part for part in cut if part]
    return parts


def _ending(following: Following, keys: tuple[str, ...] | None) -> Expr:
    """Return everything that a parser takes for the end of a value, and more: white space and keys of any length."""
    key = rep(_WORD, 1, None) if keys is None else alt(*(lit(key) for key in keys))
    pair = _spelled(following.pair, key)
    name = rep(_WORD, 1, None)
    call = [_spelled(following.next_call, name)] if following.next_call else []
    call += [_spelled((*following.next_call[:-1], text), name) for text in following.next_empty]
    closing_name = rep(alt(_WORD, lit(":")), 1, None)
    pieces = [closing_name if piece is None else lit(piece) for piece in following.closer]
    # Of a closer's pieces all but the first may be missing.
    end = [*pieces[:1], *(opt(seq(_SPACE, piece)) for piece in pieces[1:]), _SPACE if pieces else EMPTY]
    ends = [seq(*end, alt(*map(lit, following.after), *call))]
    if following.closes:
        ends.append(_spaced(*pieces))
    if following.lead == "written":
        before_pair, before_end = (lit(space) if space else EMPTY for space in following.spaces)
        return alt(seq(before_pair, pair), seq(before_end, alt(*ends)))
    if following.lead != "blank":
        return seq(_SPACE if following.lead == "free" else EMPTY, alt(pair, *ends))
    # A marker that ends the turn counts on any line, also after the call's closer.
    at_once = [lit(text) for text in following.turn_ends]
    at_once += [_spaced(*pieces, lit(text)) for text in following.turn_ends if following.closes]
    if following.blank != "\n":
        return alt(seq(lit(following.blank), alt(pair, *ends)), *at_once)
    indented = rep(_BLANK, 1 if following.indented else 0, None)
    begins = alt(seq(indented, pair), seq(rep(_BLANK, 0, None), alt(*ends)))
    return alt(seq(lit("\n"), begins), *at_once)


def _spelled(parts: tuple[str | None, ...], word: Expr) -> Expr:
    return _spaced(*(word if part is None else lit(part) for part in parts))


def _spaced(*parts: Expr) -> Expr:
    """Return the parts that are not empty, with white space between them."""
    found: list[Expr] = []
    for part in parts:
        if part != EMPTY:
            found += [part, _SPACE]
    return seq(*found[:-1])


def _real_ends(around: Around) -> Iterable[str]:
    before, after_key = around.next_pair
    for key in around.keys or ("k",):
        yield before + key + after_key
    for text in around.after:
        yield around.closing + text
