"""No name for two things: each class of the compiler and the runtime has a name that nothing else has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.conftest import ROOT


def named_types(source: str) -> Iterator[tuple[str, bool]]:
    """The names of classes (True), and of other types that a module gives a name to: unions, type variables."""
    tree = ast.parse(source)
    yield from ((node.name, True) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Subscript, ast.BinOp, ast.Call)):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from ((name, False) for name in names if name[0].isupper() and not name.isupper())


def test_no_class_has_the_name_of_something_else() -> None:
    found: dict[str, list[str]] = {}
    classes: set[str] = set()
    for package in ("compiler", "runtime"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for name, is_class in named_types(path.read_text(encoding="utf-8")):
                found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
                classes |= {name} if is_class else set()
    assert {name: found[name] for name in sorted(classes) if len(found[name]) > 1} == {}


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
