"""Embed the runtime: the definitions a generated parser needs, and only those, as text.

    names = {"Pairs"}  →  class Marks: …, class Machine: …, class Pairs(Machine): …

Definitions keep the order they have in the runtime's files.  Of classes, methods that nothing refers to are left out.
Module docstrings and imports are left out too, and the imports that are needed are gathered.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise

FILES = (
    "message",
    "pattern",
    "markers",
    "schema",
    "values",
    "signs",
    "fence",
    "heads",
    "machine",
    "objects",
    "callobjects",
    "pairs",
    "raw",
    "guess",
    "elements",
    "wraps",
    "batch",
    "openai",
    "command",
)
# Of the runtime that several parsers share, not of a parser that holds its own.
_SHARED_ONLY = "version"
_PUBLIC = frozenset(["feed", "finish", "message", "copy", "trailing"])

Import = tuple[str, str]  # module and name; the name is "" for `import module`


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of a definition: a method, or what is around the methods."""

    method: str
    lines: tuple[str, ...]
    names: frozenset[str]
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Definition:
    names: tuple[str, ...]
    parts: tuple[Part, ...]
    imports: tuple[tuple[str, Import], ...]
    type_imports: tuple[tuple[str, Import], ...]
    only_types: bool


@dataclass(frozen=True, slots=True)
class Embedded:
    imports: tuple[Import, ...]
    type_imports: tuple[Import, ...]
    types: tuple[str, ...]
    text: str


def embed(code: Iterable[str], bases: Sequence[str] = ()) -> Embedded:
    """What `code`, the lines of the parser itself, needs.  Each of `bases` stands on the next, if there are several."""
    words = frozenset(re.findall(r"\w+", "\n".join(code))).union(bases)
    definitions = [definition for file in FILES for definition in _definitions(file)]
    kept, methods = _reachable(definitions, words)
    chosen = [definition for definition in definitions if kept.intersection(definition.names)]
    texts, used = [], set(words)
    for definition in chosen:
        parts = [part for part in definition.parts if not part.method or part.method in methods]
        used.update(name for part in parts for name in part.names)
        text = "\n".join(line for part in parts for line in part.lines)
        for base, other in pairwise(bases):
            text = re.sub(rf"^class {base}\(\w+\):", f"class {base}({other}):", text)
        texts.append(text)
    return Embedded(
        imports=_needed((pair for definition in chosen for pair in definition.imports), used),
        type_imports=_needed((pair for definition in definitions for pair in definition.type_imports), used),
        types=_spaced([text for definition, text in zip(chosen, texts, strict=True) if definition.only_types]),
        text=_joined([text for definition, text in zip(chosen, texts, strict=True) if not definition.only_types]),
    )


def share() -> Embedded:
    """All of the runtime, for the file that parsers share."""
    definitions = [definition for file in (*FILES, _SHARED_ONLY) for definition in _definitions(file)]
    texts = ["\n".join(line for part in definition.parts for line in part.lines) for definition in definitions]
    told = list(zip(definitions, texts, strict=True))
    return Embedded(
        imports=tuple(sorted({pair for definition in definitions for _, pair in definition.imports})),
        type_imports=tuple(sorted({pair for definition in definitions for _, pair in definition.type_imports})),
        types=_spaced([text for definition, text in told if definition.only_types]),
        text=_joined([text for definition, text in told if not definition.only_types]),
    )


def imports_of(code: Iterable[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], Embedded]:
    """What `code` takes from the runtime and from other modules, when it does not hold them itself.

    Returns the names by file of the runtime, those that are types alone, and the imports of other modules.
    """
    names = {node.id for node in ast.walk(ast.parse("\n".join(code))) if isinstance(node, ast.Name)}
    taken: dict[str, tuple[str, ...]] = {}
    types: dict[str, tuple[str, ...]] = {}
    definitions = {file: _definitions(file) for file in (*FILES, _SHARED_ONLY)}
    for file, there in definitions.items():
        for found, only_types in ((taken, False), (types, True)):
            wanted = {name for one in there if one.only_types == only_types for name in one.names if name in names}
            if wanted:
                found[file] = tuple(sorted(wanted))
    all_of = [definition for there in definitions.values() for definition in there]
    outside = Embedded(
        imports=_needed((pair for definition in all_of for pair in definition.imports), names),
        type_imports=_needed((pair for definition in all_of for pair in definition.type_imports), names),
        types=(),
        text="",
    )
    return taken, types, outside


def _reachable(definitions: list[Definition], words: frozenset[str]) -> tuple[set[str], set[str]]:
    """The names of definitions and methods that the words lead to."""
    kept, methods = {"Message", "Delta", "ToolCall", "Function"}, set(_PUBLIC)
    used, size = set(words), -1
    while size != len(used):
        size = len(used)
        for definition in definitions:
            if not (kept | used).intersection(definition.names):
                continue
            kept.update(definition.names)
            for part in definition.parts:
                if part.method in used or part.method in _PUBLIC or part.method.startswith("__") or not part.method:
                    methods.add(part.method)
                    used |= part.names | part.attributes
    return kept, methods


def _needed(imports: Iterable[tuple[str, Import]], used: set[str]) -> tuple[Import, ...]:
    return tuple(sorted({pair for name, pair in imports if name in used}))


def _spaced(texts: list[str]) -> tuple[str, ...]:
    """Definitions inside a block: an empty line around each class."""
    lines: list[str] = []
    for text in texts:
        if text.startswith("class") and lines and lines[-1]:
            lines.append("")
        lines += [*text.split("\n"), ""] if text.startswith("class") else text.split("\n")
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def _joined(texts: list[str]) -> str:
    joined, previous = "", False
    for text in texts:
        block = bool(re.search(r"^(class|def|@)", text, re.M))
        joined += ("\n\n\n" if block or previous else "\n") * bool(joined) + text
        previous = block
    return joined


@cache
def _definitions(file: str) -> tuple[Definition, ...]:
    source = (resources.files("tplc_runtime") / f"{file}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines = source.splitlines()
    guarded = [item for node in tree.body if isinstance(node, ast.If) for item in node.body]
    imports, type_imports = tuple(_imports(tree.body)), tuple(_imports(guarded))
    found = []
    for node in [*guarded, *tree.body]:
        names = _defined(node)
        if names and names != ("TYPE_CHECKING",):
            parts = tuple(_parts(node, lines))
            found.append(Definition(names, parts, imports, type_imports, node in guarded))
    return tuple(found)


def _imports(body: list[ast.stmt]) -> Iterator[tuple[str, Import]]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((alias.name, (alias.name, "")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module and node.module != "__future__":
            yield from ((alias.name, (node.module, alias.name)) for alias in node.names)


def _parts(node: ast.stmt, lines: list[str]) -> Iterator[Part]:
    """The definition's lines, a part for each method and for what is between."""
    start, stop = _first_line(node, lines), node.end_lineno or node.lineno
    if not isinstance(node, ast.ClassDef):
        yield _part("", lines[start:stop], [node], node.col_offset)
        return
    between: list[ast.AST] = [*node.bases]
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            first = _first_line(item, lines)
            while first > start and not lines[first - 1].strip():
                first -= 1
            if first > start:
                yield _part("", lines[start:first], between, node.col_offset)
            start, between = item.end_lineno or item.lineno, []
            yield _part(item.name, lines[first:start], [item], node.col_offset)
        else:
            between.append(item)
    if start < stop:
        yield _part("", lines[start:stop], between, node.col_offset)


def _part(method: str, lines: list[str], nodes: list[ast.AST], indent: int) -> Part:
    walked = [item for node in nodes for item in ast.walk(node)]
    return Part(
        method,
        tuple(line[indent:] for line in lines),
        frozenset(item.id for item in walked if isinstance(item, ast.Name)),
        frozenset(item.attr for item in walked if isinstance(item, ast.Attribute)),
    )


def _first_line(node: ast.stmt, lines: list[str]) -> int:
    decorators = node.decorator_list if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
    start = min([node.lineno, *(item.lineno for item in decorators)]) - 1
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start


def _defined(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return (node.name,)
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return (node.target.id,)
    if isinstance(node, ast.Assign):
        return tuple(item.id for target in node.targets for item in ast.walk(target) if isinstance(item, ast.Name))
    return ()
