r"""Patterns of JSON Schema (ECMAScript regular expressions) as expressions over characters.

    "^[a-c]{2}$"  →  Rep(Chars(((97, 99),)), 2, 2)        "b"  →  any* "b" any*

A pattern may match anywhere, so what its anchors leave open is filled with any characters.  Where anchors stand in odd
places, beginning and end of the text count as two characters of their own, and an automaton takes them off again.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import both, build, from_expr, minimal, negation
from tplc.grammars.regular.codepoints import Ranges
from tplc.grammars.regular.expressions import alt, chars, lit, nullable, rep, seq, walk
from tplc.grammars.regular.nodes import ANY_CHARACTER, EMPTY, NEVER, Automaton, Chars, Expr, Rep, Seq

_DIGITS = codepoints.span("0", "9")
_WORD = codepoints.union(_DIGITS, codepoints.span("A", "Z"), codepoints.of("_"), codepoints.span("a", "z"))
_SPACE = codepoints.of("\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a")
_SPACE = codepoints.union(_SPACE, codepoints.of("\u2028\u2029\u202f\u205f\u3000\ufeff"))
_NOT_LINE_END = codepoints.complement(codepoints.of("\n\r\u2028\u2029"))
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_LARGEST_COUNT = 1_000_000

# Beginning and end of the text, as characters beyond Unicode.
_BEGIN, _END = 0x110000, 0x110001
_ANYTHING: Ranges = (*codepoints.ALL, (_BEGIN, _END))


class UnsupportedPattern(Exception):
    """The pattern is invalid, or uses a construct that no grammar can express."""


@dataclass(frozen=True, slots=True)
class _Look:
    """A lookahead, kept where it is at the beginning of the pattern."""

    inner: Expr
    wanted: bool


def pattern_expr(pattern: str) -> Expr | Automaton:
    """Return all texts that the pattern matches somewhere."""
    parser = _Parser(pattern)
    body = parser.parse()
    if not parser.looks:
        simple = _anchored(body)
        if simple is not None:
            return simple
    found = _searched(body)
    for look in parser.looks:
        inside = _searched(seq(Chars(((_BEGIN, _BEGIN),)), look.inner))
        found = both(found, inside if look.wanted else negation(inside))
    return found


def _anchored(body: Expr) -> Expr | None:
    """Return the body of `^...$`; None if anchors are elsewhere, or if a loop would need unrolling."""
    items = body.items if isinstance(body, Seq) else (body,)
    if not items or items[0] != Chars(((_BEGIN, _BEGIN),)):
        return None
    closed = items[-1] == Chars(((_END, _END),)) and len(items) > 1
    inner = items[1:-1] if closed else items[1:]
    whole = seq(*inner) if closed else seq(*inner, Rep(ANY_CHARACTER, 0, None))
    for node in walk(whole):
        if isinstance(node, Chars) and node.ranges[-1][1] > 0x10FFFF:
            return None
        if isinstance(node, Rep) and (node.high is None or node.high > 1) and nullable(node.item):
            return None
    return whole


def _searched(body: Expr) -> Automaton:
    anything = Rep(Chars(_ANYTHING), 0, None)
    automaton = from_expr(seq(anything, body, anything))
    after_begin = _step(automaton, 0, _BEGIN)
    if after_begin is None:
        return Automaton(((),), frozenset())
    at_end = ((state, _step(automaton, state, _END)) for state in range(len(automaton.edges)))
    accepting = {state for state, to in at_end if to in automaton.accepting}

    def edges(state: int) -> Iterable[tuple[Ranges, int]]:
        return ((codepoints.intersection(ranges, codepoints.ALL), to) for ranges, to in automaton.edges[state])

    return minimal(build(after_begin, lambda state: [edge for edge in edges(state) if edge[0]], accepting.__contains__))


def _step(automaton: Automaton, state: int, code: int) -> int | None:
    return next((to for ranges, to in automaton.edges[state] if codepoints.contains(ranges, code)), None)


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._depth = 0
        self._branches = False
        self.looks: list[_Look] = []

    def parse(self) -> Expr:
        found = self._alternatives()
        if self._at < len(self._text):
            raise UnsupportedPattern(f"unmatched ')' at {self._at}")
        if self.looks and self._branches:
            raise UnsupportedPattern("lookahead in one of several alternatives")
        return found

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _next(self) -> str:
        character = self._peek()
        if not character:
            raise UnsupportedPattern("the pattern ends too early")
        self._at += 1
        return character

    def _alternatives(self) -> Expr:
        # alternatives = sequence ("|" sequence)*
        self._depth += 1
        if self._depth > 50:
            raise UnsupportedPattern("groups nested more than 50 deep")
        found = [self._sequence()]
        while self._take("|"):
            self._branches = self._branches or self._depth == 1
            found.append(self._sequence())
        self._depth -= 1
        return alt(*found)

    def _sequence(self) -> Expr:
        items: list[Expr] = []
        while self._peek() not in ("", "|", ")"):
            items.append(self._quantified())
        return seq(*items)

    def _quantified(self) -> Expr:
        # quantified = atom ("*" | "+" | "?" | "{" m ("," n?)? "}")? "?"?
        atom = self._atom()
        counts = self._counts()
        if counts is None:
            return atom
        self._take("?")
        if self._peek() in ("*", "+") or (self._peek() == "{" and self._counts() is not None):
            raise UnsupportedPattern(f"nothing to repeat at {self._at}")
        low, high = counts
        if max(low, high or 0) > _LARGEST_COUNT:
            raise UnsupportedPattern(f"a repetition of more than {_LARGEST_COUNT}")
        if high is not None and high < low:
            raise UnsupportedPattern("a repetition whose bounds are the wrong way round")
        return rep(atom, low, high)

    def _counts(self) -> tuple[int, int | None] | None:
        for sign, counts in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return counts
        end = self._text.find("}", self._at)
        if self._peek() != "{" or end < 0:
            return None
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if not low.isascii() or not low.isdigit() or (high and not (high.isascii() and high.isdigit())):
            return None
        self._at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def _atom(self) -> Expr:
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return chars(self._class())
        if character == ".":
            return Chars(_NOT_LINE_END)
        if character == "^":
            return Chars(((_BEGIN, _BEGIN),))
        if character == "$":
            return Chars(((_END, _END),))
        if character == "\\":
            return self._escape()
        if character in "*+?":
            raise UnsupportedPattern(f"nothing to repeat at {self._at - 1}")
        if 0xD800 <= ord(character) <= 0xDFFF:
            return NEVER
        return lit(character)

    def _group(self) -> Expr:
        begins = self._at == 1 or (self._at == 2 and self._text[0] == "^")
        if self._take("?"):
            if self._take("=") or self._take("!"):
                return self._look(wanted=self._text[self._at - 1] == "=", begins=begins)
            if self._take("<=") or self._take("<!"):
                raise UnsupportedPattern("lookbehind")
            if self._take("<"):
                end = self._text.find(">", self._at)
                if end < 0:
                    raise UnsupportedPattern("a group name without its end")
                self._at = end + 1
            elif not self._take(":"):
                raise UnsupportedPattern(f"a group of unknown kind at {self._at}")
        inner = self._alternatives()
        if not self._take(")"):
            raise UnsupportedPattern("a group without its end")
        return inner

    def _look(self, *, wanted: bool, begins: bool) -> Expr:
        if not begins or not self._text.startswith("^"):
            raise UnsupportedPattern("lookahead")
        inner = self._alternatives()
        if not self._take(")"):
            raise UnsupportedPattern("a group without its end")
        self.looks.append(_Look(inner, wanted))
        # Several may be in a row.
        if self._text.startswith(("(?=", "(?!"), self._at):
            wanted = self._text[self._at + 2] == "="
            self._at += 3
            return self._look(wanted=wanted, begins=True)
        return EMPTY

    def _escape(self) -> Expr:
        ranges = self._escaped(inside_class=False)
        return chars(ranges)

    def _escaped(self, *, inside_class: bool) -> Ranges:
        character = self._next()
        if character.lower() in _CLASSES:
            ranges = _CLASSES[character.lower()]
            return ranges if character.islower() else codepoints.complement(ranges)
        if character in _CONTROLS and not (character == "0" and self._peek().isdigit()):
            return codepoints.of(_CONTROLS[character])
        if character == "b" and inside_class:
            return codepoints.of("\b")
        if character in "bB":
            raise UnsupportedPattern(f"\\{character}")
        if character.isdigit() or character == "k":
            raise UnsupportedPattern("a reference back to a group")
        if character in "pP":
            ranges = self._property()
            return ranges if character == "p" else codepoints.complement(ranges)
        if character == "c":
            return codepoints.of(chr(ord(self._next()) % 32))
        if character == "x":
            return self._code(2)
        if character == "u":
            return self._unicode()
        return codepoints.of(character)

    def _code(self, digits: int) -> Ranges:
        text = self._text[self._at : self._at + digits]
        if len(text) < digits or not all(digit in "0123456789abcdefABCDEF" for digit in text):
            raise UnsupportedPattern(f"{digits} hexadecimal digits expected at {self._at}")
        self._at += digits
        return codepoints.union([(int(text, 16), int(text, 16))])

    def _unicode(self) -> Ranges:
        if not self._take("{"):
            at = self._at
            pair = self._text[at : at + 4] + self._text[at + 6 : at + 10]
            if self._text[at + 4 : at + 6] == "\\u" and pair[:2].lower() in ("d8", "d9", "da", "db"):
                self._at += 10
                return codepoints.of(bytes.fromhex(pair).decode("utf-16-be"))
            return self._code(4)
        end = self._text.find("}", self._at)
        try:
            code = int(self._text[self._at : end], 16)
        except ValueError:
            raise UnsupportedPattern(f"a code point expected at {self._at}") from None
        self._at = end + 1
        return codepoints.union([(code, code)]) if code <= 0x10FFFF else ()

    def _property(self) -> Ranges:
        end = self._text.find("}", self._at)
        if not self._take("{") or end < 0:
            raise UnsupportedPattern("\\p without a name")
        name = self._text[self._at : end]
        self._at = end + 1
        return _with_property(name)

    def _class(self) -> Ranges:
        # class = "[" "^"? (character ("-" character)? | escape)* "]"
        negated = self._take("^")
        parts: list[Ranges] = []
        while not self._take("]"):
            low = self._class_atom()
            single = codepoints.size(low) == 1
            if single and self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                high = self._class_atom()
                if codepoints.size(high) != 1:
                    parts += [low, codepoints.of("-"), high]
                    continue
                if high[0][0] < low[0][0]:
                    raise UnsupportedPattern("a class whose bounds are the wrong way round")
                parts.append(codepoints.union([(low[0][0], high[0][0])]))
            else:
                parts.append(low)
        ranges = codepoints.union(*parts)
        return codepoints.complement(ranges) if negated else ranges

    def _class_atom(self) -> Ranges:
        character = self._next()
        return self._escaped(inside_class=True) if character == "\\" else codepoints.of(character)


_PROPERTIES = {
    "Letter": "L",
    "Lowercase_Letter": "Ll",
    "Uppercase_Letter": "Lu",
    "Titlecase_Letter": "Lt",
    "Cased_Letter": "LC",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P",
    "punct": "P",
    "Symbol": "S",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Other": "C",
    "Control": "Cc",
    "cntrl": "Cc",
}


def _with_property(name: str) -> Ranges:
    if name == "Any":
        return codepoints.ALL
    if name in ("ASCII", "Ascii"):
        return ((0, 0x7F),)
    prefix, _, value = name.rpartition("=")
    category = _PROPERTIES.get(value, value)
    if prefix not in ("", "General_Category", "gc") or not category:
        raise UnsupportedPattern(f"\\p{{{name}}}")
    wanted = ("Lu", "Ll", "Lt") if category == "LC" else (category,)
    found = codepoints.union(*(ranges for key, ranges in _categories().items() if key.startswith(wanted)))
    if not found:
        raise UnsupportedPattern(f"\\p{{{name}}}")
    return found


@functools.lru_cache(maxsize=1)
def _categories() -> dict[str, Ranges]:
    found: dict[str, list[tuple[int, int]]] = {}
    for code in range(0x110000):
        found.setdefault(unicodedata.category(chr(code)), []).append((code, code))
    return {category: codepoints.union(pairs) for category, pairs in sorted(found.items())}
