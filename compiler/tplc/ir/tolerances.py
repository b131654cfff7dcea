"""Tolerance files: how a model's real output may differ from what its template renders, as data.

{"tolerances": [{"kind": "variant", "marker": "<call>", "text": "<Call>", "reason": "seen …", "source": "…"},
                {"kind": "python_literals", "enabled": false}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from tplc.errors import SourceError
from tplc.ir.nodes import GENERAL_TOLERANCES, Json, Tolerance

_TYPES = {field.name: bool if field.name == "enabled" else str for field in fields(Tolerance)}


def tolerances_from(data: Json, name: str) -> list[Tolerance]:
    """`name` is the file's, for messages."""
    listed = data.get("tolerances") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        raise SourceError(name, 'is no tolerance file: expected {"tolerances": [{"kind": …}, …]}')
    return [_tolerance(item, f"{name}: tolerances[{index}]") for index, item in enumerate(listed)]


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
