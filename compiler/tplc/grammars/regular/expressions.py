"""Build expressions in their simplest form, and ask what they match.

seq(lit("<"), lit("a>"), EMPTY)  →  Lit("<a>")
alt(lit("a"), NEVER)             →  Lit("a")
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.nodes import EMPTY, NEVER, Alt, Chars, Expr, Lit, Ref, Rep, Seq, Spelled, Written

_LEAVES = frozenset((Lit, Chars, Ref, Written, Spelled))


def lit(text: str) -> Expr:
    if codepoints.contains_surrogate(text):
        return NEVER
    return Lit(text) if text else EMPTY


def chars(ranges: Ranges) -> Expr:
    if not ranges:
        return NEVER
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return lit(chr(ranges[0][0]))
    return Chars(ranges)


def seq(*items: Expr) -> Expr:
    flat: list[Expr] = []
    # The texts of literals in a row, joined when the row ends.
    texts: list[str] = []
    for item in items:
        for part in item.items if isinstance(item, Seq) else (item,):
            if isinstance(part, Lit):
                texts.append(part.text)
                continue
            if isinstance(part, Alt) and not part.items:
                return NEVER
            if texts:
                flat.append(Lit("".join(texts)))
                texts = []
            flat.append(part)
    if texts:
        flat.append(Lit("".join(texts)))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def alt(*items: Expr) -> Expr:
    if len(items) == 1:
        return items[0]
    flat: dict[Expr, None] = {}
    for item in items:
        for part in item.items if isinstance(item, Alt) else (item,):
            flat[part] = None
    empty = EMPTY in flat
    flat.pop(EMPTY, None)
    parts = list(flat)
    if not parts:
        return EMPTY if empty else NEVER
    if len(parts) > 1 and all(_is_one_character(part) for part in parts):
        parts = [chars(codepoints.union(*(_characters(part) for part in parts)))]
    whole = parts[0] if len(parts) == 1 else Alt(tuple(parts))
    return opt(whole) if empty else whole


def opt(item: Expr) -> Expr:
    return rep(item, 0, 1)


def rep(item: Expr, low: int, high: int | None) -> Expr:
    if high == 0 or item == EMPTY:
        return EMPTY
    if item == NEVER:
        return EMPTY if low == 0 else NEVER
    if low == 1 and high == 1:
        return item
    if isinstance(item, Rep):
        # (x*)? (x+)? (x?)* and the like are one repetition.
        if item.low <= 1 and item.high is None:
            return Rep(item.item, low * item.low, None)
        if item.low == 0 and item.high == 1:
            return Rep(item.item, 0, high)
        if low == 0 and high == 1 and item.low <= 1:
            return Rep(item.item, 0, item.high)
    return Rep(item, low, high)


def nullable(expr: Expr) -> bool:
    """Return whether the expression matches the empty text; rules are assumed to match some text."""
    if isinstance(expr, Seq):
        return all(nullable(item) for item in expr.items)
    if isinstance(expr, Alt):
        return any(nullable(item) for item in expr.items)
    if isinstance(expr, Rep):
        return expr.low == 0 or nullable(expr.item)
    return isinstance(expr, Spelled) and 0 in expr.automaton.accepting


def walk(expr: Expr) -> Iterator[Expr]:
    todo = [expr]
    while todo:
        node = todo.pop()
        yield node
        # By far the most nodes are leaves.
        kind = type(node)
        if kind in _LEAVES:
            continue
        if isinstance(node, Rep):
            todo.append(node.item)
        elif isinstance(node, (Seq, Alt)):
            todo.extend(reversed(node.items))


def names(expr: Expr) -> list[str]:
    """Return the names of the rules that the expression uses, in order."""
    if isinstance(expr, Written):
        return list(expr.names)
    return [node.name for node in walk(expr) if type(node) is Ref]


def alphabet(expr: Expr) -> Ranges:
    """Return every character that can occur in what the expression matches."""
    found: list[tuple[int, int]] = []
    for node in walk(expr):
        if isinstance(node, Lit):
            found.extend((ord(character), ord(character)) for character in node.text)
        elif isinstance(node, Chars):
            found.extend(node.ranges)
    return codepoints.union(found)


def lengths(expr: Expr) -> tuple[int, int | None]:
    """Return the smallest and largest number of characters that a rule-free expression matches; None: no limit."""
    if isinstance(expr, Lit):
        return len(expr.text), len(expr.text)
    if isinstance(expr, Seq | Alt):
        pairs = [lengths(item) for item in expr.items]
        lows, highs = [low for low, _ in pairs], [high for _, high in pairs]
        known = [high for high in highs if high is not None]
        endless = len(known) < len(highs)
        if isinstance(expr, Seq):
            return sum(lows), None if endless else sum(known)
        return min(lows, default=0), None if endless else max(known, default=0)
    if isinstance(expr, Rep):
        low, high = lengths(expr.item)
        return low * expr.low, None if high is None or expr.high is None else high * expr.high
    return 1, 1


class Encoding(Protocol):
    def characters(self, ranges: Ranges) -> Expr: ...
    def text(self, text: str) -> Expr: ...


def encoded(expr: Expr, encoding: Encoding) -> Expr:
    """Return the same language with each character as the encoding writes it."""
    if isinstance(expr, Lit):
        return encoding.text(expr.text)
    if isinstance(expr, Chars):
        return encoding.characters(expr.ranges)
    if isinstance(expr, Seq):
        return seq(*(encoded(item, encoding) for item in expr.items))
    if isinstance(expr, Alt):
        return alt(*(encoded(item, encoding) for item in expr.items))
    if isinstance(expr, Rep):
        return rep(encoded(expr.item, encoding), expr.low, expr.high)
    return expr


def _is_one_character(expr: Expr) -> bool:
    return isinstance(expr, Chars) or (isinstance(expr, Lit) and len(expr.text) == 1)


def _characters(expr: Expr) -> Ranges:
    return expr.ranges if isinstance(expr, Chars) else codepoints.of(expr.text) if isinstance(expr, Lit) else ()
