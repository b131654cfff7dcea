"""A parser that is read by every reader at once: the generated parser whole and in chunks, and the PEG.

EveryReader(ir).parse(text, tools=tools)  →  the message; what other readers make of the text is in `.differ`
"""

from __future__ import annotations

from typing import Any

from tests.backends.parsers import streamed
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate
from tplc.errors import UnsupportedTemplate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

CHUNK = 5


class EveryReader:
    def __init__(self, ir: TemplateIR) -> None:
        self.parser = load_module(generate(ir, "python"))
        try:
            self.engine: PegEngine | None = PegEngine(ir)
        except UnsupportedTemplate:  # it can't express escapes
            self.engine = None
        self.differ: list[str] = []

    def parse(self, text: str, *, prompt: str | None = None, tools: Any = None) -> dict[str, Any]:
        message = dict(self.parser.parse(text, prompt=prompt, tools=tools))
        for chunks in (list(text), [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]):
            self._compare("in chunks", text, message, streamed(self.parser, chunks, prompt=prompt, tools=tools))
        if self.engine is not None:
            self._compare("PEG", text, message, dict(self.engine.parse(text, prompt=prompt, tools=tools)))
        return message

    def _compare(self, reader: str, text: str, message: dict[str, Any], other: dict[str, Any]) -> None:
        if _essence(message) != _essence(other):
            self.differ.append(f"{reader}: {_essence(other)}, parser: {_essence(message)}, of {text!r}")


def _essence(message: dict[str, Any]) -> tuple[Any, ...]:
    calls = [call["function"] for call in message["tool_calls"] or ()]
    return message["content"], message["reasoning_content"], calls
