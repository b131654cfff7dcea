"""Numbers within bounds, as digits.

    integers from 0 to 255  →  [0-9] | [1-9] [0-9] | "1" [0-9]{2} | "2" ([0-4] [0-9] | "5" [0-5])

Bounds are exact fractions.  Where a number has bounds it is written without an exponent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import build
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import alt, chars, lit, opt, rep, seq
from tplc.grammars.regular.nodes import EMPTY, NEVER, Automaton, Chars, Expr

DIGIT = Chars(codepoints.span("0", "9"))
_FIRST_DIGIT = Chars(codepoints.span("1", "9"))
DIGITS = rep(DIGIT, 0, None)
INTEGER = seq(opt(lit("-")), alt(lit("0"), seq(_FIRST_DIGIT, DIGITS)))
FRACTION = seq(lit("."), rep(DIGIT, 1, None))
EXPONENT = seq(Chars(codepoints.of("eE")), opt(Chars(codepoints.of("+-"))), rep(DIGIT, 1, None))
NUMBER = seq(INTEGER, opt(FRACTION), opt(EXPONENT))
ZEROS = seq(lit("."), rep(lit("0"), 1, None))


# A grammar's text nests once for each digit of a bound, and not every engine reads what nests deep.
MOST_DIGITS = 50
_MOST_WHOLE_DIGITS = 400


@dataclass(frozen=True, slots=True)
class Bound:
    value: Fraction
    inclusive: bool = True


def rounded(low: Bound | None, high: Bound | None) -> tuple[Bound | None, Bound | None]:
    """Return the bounds, or bounds with fewer digits that exclude no number between them."""
    above = None if high is None else _rounded_down(Bound(-high.value, high.inclusive))
    below = None if low is None else _rounded_down(low)
    return below, None if above is None else Bound(-above.value, above.inclusive)


def _rounded_down(low: Bound) -> Bound | None:
    largest = 10**_MOST_WHOLE_DIGITS
    if abs(low.value) >= largest:
        return Bound(Fraction(largest)) if low.value > 0 else None
    kept = MOST_DIGITS - len(str(floor(abs(low.value))))
    whole = floor(low.value * Fraction(10) ** kept) / Fraction(10) ** kept
    # The next number after one of many digits has as many digits, even if most of them are zeros.
    return low if whole == low.value and (low.inclusive or kept >= 0) else Bound(whole)


def integers(low: Bound | None, high: Bound | None) -> Expr:
    """Return all integers between the bounds."""
    least = None if low is None else _first_above(low)
    most = None if high is None else -_first_above(Bound(-high.value, high.inclusive))
    return alt(_negative_integers(least, most), _natural(0 if least is None else max(least, 0), most))


def _first_above(low: Bound) -> int:
    first = ceil(low.value)
    return first if low.inclusive or first > low.value else first + 1


def _negative_integers(least: int | None, most: int | None) -> Expr:
    if least is not None and least >= 0:
        return NEVER
    smallest = 1 if most is None or most >= 0 else -most
    return seq(lit("-"), _natural(smallest, None if least is None else -least))


def _natural(low: int, high: int | None) -> Expr:
    """Return integers from `low` (not negative) to `high`."""
    if high is not None and high < low:
        return NEVER
    digits = len(str(low))
    if high is None:
        if low == 0:
            return alt(lit("0"), seq(_FIRST_DIGIT, DIGITS))
        if low == 10 ** (digits - 1):
            return seq(_FIRST_DIGIT, rep(DIGIT, digits - 1, None))
        return alt(_same_length(str(low), "9" * digits), seq(_FIRST_DIGIT, rep(DIGIT, digits, None)))
    found: list[Expr] = []
    fewest = digits
    while len(str(high)) > digits:
        found.append(_same_length(str(low), "9" * digits))
        low = 10**digits
        digits += 1
    found.append(_same_length(str(low), str(high)))
    return alt(*_with_lengths_joined(found, fewest))


def _with_lengths_joined(parts: list[Expr], first: int) -> list[Expr]:
    """Join alternatives: [1-9] [0-9] | [1-9] [0-9]{2} → [1-9] [0-9]{1,2}.  `first`: the digits of the first part; each
    further part has one digit more."""
    joined: list[Expr] = []
    run: list[int] = []
    for length, part in enumerate(parts):
        full = part == seq(_FIRST_DIGIT, rep(DIGIT, first + length - 1, first + length - 1))
        if full:
            run.append(first + length - 1)
        if run and (not full or length == len(parts) - 1):
            joined.append(seq(_FIRST_DIGIT, rep(DIGIT, run[0], run[-1])))
            run = []
        if not full:
            joined.append(part)
    return joined


def _same_length(low: str, high: str) -> Expr:
    """Return the digits from `low` to `high`, which have the same number of digits."""
    if low == high:
        return lit(low)
    if len(low) == 1:
        return chars(codepoints.span(low, high))
    rest = len(low) - 1
    if low[0] == high[0]:
        return seq(lit(low[0]), _same_length(low[1:], high[1:]))
    first, last = int(low[0]), int(high[0])
    before: Expr = NEVER
    after: Expr = NEVER
    if low[1:].strip("0"):
        before = seq(lit(low[0]), _same_length(low[1:], "9" * rest))
        first += 1
    if high[1:].strip("9"):
        after = seq(lit(high[0]), _same_length("0" * rest, high[1:]))
        last -= 1
    between: Expr = NEVER
    if first <= last:
        between = seq(chars(codepoints.span(str(first), str(last))), rep(DIGIT, rest, rest))
    return alt(before, between, after)


# Numbers with a fraction


def decimals(low: Bound | None, high: Bound | None) -> Expr:
    """Return all numbers between the bounds, with or without a fraction."""
    zero = Bound(Fraction(0))
    negative: Expr = NEVER
    if low is None or low.value < 0:
        nearest = Bound(Fraction(0), False) if high is None or high.value >= 0 else Bound(-high.value, high.inclusive)
        negative = seq(lit("-"), _positive(nearest, None if low is None else Bound(-low.value, low.inclusive)))
    if high is not None and (high.value < 0 or (high.value == 0 and not high.inclusive)):
        return negative
    return alt(negative, _positive(low if low is not None and low.value >= 0 else zero, high))


def _positive(low: Bound, high: Bound | None) -> Expr:
    if high is not None and (
        low.value > high.value or (low.value == high.value and not low.inclusive & high.inclusive)
    ):
        return NEVER
    first = floor(low.value)
    low_digits = _digits(low.value - first)
    last = None if high is None else floor(high.value)
    high_digits = None if high is None or last is None else _digits(high.value - last)
    if high is not None and first == last:
        return seq(lit(str(first)), _fraction(low_digits, high_digits, low.inclusive, high.inclusive))
    found: list[Expr] = []
    if low_digits or not low.inclusive:
        found.append(seq(lit(str(first)), _fraction(low_digits, None, low.inclusive, True)))
        first += 1
    found.append(seq(_natural(first, None if last is None else last - 1), opt(FRACTION)))
    if high is not None:
        found.append(seq(lit(str(last)), _fraction(None, high_digits, True, high.inclusive)))
    return alt(*found)


def _digits(value: Fraction) -> str:
    """Return the decimal digits of a fraction below 1.  Bounds come from JSON, so there are finitely many."""
    found = ""
    while value:
        value *= 10
        found += str(floor(value))
        value -= floor(value)
        if len(found) > 1100:
            raise ValueError("a bound with more than 1100 decimals")
    return found


def _fraction(low: str | None, high: str | None, low_inclusive: bool, high_inclusive: bool) -> Expr:
    """Return the text that may follow the integer part: nothing (zero), or a point and digits."""
    if low == "" and low_inclusive:
        low = None
    if low is None and high is None:
        return opt(FRACTION)
    zero = low is None and (high != "" or high_inclusive)
    some = seq(lit("."), _tail(low, high, low_inclusive, high_inclusive, first=True))
    return opt(some) if zero else some


def _tail(low: str | None, high: str | None, low_inclusive: bool, high_inclusive: bool, *, first: bool) -> Expr:
    """Return the digits after the point that stay within the bounds; a bound that is None holds for all digits."""
    if low == "" and low_inclusive:
        low = None
    if low is None and high is None:
        return rep(DIGIT, 1 if first else 0, None)
    if high == "":
        if not high_inclusive or low is not None:
            return NEVER
        return rep(lit("0"), 1 if first else 0, None)
    if low == "" and high is None:
        return seq(rep(lit("0"), 0, None), _FIRST_DIGIT, DIGITS)
    ways: dict[tuple[str | None, str | None], list[int]] = {}
    for digit in range(10):
        below = -1 if low is None else int(low[:1] or "0")
        above = 10 if high is None else int(high[0])
        if below <= digit <= above:
            key = (
                low[1:] if low is not None and digit == below else None,
                high[1:] if high is not None and digit == above else None,
            )
            ways.setdefault(key, []).append(digit)
    found = [
        seq(
            chars(codepoints.of("".join(map(str, digits)))),
            _tail(next_low, next_high, low_inclusive, high_inclusive, first=False),
        )
        for (next_low, next_high), digits in ways.items()
    ]
    # Stopping here means zeros from here on: enough when nothing more is asked from below.
    stops = low is None and not first
    return alt(*found, *([EMPTY] if stops else []))


# Multiples


def multiples(step: Fraction) -> Automaton:
    """Return the numbers, with or without a fraction, that are a multiple of `step`."""
    places = 0
    while (step * 10**places).denominator != 1:
        places += 1
        if places > 30:
            raise ValueError("a step with more than 30 decimals")
    return _multiple_automaton((step * 10**places).numerator, places)


def _multiple_automaton(step: int, places: int) -> Automaton:
    """Return the numbers whose digits up to so many decimals, read as an integer, are a multiple of `step`; then
    zeros."""

    # (phase, remainder, decimals): phases are sign, first digit, "0", digits, point, decimals.  words: allowed
    def edges(state: tuple[str, int, int]) -> Iterable[tuple[Ranges, tuple[str, int, int]]]:
        phase, remainder, decimals_read = state
        if phase == "sign":
            yield codepoints.of("-"), ("first", 0, 0)
        if phase in ("sign", "first"):
            yield codepoints.of("0"), ("zero", 0, 0)
            for digit in range(1, 10):
                yield codepoints.of(str(digit)), ("digits", digit % step, 0)
        if phase == "digits":
            for digit in range(10):
                yield codepoints.of(str(digit)), ("digits", (remainder * 10 + digit) % step, 0)
        if phase in ("zero", "digits"):
            yield codepoints.of("."), ("point", remainder, 0)
        if phase in ("point", "decimals"):
            if decimals_read < places:
                for digit in range(10):
                    to = ("decimals", (remainder * 10 + digit) % step, decimals_read + 1)
                    yield codepoints.of(str(digit)), to
            else:
                yield codepoints.of("0"), ("decimals", remainder, decimals_read)

    def ends(state: tuple[str, int, int]) -> bool:
        phase, remainder, decimals_read = state
        return phase in ("zero", "digits", "decimals") and remainder * 10 ** (places - decimals_read) % step == 0

    return build(("sign", 0, 0), edges, ends)


def decimal_text(value: Fraction) -> str:
    """Return a fraction as a decimal number.  Bounds and constants come from JSON, so it has finitely many digits."""
    whole, rest = divmod(abs(value), 1)
    return ("-" if value < 0 else "") + str(whole) + ("." + _digits(rest) if rest else "")
