r"""Write rules as GBNF text, one rule per line, in the subset that the engines share.

{"root": Seq((Lit('a"'), Chars(((48, 57),)), Rep(Ref("ws"), 0, 1)))}  →  root ::= "a\"" [0-9] ws?
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.nodes import Alt, Chars, Expr, Lit, Ref, Rep, Seq, Spelled

_BETWEEN_NUMBER_AND_DIGIT = re.compile(r"(?<=[\x00-\x08\x0b\x0c\x0e-\x1f\x7f])(?=[0-9A-Fa-f])")
_PLAIN = re.compile(r"[ !#-\[\]-~]*")
_ESCAPES = {chr(code): f"\\x{code:02X}" for code in (*range(0x20), 0x7F)}
_ESCAPES |= {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}
_IN_LITERALS = str.maketrans({**_ESCAPES, '"': '\\"'})
_IN_CLASSES = str.maketrans({**_ESCAPES, "]": "\\]"})


def write_rules(rules: Mapping[str, Expr]) -> str:
    return "".join(f"{name} ::= {_alternatives(body)}\n" for name, body in rules.items())


def _alternatives(expr: Expr) -> str:
    if isinstance(expr, Alt) and expr.items:
        return " | ".join(_sequence(item) for item in expr.items)
    return _sequence(expr)


def _sequence(expr: Expr) -> str:
    if isinstance(expr, Seq) and expr.items:
        return " ".join(_item(item) for item in expr.items)
    return _item(expr)


def _item(expr: Expr) -> str:
    if isinstance(expr, Lit):
        return " ".join(literals(expr.text))
    if isinstance(expr, Chars):
        return character_class(expr.ranges)
    if isinstance(expr, Rep):
        grouped = isinstance(expr.item, Rep) or (isinstance(expr.item, Lit) and len(literals(expr.item.text)) > 1)
        item = f"({_alternatives(expr.item)})" if grouped else _item(expr.item)
        return item + _counts(expr.low, expr.high)
    if isinstance(expr, Seq | Alt):
        return f"({_alternatives(expr)})" if expr.items else '""'
    assert not isinstance(expr, Spelled)
    return expr.name if isinstance(expr, Ref) else expr.text


def _counts(low: int, high: int | None) -> str:
    quantifiers = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    if (low, high) in quantifiers:
        return quantifiers[low, high]
    if low == high:
        return f"{{{low}}}"
    return f"{{{low},{'' if high is None else high}}}"


def literal(text: str) -> str:
    return '"' + text.translate(_IN_LITERALS) + '"'


def literals(text: str) -> list[str]:
    """Return the text as literals: several if a hexadecimal digit follows \\xHH, which one engine reads as more of the
    number."""
    if _PLAIN.fullmatch(text):
        return [literal(text)]
    return [literal(part) for part in _BETWEEN_NUMBER_AND_DIGIT.split(text)]


@functools.lru_cache(maxsize=4096)
def one_of(ranges: Ranges) -> str:
    """Return one character of a set that isn't empty."""
    (low, high), *more = ranges
    return literal(chr(low)) if low == high and not more else character_class(ranges)


@functools.lru_cache(maxsize=4096)
def character_class(ranges: Ranges) -> str:
    """Return a class, negated if that is shorter.  Any character is `[^\\x00]`, because there is no portable dot."""
    if ranges == codepoints.ALL:
        return r"[^\x00]"
    others = codepoints.complement(ranges)
    if ranges[-1][1] == 0x10FFFF and others:
        return "[^" + _members(others) + "]"
    return "[" + _members(ranges) + "]"


def _members(ranges: Ranges) -> str:
    """Return the members of a class in an order that every engine reads alike.

    A hyphen stands for itself only at the end, a caret anywhere but at the beginning, and after \\xHH no hexadecimal
    digit may come: one engine takes it for more of the number.
    """
    apart = {ord("-"), ord("^")} & {code for pair in ranges for code in pair}
    kept = codepoints.minus(ranges, codepoints.union((code, code) for code in apart))
    members = [_member(low, high) for low, high in kept]
    # Of those that end in \\xHH and begin otherwise there is one at most: the range up to 0x7F.
    members.sort(key=lambda member: (member.startswith("\\x"), "\\x" in member))
    if ord("^") in apart:
        members.append("^" if members else r"\x5E")
    return "".join(members) + ("-" if ord("-") in apart else "")


def _member(low: int, high: int) -> str:
    between = "" if high == low + 1 else "-"
    text = chr(low) if high == low else chr(low) + between + chr(high)
    return text.translate(_IN_CLASSES)
