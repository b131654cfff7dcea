"""No test depends on the clock, because a machine may be busy: tests bound processor time, or count."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.conftest import ROOT

CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns"}
# They wait for another process, and say so when it does not come.
WAITS = {"tests/cli/test_ended.py"}


def asserted_times(source: str) -> Iterator[int]:
    """Yield the lines of assertions that read a clock, or a name that was assigned from one."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        nodes = list(ast.walk(function))
        given = {
            ast.unparse(target)
            for node in nodes
            if isinstance(node, ast.Assign) and _reads_a_clock(node.value, set())
            for target in node.targets
        }
        yield from (node.lineno for node in nodes if isinstance(node, ast.Assert) and _reads_a_clock(node.test, given))


def _reads_a_clock(node: ast.AST, given: set[str]) -> bool:
    return any(
        (isinstance(each, ast.Attribute) and ast.unparse(each.value) == "time" and each.attr in CLOCKS)
        or (isinstance(each, ast.Name) and each.id in given)
        for each in ast.walk(node)
    )


def test_no_assertion_reads_a_clock() -> None:
    paths = sorted((ROOT / "tests").rglob("*.py"))
    found = {path.relative_to(ROOT).as_posix() for path in paths if any(asserted_times(path.read_text("utf-8")))}
    assert found == WAITS


def test_clocks_are_seen() -> None:
    lines = ["start = time.monotonic()", "assert time.monotonic() - start < 1", "took = time.time()", "assert took < 2"]
    assert list(asserted_times("def f():\n    " + "\n    ".join(lines))) == [3, 5]
    assert list(asserted_times("def f():\n    assert time.process_time() < 1\n")) == []
