"""Tolerance files: how a model's real output may differ from what its template renders, as data.

{"tolerances": [{"kind": "variant", "marker": "<call>", "text": "<Call>", "reason": "seen …", "source": "…"},
                {"kind": "variant", "marker": "reasoning.start", "text": "<r>", "reason": "never rendered", …},
                {"kind": "python_literals", "enabled": false}]}

A variant's marker is a marker of the template, or a role.  A role stands for the template's own marker; where it has
none, the variant is the marker (both ends of reasoning, then).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from tplc.errors import SourceError
from tplc.ir.nodes import GENERAL_TOLERANCES, Json, Reasoning, TemplateIR, Tolerance

_TYPES = {field.name: bool if field.name == "enabled" else str for field in fields(Tolerance)}


def tolerances_from(data: Json, name: str) -> list[Tolerance]:
    """`name` is the file's, for messages."""
    listed = data.get("tolerances") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        raise SourceError(name, 'is no tolerance file: expected {"tolerances": [{"kind": …}, …]}')
    return [_tolerance(item, f"{name}: tolerances[{index}]") for index, item in enumerate(listed)]


def apply_tolerances(ir: TemplateIR, tolerances: Sequence[Tolerance]) -> TemplateIR:
    """The IR with tolerances in force: one that is given replaces the general one of its kind; variants are added."""
    general = {tolerance.kind: tolerance for tolerance in (*ir.tolerances, *tolerances) if tolerance.kind != "variant"}
    variants = [tolerance for tolerance in (*ir.tolerances, *tolerances) if tolerance.kind == "variant"]
    named = {tolerance.marker: tolerance.text for tolerance in reversed(variants)}
    if ir.reasoning.mode == "none" and "reasoning.start" in named and "reasoning.end" in named:
        ir = replace(ir, reasoning=Reasoning("tag_based", named["reasoning.start"], named["reasoning.end"]))
    roles = {
        "reasoning.start": ir.reasoning.start,
        "reasoning.end": ir.reasoning.end,
        "content.start": ir.content.start,
        "content.end": ir.content.end,
        "section.start": ir.tools.section_start,
        "section.end": ir.tools.section_end,
        "turn.header": ir.turn.header,
    }
    resolved = [replace(v, marker=roles.get(v.marker, v.marker)) for v in variants]
    kept = [variant for variant in resolved if variant.marker and variant.marker != variant.text]
    return replace(ir, tolerances=(*general.values(), *kept))


def _tolerance(item: Json, path: str) -> Tolerance:
    if not isinstance(item, dict):
        raise SourceError(path, "expected an object")
    for member, value in item.items():
        if member not in _TYPES:
            raise SourceError(f"{path}.{member}", f"no such member; there are {', '.join(_TYPES)}")
        if type(value) is not _TYPES[member]:
            raise SourceError(
                f"{path}.{member}", "expected " + ("true or false" if member == "enabled" else "a string")
            )
    tolerance = Tolerance(**{"kind": "", **item})  # type: ignore[arg-type]
    if tolerance.kind not in (*GENERAL_TOLERANCES, "variant"):
        raise SourceError(f"{path}.kind", f"expected variant, or one of {', '.join(GENERAL_TOLERANCES)}")
    missing = [member for member in ("marker", "text", "reason") if not getattr(tolerance, member)]
    if tolerance.kind == "variant" and missing:
        raise SourceError(f"{path}.{missing[0]}", "a variant needs it")
    return tolerance
