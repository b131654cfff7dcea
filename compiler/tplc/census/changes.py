"""Find the changes between two censuses.

changes(earlier, now)  →  [ChangedTemplate("hut.jinja", "verified → refused"), ChangedTemplate("new.jinja", "new")]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tplc.census.entry import CensusEntry


@dataclass(frozen=True, slots=True)
class ChangedTemplate:
    """A template whose result differs from that of an earlier census. `worse`: it was verified, and is no longer."""

    source: str
    what: str
    worse: bool = False


def changes(earlier: Sequence[CensusEntry], now: Sequence[CensusEntry]) -> list[ChangedTemplate]:
    before = {entry.source: entry for entry in earlier}
    found = [change for entry in now for change in _of(before.get(entry.source), entry)]
    there = {entry.source for entry in now}
    return found + [ChangedTemplate(entry.source, "gone") for entry in earlier if entry.source not in there]


def _of(before: CensusEntry | None, now: CensusEntry) -> Iterator[ChangedTemplate]:
    if before is None:
        yield ChangedTemplate(now.source, f"new: {now.state}")
        return
    if before.state != now.state:
        cause = f" ({now.cause})" if now.cause else ""
        yield ChangedTemplate(now.source, f"{before.state} → {now.state}{cause}", worse=before.state == "verified")
    if before.format and now.format and before.format != now.format:
        changed = "the same template" if before.sha256 == now.sha256 else "another template"
        yield ChangedTemplate(now.source, f"another format ({changed})")
    for warning in now.warnings:
        if warning not in before.warnings:
            yield ChangedTemplate(now.source, f"new warning: {warning}")
