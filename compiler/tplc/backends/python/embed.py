"""Embed the runtime: the definitions a generated parser needs, and only those, as text.

    needed = {"Pairs"}  →  class Marks: …, class Machine: …, class Pairs(Machine): …

Definitions keep the order they have in the runtime's files; module docstrings and imports are left out, and the imports
of the standard library that are needed are gathered.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

FILES = ("message", "markers", "schema", "values", "machine", "objects", "pairs", "elements", "command")


@dataclass(frozen=True, slots=True)
class Definition:
    names: tuple[str, ...]
    text: str
    uses: frozenset[str]
    imports: frozenset[tuple[str, str]]  # (module, name); name "" for `import module`


@dataclass(frozen=True, slots=True)
class Embedded:
    imports: tuple[tuple[str, str], ...]
    text: str


def embed(needed: Iterable[str]) -> Embedded:
    definitions = [definition for file in FILES for definition in _definitions(file)]
    by_name = {name: definition for definition in definitions for name in definition.names}
    open_names, kept = list(needed), set[str]()
    while open_names:
        name = open_names.pop()
        if name in by_name and name not in kept:
            kept.update(by_name[name].names)
            open_names += by_name[name].uses
    chosen = [definition for definition in definitions if kept.intersection(definition.names)]
    imports = {pair for definition in chosen for pair in definition.imports}
    return Embedded(tuple(sorted(imports)), _joined(chosen))


def _joined(definitions: list[Definition]) -> str:
    text = ""
    previous = ""
    for definition in definitions:
        block = _is_block(definition.text)
        if text:
            text += "\n\n\n" if block or _is_block(previous) else "\n"
        text += definition.text
        previous = definition.text
    return text


def _is_block(text: str) -> bool:
    return any(line.startswith(("class ", "def ", "@")) for line in text.splitlines())


@lru_cache(maxsize=None)
def _definitions(file: str) -> tuple[Definition, ...]:
    source = (resources.files("tplc_runtime") / f"{file}.py").read_text(encoding="utf-8")
    lines = source.splitlines()
    tree = ast.parse(source)
    modules = {
        alias.asname or alias.name: (alias.name, "")
        for node in tree.body
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and not node.level and node.module != "__future__":
            modules.update({alias.name: (node.module or "", alias.name) for alias in node.names})
    found = []
    for node in tree.body:
        names = _defined(node)
        if not names:
            continue
        start = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1
        while start and lines[start - 1].startswith("#"):
            start -= 1
        uses = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
        imports = frozenset(modules[name] for name in uses if name in modules)
        text = "\n".join(lines[start : node.end_lineno])
        found.append(Definition(names, text, frozenset(uses - set(names)), imports))
    return tuple(found)


def _defined(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return (node.name,)
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return (node.target.id,)
    if isinstance(node, ast.Assign):
        return tuple(item.id for target in node.targets for item in ast.walk(target) if isinstance(item, ast.Name))
    return ()
