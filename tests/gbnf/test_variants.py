"""Where the parser reads a variant of a marker, all grammars accept it: for every marker of every example.

So are the catalogue's outputs with calls, for the templates next to the project; `make grammars` has the renders too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tests.lark.engine as lark_engine
from tests.conftest import SHARED
from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import tool
from tests.gbnf.variants import of_the_catalogue
from tests.targets.test_structural_tag import accepts as accepts_tag
from tplc.backends.gbnf import fires_at, grammar
from tplc.backends.lark import NoLark, lark
from tplc.backends.python import generate
from tplc.catalogue import shipped
from tplc.constrained import without_end
from tplc.driver import learn_format, open_renderer, tolerate
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
    """Return the marker with other letters: <call> becomes <cAll>."""
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
    """Return texts with the variant that the parser reads like those without it, together with these."""
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
    """Return the grammars that refuse a text, but accept it as the template writes it."""
    return [
        f"{name}: {text!r}"
        for name, takes in acceptors(ir)
        for text, usual in texts.items()
        if takes(usual) and not takes(text)
    ]


def acceptors(
    ir: TemplateIR, tools: Sequence[Mapping[str, Any]] = TOOLS
) -> Iterator[tuple[str, Callable[[str], bool]]]:
    lazy, eager = grammar(ir, tools=tools), grammar(ir, tools=tools, tool_choice="required")

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
                yield f"lark, {choice}", partial(lark_engine.accepts, lark(ir, tools=tools, tool_choice=choice).text)


@pytest.mark.sweep(40)
@needs_engine
@pytest.mark.parametrize(("name", "marker"), list(cases()))
def test_a_variant_of_a_marker_is_accepted(name: str, marker: str) -> None:
    ir = varied(formats()[name].ir, name, marker)
    if ir is None:
        return
    assert refused(ir, read_so(ir, marker)) == []


def templates_of_entries() -> list[Path]:
    """Return one template for each entry whose outputs have calls: the first that has the pieces of the entry's
    markers."""
    found = []
    for entry in shipped():
        if any(output.calls for output in entry.outputs):
            pieces = [piece for marker in entry.markers for piece in re.findall(r"<[^<>]+>", marker)]
            paths = sorted((SHARED / "templates").glob("*.jinja"))
            found += [path for path in paths if all(piece in path.read_text("utf-8") for piece in pieces)][:1]
    return sorted(set(found))


@pytest.mark.sweep(3)
@needs_engine
@pytest.mark.parametrize("path", templates_of_entries(), ids=lambda path: path.stem)
def test_calls_as_the_catalogue_has_them_are_accepted(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    with open_renderer(source, name=path.name) as renderer:
        ir = tolerate(learn_format(renderer, name=path.name, source_text=source))
    for name, feed in of_the_catalogue(ir, parser_of(ir)):
        text = without_end(ir, feed.text)
        refusing = [target for target, takes in acceptors(ir, feed.tools) if not takes(text)]
        assert refusing == [], (name, text)
