"""The examples of this repository, as tests read them.

examples/tagged-json/
    template.jinja      the chat template
    conversation.json   messages, tools, special tokens, and the variables to render it with
    outputs/call.txt    what a model wrote after the prompt
    outputs/call.json   the message that it means, and the variables its prompt was rendered with
    out/                what the compiler generates from the template (`make examples` writes it)
examples/parsers/
    bare_json.py        parser of examples/bare-json; examples named in `STANDALONE` have theirs in out/parser.py
    _tplc_runtime.py    the runtime that these parsers share
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tplc.driver import GrammarOptions, ParserOptions, generate, load_ir
from tplc.ir.nodes import TemplateIR
from tplc.ir.runtimes import RUNTIME_FILE
from tplc.verify.artifact import load_module

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PARSERS = EXAMPLES / "parsers"
SHARED_RUNTIME = PARSERS / RUNTIME_FILE
# Their parsers are committed in full: plain chat, one format with JSON arguments, one with another syntax of calls.
STANDALONE = frozenset({"keyword-calls", "plain-chat", "tagged-json"})


@dataclass(frozen=True, slots=True)
class Output:
    """One raw output of a model, and the message that a parser makes of it."""

    title: str
    text: str
    variables: dict[str, Any]
    incomplete: bool
    message: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    folder: Path
    source: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    special_tokens: dict[str, str]
    variables: list[dict[str, Any]]
    outputs: tuple[Output, ...]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def parser(self) -> Path:
        """Return the committed parser."""
        if self.name in STANDALONE:
            return self.out / "parser.py"
        return PARSERS / f"{self.name.replace('-', '_')}.py"


def generated_parser(example: Example, ir: TemplateIR) -> str:
    """Returns the text that belongs in `example.parser`."""
    if example.name in STANDALONE:
        return generate(ir, "python")
    command = f"tplc compile {example.name}/template.jinja -o parsers/{example.parser.name} --runtime shared"
    return generate(ir, "python", GrammarOptions(parser=ParserOptions(runtime="shared"), command=command))


@cache
def committed_parser(name: str) -> ModuleType:
    """Import the committed parser of an example, with the committed runtime if it shares that."""
    runtime = None if name in STANDALONE else _read(SHARED_RUNTIME)
    return load_module(_read(load_example(EXAMPLES / name).parser), runtime=runtime)


@cache
def standalone_parser(name: str) -> str:
    """Returns the text of a parser in one file, generated from the committed IR of an example."""
    return generate(load_ir(_read(EXAMPLES / name / "out" / "ir.json")), "python")


def load_examples() -> list[Example]:
    return [load_example(path.parent) for path in sorted(EXAMPLES.glob("*/template.jinja"))]


def load_example(folder: Path) -> Example:
    conversation = json.loads(_read(folder / "conversation.json"))
    return Example(
        folder=folder,
        source=_read(folder / "template.jinja"),
        messages=conversation["messages"],
        tools=conversation["tools"],
        special_tokens=conversation["special_tokens"],
        variables=conversation["variables"],
        outputs=tuple(_load_output(path) for path in sorted(folder.glob("outputs/*.txt"))),
    )


def _load_output(path: Path) -> Output:
    expected = json.loads(_read(path.with_suffix(".json")))
    return Output(path.stem, _read(path), expected["variables"], expected["incomplete"], expected["message"])


def _read(path: Path) -> str:
    # Line ends are part of what a model wrote: no translation.
    return path.read_bytes().decode("utf-8")
