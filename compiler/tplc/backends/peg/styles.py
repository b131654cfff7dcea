"""Describe the dialect as the runtime's reader of values needs it: quotes, words, punctuation.

styles_of(acceptor)  →  (at the top, inside lists, inside objects)
"""

from __future__ import annotations

from collections.abc import Sequence

from tplc.backends.peg.patterns import either, marker_core
from tplc.ir.spellings import Spelling
from tplc.lower import Acceptor
from tplc.lower.lexemes import group
from tplc_runtime.values import PlainStyle

Styles = tuple["BoundedStyle", "BoundedStyle", "BoundedStyle"]


def styles_of(acceptor: Acceptor) -> Styles:
    if acceptor.calls is None or acceptor.calls.styles is None:
        nothing = BoundedStyle((), {})
        return nothing, nothing, nothing
    top, in_list, inside = (style_of(spelling, acceptor.calls.breaks) for spelling in acceptor.calls.styles)
    return top, in_list, inside


class BoundedStyle(PlainStyle):
    """A style, and the pattern of what stands in no value but inside a string: it closes what is open."""

    stop = ""


def style_of(spelling: Spelling, breaks: Sequence[str] = ()) -> BoundedStyle:
    style = BoundedStyle(spelling.strings, dict(spelling.words), spelling.signs, bare_keys=spelling.bare_keys)
    style.stop = breaks_pattern(breaks)
    return style


def breaks_pattern(breaks: Sequence[str]) -> str:
    return group(either([marker_core(text) for text in breaks]))
