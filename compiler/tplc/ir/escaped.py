"""Formats that write characters of raw values otherwise, which not every target expresses.

`&` as `&amp;`  →  t.jinja: a grammar cannot express that "&" is written "&amp;" in values: use the generated parser
"""

from __future__ import annotations

from tplc.errors import UnsupportedTemplate
from tplc.ir.nodes import TemplateIR
from tplc.ir.printed import quoted


def refuse_escaped_values(ir: TemplateIR, target: str) -> None:
    """Raise UnsupportedTemplate if the format has such values; `target` names what cannot express them."""
    found = next((one for one in ir.tools.replaced if one.slot == "value"), None)
    if found is not None:
        what = f"{quoted(found.sign)} is written {quoted(found.text)} in values"
        reason = f"{target} cannot express that {what}: use the generated parser"
        raise UnsupportedTemplate(ir.provenance.name, reason)
