"""The printed form of what a parser accepts; tests/test_examples.py has that of the examples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import ir_small
from tests.conftest import ROOT
from tests.example_case import EXAMPLES
from tplc.driver import load_ir
from tplc.ir.nodes import TemplateIR, Verification
from tplc.lower import lower, printed

CASES = ROOT / "tests" / "cases" / "lower"


def formats() -> Iterator[tuple[str, TemplateIR]]:
    for path in sorted(EXAMPLES.glob("*/out/ir.json")):
        yield path.parent.parent.name, load_ir(path.read_text(encoding="utf-8"))
    for name, ir in ir_small.ALL.items():
        yield f"small-{name}", ir


FORMATS = dict(formats())


@pytest.mark.parametrize("name", [name for name in FORMATS if name.startswith("small-")])
def test_printed(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(CASES / f"{name}.txt", printed(lower(FORMATS[name])))


def test_there_is_a_file_for_each_format_and_no_other() -> None:
    assert {path.stem for path in CASES.glob("*.txt")} == set(FORMATS)


def changes(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the same tree with one of its texts or flags changed, for each of them, and its place."""
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        for field in dataclasses.fields(node):
            for where, changed in changes(getattr(node, field.name), f"{path}.{field.name}"):
                yield where, dataclasses.replace(node, **{field.name: changed})
    elif isinstance(node, tuple):
        for index, item in enumerate(node):
            for where, changed in changes(item, path):
                yield where, (*node[:index], changed, *node[index + 1 :])
    elif isinstance(node, bool):
        yield path, not node
    elif isinstance(node, str):
        yield path, node + "~"


# What follows from other facts, which are printed.
DERIVED = (
    ".calls.shape",
    ".calls.object.opener",
    ".calls.object.head",
    ".calls.whole.text",
    ".calls.pairs.value_end.following",
    ".calls.pairs.value.words",
    ".calls.pairs.value_end.closers",
    ".calls.pairs.value.quoted",
    ".calls.pairs.value.guessed",
)


@pytest.mark.parametrize("name", ["bare-json", "closer-with-name", "sectioned-ids", "small-json-calls", "small-tagged"])
def test_every_fact_is_in_print(name: str) -> None:
    acceptor = lower(FORMATS[name])
    text = printed(acceptor)
    same = {where for where, changed in changes(acceptor) if not where.startswith(DERIVED) and printed(changed) == text}
    assert same == set()


def test_it_is_made_once() -> None:
    ir = FORMATS["tagged-json"]
    assert lower(ir) is lower(dataclasses.replace(ir, verification=Verification(verified=True, messages=7)))
