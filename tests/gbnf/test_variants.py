"""Where the parser reads a variant of a marker, all grammars accept it: for every marker of every example.

The variants of the catalogue are in `tests.gbnf.renders` (`make grammars`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial

import pytest

import tests.lark.engine as lark_engine
from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import tool
from tests.targets.test_structural_tag import accepts as accepts_tag
from tplc.backends.gbnf import fires_at, grammar
from tplc.backends.lark import NoLark, lark
from tplc.backends.python import generate
from tplc.errors import ToleranceError
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.ir.own_markers import own_markers
from tplc.ir.tolerances import apply_tolerances, check_tolerances
from tplc.targets.structural_tag import NoTag, structural_tag
from tplc.verify.artifact import Artifact, load_artifact

TOOLS = [
    tool("look", {"at": {"type": "string"}, "days": {"type": "integer"}}, required=("at",)),
    tool("see", {}),
]
ONE = calls_message(("look", {"at": "it", "days": 2}))
TWO = calls_message(("look", {"at": "it"}), ("see", {}))
THOUGHT = {**ONE, "reasoning_content": "Well."}
SAID = {**ONE, "content": "I look."}
MESSAGES = (ONE, TWO, SAID, THOUGHT, {**TWO, "content": "I look.", "reasoning_content": "Well."})
# Nothing but brackets and words: another spelling of these is no variant that a model writes.
LEAST = 3


def other(marker: str) -> str:
    """The marker with other letters: <call> is <cAll>."""
    at = next((place for place, letter in enumerate(marker) if letter.isalpha()), -1)
    return marker[: at + 1] + "zq" + marker[at + 1 :]


def varied(ir: TemplateIR, place: str, marker: str) -> TemplateIR | None:
    variant = Tolerance("variant", True, marker, other(marker), "seen")
    try:
        check_tolerances(ir, [variant])
    except ToleranceError:
        return None
    return apply_tolerances(ir, [variant])


@functools.cache
def parser_of(ir: TemplateIR) -> Artifact:
    return load_artifact(generate(ir))


def cases() -> Iterator[tuple[str, str]]:
    for name, made in formats().items():
        for marker, place in own_markers(made.ir).items():
            if not place.startswith("turn.") and len(marker) >= LEAST and any(map(str.isalpha, marker)):
                yield name, marker


def read_so(ir: TemplateIR, marker: str) -> dict[str, str]:
    """Texts with the variant that the parser reads as it reads those without, with these."""
    parser, found = parser_of(ir), {}
    for message in MESSAGES:
        if len(message["tool_calls"]) > 1 and not ir.tools.parallel:
            continue
        text = written(ir, message)
        for count in (1, -1):
            changed = text.replace(marker, other(marker), count)
            if changed != text and same(parser, changed, text):
                found[changed] = text
    return found


def same(parser: Artifact, changed: str, text: str) -> bool:
    first, second = (parser.parse(one, tools=TOOLS) for one in (changed, text))
    return bool(first["tool_calls"]) and first == second


def refused(ir: TemplateIR, texts: Mapping[str, str]) -> list[str]:
    """The grammars that refuse a text, and accept it as the template writes it."""
    return [
        f"{name}: {text!r}"
        for name, takes in acceptors(ir)
        for text, usual in texts.items()
        if takes(usual) and not takes(text)
    ]


def acceptors(ir: TemplateIR) -> Iterator[tuple[str, Callable[[str], bool]]]:
    lazy, eager = grammar(ir, tools=TOOLS), grammar(ir, tools=TOOLS, tool_choice="required")

    def from_trigger(text: str) -> bool:
        place = fires_at(lazy.triggers, text)
        return place is not None and accepts(lazy.text, text[place:])

    yield "gbnf, auto", from_trigger
    yield "gbnf, required", partial(accepts, eager.text)
    for choice, made in (("auto", lazy), ("required", eager)):
        with suppress(NoTag):
            yield f"tag, {choice}", partial(accepts_tag, structural_tag(ir, made, parallel=ir.tools.parallel))
        if lark_engine.INSTALLED:
            with suppress(NoLark):
                yield f"lark, {choice}", partial(lark_engine.accepts, lark(ir, tools=TOOLS, tool_choice=choice).text)


@pytest.mark.sweep(4)
@needs_engine
@pytest.mark.parametrize(("name", "marker"), list(cases()))
def test_a_variant_of_a_marker_is_accepted(name: str, marker: str) -> None:
    ir = varied(formats()[name].ir, name, marker)
    if ir is None:
        return
    assert refused(ir, read_so(ir, marker)) == []
