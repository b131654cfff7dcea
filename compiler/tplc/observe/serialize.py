"""An observation as JSON, and its proposals as a tolerance file.

Observation  →  {"outputs": 20, "clean": 14, "groups": [{"kind": …, "what": …, "outputs": 4, "example": …}], …}
"""

from __future__ import annotations

from dataclasses import asdict

from tplc.ir.nodes import Json
from tplc.observe.groups import Group
from tplc.observe.observe import Observation, tolerances_of


def to_dict(observation: Observation, source: str) -> dict[str, Json]:
    return {
        "outputs": len(observation.judged),
        "clean": observation.clean,
        "share_odd": round(observation.share_odd, 2),
        "kinds": {**observation.kinds},
        "groups": [_group(group) for group in observation.groups],
        **tolerance_file(observation, source),
        "proposals": [
            {"marker": one.marker, "text": one.text, "seen": one.seen, "mended": one.mended, "changed": one.changed}
            for one in observation.proposals
        ],
        "clean_with_them": sum(judged.clean for judged in observation.tried),
    }


def tolerance_file(observation: Observation, source: str) -> dict[str, Json]:
    """Return the proposals as a tolerance file."""
    members = ("kind", "marker", "text", "reason", "source")
    listed = (asdict(tolerance) for tolerance in tolerances_of(observation.proposals, source))
    return {"tolerances": [{name: tolerance[name] for name in members} for tolerance in listed]}


def _group(group: Group) -> dict[str, Json]:
    example, finding = group.example, group.example.main
    return {
        "kind": group.kind,
        "what": group.what,
        "outputs": len(group.members),
        "places": [judged.output.place for judged in group.members],
        "example": {"text": example.output.text, "start": finding.start, "end": finding.end},
    }
