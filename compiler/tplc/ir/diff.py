"""Find the differences between two formats, fact by fact.

reasoning.end: "</r>" became "</why>"
turn.end: "<stop>" is new
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tplc.ir.nodes import Provenance, TemplateIR, Verification
from tplc.ir.printed import lines


@dataclass(frozen=True, slots=True)
class Change:
    """One fact; `old` or `new` is None where it was added or is gone."""

    fact: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.fact}: {self.new} is new"
        if self.new is None:
            return f"{self.fact}: {self.old} is gone"
        return f"{self.fact}: {self.old} became {self.new}"


def diff(old: TemplateIR, new: TemplateIR) -> tuple[Change, ...]:
    """Return the changes of the format, without provenance and verification."""
    return changes_of(_facts(old), _facts(new))


def changes_of(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> tuple[Change, ...]:
    """Return the changes fact by fact; a fact may have several values."""
    changes: list[Change] = []
    for fact in dict.fromkeys([*before, *after]):
        gone = [value for value in before.get(fact, ()) if value not in after.get(fact, ())]
        added = [value for value in after.get(fact, ()) if value not in before.get(fact, ())]
        if len(gone) == len(added):
            changes += [Change(fact, one, other) for one, other in zip(gone, added, strict=True)]
        else:
            changes += [Change(fact, value, None) for value in gone]
            changes += [Change(fact, None, value) for value in added]
    return tuple(changes)


def _facts(ir: TemplateIR) -> dict[str, list[str]]:
    """Return the printed form by fact; a fact such as turn.end may have several values."""
    source = ir.provenance
    bare = Provenance("", "", 0, "", source.special_tokens)
    # A template's refusal contains its own name and line.
    place = re.compile(rf"{re.escape(source.name)}(:\d+)?: ")
    seen = replace(ir.capabilities, refusals=tuple(place.sub("", refusal) for refusal in ir.capabilities.refusals))
    facts: dict[str, list[str]] = {}
    for line in list(lines(replace(ir, provenance=bare, capabilities=seen, verification=Verification())))[1:]:
        fact, _, value = line.partition(" = ")
        facts.setdefault(fact, []).append(value)
    return facts
