"""Run many outputs through all parsers, and shrink the cases that fail.

fuzz(1000, seed=0)  →  Counters(outputs=1000, characters=…, broken={"raised": 0, "stream": 0, "json": 0, "lost": 0})
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.check import PROPERTIES, Checked, Property, check
from tests.fuzz.formats import Format, formats
from tests.fuzz.outputs import Writer, random_chunks, random_options

KEPT = 4  # failures of one batch that are made small and shown


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that one check needs."""

    form: Format
    kind: str
    text: str
    options: dict[str, Any]
    chunks: list[str]

    def checked(self) -> Checked:
        return check(self.form, self.text, self.options, self.chunks)

    def __str__(self) -> str:
        shown = {"text": self.text, "options": self.options, "chunks": self.chunks}
        return f"{self.form.name} ({self.kind})" + "".join(f"\n  {name:7} {it!r}" for name, it in shown.items())


@dataclass(frozen=True, slots=True)
class Failure:
    case: Case
    property: Property
    detail: str

    def __str__(self) -> str:
        return f"{self.property}: {self.case}\n  {self.detail}"


@dataclass(slots=True)
class Counters:
    outputs: int = 0
    characters: int = 0
    calls: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Counters) -> None:
        self.outputs += other.outputs
        self.characters += other.characters
        self.calls += other.calls
        self.kinds += other.kinds
        self.broken += other.broken
        self.failures += other.failures

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {self.kinds[kind]:,}" for kind in sorted(self.kinds))
        broken = ", ".join(f"{title} {self.broken[name]}" for name, title in TITLES.items())
        return f"{self.outputs:,} outputs ({kinds}), {self.characters:,} characters, {self.calls:,} calls\n{broken}"


TITLES: dict[Property, str] = {
    "raised": "raised",
    "stream": "stream ≠ whole",
    "json": "arguments that are no JSON object",
    "lost": "characters unaccounted for",
}
assert tuple(TITLES) == PROPERTIES


def fuzz(count: int, *, seed: int, forms: Sequence[Format] = (), shrink: bool = True) -> Counters:
    """Check `count` outputs, distributed evenly over the parsers."""
    counters = Counters()
    chosen = tuple(forms) or formats()
    writers = [Writer(form, random.Random(f"{seed} {form.name}")) for form in chosen]
    for index in range(count):
        writer = writers[index % len(writers)]
        case = random_case(writer)
        checked = case.checked()
        counters.outputs += 1
        counters.characters += len(case.text)
        counters.kinds[case.kind] += 1
        counters.calls += checked.calls
        for what in checked.broken[:1]:
            counters.broken[what.property] += 1
            if len(counters.failures) < KEPT:
                failure = Failure(case, what.property, what.detail)
                counters.failures.append(str(smallest(failure) if shrink else failure))
    return counters


def random_case(writer: Writer) -> Case:
    kind, text = writer.output()
    options = random_options(writer.form, writer.rng)
    return Case(writer.form, kind, text, options, random_chunks(text, writer.rng))


def smallest(failure: Failure) -> Failure:
    """Return a case that violates the same property with a shorter text, fewer options and larger chunks, if there is
    one."""
    changed = True
    while changed:
        changed = False
        for case in _smaller(failure.case):
            found = next((what for what in case.checked().broken if what.property == failure.property), None)
            if found is not None:
                failure, changed = Failure(case, failure.property, found.detail), True
                break
    return failure


def _smaller(case: Case) -> list[Case]:
    cases = [Case(case.form, case.kind, case.text, _without(case.options, name), case.chunks) for name in case.options]
    chunks = case.chunks
    for at in range(len(chunks) - 1):
        joined = [*chunks[:at], chunks[at] + chunks[at + 1], *chunks[at + 2 :]]
        cases.append(Case(case.form, case.kind, case.text, case.options, joined))
    size = max(len(case.text) // 2, 1)
    while size:
        for at in range(0, len(case.text), size):
            cut = _cut(chunks, at, at + size)
            cases.append(Case(case.form, case.kind, "".join(cut), case.options, cut))
        size //= 2
    prompt = case.options.get("prompt") or ""
    for at in range(len(prompt)):
        shorter = {**case.options, "prompt": prompt[:at] + prompt[at + 1 :]}
        cases.append(Case(case.form, case.kind, case.text, shorter, chunks))
    return cases


def _without(options: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key != name}


def _cut(chunks: list[str], start: int, end: int) -> list[str]:
    """Return the chunks without the part from `start` to `end` of their text."""
    left, at = [], 0
    for chunk in chunks:
        kept = chunk[: max(0, start - at)] + chunk[max(0, end - at) :]
        at += len(chunk)
        if kept or not chunk:
            left.append(kept)
    return left
