"""The dialect as the runtime's reader of values takes it: quotes, words, signs.

styles_of(ir)  →  (at the top, inside lists, inside objects)
"""

from __future__ import annotations

from tplc.ir.nodes import PairArguments, TemplateIR, ValueStyle
from tplc_runtime.values import Style

Styles = tuple[Style, Style, Style]
OTHER_STRINGS = (('"', '"', "json"), ("'", "'", "python"))
OTHER_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
JSON_SIGNS = "[,]{:,}"


def styles_of(ir: TemplateIR) -> Styles:
    dialect = ir.tools.dialect
    if dialect is None:
        nothing = Style((), {})
        return nothing, nothing, nothing
    also_python = all(tolerance.enabled for tolerance in ir.tolerances if tolerance.kind == "python_literals")
    inside = style_of(dialect.in_object, also_python=also_python)
    if not isinstance(ir.tools.arguments, PairArguments) or ir.tools.json is not None:
        return inside, inside, inside
    top, in_list = (style_of(style, also_python=also_python) for style in (dialect.top, dialect.in_list))
    return top, in_list, inside


def style_of(style: ValueStyle, *, also_python: bool) -> Style:
    strings: dict[str, tuple[str, str, str]] = {
        string.open: (string.open, string.close, string.escape) for string in style.strings
    }
    words = {style.true: "true", style.false: "false", **({style.null: "null"} if style.null else {})}
    if also_python:
        if strings:
            for string in OTHER_STRINGS:
                strings.setdefault(string[0], string)
        words = OTHER_WORDS | words
    given = (
        style.list_open,
        style.list_separator,
        style.list_close,
        style.object_open,
        style.colon,
        style.object_separator,
        style.object_close,
    )
    signs = [sign.strip() or usual for sign, usual in zip(given, JSON_SIGNS, strict=True)]
    return Style(list(strings.values()), words, signs, bare_keys=not style.key_open)
