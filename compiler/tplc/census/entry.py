"""Compile one template of a census, and record the result.

"models/hut.jinja"  →  CensusEntry(state="verified", calls="json_native", format="9f2c41d0ab12", messages=198, …)
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from tplc import driver
from tplc.audit.unfinished import BY_SOURCE, unfinished_warnings
from tplc.errors import TplcError
from tplc.ir.hashes import sha256
from tplc.ir.nodes import TemplateIR
from tplc.ir.serialize import to_dict
from tplc.sources import load

if TYPE_CHECKING:
    from tplc.audit.warnings import TemplateWarning

State = Literal["verified", "not verified", "refused", "unreadable", "internal error"]
STATES: tuple[State, ...] = get_args(State)
# The parts of an IR that don't belong to its format.
_NOT_FORMAT = ("provenance", "verification", "capabilities", "tolerances")


@dataclass(frozen=True, slots=True)
class CensusEntry:
    """`format` is the same for two templates whose answers are written alike; `cause` says why one is not verified."""

    source: str
    state: State
    cause: str = ""
    sha256: str = ""
    size: int = 0
    messages: int = 0
    passed: int = 0
    reasoning: str = ""
    content: str = ""
    calls: str = ""
    format: str = ""
    ambiguities: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        row = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}

    @staticmethod
    def from_json(row: dict[str, Any]) -> CensusEntry:
        known = {field.name for field in fields(CensusEntry)}
        missing = [name for name in ("source", "state") if name not in row]
        if missing:
            raise ValueError(f"a row has no {missing[0]}")
        given: dict[str, Any] = {name: value for name, value in row.items() if name in known}
        given |= {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return CensusEntry(**given)


def entry_of(source: str, limits: Mapping[str, float] | None = None) -> CensusEntry:
    """Compile and verify one template; what goes wrong with it is what its entry says."""
    start = time.perf_counter()
    try:
        template = load(source)
    except TplcError as error:
        return CensusEntry(source, "unreadable", _first_line(error))
    warnings: list[TemplateWarning] = []
    try:
        ir = driver.compile_template(
            template.text,
            name=template.name,
            special_tokens=template.special_tokens,
            warn=warnings.append,
            limits=driver.make_limits(limits or {}),
        )
    except TplcError as error:
        digest = sha256(template.text)
        seconds = round(time.perf_counter() - start, 3)
        return CensusEntry(source, "refused", _first_line(error), digest, len(template.text.encode()), seconds=seconds)
    return _entry(source, ir, warnings, round(time.perf_counter() - start, 3))


def _entry(source: str, ir: TemplateIR, warnings: list[TemplateWarning], seconds: float) -> CensusEntry:
    result = ir.verification
    warnings = [*warnings, *unfinished_warnings(ir, how=BY_SOURCE)]
    return CensusEntry(
        source=source,
        state="verified" if result.verified else "not verified",
        cause="" if result.verified else next(iter(result.failures), ""),
        sha256=ir.provenance.sha256,
        size=ir.provenance.size,
        messages=result.messages,
        passed=result.passed,
        reasoning=ir.reasoning.mode,
        content=ir.content.mode,
        calls=ir.tools.format,
        format=format_of(ir),
        ambiguities=tuple(dict.fromkeys(ambiguity.kind for ambiguity in result.ambiguities)),
        warnings=tuple(str(warning) for warning in warnings),
        seconds=seconds,
    )


def format_of(ir: TemplateIR) -> str:
    """Return a short hash of how answers are written, which doesn't depend on the rest of the template."""
    whole = to_dict(ir)
    kept = {name: value for name, value in whole.items() if name not in _NOT_FORMAT}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]


def shared_formats(entries: list[CensusEntry]) -> Iterator[tuple[str, list[CensusEntry]]]:
    """Return the formats of more than one different template, the most common first."""
    groups: dict[str, list[CensusEntry]] = {}
    for entry in entries:
        if entry.format:
            groups.setdefault(entry.format, []).append(entry)
    shared = [(name, group) for name, group in groups.items() if len({entry.sha256 for entry in group}) > 1]
    return iter(sorted(shared, key=lambda item: (-len(item[1]), item[0])))


def without_name(text: str, source: str) -> str:
    """Return a cause or a warning without the template's name at its beginning: "hut.jinja:2: …" is "line 2: …"."""
    if text.startswith(f"{source}: "):
        return text.removeprefix(f"{source}: ")
    named = re.match(rf"(?:\S*/)?{re.escape(os.path.basename(source))}(?::(\d+))?(?::(\d+))?: ", text)
    if named is None:
        return text
    line, column = named.groups()
    place = f"line {line}" * bool(line) + f", column {column}" * bool(column)
    return f"{place}: {text[named.end() :]}" if place else text[named.end() :]


def _first_line(error: TplcError) -> str:
    return str(error).partition("\n")[0]
