"""Markers as expressions: a slot in a marker is any word.

"<why effort=" WORD_SLOT ">"  →  "<why effort=" [A-Za-z0-9_.-]+ ">"
"""

from __future__ import annotations

from tplc.grammars.regular import codepoints, expressions
from tplc.grammars.regular.expressions import rep, seq
from tplc.grammars.regular.nodes import Chars, Expr
from tplc_runtime.scanner import LONGEST_WORD, WORD_SLOT

_LETTERS = codepoints.union(codepoints.span("A", "Z"), codepoints.span("a", "z"))
WORD = rep(Chars(codepoints.union(codepoints.span("0", "9"), _LETTERS, codepoints.of("_-."))), 1, LONGEST_WORD)


def lit(marker: str) -> Expr:
    """Return the expression of a marker."""
    first, *others = marker.split(WORD_SLOT)
    found = [expressions.lit(first)]
    for text in others:
        found += [WORD, expressions.lit(text)]
    return seq(*found) if others else found[0]
