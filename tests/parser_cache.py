"""Formats and parsers of real templates, kept in build/ until the template or the compiler changes.

    read_parser("some__template")  →  the module that `tplc compile` writes for it: learned once, then read from disk

A format is kept by the hash of what learns it, a parser by the hash of all sources, so that a change of a backend or of
the runtime costs no learning.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.conftest import ROOT, SHARED
from tests.recorded import template_path
from tplc.driver import generate, learn_format, load_ir, open_renderer, tolerate
from tplc.examples import Example, read_example
from tplc.ir.nodes import TemplateIR
from tplc.ir.serialize import dumps
from tplc.verify.artifact import load_module

FOLDER = ROOT / "build" / "parsers"
LEARNS = ("compiler/tplc/ir", "compiler/tplc/learn", "compiler/tplc/render")


def read_source(name: str) -> str:
    return template_path(name).read_bytes().decode("utf-8")


def read_pairs(name: str) -> list[Example]:
    """Return example pairs for templates that render no calls."""
    path = SHARED / "cases" / "pairs" / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [read_example(json.loads(line), f"{path.name}: line {i}") for i, line in enumerate(lines, 1)]


@cache
def special_tokens(name: str) -> dict[str, str] | None:
    path = SHARED / "more" / "templates" / "index.json"
    index: list[dict[str, Any]] = json.loads(path.read_bytes()) if path.is_file() else []
    found = {entry["file"]: entry.get("special_tokens") for entry in index}
    return found.get(f"{name}.jinja") or None


def learn(name: str) -> TemplateIR:
    """Return the format of a template as learned, without verification and without a user's tolerances."""
    return learn_text(name, read_source(name), special_tokens(name), read_pairs(name))


def learn_text(name: str, text: str, tokens: Mapping[str, str] | None, examples: Sequence[Example] = ()) -> TemplateIR:
    key = _hash([text, json.dumps(tokens), repr(list(examples)), _sources(*LEARNS)])
    path = FOLDER / f"{name}-{key}.json"
    if not path.is_file():
        with open_renderer(text, name=name, special_tokens=tokens) as renderer:
            ir = learn_format(renderer, name=name, source_text=text, special_tokens=tokens, examples=examples)
        _keep(path, dumps(ir), f"{name}-*.json")
    return load_ir(path.read_text(encoding="utf-8"))


def read_parser(name: str) -> ModuleType:
    ir = tolerate(learn(name))
    path = FOLDER / f"{name}-{_hash([dumps(ir), _sources('compiler/tplc', 'runtime')])}.py"
    if not path.is_file():
        _keep(path, generate(ir, "python"), f"{name}-*.py")
    return load_module(path.read_text(encoding="utf-8"), path.name)


def _keep(path: Path, text: str, older: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(older):
        old.unlink()
    path.write_text(text, encoding="utf-8")


@cache
def _sources(*folders: str) -> str:
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return _hash([path.read_text(encoding="utf-8") for path in files])


def _hash(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
