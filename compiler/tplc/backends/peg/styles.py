"""The dialect as the runtime's reader of values takes it: quotes, words, signs.

styles_of(ir)  →  (at the top, inside lists, inside objects)
"""

from __future__ import annotations

from tplc.ir.nodes import TemplateIR
from tplc.ir.spellings import Spelling, spellings_of
from tplc_runtime.values import Style

Styles = tuple[Style, Style, Style]


def styles_of(ir: TemplateIR) -> Styles:
    if ir.tools.dialect is None:
        nothing = Style((), {})
        return nothing, nothing, nothing
    also_python = all(tolerance.enabled for tolerance in ir.tolerances if tolerance.kind == "python_literals")
    top, in_list, inside = spellings_of(ir.tools, also_python=also_python)
    return style_of(top), style_of(in_list), style_of(inside)


def style_of(spelling: Spelling) -> Style:
    return Style(spelling.strings, dict(spelling.words), spelling.signs, bare_keys=spelling.bare_keys)
