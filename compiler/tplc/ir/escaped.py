"""Formats that write characters of raw values or texts otherwise, or values as lines: not every target expresses them.

`&` as `&amp;`  →  t.jinja: a grammar cannot express that "&" is written "&amp;" in values: use the generated parser
"""

from __future__ import annotations

from collections.abc import Iterator

from tplc.errors import UnsupportedTemplate
from tplc.ir.nodes import ObjectArguments, Replaced, TemplateIR
from tplc.ir.printed import quoted


def refuse_values(ir: TemplateIR, target: str) -> None:
    """Raise UnsupportedTemplate if values are escaped, or written as indented lines; `target` names what cannot express
    them."""
    _refuse(ir, target, "values", (one for one in ir.tools.replaced if one.slot in ("value", "string", "literal")))
    if isinstance(ir.tools.arguments, ObjectArguments) and ir.tools.arguments.lines is not None:
        reason = f"{target} cannot express that arguments are indented lines: use the generated parser"
        raise UnsupportedTemplate(ir.provenance.name, reason)


def refuse_lists(ir: TemplateIR, target: str) -> None:
    """Raise UnsupportedTemplate if objects are written as elements, and lists inside of them as JSON."""
    elements = ir.tools.dialect.elements if ir.tools.dialect is not None else None
    if elements is not None and not elements.item_open:
        reason = f"{target} cannot express lists that are JSON inside of elements: use the generated parser"
        raise UnsupportedTemplate(ir.provenance.name, reason)


def refuse_escaped_texts(ir: TemplateIR, target: str) -> None:
    """Raise UnsupportedTemplate if the format has such content or reasoning."""
    _refuse(ir, target, "content or reasoning", iter(ir.escapes))


def _refuse(ir: TemplateIR, target: str, where: str, escapes: Iterator[Replaced]) -> None:
    found = next(escapes, None)
    if found is not None:
        what = f"{quoted(found.char)} is written {quoted(found.text)} in {where}"
        reason = f"{target} cannot express that {what}: use the generated parser"
        raise UnsupportedTemplate(ir.provenance.name, reason)
