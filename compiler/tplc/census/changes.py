"""What changed between two censuses.

changes(earlier, now)  →  [Change("models/hut.jinja", "verified → refused"), Change("models/new.jinja", "new")]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tplc.census.entry import Entry


@dataclass(frozen=True, slots=True)
class Change:
    """`worse`: it was verified, and is no longer."""

    source: str
    what: str
    worse: bool = False


def changes(earlier: Sequence[Entry], now: Sequence[Entry]) -> list[Change]:
    before = {entry.source: entry for entry in earlier}
    found = [change for entry in now for change in _of(before.get(entry.source), entry)]
    there = {entry.source for entry in now}
    return found + [Change(entry.source, "gone") for entry in earlier if entry.source not in there]


def _of(before: Entry | None, now: Entry) -> Iterator[Change]:
    if before is None:
        yield Change(now.source, f"new: {now.state}")
        return
    if before.state != now.state:
        cause = f" ({now.cause})" if now.cause else ""
        yield Change(now.source, f"{before.state} → {now.state}{cause}", worse=before.state == "verified")
    if before.format and now.format and before.format != now.format:
        changed = "the same template" if before.sha256 == now.sha256 else "another template"
        yield Change(now.source, f"another format ({changed})")
    for warning in now.warnings:
        if warning not in before.warnings:
            yield Change(now.source, f"new warning: {warning}")
