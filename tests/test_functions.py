"""No function is too long to be seen at once, and no class to be read as one; ruff (C901, PLR0912) counts branches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

MOST_LINES = 45
MOST_LINES_OF_CLASS = 350
# One line an option: it declares a command.
DECLARES = {("compiler/tplc/cli/app.py", "parse_")}


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines of a function's body, without its documentation."""
    body = function.body[ast.get_docstring(function) is not None :]
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def long_functions(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and lines_of(node) > MOST_LINES:
            yield node.name


def long_classes(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and (node.end_lineno or 0) - node.lineno + 1 > MOST_LINES_OF_CLASS:
            yield node.name


@pytest.mark.parametrize("package", ["compiler", "runtime"])
def test_functions_can_be_seen_at_once(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    found = {(_name(file), name) for file in files for name in long_functions(file.read_text(encoding="utf-8"))}
    assert found - DECLARES == set()


@pytest.mark.parametrize("package", ["compiler", "runtime"])
def test_classes_can_be_read_as_one(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    found = {(_name(file), name) for file in files for name in long_classes(file.read_text(encoding="utf-8"))}
    assert found == set()


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def test_what_is_too_long() -> None:
    body = "\n".join(["    x = 1"] * MOST_LINES)
    documented = 'def f():\n    """Much.\n\n    More.\n    """\n' + body
    assert list(long_functions(f"def f():\n{body}")) == []
    assert list(long_functions(documented)) == []
    assert list(long_functions(f"def f():\n    y = 2\n{body}")) == ["f"]
    long = "class A:\n" + "\n".join(["    x = 1"] * (MOST_LINES_OF_CLASS - 1))
    assert list(long_classes(long)) == []
    assert list(long_classes(f"{long}\n    y = 2")) == ["A"]
