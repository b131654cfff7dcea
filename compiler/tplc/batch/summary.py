"""What is in messages, counted: the same from any engine, as it is counted behind them.

Summary().add(table)  →  rows 1,000, calls 1,203, incomplete 2, …
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for

from tplc.batch.columns import Columns

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN = "unknown tool "
_MOST_TOOLS = 1000
_MOST_NAMES = 1000  # so many names of tools, and of diagnostics, are counted apart
_OTHERS = "(others)"


@dataclass(slots=True)
class Summary:
    """`characters`: of the outputs; `violating`: calls whose arguments are not as the tool's schema says."""

    columns: Columns
    tools: object = None
    rows: int = 0
    nulls: int = 0
    characters: int = 0
    with_calls: int = 0
    calls: int = 0
    incomplete: int = 0
    diagnosed: int = 0
    unknown_tools: int = 0
    violating: int = 0
    by_tool: Counter[str] = field(default_factory=Counter)
    by_diagnostic: Counter[str] = field(default_factory=Counter)
    _validators: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    def add(self, table: pa.Table) -> None:
        message = table["message"].combine_chunks().flatten() if self.columns.struct else None
        named = dict(zip(_FIELDS, message, strict=True)) if message is not None else {n: table[n] for n in _FIELDS}
        tools = table[self.columns.tools].to_pylist() if self.columns.tools else None
        texts = table[self.columns.output].to_pylist()
        listed = (named[name].to_pylist() for name in _FIELDS)
        for at, (calls, incomplete, diagnostics) in enumerate(zip(*listed, strict=True)):
            self.rows += 1
            if incomplete is None:
                self.nulls += 1
                continue
            self.characters += len(texts[at]) if isinstance(texts[at], str) else 0
            self.incomplete += incomplete
            self._calls(calls, tools[at] if tools else self.tools)
            self._diagnostics(diagnostics)

    def _calls(self, calls: Sequence[Mapping[str, str]], tools: object) -> None:
        self.calls += len(calls)
        self.with_calls += bool(calls)
        validators = self._validators_of(tools) if calls and tools else {}
        for call in calls:
            _count(self.by_tool, call["name"])
            validator = validators.get(call["name"])
            if validator is not None and not validator.is_valid(json.loads(call["arguments"] or "{}")):
                self.violating += 1

    def _diagnostics(self, diagnostics: Sequence[str]) -> None:
        self.diagnosed += bool(diagnostics)
        for diagnostic in diagnostics:
            text = diagnostic.partition(": ")[2]
            self.unknown_tools += text.startswith(UNKNOWN)
            _count(self.by_diagnostic, UNKNOWN.strip() if text.startswith(UNKNOWN) else text)

    def _validators_of(self, tools: object) -> dict[str, Any]:
        key = tools if isinstance(tools, str) else json.dumps(tools)
        if key not in self._validators:
            if len(self._validators) >= _MOST_TOOLS:
                self._validators.clear()
            self._validators[key] = dict(_validators(key))
        return self._validators[key]

    def figures(self) -> dict[str, int]:
        names = "rows nulls characters with_calls calls incomplete diagnosed unknown_tools violating"
        return {name: getattr(self, name) for name in names.split()}

    def to_json(self) -> dict[str, Any]:
        ranked = {"by_tool": self.by_tool, "by_diagnostic": self.by_diagnostic}
        return {**self.figures(), **{name: dict(_ranked(counts)) for name, counts in ranked.items()}}


_FIELDS = ("tool_calls", "incomplete", "diagnostics")


def _validators(text: str) -> Iterator[tuple[str, Any]]:
    try:
        tools = json.loads(text)
    except (ValueError, RecursionError):
        return
    for tool in tools if isinstance(tools, list) else ():
        function = tool.get("function", tool) if isinstance(tool, dict) else {}
        schema = function.get("parameters") if isinstance(function, dict) else None
        if isinstance(schema, dict) and isinstance(function.get("name"), str):
            validator = validator_for(schema)
            try:
                validator.check_schema(schema)
            except SchemaError:
                continue
            yield function["name"], validator(schema)


def _count(counter: Counter[str], name: str) -> None:
    """Names come from outputs, and there may be as many as rows."""
    counter[name if name in counter or len(counter) < _MOST_NAMES else _OTHERS] += 1


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
