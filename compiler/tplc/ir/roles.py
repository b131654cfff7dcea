"""The roles of markers: the names that tolerances use for them, and with which the IR is printed.

tools.section_start = "<calls>"   →   a variant for the marker "tools.section_start" stands for "<calls>"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tplc.ir.nodes import TemplateIR

ROLES: Mapping[str, Callable[[TemplateIR], str]] = {
    "reasoning.start": lambda ir: ir.reasoning.start,
    "reasoning.end": lambda ir: ir.reasoning.end,
    "content.start": lambda ir: ir.content.start,
    "content.end": lambda ir: ir.content.end,
    "turn.header": lambda ir: ir.turn.header,
    "turn.ends": lambda ir: ir.turn.ends[0] if ir.turn.ends else "",
    "tools.section_start": lambda ir: ir.tools.section_start,
    "tools.section_end": lambda ir: ir.tools.section_end,
    "tools.separator": lambda ir: ir.tools.separator,
}


def marker_of(ir: TemplateIR, name: str) -> str:
    """Return the format's own marker for a role ("" if it has none); a name that isn't a role is itself a marker."""
    return ROLES[name](ir) if name in ROLES else name
