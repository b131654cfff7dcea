"""Diagnostics are data: each has a code that is listed once, documented, in the schema, and in an output here."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fuzz.formats import named
from tests.slips.bases import TOOLS
from tplc.batch.rows import NO_PARSER, NOT_READ
from tplc.schemas import load_schema
from tplc_runtime.arguments import MISFITS
from tplc_runtime.diagnostics import CODES
from tplc_runtime.objects import AROUND_ARGUMENTS
from tplc_runtime.pairs import NO_KEYS, OBJECT
from tplc_runtime.slots import REPEATED_SLOT
from tplc_runtime.turn import (
    ANOTHER_TURN,
    EMPTY_CALL,
    ENDS_IN_CALL,
    ENDS_IN_REASONING,
    REASONING_NOT_CLOSED,
    REASONING_NOT_OPEN,
    REASONING_TWICE,
    SPELLING,
    TEXT_AFTER_TURN,
)

# The PEG reports no diagnostics.
RUNTIME = [
    path for path in sorted((ROOT / "runtime" / "tplc_runtime").glob("*.py")) if not path.name.startswith("peg_")
]
OUTPUTS = json.loads((ROOT / "tests" / "cases" / "diagnostics.json").read_text(encoding="utf-8"))
# The place of the code in the arguments of what reports a diagnostic.
REPORTING = {
    "_note": 0,
    "_note_damage": 0,
    "_note_repair": 0,
    "_note_truncation": 0,
    "_drop_noted": 0,
    "Diagnostic": 2,
}
# Of rows of a table, of text that is fed too late, and of special tokens: the tests of those compare the codes.
ELSEWHERE = {NO_PARSER, NOT_READ, "tools_not_read", "text_after_finish", "unknown_special_token"}


def reported(path: Path) -> Iterator[tuple[int, set[str]]]:
    """Yield the line of each place that reports a diagnostic, and its codes: literals, or constants of the file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)]
    values = [(target, ast.literal_eval(node.value)) for node in assigned for target in node.targets]
    constants = {target.id: value for target, value in values if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or name not in REPORTING:
            continue
        code = node.args[REPORTING[name]] if len(node.args) > REPORTING[name] else None
        if isinstance(node.args[0] if node.args else None, ast.Starred):
            continue  # a code with its text, below
        if isinstance(code, ast.Name) and code.id == "code":
            continue  # passed on by one of the reporting methods themselves
        parts = [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]
        yield (
            node.lineno,
            {
                str(constants.get(part.id, "") if isinstance(part, ast.Name) else getattr(part, "value", ""))
                for part in parts
            },
        )


def test_every_diagnostic_has_a_listed_code() -> None:
    found = [(path.name, line, codes) for path in RUNTIME for line, codes in reported(path)]
    assert [place for place in found if not place[2] <= set(CODES)] == []
    of_turns = (SPELLING, REASONING_TWICE, ENDS_IN_REASONING, ENDS_IN_CALL, TEXT_AFTER_TURN)
    of_states = (REASONING_NOT_OPEN, REASONING_NOT_CLOSED, EMPTY_CALL, ANOTHER_TURN)
    others = (OBJECT, NO_KEYS, AROUND_ARGUMENTS, *of_turns, *of_states, *MISFITS.values())
    of_tables = {code for code, _ in others} | {REPEATED_SLOT}
    assert set().union(*(codes for _, _, codes in found), of_tables, {NO_PARSER, NOT_READ}) == set(CODES)


def test_every_code_is_documented() -> None:
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, flags=re.MULTILINE)) == CODES
    listed = load_schema("diagnostic")["properties"]["code"]["oneOf"]  # type: ignore[index, call-overload]
    assert {one["const"]: one["description"] for one in listed} == CODES  # type: ignore[index, union-attr]


def test_every_code_is_in_an_output() -> None:
    assert {code for one in OUTPUTS for _, _, code in one["diagnostics"]} | ELSEWHERE == set(CODES)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("case", OUTPUTS, ids=lambda case: case["code"])
def test_diagnostics_of_an_output(case: dict[str, object]) -> None:
    text, parser = str(case["text"]), named(str(case["format"])).parser
    for size in (max(len(text), 1), 1, 3):
        stream = parser.StreamParser(tools=TOOLS if case["tools"] else None)
        for at in range(0, len(text), size):
            stream.feed(text[at : at + size])
        stream.finish()
        assert [list(one) for one in stream.diagnostics] == case["diagnostics"], size


def test_text_after_the_end_hides_no_diagnostic_of_the_output() -> None:
    """What is examined only when somebody asks for diagnostics concerns the output, not what was fed after it."""
    stream = named("tagged-json").parser.StreamParser()
    stream.feed("Hello there.</fn>")
    stream.finish()
    stream.feed("More")
    assert [one.code for one in stream.diagnostics] == ["like_a_marker", "text_after_finish"]
    assert stream.message["content"] == "Hello there.</fn>"


def test_rows_report_what_is_like_a_marker() -> None:
    rows = named("tagged-json").parser.parse_many(["Hello there.</fn>", "Hello there."])
    assert [[one["code"] for one in row["diagnostics"]] for row in rows] == [["like_a_marker"], []]
