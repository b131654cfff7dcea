"""State what an output means; all engines must read it so.

    case("tagged-json").output("<fn>…").tools(TOOLS).thinking(True).expect(calls=[("get_forecast", {"city": "Oslo"})])

A case is of an example of this repository (by its name), of a template (its source) or of an IR.  `expect` runs the
generated parser on the whole output and one character at a time, and the PEG, and compares whole messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import ModuleType
from typing import Any

import pytest

from tests.example_case import EXAMPLES, load_example
from tests.fuzz.formats import ir_of
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, learn_format, open_renderer
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Engines:
    ir: TemplateIR
    parser: ModuleType
    peg: PegEngine


@dataclass(frozen=True, slots=True)
class Case:
    """A case so far; every method gives a new one."""

    engines: Engines
    text: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    def output(self, text: str) -> Case:
        return replace(self, text=text)

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> Case:
        return self._with(tools=list(tools))

    def prompt(self, text: str) -> Case:
        return self._with(prompt=text)

    def prefilled(self, text: str) -> Case:
        """Let the prompt continue with this much of the answer."""
        return self._with(prompt=self._prompt(lambda head: True) + text, continue_final_message=True)

    def thinking(self, on: bool) -> Case:
        """Choose the generation prompt that leaves reasoning open to the model, or the one that has closed it."""
        closed = self.engines.ir.reasoning.end.strip()
        return self._with(prompt=self._prompt(lambda head: (not closed or closed not in head) == on))

    def keep_reasoning(self) -> Case:
        return self._with(parse_reasoning=False)

    def keep_calls(self) -> Case:
        return self._with(parse_tool_calls=False)

    def echo(self) -> Case:
        return self._with(echo=True)

    def json_content(self) -> Case:
        return self._with(json_content=True)

    def _prompt(self, fits: Any) -> str:
        prompts = self.engines.ir.turn.prompts
        found = [prompt for prompt in prompts if fits(prompt.head)]
        assert found, f"no generation prompt of {self.engines.ir.provenance.name} is like that"
        return "…" + found[0].text

    def _with(self, **options: Any) -> Case:
        return replace(self, options=(*self.options, *options.items()))

    def read_by_all(self) -> dict[str, tuple[Message, bool]]:
        """Return each engine's message, and whether it is incomplete."""
        options = dict(self.options)
        results = {}
        for name, chunks in (("parser", [self.text]), ("stream", list(self.text))):
            stream = self.engines.parser.StreamParser(**options)
            for chunk in chunks:
                stream.feed(chunk)
            stream.finish()
            results[name] = (stream.message, stream.incomplete)
        parsed = self.engines.peg.read(self.text, **options)
        results["peg"] = (dict(parsed.message), parsed.incomplete)
        return results

    def expect(
        self,
        content: str | None = None,
        *,
        reasoning: str | None = None,
        calls: Sequence[tuple[Any, ...]] = (),
        incomplete: bool = False,
    ) -> None:
        """Assert the message that all engines read. `calls` are (name, arguments) or (name, arguments, id). Arguments
        are a value, or the exact text: "…" and the rest if the prompt has begun the call."""
        expected = {
            "role": "assistant",
            "content": content,
            "reasoning_content": reasoning,
            "tool_calls": [_call(*call) for call in calls],
        }
        results = self.read_by_all()
        wrong = [
            name
            for name, (message, cut) in results.items()
            if (_spelled_as(message, expected), cut) != (expected, incomplete)
        ]
        if wrong:
            lines = [f"{name:8} {json.dumps(list(result), ensure_ascii=False)}" for name, result in results.items()]
            wanted = json.dumps([expected, incomplete], ensure_ascii=False)
            pytest.fail(
                "\n".join([f"{', '.join(wrong)} read it otherwise", *lines, f"expected {wanted}"]), pytrace=False
            )


def _call(name: str, arguments: object, call_id: str | None = None) -> Message:
    text = arguments.removeprefix("…") if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def _spelled_as(message: Message, expected: Message) -> Message:
    """Return the message; arguments that mean the same as the expected ones are spelled like those."""
    calls = []
    for index, call in enumerate(message["tool_calls"]):
        function = dict(call["function"])
        wanted = expected["tool_calls"][index : index + 1]
        if wanted and _same_value(function["arguments"], wanted[0]["function"]["arguments"]):
            function["arguments"] = wanted[0]["function"]["arguments"]
        calls.append({**call, "function": function})
    return {**message, "tool_calls": calls}


def _same_value(first: str, second: str) -> bool:
    try:
        return bool(json.loads(first) == json.loads(second))
    except ValueError:  # the rest of arguments is no JSON
        return False


def case(template: str | TemplateIR) -> Case:
    return Case(_engines(template))


@lru_cache(maxsize=64)
def _engines(template: str | TemplateIR) -> Engines:
    ir = template if isinstance(template, TemplateIR) else _format(template)
    return Engines(ir, load_module(generate(ir, "python")), PegEngine(ir))


def _format(template: str) -> TemplateIR:
    if "\n" not in template and (EXAMPLES / template / "template.jinja").is_file():
        return ir_of(load_example(EXAMPLES / template))
    with open_renderer(template) as renderer:
        return learn_format(renderer, name="template.jinja", source_text=template)
