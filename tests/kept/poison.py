"""Write markers into prompts: a parser must read the answer as if other text were there.

poisons(ir)      →  "<think>", "<bot><think>", "<call>look {"q": "", …
steered(reader)  →  the places and poisons after which an answer is read otherwise; none, if all is well
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.outputs import markers_of
from tplc.errors import TplcError
from tplc.ir.nodes import Json, TemplateIR
from tplc.ir.write import write_message
from tplc.render import Renderer
from tplc.serving.messages import messages_for

TOOLS: list[dict[str, Json]] = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look it up.",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        },
    }
]
HARMLESS = "Nothing of note."
ANSWER = "So it is: 7 degrees."


def poisons(ir: TemplateIR, *, cuts: int) -> list[str]:
    """Return the format's markers and headers, and a call cut at so many places, alone and after the text that starts a
    turn."""
    texts = [*markers_of(ir), *ir.turn.heads]
    if ir.tools.format != "none":
        called = {"name": "look", "arguments": {"q": "Oslo"}}
        call = {"id": "callid000", "type": "function", "function": called}
        whole = write_message(ir, {"role": "assistant", "content": None, "tool_calls": [call]})
        steps = max(1, -(-len(whole) // cuts))
        texts += [whole[:at] for at in range(len(whole), 0, -steps)]
    after_anchors = [anchor + text for anchor in ir.turn.anchors for text in texts]
    return list(dict.fromkeys(text for text in [*texts, *after_anchors] if text.strip()))


@dataclass(slots=True)
class Reader:
    """A template, and what reads its answers: `parse` with the keywords of a parser.

    `substitute`: what the template makes of a poison is not asked, the poison stands in its prompt as it is.
    """

    ir: TemplateIR
    renderer: Renderer
    parse: Any
    substitute: bool = False
    tried: int = 0
    _prompts: dict[str, str | None] = field(default_factory=dict)

    def poisoned(self, place: str, text: str, variables: Mapping[str, Json]) -> str | None:
        if not self.substitute:
            return self.prompt(place, text, variables)
        prompt = self.prompt(place, HARMLESS, variables)
        return prompt.replace(HARMLESS, text) if prompt is not None and HARMLESS in prompt else None

    def prompt(self, place: str, text: str, variables: Mapping[str, Json]) -> str | None:
        """Return the prompt of a conversation with the text in that place; None if the template has no such place."""
        key = repr((place, text, variables))
        if key not in self._prompts:
            messages = messages_for(self.ir, conversation(place, text))
            try:
                rendered = self.renderer.render(messages, tools=TOOLS, add_generation_prompt=True, **variables)
            except TplcError:
                rendered = None
            self._prompts[key] = rendered
        return self._prompts[key]


def conversation(place: str, text: str) -> list[dict[str, Json]]:
    called: Json = {"name": "look", "arguments": '{"q": "Oslo"}'}
    result: list[dict[str, Json]] = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "callid000", "type": "function", "function": called}],
        },
        {"role": "tool", "name": "look", "tool_call_id": "callid000", "content": text},
    ]
    return [
        *([{"role": "system", "content": text}] if place == "system" else []),
        {"role": "user", "content": text if place == "user" else "Hello."},
        *(result if place == "result" else []),
    ]


def steered(reader: Reader, *, cuts: int = 12) -> Iterator[str]:
    for known in reader.ir.turn.prompts:
        variables = dict(known.context)
        for place in ("system", "user", "result"):
            prompt = reader.prompt(place, HARMLESS, variables)
            expected = reader.parse(ANSWER, tools=TOOLS, prompt=prompt)
            for poison in poisons(reader.ir, cuts=cuts) if prompt is not None else ():
                poisoned = reader.poisoned(place, poison, variables)
                if poisoned is None:
                    continue
                reader.tried += 1
                got = reader.parse(ANSWER, tools=TOOLS, prompt=poisoned)
                if got != expected:
                    yield f"{place} {variables}: {poison!r} makes {got} of the answer, not {expected}"
