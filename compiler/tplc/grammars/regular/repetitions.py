"""Split repetitions that an engine would refuse, or take as endless.

    x{0,5000}  →  many{0,4} x{0,999} | many{5}          many ::= x{1000}

One engine copies the repeated symbols and gives up where count times size passes 2000.  The size of a group is the
number of rules that the engine makes of what is in it:

    ("," [a-z]{0,60}){0,50}  →  more{0,50}          more ::= "," [a-z]{0,60}
"""

from __future__ import annotations

from tplc.grammars.regular.expressions import alt, rep, seq, walk
from tplc.grammars.regular.nodes import Alt, Chars, Expr, Lit, Ref, Rep, Seq
from tplc.grammars.regular.rules import Rules

LARGEST_PRODUCT = 2000
LARGEST_COUNT = 1_000_000
_BLOCK = 1000


def bound_repetitions(rules: Rules, hint: str, expr: Expr) -> Expr:
    if not any(isinstance(node, Rep) and _count(node) * size(node.item) > LARGEST_PRODUCT for node in walk(expr)):
        return expr
    if isinstance(expr, Seq):
        return seq(*(bound_repetitions(rules, hint, item) for item in expr.items))
    if isinstance(expr, Alt):
        return alt(*(bound_repetitions(rules, hint, item) for item in expr.items))
    if isinstance(expr, Rep):
        return _split(rules, hint, expr)
    return expr


def size(expr: Expr) -> int:
    """Return how much one repetition of `expr` counts."""
    if isinstance(expr, Lit):
        return len(expr.text)
    if isinstance(expr, Chars):
        return len(expr.ranges) + 1
    return 1 if isinstance(expr, Ref) else 1 + _rules_in(expr)


def _rules_in(expr: Expr) -> int:
    """Return the number of rules that an engine creates for groups, repetitions and names it hasn't seen."""
    found = 0
    for node in walk(expr):
        if isinstance(node, Rep):
            # A repetition of a repetition is written as a group.
            found += (1 if node.high is None else node.high - node.low) + isinstance(node.item, Rep)
        elif not isinstance(node, Chars):
            found += 1
    return found


def _count(node: Rep) -> int:
    return node.high or node.low or 1


def _split(rules: Rules, hint: str, node: Rep) -> Expr:
    item = bound_repetitions(rules, hint, node.item)
    if _count(node) * size(item) <= LARGEST_PRODUCT:
        return rep(item, node.low, node.high)
    if not isinstance(item, Ref):
        item = rules.add(f"{hint}-item", item)
    if _count(node) <= LARGEST_PRODUCT:
        return rep(item, node.low, node.high)
    block = rules.add(f"{hint}-{_BLOCK}", Rep(item, _BLOCK, _BLOCK))
    rest = rep(item, 0, None) if node.high is None else _up_to(item, block, node.high - node.low)
    return seq(_exactly(item, block, node.low), rest)


def _exactly(item: Expr, block: Expr, count: int) -> Expr:
    blocks, rest = divmod(count, _BLOCK)
    return seq(rep(block, blocks, blocks), rep(item, rest, rest))


def _up_to(item: Expr, block: Expr, count: int) -> Expr:
    blocks, rest = divmod(count, _BLOCK)
    if not blocks:
        return rep(item, 0, rest)
    return alt(
        seq(rep(block, 0, blocks - 1), rep(item, 0, _BLOCK - 1)),
        seq(rep(block, blocks, blocks), rep(item, 0, rest)),
    )
