"""What the tests have servers read: the answers of the examples' verification, and recorded outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tests.example_case import EXAMPLES, load_example
from tplc import driver
from tplc.ir.nodes import TemplateIR
from tplc.verify import Artifact, load_artifact, try_messages
from tplc_runtime.heads import known_head

# All but one that has neither calls nor reasoning.
NAMES = sorted({path.parent.name for path in EXAMPLES.glob("*/template.jinja")} - {"plain-chat"})
# Servers parse no calls of a request without tools.
LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
CUTS = (1, 3, 7, 29)
Read = tuple[str, str, list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Answer:
    """`message` is what our own parser makes of the text."""

    text: str
    prompt: str
    tools: tuple[Mapping[str, Any], ...]
    message: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.prompt[-30:]!r} then {self.text!r}"

    def head(self, name: str) -> str:
        """Return the part of the answer that the prompt contains."""
        turn = ir_of(name).turn
        return known_head(self.prompt, turn.heads, turn.anchors)

    @property
    def ours(self) -> Read:
        """Return what our own parser reads: reasoning, content and calls."""
        calls = [(call["function"]["name"], call["function"]["arguments"]) for call in self.message["tool_calls"]]
        return self.message["reasoning_content"] or "", self.message["content"] or "", calls

    def wanted(self, parser: Any, *, stream: bool) -> Read:
        """Return what a plug-in with `on_incomplete="drop"` reads.

        A call in whose arguments the answer ends isn't in a whole answer; in a stream its arguments are what our own
        parser sends before it knows that the answer is over, so they are not closed.
        """
        ours = parser.StreamParser(tools=self.tools, prompt=self.prompt)
        sent: dict[int, tuple[str, str]] = {}
        for delta in ours.feed(self.text):
            for call in delta.get("tool_calls", ()):
                name, arguments = sent.get(call["index"], ("", ""))
                function = {"name": "", "arguments": "", **call.get("function", {})}
                sent[call["index"]] = (name + function["name"], arguments + function["arguments"])
        ours.finish()
        if not ours.incomplete or not sent or is_json(sent[max(sent)][1]):
            return self.ours
        reasoning, content, calls = self.ours
        return reasoning, content, [*calls[: len(sent) - 1], *([sent[max(sent)]] if stream else [])]

    def stopped(self, name: str) -> Answer:
        """Return the text without the end of the turn, which servers cut off."""
        ends = sorted(ir_of(name).turn.ends, key=len, reverse=True)
        end = next((end for end in ends if self.text.endswith(end)), "")
        return replace(self, text=self.text.removesuffix(end))

    def chunks(self, size: int) -> Iterator[tuple[str, bool]]:
        """Yield chunks, each with whether it is the last."""
        starts = range(0, max(len(self.text), 1), size)
        return ((self.text[at : at + size], at == starts[-1]) for at in starts)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


# Templates from elsewhere, without a folder in examples.
_learned: dict[str, TemplateIR] = {}


@cache
def ir_of(name: str) -> TemplateIR:
    if name in _learned:
        return _learned[name]
    return driver.load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))


@cache
def answers(name: str) -> tuple[Answer, ...]:
    """Return all different answers of an example: with every kind of value, after every prompt, and recorded
    outputs."""
    example = load_example(EXAMPLES / name)
    with driver.open_renderer(example.source, special_tokens=example.special_tokens) as renderer:
        asked = {"tools": example.tools, "add_generation_prompt": True}
        recorded = [
            (output.text, renderer.render(example.messages[:2], **asked, **output.variables))
            for output in example.outputs
        ]
        return _answers(ir_of(name), renderer, recorded, example.tools or [LOOK])


def answers_of_template(name: str, source: str) -> tuple[Answer, ...]:
    """Return the answers of a template from another folder, which is known by this name from then on."""
    with driver.open_renderer(source, name=name) as renderer:
        ir = _learned[name] = driver.tolerate(driver.learn_format(renderer, name=name, source_text=source))
        return _answers(ir, renderer, [], [])


def _answers(
    ir: TemplateIR, renderer: Any, recorded: Sequence[tuple[str, str]], tools: Sequence[Mapping[str, Any]]
) -> tuple[Answer, ...]:
    parser = load_artifact(driver.generate(ir, "python"))
    found: dict[str, Answer] = {}

    def add(text: str, tools: Sequence[Mapping[str, Any]], prompt: str) -> Mapping[str, Any]:
        message: Mapping[str, Any] = parser.parse(text, tools=tools, prompt=prompt)
        found.setdefault(json.dumps([text, prompt, tools]), Answer(text, prompt, tuple(tools), message))
        return message

    def note(text: str, tools: Sequence[Mapping[str, Any]] | None, prompt: str | None) -> Mapping[str, Any]:
        text, prompt = as_generated(ir, text, ir.turn.prompts[0].text if prompt is None else prompt)
        if tools:
            return add(text, tools, prompt)
        message: Mapping[str, Any] = parser.parse(text, prompt=prompt)
        if not message["tool_calls"]:
            add(text, [LOOK], prompt)
        return message

    try_messages(ir, Artifact(note, None), renderer)
    for text, prompt in recorded:
        add(text, tools, prompt)
    return tuple(found.values())


def as_generated(ir: TemplateIR, text: str, prompt: str) -> tuple[str, str]:
    """Return the answer after a generation prompt; history repeats the prompt's part of it, or leaves it out."""
    turn = ir.turn
    if any(prompt.endswith(known.text) for known in turn.prompts):
        return text, prompt
    for head in turn.heads:
        if text.startswith(head):
            return text.removeprefix(head), prompt + head
    return f"Hm.{ir.reasoning.end}{text}" if turn.heads[0] else text, turn.prompts[0].text
