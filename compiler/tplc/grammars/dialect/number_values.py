"""Write a schema's numbers as rules for their text.

{"type": "integer", "minimum": 0}     →  "0" | [1-9] [0-9]*
{"type": "number", "multipleOf": 0.5}  →  an automaton's rules: digits, and at most one decimal that fits
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from tplc.grammars.regular import numbers as digits
from tplc.grammars.regular.automaton import TooLarge, both, from_expr, negation
from tplc.grammars.regular.automaton_rules import to_expr
from tplc.grammars.regular.expressions import alt, chars, lit, opt, rep, seq
from tplc.grammars.regular.nodes import EMPTY, Automaton, Expr
from tplc.grammars.regular.rules import Rules
from tplc.grammars.schema.reader import number_fits
from tplc.grammars.schema.report import Report
from tplc.grammars.schema.shapes import NumberShape


@dataclass(frozen=True, slots=True)
class NumberPlace:
    """The names of the rules, and the place of the schema."""

    hint: str
    path: str


def number(rules: Rules, report: Report, shape: NumberShape, place: NumberPlace, *, plain: bool) -> Expr:
    """Return the rule for a number.  `plain`: integers are written without ".0"."""
    if shape.values is not None:
        return alt(*(_constant(value, plain=plain) for value in shape.values if number_fits(shape, value)))
    low, high = digits.rounded(shape.low, shape.high)
    for keyword, bound, kept in (("minimum", shape.low, low), ("maximum", shape.high, high)):
        if bound != kept:
            report.looser(keyword, place.path, f"only the first {digits.MOST_DIGITS} digits count")
    shape = replace(shape, low=low, high=high)
    without_point = shape.integer is True and plain
    if not shape.multiples and not shape.excluded and shape.integer is not False:
        zeros = EMPTY if without_point else opt(digits.ZEROS)
        return rules.kept(("number", shape, plain), lambda: _within_bounds(rules, shape, zeros=zeros))
    try:
        automaton = reduce(both, _parts(shape, without_point=without_point))
    except (TooLarge, ValueError):
        report.looser("multipleOf" if shape.multiples else "not", place.path, "left out: the automaton is too large")
        simpler = replace(shape, multiples=(), excluded=(), integer=shape.integer or None)
        return number(rules, report, simpler, place, plain=plain)
    return to_expr(rules, place.hint, automaton, chars)


def _within_bounds(rules: Rules, shape: NumberShape, *, zeros: Expr) -> Expr:
    if shape.low is None and shape.high is None:
        if shape.integer is None:
            return rules.library("number", digits.NUMBER)
        return rules.library("integer", seq(digits.INTEGER, zeros))
    if shape.integer:
        return seq(digits.integers(shape.low, shape.high), zeros)
    return digits.decimals(shape.low, shape.high)


def _parts(shape: NumberShape, *, without_point: bool) -> list[Automaton]:
    """Return the automata that must all accept the number."""
    parts = [from_expr(seq(digits.INTEGER, EMPTY if without_point else opt(digits.FRACTION)))]
    whole = from_expr(seq(digits.INTEGER, opt(digits.ZEROS)))
    if shape.integer is not None:
        parts.append(whole if shape.integer else negation(whole))
    if shape.low is not None or shape.high is not None:
        parts.append(from_expr(digits.decimals(shape.low, shape.high)))
    for step, wanted in shape.multiples:
        multiple = digits.multiples(step)
        parts.append(multiple if wanted else negation(multiple))
    parts += [negation(from_expr(_constant(value, plain=False))) for value in shape.excluded]
    return parts


def _constant(value: Fraction, *, plain: bool) -> Expr:
    text = lit(digits.decimal_text(value))
    if plain:
        return text
    return seq(text, opt(digits.ZEROS) if value.denominator == 1 else rep(lit("0"), 0, None))
