"""Compute the texts that may follow a given text (Brzozowski's derivative).

    "<r>" text-up-to-</r> call   after "<r>\\n"  →  text-up-to-</r> call

The generation prompt may contain the head of the turn; the grammar continues from there.
"""

from __future__ import annotations

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import begun, minimal
from tplc.grammars.regular.automaton_rules import to_expr
from tplc.grammars.regular.expressions import alt, chars, lit, nullable, rep, seq
from tplc.grammars.regular.nodes import EMPTY, NEVER, Alt, Chars, Expr, Lit, Ref, Rep, Seq, Spelled, Written
from tplc.grammars.regular.rules import Rules


def after(rules: Rules, expr: Expr, text: str) -> Expr:
    for character in text:
        expr = _derivative(rules, expr, character)
    return expr


def _derivative(rules: Rules, expr: Expr, character: str) -> Expr:
    if isinstance(expr, Lit):
        return lit(expr.text[1:]) if expr.text.startswith(character) else NEVER
    if isinstance(expr, Chars):
        return EMPTY if codepoints.contains(expr.ranges, ord(character)) else NEVER
    if isinstance(expr, Alt):
        return alt(*(_derivative(rules, item, character) for item in expr.items))
    if isinstance(expr, Rep):
        high = None if expr.high is None else expr.high - 1
        return seq(_derivative(rules, expr.item, character), rep(expr.item, max(expr.low - 1, 0), high))
    if isinstance(expr, Ref):
        return _derivative(rules, rules.body(expr.name), character)
    if isinstance(expr, Spelled):
        rest = begun(expr.automaton, character)
        if rest is None:
            return NEVER
        return expr if rest == minimal(expr.automaton) else to_expr(rules, "rest", rest, chars)
    if isinstance(expr, Written):
        raise TypeError("no prompt ends inside an argument's value")
    found = []
    for index, item in enumerate(expr.items):
        found.append(seq(_derivative(rules, item, character), *expr.items[index + 1 :]))
        if not _nullable(rules, item):
            break
    return alt(*found)


def _nullable(rules: Rules, expr: Expr) -> bool:
    if isinstance(expr, Ref):
        return _nullable(rules, rules.body(expr.name))
    if isinstance(expr, Seq):
        return all(_nullable(rules, item) for item in expr.items)
    if isinstance(expr, Alt):
        return any(_nullable(rules, item) for item in expr.items)
    if isinstance(expr, Rep):
        return expr.low == 0 or _nullable(rules, expr.item)
    return nullable(expr)
