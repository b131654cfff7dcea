"""The dialect as the runtime's reader of values takes it: quotes, words, signs.

styles_of(acceptor)  →  (at the top, inside lists, inside objects)
"""

from __future__ import annotations

from tplc.ir.spellings import Spelling
from tplc.lower import Acceptor
from tplc_runtime.values import Style

Styles = tuple[Style, Style, Style]


def styles_of(acceptor: Acceptor) -> Styles:
    if acceptor.calls is None or acceptor.calls.styles is None:
        nothing = Style((), {})
        return nothing, nothing, nothing
    top, in_list, inside = acceptor.calls.styles
    return style_of(top), style_of(in_list), style_of(inside)


def style_of(spelling: Spelling) -> Style:
    return Style(spelling.strings, dict(spelling.words), spelling.signs, bare_keys=spelling.bare_keys)
