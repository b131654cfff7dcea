"""Odd outputs, by what they have in common.

three outputs with "<~doo~>" in their content   →   Group("marker in content", "<~doo~>", 3, the first of them)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tplc.observe.findings import KINDS, Judged, Kind


@dataclass(frozen=True, slots=True)
class Group:
    kind: Kind
    what: str
    members: tuple[Judged, ...]

    @property
    def example(self) -> Judged:
        """Return the shortest output of the group."""
        return min(self.members, key=lambda judged: len(judged.output.text))


def groups_of(judged: Sequence[Judged]) -> tuple[Group, ...]:
    """Return groups that contain each odd output once, the largest groups first."""
    found: dict[tuple[Kind, str], list[Judged]] = {}
    for each in judged:
        if not each.clean:
            found.setdefault((each.main.kind, each.main.what), []).append(each)
    groups = [Group(kind, what, tuple(members)) for (kind, what), members in found.items()]
    return tuple(sorted(groups, key=lambda group: (-len(group.members), KINDS.index(group.kind), group.what)))
