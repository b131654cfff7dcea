"""The examples of this repository, as tests read them.

examples/tagged-json/
    template.jinja      the chat template
    conversation.json   messages, tools, special tokens, and the variables to render it with
    outputs/call.txt    what a model wrote after the prompt
    outputs/call.json   the message that it means, and the variables its prompt was rendered with
    out/                what the compiler makes of the template (`make examples` writes it)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


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
