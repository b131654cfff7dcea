"""Strings: which texts a schema allows, and how they stand in the dialect.

{"type": "string", "maxLength": 3}   in JSON              →  "\\"" char{0,3} "\\""
{"enum": ["m", "km"]}                up to "</p>"         →  "m</p>" | "km</p>"
{"type": "string"}                   up to "</p>"         →  text, read through the marker (see until.py)
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import (
    TooLarge,
    both,
    build,
    from_expr,
    from_texts,
    is_empty,
    matches,
    minimal,
    negation,
    split,
)
from tplc.grammars.regular.automaton_rules import to_expr
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import Encoding, alphabet, alt, chars, encoded, lengths, lit, rep, seq
from tplc.grammars.regular.nodes import ANY_CHARACTER, NEVER, Automaton, Chars, Expr, Lit, Rep
from tplc.grammars.regular.quoting import quoting_of
from tplc.grammars.regular.regex import UnsupportedPattern, pattern_expr
from tplc.grammars.regular.repetitions import LARGEST_COUNT
from tplc.grammars.regular.rules import Rules
from tplc.grammars.regular.until import Stop, ending_in, loosely_quoted, without
from tplc.grammars.schema.formats import BEYOND, PATTERNS
from tplc.grammars.schema.report import Report
from tplc.grammars.schema.shapes import NamePattern, StringShape
from tplc.ir.nodes import StringStyle

KNOWN_FORMATS = frozenset(PATTERNS) | BEYOND
_FEW_TEXTS = 12
_TRIE_ONLY = 2000
_MOST_LENGTH_STATES = 300


@dataclass(frozen=True, slots=True)
class Free:
    """Any text of so many characters."""

    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Texts:
    """One of these."""

    values: tuple[str, ...]


Language = Free | Texts | Expr | Automaton


@functools.lru_cache(maxsize=4096)
def _pattern(pattern: NamePattern) -> Expr | Automaton:
    return pattern_expr(PATTERNS[pattern.text] if pattern.is_format else pattern.text)


@functools.lru_cache(maxsize=4096)
def _automaton(pattern: NamePattern) -> Automaton:
    found = _pattern(pattern)
    positive = found if isinstance(found, Automaton) else from_expr(found)
    return positive if pattern.wanted else negation(positive)


def problem(pattern: NamePattern) -> str | None:
    """Return why a grammar can't express a pattern; None if it can."""
    if pattern.is_format and pattern.text in BEYOND:
        return "a grammar for it would be too large"
    try:
        _automaton(pattern) if not pattern.wanted else _pattern(pattern)
    except UnsupportedPattern as error:
        return str(error)
    except TooLarge:
        return "its automaton is too large"
    return None


def fits(shape: StringShape, text: str) -> bool:
    """Return whether the shape allows the text."""
    return (shape.values is None or text in shape.values) and _is_allowed(shape, text)


def _is_allowed(shape: StringShape, text: str) -> bool:
    """Return whether nothing but the list of values, if there is one, can forbid the text."""
    return (
        text not in shape.excluded
        and shape.low <= len(text)
        and (shape.high is None or len(text) <= shape.high)
        and all(matches(_automaton(pattern), text) for pattern in shape.patterns)
        and not codepoints.contains_surrogate(text)
    )


def is_void(shape: StringShape) -> bool:
    """Return whether the shape allows no text, as far as that is certain."""
    if shape.high is not None and shape.high < shape.low:
        return True
    if shape.values is not None:
        return not any(_is_allowed(shape, text) for text in shape.values)
    if len(shape.patterns) < 2:
        return False
    try:
        return is_empty(functools.reduce(both, map(_automaton, shape.patterns)))
    except TooLarge:
        return False


def language(shape: StringShape, report: Report, path: str) -> Language:
    if shape.values is not None:
        return Texts(tuple(text for text in shape.values if _is_allowed(shape, text)))
    low, high = shape.low, shape.high
    if high is not None and high < low:
        return Texts(())
    if max(low, high or 0) > LARGEST_COUNT:
        report.looser("maxLength" if low <= LARGEST_COUNT else "minLength", path, f"ignored beyond {LARGEST_COUNT}")
        low, high = min(low, LARGEST_COUNT), None if (high or 0) > LARGEST_COUNT else high
    if not shape.patterns and not shape.excluded:
        return Free(low, high)
    if len(shape.patterns) == 1 and shape.patterns[0].wanted and not shape.excluded:
        simple = _pattern(shape.patterns[0])
        if not isinstance(simple, Automaton):
            clamped = _clamped(simple, low, high)
            if clamped is not None:
                return clamped
    return _product(shape, low, high, report, path)


def _clamped(expr: Expr, low: int, high: int | None) -> Expr | None:
    """Return the expression limited to the lengths; None if that needs an automaton."""
    shortest, longest = lengths(expr)
    if shortest >= low and (high is None or (longest is not None and longest <= high)):
        return expr
    if isinstance(expr, Rep) and isinstance(expr.item, Chars | Lit) and lengths(expr.item) == (1, 1):
        most = [count for count in (expr.high, high) if count is not None]
        least = max(expr.low, low)
        return NEVER if most and min(most) < least else rep(expr.item, least, min(most) if most else None)
    return None


def _product(shape: StringShape, low: int, high: int | None, report: Report, path: str) -> Language:
    keyword = "format" if any(pattern.is_format for pattern in shape.patterns) else "pattern"
    try:
        parts = [_automaton(pattern) for pattern in shape.patterns]
        if shape.excluded:
            parts.append(negation(from_texts(shape.excluded)))
        whole = functools.reduce(both, parts)
    except TooLarge:
        report.looser(keyword, path, "any text: the automaton is too large")
        return Free(low, high)
    if low == 0 and high is None:
        return whole
    try:
        return both(whole, from_expr(rep(ANY_CHARACTER, low, high)))
    except TooLarge:
        report.looser("maxLength" if high is not None else "minLength", path, f"ignored beside {keyword}")
        return whole


# In the dialect


def quoted(
    rules: Rules, hint: str, texts: Language, styles: Iterable[StringStyle], followers: Ranges | None = None
) -> Expr:
    """Return the texts in quotes; any of the dialect's quotes is accepted.

    `followers`: the characters that may follow a string.  If nothing is escaped, they distinguish a quote inside the
    string from the last one.  With None there can't be any quote inside.
    """
    styles = tuple(styles)
    return rules.kept(
        ("quoted", texts, styles, followers),
        lambda: alt(*(_quoted(rules, hint, texts, style, followers) for style in styles)),
    )


def _quoted(rules: Rules, hint: str, texts: Language, style: StringStyle, followers: Ranges | None) -> Expr:
    if style.escape == "none" and (followers is None or len(style.close) > 1):
        return seq(lit(style.open), raw_ending_in(rules, hint, texts, Stop("", style.close)))
    if style.escape == "none" and followers is not None:
        return seq(
            lit(style.open), _within(rules, hint, texts, loosely_quoted(style.close, followers)), lit(style.close)
        )
    write = quoting_of(rules, style)
    opened, closed = lit(style.open), lit(style.close)
    if isinstance(texts, Texts) and len(texts.values) <= _FEW_TEXTS:
        return alt(*(seq(opened, write.text(text), closed) for text in texts.values))
    whole = seq(opened, _written(rules, hint, texts, write), closed)
    return rules.library("string" if style.escape == "json" else "text", whole) if texts == Free(0, None) else whole


def _within(rules: Rules, hint: str, texts: Language, allowed: Automaton) -> Expr:
    """Return the texts that the automaton allows, unquoted."""
    if texts == Free(0, None):
        return rules.kept(allowed, lambda: to_expr(rules, "text", minimal(allowed), chars))
    if isinstance(texts, Texts):
        return _trie(rules, hint, tuple(text for text in texts.values if matches(allowed, text)), _AS_THEY_ARE)
    if isinstance(texts, Free):
        whole: Expr | Automaton = rep(ANY_CHARACTER, texts.low, texts.high)
    else:
        whole = texts
    try:
        automaton = whole if isinstance(whole, Automaton) else from_expr(whole)
        return to_expr(rules, hint, both(automaton, allowed), chars)
    except TooLarge:
        # Without quotes inside there is nothing to distinguish.
        low, high = (texts.low, texts.high) if isinstance(texts, Free) else (0, None)
        return rep(Chars(codepoints.complement(codepoints.of("'\""))), low, high)


def _written(rules: Rules, hint: str, texts: Language, write: Encoding) -> Expr:
    if isinstance(texts, Free):
        return rep(write.characters(codepoints.ALL), texts.low, texts.high)
    if isinstance(texts, Texts):
        return _trie(rules, hint, texts.values, write)
    if isinstance(texts, Automaton):
        return to_expr(rules, hint, texts, write.characters)
    return encoded(texts, write)


def _trie(rules: Rules, hint: str, values: tuple[str, ...], write: Encoding) -> Expr:
    if len(values) <= _FEW_TEXTS:
        return alt(*(write.text(text) for text in values))
    automaton = from_texts(values)
    automaton = minimal(automaton) if len(automaton.edges) <= _TRIE_ONLY else automaton
    return to_expr(rules, hint, automaton, write.characters)


class _AsTheyAre:
    def characters(self, ranges: Ranges) -> Expr:
        return chars(ranges)

    def text(self, text: str) -> Expr:
        return lit(text)


_AS_THEY_ARE = _AsTheyAre()


def raw_ending_in(rules: Rules, hint: str, texts: Language, stop: Stop, forbidden: tuple[str, ...] = ()) -> Expr:
    """Return the texts unquoted, and the marker that ends them."""
    if codepoints.contains_surrogate(stop.text):
        return NEVER
    # One rule for all such texts up to this marker.
    name = hint if texts != Free(0, None) or hint in ("content", "reasoning") else "text"
    return rules.kept(("raw", texts, stop, forbidden), lambda: _raw_through(rules, name, texts, stop, forbidden))


def _raw_through(rules: Rules, hint: str, texts: Language, stop: Stop, forbidden: tuple[str, ...]) -> Expr:
    before = rules.spelling.before_token(stop.text)
    if before is not None:
        return _up_to_token(rules, hint, texts, stop, forbidden, before)
    if texts == Free(0, None):
        return rules.spelling.ending_in(rules, hint, stop, forbidden)
    if isinstance(texts, Texts):
        possible = tuple(text for text in texts.values if _ends_after(text, stop, forbidden))
        if len(possible) <= _FEW_TEXTS:
            return seq(alt(*map(lit, possible)), lit(stop.text))
        return seq(_trie(rules, hint, possible, _AS_THEY_ARE), lit(stop.text))
    if isinstance(texts, Free):
        return _bounded(rules, hint, texts, stop, forbidden)
    plain = texts if not isinstance(texts, Automaton) else _letters(texts)
    if all(_cannot_hold(plain, marker) for marker in (stop.core, *forbidden)):
        body = to_expr(rules, hint, texts, chars) if isinstance(texts, Automaton) else texts
        return seq(body, lit(stop.text))
    whole = texts if isinstance(texts, Automaton) else from_expr(texts)
    return to_expr(rules, hint, both(_then(whole, stop.text), ending_in([stop], forbidden)), chars)


def _up_to_token(rules: Rules, hint: str, texts: Language, stop: Stop, forbidden: tuple[str, ...], before: str) -> Expr:
    """Do the same as `raw_through` for a stop with a token after `before`: the token ends the text, which may not spell
    the stop."""
    excluded = (stop.core, *forbidden)
    if texts == Free(0, None):
        return seq(rules.spelling.without(rules, hint, excluded, before), lit(stop.text[len(before) :]))
    if isinstance(texts, Texts):
        possible = tuple(text for text in texts.values if _ends_after(text, stop, forbidden))
        return seq(_trie(rules, hint, possible, _AS_THEY_ARE), lit(stop.text))
    if isinstance(texts, Free) and counts_without(texts, stop):
        return _bounded(rules, hint, texts, stop, forbidden)
    whole: Expr | Automaton = rep(ANY_CHARACTER, texts.low, texts.high) if isinstance(texts, Free) else texts
    automaton = whole if isinstance(whole, Automaton) else from_expr(whole)
    return seq(to_expr(rules, hint, both(automaton, minimal(without(excluded))), chars), lit(stop.text))


def _ends_after(text: str, stop: Stop, forbidden: tuple[str, ...]) -> bool:
    """Return whether the stop after the text is the first one in it."""
    whole = text + stop.text
    return whole.find(stop.core) == len(whole) - len(stop.core) and not any(one in whole[:-1] for one in forbidden)


def counts_without(texts: Language, stop: Stop) -> str:
    """Return the character that a text of counted length before a marker must not contain; "" if all are allowed."""
    if not isinstance(texts, Free) or texts == Free(0, None):
        return ""
    longest = texts.high or texts.low
    return stop.core[:1] if longest * (len(stop.text) + 1) > _MOST_LENGTH_STATES else ""


def _bounded(rules: Rules, hint: str, texts: Free, stop: Stop, forbidden: tuple[str, ...]) -> Expr:
    if not counts_without(texts, stop):
        until = ending_in([stop], forbidden)
        counted = from_expr(seq(rep(ANY_CHARACTER, texts.low, texts.high), lit(stop.text)))
        return to_expr(rules, hint, both(counted, until), chars)
    # Counting characters and looking for the marker at once takes a state for each pair; without the marker's first
    # character there is nothing to look for.
    firsts = codepoints.of("".join(text[:1] for text in (stop.core, *forbidden)))
    return seq(rep(Chars(codepoints.complement(firsts)), texts.low, texts.high), lit(stop.text))


def raw_avoiding(rules: Rules, hint: str, texts: Language, avoided: Ranges) -> Expr:
    """Return the texts unquoted and not empty, without the characters that could begin the following text."""
    allowed = Chars(codepoints.complement(avoided))
    if isinstance(texts, Free):
        return rep(allowed, max(texts.low, 1), texts.high)
    if isinstance(texts, Texts):
        possible = [text for text in texts.values if text and not codepoints.intersection(codepoints.of(text), avoided)]
        return _trie(rules, hint, tuple(possible), _AS_THEY_ARE)
    whole = texts if isinstance(texts, Automaton) else from_expr(texts)
    return to_expr(rules, hint, both(whole, from_expr(rep(allowed, 1, None))), chars)


def within(texts: Language, allowed: Automaton) -> tuple[Language, bool]:
    """Return the texts that the automaton allows; all texts and False if that takes too many states."""
    if isinstance(texts, Texts):
        return Texts(tuple(text for text in texts.values if matches(allowed, text))), True
    if texts == Free(0, None):
        return allowed, True
    whole = rep(ANY_CHARACTER, texts.low, texts.high) if isinstance(texts, Free) else texts
    try:
        return both(whole if isinstance(whole, Automaton) else from_expr(whole), allowed), True
    except TooLarge:
        return texts, False


def raw_within(rules: Rules, hint: str, texts: Language, allowed: Automaton, avoided: Ranges) -> Expr:
    """Return the texts that the automaton allows, unquoted; counted ones without the avoided characters."""
    if isinstance(texts, Free) and texts != Free(0, None):
        if (texts.high or texts.low) * len(allowed.edges) > _MOST_LENGTH_STATES:
            return rep(Chars(codepoints.complement(avoided)), texts.low, texts.high)
    return rules.kept(("within", texts, allowed), lambda: _within(rules, hint, texts, allowed))


def _letters(automaton: Automaton) -> Expr:
    return chars(codepoints.union(*(ranges for row in automaton.edges for ranges, _ in row)))


def _cannot_hold(texts: Expr, marker: str) -> bool:
    """Return whether some character of the marker occurs in none of the texts."""
    letters = alphabet(texts)
    return any(not codepoints.contains(letters, ord(character)) for character in marker)


def _then(automaton: Automaton, text: str) -> Automaton:
    """Return the automaton's texts, each followed by `text`."""
    count = len(automaton.edges)
    tail: list[tuple[tuple[Ranges, int], ...]] = [
        ((codepoints.of(character), count + at + 1),) for at, character in enumerate(text)
    ]
    # States are sets here: the text may begin with what the automaton could continue with.
    rows = [*automaton.edges, *tail, ()]

    def edges(states: frozenset[int]) -> list[tuple[Ranges, frozenset[int]]]:
        reached = states | ({count} if states & automaton.accepting else set())
        return _joined([edge for state in sorted(reached) for edge in rows[state]])

    return minimal(build(frozenset({0}), edges, lambda states: count + len(text) in states))


def _joined(moves: list[tuple[Ranges, int]]) -> list[tuple[Ranges, frozenset[int]]]:
    return [(ranges, frozenset(targets)) for ranges, targets in split(moves)]
