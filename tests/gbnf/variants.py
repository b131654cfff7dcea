"""Texts that the parser reads by way of a variant: grammars have to accept them.

The renders of a template with the variant in place of the marker that it stands for, and the outputs of the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.gbnf.tools import tool
from tplc.catalogue import shipped
from tplc.ir.nodes import TemplateIR
from tplc.ir.roles import ROLES, marker_of
from tplc.verify.artifact import Artifact


@dataclass(frozen=True)
class Feed:
    """A turn with calls as verification renders it, after its prompt."""

    text: str
    tools: Sequence[Mapping[str, Any]]
    prompt: str | None
    # The same with the template's own markers in place of a catalogue entry's.
    usual: str = ""


OTHER_FORMS = frozenset(("other_form_of_calls", "call_not_opened"))


def varied(ir: TemplateIR, parser: Artifact, feeds: Sequence[Feed]) -> Iterator[tuple[str, Feed]]:
    """Yield each variant with the first text that differs with it, and that the parser reads as before."""
    for variant in ir.tolerances:
        if variant.kind != "variant" or variant.marker == "turn.ends":
            continue
        for feed in feeds:
            other = feed.text.replace(variant.marker.strip(), variant.text.strip(), 1)
            messages = [parser.parse(text, tools=feed.tools, prompt=feed.prompt) for text in (other, feed.text)]
            if other != feed.text and messages[0] == messages[1]:
                yield variant.text, Feed(other, feed.tools, feed.prompt)
                break


def of_the_catalogue(ir: TemplateIR, parser: Artifact) -> Iterator[tuple[str, Feed]]:
    """Yield the outputs with calls of the catalogue entries that apply to the format."""
    names = {one.entry for one in ir.tolerances if one.kind == "variant"}
    for entry in shipped():
        for output in entry.outputs if entry.name in names else ():
            tools = [with_any(name) for name in dict.fromkeys(name for name, _ in output.calls)]
            if tools and _is_read(parser, output.text, tools):
                yield entry.name, Feed(output.text, tools, None, _as_usual(ir, entry.name, output.text))


def _as_usual(ir: TemplateIR, entry: str, text: str) -> str:
    """Return an entry's output with the template's own markers, where it has others."""
    for variant in ir.tolerances:
        if variant.kind == "variant" and variant.entry == entry and variant.marker in ROLES:
            own, at = marker_of(ir, variant.marker), text.find(variant.text)
            at = text.rfind(variant.text) if variant.marker.endswith("end") else at
            text = text if at < 0 else text[:at] + own.strip() + text[at + len(variant.text) :]
    return text


def _is_read(parser: Artifact, text: str, tools: list[dict[str, Any]]) -> bool:
    """Return whether calls are read in the template's form: grammars have no others."""
    assert parser.stream is not None
    stream: Any = parser.stream(tools=tools)
    stream.feed(text)
    stream.finish()
    return bool(stream.message["tool_calls"]) and OTHER_FORMS.isdisjoint(one.code for one in stream.diagnostics)


def with_any(name: str) -> dict[str, Any]:
    """Return a tool that accepts any arguments."""
    made = tool(name, {})
    return {**made, "function": {**made["function"], "parameters": {"type": "object", "additionalProperties": True}}}
