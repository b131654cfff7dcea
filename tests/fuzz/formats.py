"""The parsers that are fuzzed: one for each example, from the IR next to it (or learned, where there is none yet).

formats()  →  Format("tagged-json", ir, outputs=("<call>…", …), tools=[…]), …
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

from tests.conftest import SHARED
from tests.example_case import Example, load_examples
from tplc.driver import generate, learn_format, load_ir, open_renderer
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module


@dataclass(frozen=True, eq=False)
class Format:
    """A format whose parser is generated when somebody asks for it, since pytest lists the formats in each process."""

    name: str
    ir: TemplateIR
    outputs: tuple[str, ...]
    tools: list[dict[str, Any]]

    @cached_property
    def source(self) -> str:
        return generate(self.ir, "python")

    @cached_property
    def parser(self) -> ModuleType:
        return load_module(self.source)


def with_source(form: Format, source: str) -> Format:
    """Return the format with another text as its parser."""
    other = Format(form.name, form.ir, form.outputs, form.tools)
    vars(other)["source"] = source
    return other


@cache
def formats() -> tuple[Format, ...]:
    return tuple(_format(example) for example in load_examples())


def named(name: str) -> Format:
    return next(one for one in formats() if one.name == name)


def _format(example: Example) -> Format:
    return Format(example.name, ir_of(example), tuple(output.text for output in example.outputs), example.tools or [])


def ir_of(example: Example) -> TemplateIR:
    path = example.out / "ir.json"
    if path.is_file():
        return load_ir(path.read_text(encoding="utf-8"))
    with open_renderer(example.source, special_tokens=example.special_tokens) as renderer:
        return learn_format(
            renderer, name="template.jinja", source_text=example.source, special_tokens=example.special_tokens
        )


@cache
def collected_outputs() -> tuple[str, ...]:
    """Return outputs of real models if their folder exists; they don't belong to the examples' formats, so they are
    mere text."""
    path = SHARED / "cases" / "llamacpp.jsonl"
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8") as lines:
        return tuple(text for line in lines if len(text := json.loads(line)["input"]) < 2000)
