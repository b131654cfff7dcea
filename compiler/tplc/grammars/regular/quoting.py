r"""How one character is written inside a string of the dialect.

JSON, the set of `"` and letters  →  [A-Za-z] | "\\\""
JSON, any character               →  char, where char ::= [^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" …)
"""

from __future__ import annotations

import json
import re

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import alt, chars, lit, rep, seq
from tplc.grammars.regular.nodes import NEVER, Chars, Expr
from tplc.grammars.regular.rules import Rules
from tplc.ir.nodes import StringStyle

_CONTROLS: Ranges = ((0, 0x1F),)
_ASCII: Ranges = ((0, 0x7F),)
_ASTRAL: Ranges = ((0x10000, 0x10FFFF),)
_HEX = Chars(codepoints.of("0123456789abcdefABCDEF"))


class StringQuoting:
    """Writes characters and texts as they stand in strings of one style."""

    def __init__(self, rules: Rules, style: StringStyle) -> None:
        self._rules = rules
        self._style = style
        self._known: dict[Ranges, Expr] = {}
        # Printable ASCII that no escape concerns, for texts that need no look at each character.
        self._plain = re.compile(r"[ -~]*") if style.escape == "none" else re.compile(r"[ !#-&(-\[\]-~]*")

    def characters(self, ranges: Ranges) -> Expr:
        if ranges not in self._known:
            self._known[ranges] = self._made(ranges)
        return self._known[ranges]

    def text(self, text: str) -> Expr:
        if self._plain.fullmatch(text):
            return lit(text)
        return seq(*(self.characters(((ord(character), ord(character)),)) for character in text))

    def _made(self, ranges: Ranges) -> Expr:
        if self._style.escape == "json":
            return _json(self._rules, self._style, ranges)
        if self._style.escape == "python":
            return _python(self._rules, self._style, ranges)
        return chars(ranges)


def quoting_of(rules: Rules, style: StringStyle) -> StringQuoting:
    return rules.kept(("quoting", style), lambda: StringQuoting(rules, style))


def _json(rules: Rules, style: StringStyle, ranges: Ranges) -> Expr:
    if ranges == codepoints.ALL:
        return rules.library("char", _any_json(style))
    special = codepoints.union(codepoints.of(style.close[:1] + "\\"), _CONTROLS)
    plain = chars(codepoints.minus(ranges, special))
    escapes = [lit(json.dumps(chr(code))[1:-1]) for code in _members(codepoints.intersection(ranges, special))]
    if style.ascii:
        beyond = codepoints.minus(ranges, _ASCII)
        escapes.append(seq(lit("\\u"), _hexadecimal(codepoints.minus(beyond, _ASTRAL))))
        single = codepoints.intersection(beyond, _ASTRAL)
        if codepoints.size(single) <= 16:
            escapes += [lit(json.dumps(chr(code))[1:-1]) for code in _members(single)]
    return alt(plain, *escapes)


def _any_json(style: StringStyle) -> Expr:
    plain = codepoints.complement(codepoints.union(codepoints.of(style.close[:1] + "\\"), _CONTROLS))
    # One \u escape is one character, and so is a pair of surrogates; a lone surrogate is none.
    unpaired = codepoints.of("0123456789abcefABCEF")
    code = seq(lit("u"), alt(seq(Chars(unpaired), rep(_HEX, 3, 3)), seq(_d(), _of("01234567"), rep(_HEX, 2, 2))))
    pair = seq(lit("u"), _d(), _of("89abAB"), rep(_HEX, 2, 2), lit("\\u"), _d(), _of("cdefCDEF"), rep(_HEX, 2, 2))
    return alt(chars(plain), seq(lit("\\"), alt(_of(style.close[:1] + "\\/bfnrt"), code, pair)))


def _python(rules: Rules, style: StringStyle, ranges: Ranges) -> Expr:
    special = codepoints.union(codepoints.of(style.close[:1] + "\\\x7f"), _CONTROLS)
    plain = chars(codepoints.minus(ranges, special))
    if ranges == codepoints.ALL:
        name = "char-single" if style.close == "'" else "char-double"
        numbered = seq(lit("u"), _bmp())
        if style.close == "'":
            numbered = alt(seq(lit("x"), rep(_HEX, 2, 2)), numbered)
        return rules.library(name, alt(plain, seq(lit("\\"), alt(_of(style.close + "\\nrt"), numbered))))
    escapes = [_python_escape(code, style) for code in _members(codepoints.intersection(ranges, special))]
    if codepoints.size(ranges) == 1 and not chr(ranges[0][0]).isprintable() and ranges[0][0] > 0x7F:
        escapes.append(lit(repr(chr(ranges[0][0]))[1:-1]))
    if style.ascii and codepoints.size(ranges) == 1 and ranges[0][0] > 0x7F:
        escapes.append(lit(ascii(chr(ranges[0][0]))[1:-1]))
    return alt(plain, *escapes)


def _python_escape(code: int, style: StringStyle) -> Expr:
    character = chr(code)
    return lit("\\" + character) if character == style.close[:1] else lit(repr(character)[1:-1])


def _bmp() -> Expr:
    below = Chars(codepoints.of("0123456789abcefABCEF"))
    return alt(seq(below, rep(_HEX, 3, 3)), seq(_d(), _of("01234567"), rep(_HEX, 2, 2)))


def _d() -> Expr:
    return _of("dD")


def _of(text: str) -> Expr:
    return chars(codepoints.of(text))


def _members(ranges: Ranges) -> list[int]:
    return [code for low, high in ranges for code in range(low, high + 1)]


def _hexadecimal(ranges: Ranges) -> Expr:
    """Return four hexadecimal digits, in either case, for one of the code points."""
    return alt(*(_between(f"{low:04x}", f"{high:04x}") for low, high in ranges)) if ranges else NEVER


def _between(low: str, high: str) -> Expr:
    if not low:
        return seq()
    rest = len(low) - 1
    first, last = int(low[0], 16), int(high[0], 16)
    if first == last:
        return seq(_digits(first, last), _between(low[1:], high[1:]))
    parts = []
    if low[1:].strip("0"):
        parts.append(seq(_digits(first, first), _between(low[1:], "f" * rest)))
        first += 1
    after: Expr = NEVER
    if high[1:].strip("f"):
        after = seq(_digits(last, last), _between("0" * rest, high[1:]))
        last -= 1
    if first <= last:
        parts.append(seq(_digits(first, last), rep(_HEX, rest, rest)))
    return alt(*parts, after)


def _digits(first: int, last: int) -> Expr:
    text = "".join(f"{digit:x}" for digit in range(first, last + 1))
    return _of(text + text.upper())
