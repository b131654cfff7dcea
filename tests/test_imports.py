"""Import directions: the stages of the compiler in order, and the runtime with the standard library only.

cli → driver → sources | render | learn | audit | verify | backends → grammars → lower → ir → errors
                                    audit → learn; learn, verify → render
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tplc
from tests.conftest import ROOT

# What each stage may import, itself apart.
ALLOWED = {
    "errors": set(),
    "version": set(),
    "given": set(),
    "code": set(),
    "paths": {"errors"},
    "overwriting": {"errors"},
    "bounds": {"errors", "render"},
    "ir": {"errors"},
    "messages": {"ir"},
    "transformations": {"ir"},
    "examples": {"errors", "ir", "messages"},
    "schemas": {"errors", "ir"},
    "sources": {"paths", "errors", "ir"},
    "render": {"bounds", "errors", "ir"},
    "learn": {"errors", "ir", "messages", "examples", "render", "transformations"},
    "audit": {"errors", "ir", "messages", "learn", "lower", "render"},
    "verify": {"code", "errors", "ir", "messages", "examples", "lower", "render", "transformations"},
    "repair": {"errors", "ir", "learn", "verify"},
    "constrained": {"errors", "ir", "grammars", "verify"},
    "lower": {"errors", "ir"},
    "catalogue": {"paths", "errors", "ir"},
    "grammars": {"errors", "ir", "lower"},
    "backends": {"code", "errors", "given", "ir", "lower", "grammars"},
    "targets": {"errors", "ir", "lower", "render", "verify", "grammars", "backends"},
    "driver": {
        "errors",
        "given",
        "ir",
        "examples",
        "lower",
        "catalogue",
        "sources",
        "render",
        "learn",
        "audit",
        "constrained",
        "repair",
        "verify",
        "backends",
        "targets",
    },
    "cluster": {"errors"},
    "native": {"errors"},
    "parallel": {"bounds", "cluster", "errors"},
    "page": {"errors", "ir"},
    "batch": {"paths", "cluster", "errors", "explain", "ir", "page", "verify"},
    "census": {"paths", "audit", "parallel", "page", "errors", "ir", "sources", "learn", "driver", "project"},
    "project": {
        "paths",
        "overwriting",
        "bounds",
        "errors",
        "ir",
        "examples",
        "catalogue",
        "sources",
        "render",
        "learn",
        "audit",
        "verify",
        "backends",
        "targets",
        "driver",
        "native",
        "parallel",
    },
    "serving": {"conversations", "errors", "given", "ir", "messages", "catalogue", "render", "driver"},
    "explain": {"errors", "given", "ir", "examples", "page", "render", "learn", "lower", "driver"},
    "conversations": {
        "cluster",
        "errors",
        "given",
        "ir",
        "messages",
        "render",
        "learn",
        "verify",
        "driver",
        "explain",
        "batch",
    },
    "design": {"errors", "ir", "messages", "render", "verify"},
    "doctor": {"errors", "ir", "lower", "backends", "targets"},
    "observe": {"paths", "errors", "ir", "page", "verify", "driver"},
    "cli": {
        "paths",
        "overwriting",
        "bounds",
        "errors",
        "ir",
        "catalogue",
        "sources",
        "render",
        "learn",
        "audit",
        "verify",
        "backends",
        "driver",
        "project",
        "targets",
        "doctor",
        "serving",
        "explain",
        "batch",
        "census",
        "conversations",
        "design",
        "native",
        "observe",
        "parallel",
    },
    "xgrammar": {"ir", "backends", "targets"},
    "__main__": {"cli"},
    "__init__": {"errors", "ir", "backends", "conversations", "driver", "explain", "serving"},
}
# Data, not code: who checks something against a schema may load it.
OPEN = {"schemas", "version", "__version__"}
JINJA = ("render/", "learn/candidates.py", "audit/suspects.py", "conversations/source.py")


def modules(package: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        yield path.relative_to(ROOT / package).as_posix(), path


def imports(source: str, package: tuple[str, ...]) -> set[str]:
    """Return the full names of what a module imports; `package` is its own package, for relative imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            name = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            found |= {f"{name}.{alias.name}" for alias in node.names}
    return found


@cache
def imports_of(path: Path, *package: str) -> set[str]:
    return imports(path.read_text(encoding="utf-8"), package)


def stage(relative: str) -> str:
    return relative.partition("/")[0].removesuffix(".py")


def test_compiler_imports_point_one_way() -> None:
    wrong = {}
    for relative, path in modules("compiler/tplc"):
        names = imports_of(path, "tplc", *Path(relative).parent.parts)
        used = {name.split(".")[1] for name in names if name.startswith("tplc.") and name.count(".")}
        wrong[relative] = used - {stage(relative)} - ALLOWED[stage(relative)] - OPEN
    assert {relative: found for relative, found in wrong.items() if found} == {}


def test_backends_do_not_import_one_another() -> None:
    folders = {path.name for path in (ROOT / "compiler/tplc/backends").iterdir() if path.is_dir()}
    wrong = {}
    for relative, path in modules("compiler/tplc/backends"):
        names = imports_of(path, "tplc", "backends", *Path(relative).parent.parts)
        others = folders - {stage(relative)} if "/" in relative else set()
        wrong[relative] = [n for n in names if n.startswith("tplc.backends.") and n.split(".")[2] in others]
    assert {relative: found for relative, found in wrong.items() if found} == {}


def test_jinja_is_imported_where_templates_are_rendered_or_read() -> None:
    found = [
        relative
        for relative, path in modules("compiler/tplc")
        if not relative.startswith(JINJA) and any(name.split(".")[0] == "jinja2" for name in imports_of(path))
    ]
    assert found == []


def test_runtime_imports_the_standard_library_only() -> None:
    wrong = {}
    for relative, path in modules("runtime/tplc_runtime"):
        names = imports_of(path, "tplc_runtime", *Path(relative).parent.parts)
        wrong[relative] = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"tplc_runtime"}
    assert {relative: found for relative, found in wrong.items() if found} == {}


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Imports inside of functions, or for types only, count too."""
    files = {_module(relative): path for relative, path in modules("compiler/tplc")}
    used = {}
    for name, path in files.items():
        found = imports_of(path, *name.split("."))
        # `from tplc.cli import app` imports a module; `from tplc.cli.app import app` what is in one.
        used[name] = {one if one in files else one.rpartition(".")[0] for one in found} & {*files} - {name}
    while leaves := {name for name, rest in used.items() if not rest}:
        used = {name: rest - leaves for name, rest in used.items() if name not in leaves}
    assert sorted(used) == []


def _module(relative: str) -> str:
    parts = relative.removesuffix("__init__.py").removesuffix(".py").strip("/")
    return f"tplc/{parts}".strip("/").replace("/", ".")


def test_relative_imports_are_resolved() -> None:
    source = "from . import a\nfrom ..b import c\nimport d.e\nfrom f import g\n"
    assert imports(source, ("tplc", "learn")) == {"tplc.learn.a", "tplc.b.c", "d.e", "f.g"}


# What a room that makes the rules of a request may import, itself apart.
ROOMS = {
    "regular": set(),
    "schema": {"regular"},
    "dialect": {"regular", "schema"},
    "request": {"regular", "schema", "dialect"},
}


def test_rooms_of_grammars_are_entered_one_way() -> None:
    wrong = {}
    for relative, path in modules("compiler/tplc/grammars"):
        room = relative.partition("/")[0]
        used = {name.split(".")[2] for name in imports_of(path) if name.startswith("tplc.grammars.")}
        wrong[relative] = used - {room} - ROOMS[room] if room in ROOMS else set()
    assert {relative: found for relative, found in wrong.items() if found} == {}


# What the IR holds as layouts, and markers from which a reading would have to be worked out.
LAYOUTS = {
    "tools": {"call", "call_id", "json", "arguments", "section_start", "section_end", "separator"},
    "content": {"start", "end"},
    "reasoning": {"start", "end", "after_content"},
}


def layouts_read(source: str) -> Iterator[str]:
    """Yield the places where a module reads a layout or a marker from the IR: `ir.tools.call`, `tools.section_end`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
            if node.attr in LAYOUTS.get(name, ()):
                yield f"{node.lineno}: {ast.unparse(node)}"


SPELLS = ("compiler/tplc/backends", "compiler/tplc/grammars", "compiler/tplc/targets")


def test_backends_take_layouts_from_the_acceptor() -> None:
    nodes = {"ObjectArguments", "PairArguments", "JsonFields", "CallId"}
    wrong = {}
    for path in [path for part in SPELLS for _, path in modules(part)]:
        names = {name.rpartition(".")[2] for name in imports_of(path) if name.startswith("tplc.ir.nodes.")}
        wrong[str(path)] = [*layouts_read(path.read_text(encoding="utf-8")), *sorted(names & nodes)]
    assert {relative: found for relative, found in wrong.items() if found} == {}


@pytest.mark.parametrize("backend", ["python", "peg"])
def test_parsers_take_nothing_from_what_is_written(backend: str) -> None:
    """The acceptor and the states define what a parser accepts; the texts that the template writes are for grammars."""
    sources = sorted((ROOT / "compiler" / "tplc" / "backends" / backend).glob("*.py"))
    taken = {name for path in sources for name in imports_of(path)}
    assert sources
    assert {name for name in taken if "written" in name} == set()


def test_layouts_are_seen_where_they_are_read() -> None:
    source = "a = ir.tools.call\nb = tools.section_end.strip()\nc = ir.tools.dialect\nd = calls.call\n"
    assert list(layouts_read(source)) == ["1: ir.tools.call", "2: tools.section_end"]


def test_no_folder_has_the_name_of_what_is_offered() -> None:
    """Importing a part of the folder would replace the function."""
    parts = {path.stem for path in (ROOT / "compiler" / "tplc").iterdir()}
    assert parts & set(tplc.__all__) == set()


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(tplc.TplcError, match="no target is called 'nope'"):
        tplc.generate(tplc.compile_template("{% for m in messages %}{{ m.content }}<end>{% endfor %}"), "nope")  # type: ignore[arg-type]
