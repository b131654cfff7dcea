"""Raw text that a parser reads as something else than text.

    {"anyOf": [{"type": "string"}, {"type": "integer", "maximum": 10}]}    "42" would be read as a number, and not fit

Where a schema allows text next to other types, a parser tries the others first.  What it could read as a type that the
schema restricts is then no text.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import from_expr, negation
from tplc.grammars.regular.expressions import alt, lit, opt, rep, seq
from tplc.grammars.regular.nodes import ANY_CHARACTER, Automaton, Chars, Expr
from tplc.grammars.regular.until import SPACE
from tplc.grammars.schema.shapes import ArrayShape, Evaluated, NumberShape, ObjectShape, Shapes
from tplc.ir.spellings import WORDS

_SPACE = rep(Chars(SPACE), 0, None)
_ANYTHING = rep(ANY_CHARACTER, 0, None)
_DIGITS = rep(Chars(codepoints.of("0123456789_")), 0, None)
_SIGN = opt(Chars(codepoints.of("+-")))
_EXPONENT = seq(Chars(codepoints.of("eE")), _SIGN, rep(Chars(codepoints.span("0", "9")), 1, None))
# Parsers are generous with numbers: +1, .5, 1_000.
_NUMBER = seq(
    _SIGN, alt(seq(Chars(codepoints.of("0123456789_")), _DIGITS), lit(".")), opt(lit(".")), _DIGITS, opt(_EXPONENT)
)
_WORDS = {"boolean": (*WORDS["true"], *WORDS["false"]), "null": WORDS["null"]}


@dataclass(frozen=True, slots=True)
class WordSpelling:
    """How a dialect writes what is not text, in addition to what all parsers know: its words, what opens elements."""

    words: tuple[tuple[str, str], ...]
    item_open: str = ""
    pair_open: str = ""


def restricted(shapes: Shapes) -> frozenset[str]:
    """Return the types of which the shapes do not allow every value."""
    allowed = {
        "null": shapes.null,
        "boolean": len(shapes.booleans) == 2,
        "number": NumberShape() in shapes.numbers,
        "array": any(replace(shape, evaluated=0) == ArrayShape() for shape in shapes.arrays),
        "object": any(
            replace(shape, declared=False, evaluated=Evaluated()) == ObjectShape() for shape in shapes.objects
        ),
    }
    return frozenset(name for name, every in allowed.items() if not every)


@functools.lru_cache(maxsize=256)
def text_only(types: frozenset[str], spelling: WordSpelling) -> Automaton:
    """Return texts that are read as none of the types."""
    ways: list[Expr] = []
    for name in sorted(types):
        ways += _read_as(name, spelling)
    return negation(from_expr(alt(*ways)))


def _read_as(name: str, spelling: WordSpelling) -> Iterable[Expr]:
    for word in dict.fromkeys((*_WORDS.get(name, ()), *(word for kind, word in spelling.words if kind == name))):
        yield seq(_SPACE, lit(word), _SPACE)
    if name == "number":
        yield seq(_SPACE, _NUMBER, _SPACE)
    elif name in ("array", "object"):
        opened, closed = "[]" if name == "array" else "{}"
        yield seq(_SPACE, lit(opened), _ANYTHING, lit(closed), _SPACE)
        element = (spelling.item_open if name == "array" else spelling.pair_open).strip()
        if element:
            yield seq(_SPACE, lit(element), _ANYTHING)
