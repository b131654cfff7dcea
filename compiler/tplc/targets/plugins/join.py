r"""Join several modules in one file: imports first, then the code, in order.

"import json\n…class StreamParser…", "from tplc.… import StreamParser\nclass A(StreamParser)…"
→  "import json\n…class StreamParser…\n\n\nclass A(StreamParser)…"
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tplc.backends.python.emit import UNFORMATTED

_FUTURE = "from __future__ import annotations\n"
# Imports between these modules are dropped: all are in one file.
_RUNTIME = "tplc_runtime"
# What the modules call the parser, its class, or an instance.
_PARSERS = ("StreamParser", "parser", "self._stream")
_OWN = ("tplc.targets.plugins", _RUNTIME)


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module's imports, as (module, name) with the name "" for `import module`, and its code without them.

    `of_runtime`: the names that it takes from the runtime, and the members of the parser that it uses, which the parser
    has to contain.
    """

    imports: tuple[tuple[str, str], ...]
    code: str
    of_runtime: tuple[str, ...] = ()


@cache
def piece(name: str, package: str = "tplc.targets.plugins.source") -> ModuleText:
    """Return a module of `source/`, or of the runtime."""
    text = (resources.files(package) / f"{name}.py").read_text(encoding="utf-8")
    body = [node for node in ast.parse(text).body if not _is_text(node)]
    taken = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    first = next(node for node in body if node not in taken)
    lines = text.splitlines()[_start(first) - 1 :]
    return ModuleText(tuple(_imported(taken)), "\n".join(lines), tuple(_of_runtime(body)))


def join(parser: str, parts: Sequence[ModuleText | str], usage: str) -> str:
    """Join the modules of a plug-in into one; `usage` is written after the first lines of the parser."""
    header, future, rest = parser.partition(_FUTURE)
    first, unformatted, docstring = header.partition(f"{UNFORMATTED}\n")
    imports, _, code = rest.lstrip("\n").partition("\n\n")
    comments = [f"# {line}".rstrip() for line in ["", *usage.splitlines()]]
    own = [pair for part in parts if isinstance(part, ModuleText) for pair in part.imports]
    codes = [part.code if isinstance(part, ModuleText) else part for part in parts]
    blocks = [
        first + "\n".join(comments) + "\n" + unformatted + docstring.rstrip("\n"),
        future.rstrip("\n"),
        *_import_blocks(imports.splitlines(), own),
        code.strip("\n"),
        *("\n" + text.strip("\n") for text in codes),
    ]
    return "\n\n".join(blocks).rstrip("\n") + "\n"


def _import_blocks(of_parser: Sequence[str], own: Iterable[tuple[str, str]]) -> list[str]:
    """Return the imports in blocks: those of the standard library, merged with the parser's, and those of packages."""
    parsed = [node for node in ast.parse("\n".join(of_parser)).body if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {*_imported(parsed), *own}
    standard = {pair for pair in found if pair[0].partition(".")[0] in sys.stdlib_module_names}
    return ["\n".join(_lines(pairs)) for pairs in (standard, found - standard) if pairs]


def _lines(pairs: Iterable[tuple[str, str]]) -> list[str]:
    names: dict[str, set[str]] = {}
    for module, name in pairs:
        names.setdefault(module, set()).add(name)
    plain = [f"import {module}" for module in sorted(names) if "" in names[module]]
    grouped = {module: sorted(named - {""}, key=_order) for module, named in names.items()}
    return [
        *plain,
        *(f"from {module} import {', '.join(grouped[module])}" for module in sorted(grouped) if grouped[module]),
    ]


def _order(name: str) -> tuple[bool, bool, str]:
    """Return a sort key: constants, then classes, then functions."""
    return not name.isupper(), not name[0].isupper(), name


def _imported(nodes: Iterable[ast.stmt]) -> Iterable[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            if not node.module.startswith(_OWN):
                yield from ((node.module, _named(alias)) for alias in node.names)


def _of_runtime(body: Iterable[ast.stmt]) -> Iterable[str]:
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_RUNTIME):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in _PARSERS:
            yield node.attr


def _named(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _start(node: ast.stmt) -> int:
    decorated = node.decorator_list if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
    return min([node.lineno, *(one.lineno for one in decorated)])
