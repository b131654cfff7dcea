"""Names in the compiler and the runtime: none for two things, and the field's terms (docs/ir.md) where they exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.conftest import ROOT

# Household words, each of which had several meanings, and what to say instead.
HOUSEHOLD = {
    r"(un)?dress(es|ed|ing)?": "wrap, layout",
    r"eats?|eaten|ate": "consume, read",
    r"held": "pending, partial, reached, excluded, …",
    r"(un)?said": "emitted, prefilled, written, keywords, …",
    r"(un)?told": "reported, message, details, …",
    r"behind": "after",
    r"beside": "next to, around, other, …",
    r"anew": "again",
    r"signs": "characters",
}
PUBLIC = {"unsaid"}  # a deprecated argument of `tplc.compile_template`
PARTS_OF_NAMES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def named_types(source: str) -> Iterator[tuple[str, bool]]:
    """Yield the names of classes (True), and of other types that a module gives a name to: unions, type variables."""
    tree = ast.parse(source)
    yield from ((node.name, True) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Subscript, ast.BinOp, ast.Call)):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from ((name, False) for name in names if name[0].isupper() and not name.isupper())


PLUGINS = "compiler/tplc/targets/plugins/source"


def test_no_class_has_the_name_of_something_else() -> None:
    found: dict[str, list[str]] = {}
    classes: set[str] = set()
    for package in ("compiler", "runtime"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for name, is_class in named_types(path.read_text(encoding="utf-8")):
                found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
                classes |= {name} if is_class else set()
    # One of the two stands in each plug-in, under the name that the rest of the plug-in uses.
    assert found.pop("AnswerText") == [f"{PLUGINS}/{name}_text.py" for name in ("plain", "token")]
    assert {name: found[name] for name in sorted(classes & found.keys()) if len(found[name]) > 1} == {}


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Yield lines and names that are defined, used or passed; not words of texts and comments."""
    for node in ast.walk(ast.parse(source)):
        names: list[str | None] = []
        if isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, (ast.arg, ast.keyword)):
            names = [node.arg]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, ast.alias):
            names = [node.name.rpartition(".")[2], node.asname]
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            names = [*node.names]
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            names = [node.name]
        elif isinstance(node, ast.MatchMapping):
            names = [node.rest]
        yield from ((getattr(node, "lineno", 0), name) for name in names if name is not None)


def household(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield lines, names and better words."""
    for line, name in identifiers(source):
        yield from ((line, name, terms) for terms in better_terms(name))


@cache
def better_terms(name: str) -> list[str]:
    words = [word.lower() for word in PARTS_OF_NAMES.findall(name)]
    return [
        terms
        for pattern, terms in HOUSEHOLD.items()
        if name not in PUBLIC and any(re.fullmatch(pattern, word) for word in words)
    ]


def test_no_household_words() -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{line}: {name}: {terms}"
        for package in ("compiler", "runtime")
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, name, terms in household(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_household_words_are_found_in_names_of_any_kind() -> None:
    lines = [
        "import eat as dress",  # 1
        "from a import NOTHING_SAID",
        "class HeldText: ...",
        "def _told(said, *held, **eaten): global unsaid",
        "a._held(told=1).untold",  # words: allowed
        "try: ...",
        "except E as told: ...",  # 7  words: allowed
        "match a:",
        "    case [held, *said]: ...",
        "    case {**told}: ...",
        "theatre, heat, threshold, withheld, holds = 'held', 'said', 1, 2, 3  # told",  # 11  words: allowed
        "unsaid = dressing = undressed_by = 0",
    ]
    assert sorted((line, name) for line, name, _ in household("\n".join(lines))) == [
        (1, "dress"),
        (1, "eat"),
        (2, "NOTHING_SAID"),
        (3, "HeldText"),
        (4, "_told"),
        (4, "eaten"),
        (4, "held"),
        (4, "said"),
        (5, "_held"),
        (5, "told"),
        (5, "untold"),
        (7, "told"),
        (9, "held"),
        (9, "said"),
        (10, "told"),
        (12, "dressing"),
        (12, "undressed_by"),
    ]


def test_what_has_a_name() -> None:
    lines = [
        "class A:",
        "    class B: ...",
        "Row = list[int]",
        "Id = int | str",
        "Any = TypeVar('T')",
        "LIMIT = len('x')",
    ]
    assert dict(named_types("\n".join(lines))) == {"A": True, "B": True, "Row": False, "Id": False, "Any": False}
