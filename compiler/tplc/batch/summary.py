"""Count the parts of messages. The result is the same for every engine: rows are counted one by one and added in order.

Summary().add(table)  →  rows 1,000, calls 1,203, incomplete 2, …, and a few rows to look at
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jsonschema.validators import validator_for

from tplc.batch.columns import STRUCT, Columns
from tplc.batch.rows import NO_PARSER, NOT_READ, Row, RowParser
from tplc.verify.allowed import NOT_JUDGED, Allowed

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN = "unknown_tool"
_MOST_TOOLS = 1000
_MOST_NAMES = 1000  # so many names of parsers, of tools, and of diagnostics are counted apart
_OTHERS = "(others)"
# Rows that are kept to be looked at: so many of a diagnostic, of so many diagnostics and parsers, each so long.
_EACH, _MOST_SAMPLES, _LONGEST = 2, 40, 3000
LENGTHS = (100, 1000, 10_000, 100_000, 1_000_000)


@dataclass(slots=True)
class Counts:
    """`characters`: of the outputs; `unread`: rows that no parser read.

    `violating`: calls whose arguments are not as the tool's schema says; `not_judged`: those of which no one can say
    it, as the schema, the tools or the arguments cannot be read.
    """

    rows: int = 0
    nulls: int = 0
    characters: int = 0
    with_calls: int = 0
    calls: int = 0
    incomplete: int = 0
    diagnosed: int = 0
    unread: int = 0
    unknown_tools: int = 0
    violating: int = 0
    not_judged: int = 0

    def merge(self, other: Counts) -> None:
        for name in NAMES:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def to_json(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in NAMES}


NAMES = tuple(one.name for one in fields(Counts))


@dataclass(frozen=True, slots=True)
class Sample:
    """A row to look at, and where it is; `why`: the code of the diagnostic that it shows, "" if nothing is odd."""

    why: str
    parser: str
    place: str
    text: str
    cut: bool
    prompt: str | None
    tools: str | None
    diagnostics: tuple[str, ...]


@dataclass(slots=True)
class Summary:
    """`cells`: counts by the parser's name and by how long the outputs are.  `place`: the file that is counted."""

    columns: Columns
    tools: str | None = None
    place: str = ""
    rows: int = 0
    cells: dict[tuple[str, int], Counts] = field(default_factory=dict)
    by_tool: Counter[str] = field(default_factory=Counter)
    violating_by_tool: Counter[str] = field(default_factory=Counter)
    not_judged_by_tool: Counter[str] = field(default_factory=Counter)
    by_diagnostic: Counter[str] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)
    _sampled: Counter[tuple[str, str]] = field(default_factory=Counter, repr=False)

    @staticmethod
    def of(read: RowParser) -> Summary:
        tools = read.tools
        return Summary(read.columns, tools if tools is None or isinstance(tools, str) else json.dumps(tools))

    @property
    def counts(self) -> Counts:
        return _sum(self.cells.values())

    @property
    def by_parser(self) -> dict[str, Counts]:
        return {name: _sum(self._cells(0, name)) for name in sorted({name for name, _ in self.cells})}

    @property
    def by_length(self) -> dict[int, Counts]:
        return {at: _sum(self._cells(1, at)) for at in sorted({at for _, at in self.cells})}

    def _cells(self, place: int, value: object) -> Iterator[Counts]:
        return (counts for key, counts in self.cells.items() if key[place] == value)

    def merge(self, other: Summary) -> None:
        """Add the counts of later rows."""
        self.rows += other.rows
        for (name, length), counts in other.cells.items():
            self._cell(name, length).merge(counts)
        for mine, more in (
            (self.by_tool, other.by_tool),
            (self.violating_by_tool, other.violating_by_tool),
            (self.not_judged_by_tool, other.not_judged_by_tool),
            (self.by_diagnostic, other.by_diagnostic),
        ):
            for name, count in more.items():
                _count(mine, name, count)
        self.samples += [sample for sample in other.samples if self._wanted(sample.why, sample.parser)]

    def add(self, table: pa.Table) -> None:
        columns = self.columns
        flat = table.select([STRUCT]).flatten() if columns.struct else table
        tools, prompts, parsers = (
            table[name].to_pylist() if name else None for name in (columns.tools, columns.prompt, columns.parser)
        )
        texts = table[columns.output].to_pylist()
        listed = (flat[f"{STRUCT}.{name}" if columns.struct else name].to_pylist() for name in _FIELDS)
        contents = flat[f"{STRUCT}.content" if columns.struct else "content"]
        for at, (calls, incomplete, diagnostics) in enumerate(zip(*listed, strict=True)):
            text = texts[at] if isinstance(texts[at], str) else ""
            parser = "" if parsers is None else parsers[at] or ""
            counts = self._cell(parser, bisect_right(LENGTHS, len(text)))
            self.rows += 1
            counts.rows += 1
            if incomplete is None:
                counts.nulls += 1
                continue
            counts.characters += len(text)
            counts.incomplete += incomplete
            own = tools[at] if tools else self.tools
            if calls:
                self._calls(counts, calls, own)
            odd = self._diagnostics(counts, diagnostics)
            if diagnostics and diagnostics[0]["code"] in _UNREAD:
                counts.unread += 1
                text = text or contents[at].as_py()
            for why in odd or ("",):
                if text and self._wanted(why, parser):
                    prompt = prompts[at] if prompts else None
                    self.samples.append(self._sample(why, parser, text, prompt, own, diagnostics))

    def _cell(self, parser: str, length: int) -> Counts:
        key = (parser, length)
        found = self.cells.get(key)
        if found is None:
            if len(self.cells) >= _MOST_NAMES:
                key = (_OTHERS, length)
            found = self.cells.setdefault(key, Counts())
        return found

    def _calls(self, counts: Counts, calls: Sequence[Mapping[str, str]], tools: str | None) -> None:
        counts.calls += len(calls)
        counts.with_calls += 1
        known = _validators(tools) if tools else {}
        for call in calls:
            name = call["name"]
            _count(self.by_tool, name)
            verdict = _violated(known, name, call["arguments"])
            if verdict is None:
                counts.not_judged += 1
                _count(self.not_judged_by_tool, name)
            elif verdict:
                counts.violating += 1
                _count(self.violating_by_tool, name)

    def _diagnostics(self, counts: Counts, diagnostics: Sequence[Row]) -> Sequence[str]:
        if not diagnostics:
            return ()
        counts.diagnosed += 1
        codes = [diagnostic["code"] for diagnostic in diagnostics]
        counts.unknown_tools += codes.count(UNKNOWN)
        for code in codes:
            _count(self.by_diagnostic, code)
        return codes

    def _wanted(self, why: str, parser: str) -> bool:
        """Return whether the row is kept as a sample: a few for each diagnostic, and one clean row of each parser."""
        key = (why, "" if why else parser)
        if self._sampled[key] >= (_EACH if why else 1) or self._sampled.total() >= _MOST_SAMPLES:
            return False
        self._sampled[key] += 1
        return True

    def _sample(
        self, why: str, parser: str, text: str, prompt: str | None, tools: str | None, diagnostics: Sequence[Row]
    ) -> Sample:
        place = f"row {self.rows:,}" + (f" of {self.place}" if self.place else "")
        shown, tail = text[:_LONGEST], None if prompt is None else prompt[-_LONGEST:]
        return Sample(
            why,
            parser,
            place,
            shown,
            len(text) > _LONGEST,
            tail,
            tools,
            tuple(f"{one['offset']}: {one['text']}" for one in diagnostics),
        )

    def rename(self, place: str, name: str) -> None:
        """Give a file another name in the samples: a temporary one stands for standard output."""
        end = f" of {place}"
        self.samples = [
            replace(one, place=f"{one.place.removesuffix(end)} of {name}") if one.place.endswith(end) else one
            for one in self.samples
        ]

    def to_json(self) -> dict[str, Any]:
        ranked = {"by_tool": self.by_tool, "by_diagnostic": self.by_diagnostic}
        found: dict[str, Any] = {**self.counts.to_json(), **{name: dict(rank(kept)) for name, kept in ranked.items()}}
        found["by_length"] = {shown_length(at): counts.to_json() for at, counts in self.by_length.items()}
        if self.columns.parser:
            found["by_parser"] = {name: counts.to_json() for name, counts in self.by_parser.items()}
        return found


_UNREAD = (NO_PARSER, NOT_READ)
_FIELDS = ("tool_calls", "incomplete", "diagnostics")


def shown_length(at: int) -> str:
    """Return the label of a length: 0 → "< 100", the last → "≥ 1,000,000"."""
    return f"< {LENGTHS[at]:,}" if at < len(LENGTHS) else f"≥ {LENGTHS[-1]:,}"


def _sum(many: Iterable[Counts]) -> Counts:
    total = Counts()
    for one in many:
        total.merge(one)
    return total


@lru_cache(maxsize=_MOST_TOOLS)
def _validators(text: str) -> dict[str, Allowed | None] | None:
    """Return validators by tool name, for tools with a schema; None for a schema that can't be used or tools that can't
    be read."""
    try:
        tools = json.loads(text) if text.strip() else []
    except (ValueError, RecursionError):
        return None
    if tools is not None and not isinstance(tools, list):
        return None
    return dict(_of_tools(tools or ()))


def _of_tools(tools: Iterable[Any]) -> Iterator[tuple[str, Allowed | None]]:
    for tool in tools:
        function = tool.get("function", tool) if isinstance(tool, dict) else {}
        schema = function.get("parameters", function.get("input_schema")) if isinstance(function, dict) else None
        if schema is not None and isinstance(function.get("name"), str):
            yield function["name"], _validator(schema)


def _validator(schema: Any) -> Allowed | None:
    if not isinstance(schema, (dict, bool)):
        return None
    try:
        return Allowed(schema, validator_for(schema))
    except NOT_JUDGED:
        return None


def _violated(known: Mapping[str, Allowed | None] | None, name: str, arguments: str) -> bool | None:
    """Return whether the arguments violate the schema; None if the schema, the tools or the arguments can't be used."""
    if known is not None and name not in known:
        return False
    allowed = None if known is None else known[name]
    try:
        return None if allowed is None else allowed.error(json.loads(arguments)) is not None
    except NOT_JUDGED:
        return None


def _count(counter: Counter[str], name: str, count: int = 1) -> None:
    """Count a name, but only so many different ones: names come from outputs, and there may be as many as rows."""
    counter[name if name in counter or len(counter) < _MOST_NAMES else _OTHERS] += count


def rank(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
