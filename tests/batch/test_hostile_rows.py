"""Columns of malformed rows: every row comes back, equal to the plain loop, and is counted."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.batch.test_parse_many import row_of
from tests.conftest import amount
from tests.fuzz.formats import formats, named
from tests.fuzz.outputs import Writer
from tests.fuzz.test_attacks import attacks
from tplc.batch.columns import FLAT, Columns
from tplc.batch.summary import Summary

pa = pytest.importorskip("pyarrow")

from tplc.batch.rows import RowParser  # noqa: E402 - it needs pyarrow

EACH = amount(5, sweep=20)
CALL = '<fn>\n{"name": "look", "arguments": {"at": 5}}\n</fn>'


def corpus() -> list[tuple[str, str]]:
    """Return fuzzed outputs and attacks of each format, as far as a column of text can contain them."""
    found = []
    for form in formats()[:: amount(8, sweep=1)]:
        writer = Writer(form, random.Random(form.name))
        texts = [writer.output()[1] for _ in range(EACH)] + [text[:5000] for _, text in attacks(form)]
        found += [(form.name, text.encode("utf-8", "replace").decode("utf-8")) for text in texts]
    random.Random(0).shuffle(found)
    return found


@pytest.mark.sweep(1)
def test_the_fuzz_corpus_in_a_column() -> None:
    rows = corpus()
    read = RowParser({form.name: form.source for form in formats()}, Columns("text", parser="model"))
    table = read(pa.table({"model": [name for name, _ in rows], "text": [text for _, text in rows]}))
    modules = {form.name: form.parser for form in formats()}
    expected = [row_of(modules[name], text) for name, text in rows]
    assert table["text"].to_pylist() == [text for _, text in rows]
    assert table.select(FLAT).to_pylist() == [written(row) for row in expected]
    summary = Summary.of(read)
    summary.add(table)
    assert (summary.counts.rows, summary.counts.nulls) == (len(rows), 0)
    assert summary.counts.calls == sum(len(row["tool_calls"]) for row in expected)


def written(value: Any) -> Any:
    """Return a text as columns of text contain it: half a surrogate pair, which only an escape can make, as that
    escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [written(entry) for entry in value]
    return {name: written(entry) for name, entry in value.items()} if isinstance(value, dict) else value


def tool(**schema: Any) -> str:
    return json.dumps([{"type": "function", "function": {"name": "look", "parameters": schema}}])


BRANCHING = {f"d{at}": {"anyOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(40)}
TOOLS: list[tuple[str, str | None]] = [
    ("none", None),
    ("empty", ""),
    ("no JSON", "{"),
    ("deep", "[" * 100_000),
    ("deep and closed", "[" * 100_000 + "]" * 100_000),
    ("a number", "7"),
    ("a long number", "9" * 10_000),
    ("an object", '{"look": {}}'),
    ("invalid entries", '[null, 5, "look", [], {"function": 5}, {"function": {"name": {}}}]'),
    ("parameters of wrong types", '[{"name": "look", "parameters": []}, {"name": "look", "parameters": 5}]'),
    ("wrong keywords", tool(type=5, properties=[], required="at")),
    ("an invalid dialect", tool(**{"$schema": ["x"]})),
    ("a reference to nothing", tool(**{"$ref": "#/nothing"})),
    ("a reference to itself", tool(**{"$ref": "#"})),
    ("a reference into the network", tool(**{"$ref": "http://127.0.0.1:9/schema.json"})),
    ("an invalid pattern", tool(properties={"at": {"pattern": "("}}, patternProperties={"(": {}})),
    ("a pattern without end", tool(patternProperties={"^(a+)+$": {}})),
    ("2 ** 40 ways", tool(**{"$defs": {**BRANCHING, "d40": {"type": "string"}}, "$ref": "#/$defs/d0"})),
    ("half a pair", tool(properties={"\ud800": {"type": "string"}})),
    ("an invalid type", tool(properties={"at": {"type": "strange"}})),
]
# Of these at least a part is no list of tools with names.
NOT_READ = ("no JSON", "deep", "deep and closed", "a number", "a long number", "an object", "invalid entries")
# Of these a call of `look` with {"at": 5} cannot be judged; of tools that do not know `look`, nothing can be violated.
NOT_JUDGED = {
    *("no JSON", "deep", "deep and closed", "a number", "a long number", "an object", "parameters of wrong types"),
    *("wrong keywords", "an invalid dialect", "a reference to nothing", "a reference to itself"),
    *("a reference into the network", "an invalid pattern", "2 ** 40 ways", "an invalid type"),
}
TEXTS = [
    CALL,
    CALL.replace("5", "9" * 5000),
    CALL.replace("5", "[" * 5000 + "]" * 5000),
    CALL.replace('"at"', f'"{"a" * 60}!"'),
    CALL.replace("look", r"\ud800"),
    CALL.replace("5", r'"\ud800"'),
    CALL.replace("5", "1e999"),
    CALL.replace("5", "NaN"),
]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("struct", [False, True])
def test_hostile_tools_and_calls_in_a_column(struct: bool) -> None:
    cases = [(text, tools) for text in TEXTS for _, tools in TOOLS]
    source = named("tagged-json").source
    read = RowParser({"": source}, Columns("text", tools="tools", struct=struct))
    table = read(pa.table({"text": [text for text, _ in cases], "tools": [tools for _, tools in cases]}))
    summary = Summary.of(read)
    summary.add(table)
    assert table["text"].to_pylist() == [text for text, _ in cases]
    assert (summary.counts.rows, summary.counts.nulls, summary.counts.calls) == (len(cases), 0, len(cases))
    assert summary.by_diagnostic["tools_not_read"] == len(NOT_READ) * len(TEXTS)


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("name", "tools"), TOOLS, ids=[name for name, _ in TOOLS])
def test_calls_that_cannot_be_checked_are_reported(name: str, tools: str | None) -> None:
    read = RowParser({"": named("tagged-json").source}, Columns("text", tools="tools"))
    table = read(pa.table({"text": [CALL], "tools": pa.array([tools], pa.string())}))
    summary = Summary.of(read)
    summary.add(table)
    assert (summary.counts.calls, summary.counts.not_judged) == (1, name in NOT_JUDGED)
    assert dict(summary.not_judged_by_tool) == ({"look": 1} if name in NOT_JUDGED else {})


def test_arguments_that_are_not_as_the_schema_says() -> None:
    read = RowParser(
        {"": named("tagged-json").source},
        Columns("text"),
        tools=json.loads(tool(properties={"at": {"type": "string"}})),
    )
    summary = Summary.of(read)
    summary.add(read(pa.table({"text": [CALL, CALL.replace("5", '"Oslo"'), CALL.replace("look", "peek")]})))
    assert (summary.counts.violating, dict(summary.violating_by_tool)) == (1, {"look": 1})
