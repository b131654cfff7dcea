"""Raw values that only what follows them ends: the grammar takes what the parser reads back, and only whole calls."""

from __future__ import annotations

import functools
import itertools
import json
import random
from dataclasses import replace
from typing import Any

import pytest

from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import tool
from tests.gbnf.walk import Walker
from tests.raw_lines import OWN, source_of
from tplc.backends.gbnf import grammar
from tplc.backends.python import generate
from tplc.driver import learn_format, open_renderer
from tplc.ir.nodes import TemplateIR, Text
from tplc.verify.artifact import Artifact, load_artifact

TEXT = {"type": "string"}
KNOWN = [tool("f", {"a": TEXT, "b": TEXT}, ("a",))]
ANY = [tool("f", {"a": TEXT, "b": TEXT}, ("a",), additionalProperties=TEXT)]
NESTED = [tool("f", {"a": {"type": "array", "items": TEXT}, "b": {"type": "object"}}, ("a",))]
PIECES = ("x", ",", " ", "b", "=", ")", "]", "f(", "\n", "a=")

OWN_PIECES = {
    "list": ("x", "\n", " ", "- ", "b", " = ", "## call f", "~~~"),
    "closed list": ("x", "\n", " ", "- ", "b", " = ", "</call>", "<call>"),
    "ruled list": ("x", "\n", " ", "* ", "b", ": ", "## call f", "---"),
    "indented": ("x", "\n", "  ", "b", ": ", "</call>", "<call>use: f", "with:"),
    "tokens": ("x", " ", "<|key|>", "-", "is|>", "<|used|>", "<|use|>f"),
    "words": ("x", " ", "b", "=", "/>", "<call is='", "f'", "<end>"),
}


@functools.cache
def _own(name: str) -> tuple[TemplateIR, Artifact]:
    source = source_of(name)
    with open_renderer(source, name=name) as renderer:
        ir = learn_format(renderer, name=name, source_text=source)
    return ir, load_artifact(generate(ir))


@functools.cache
def _raw(closer: str) -> tuple[TemplateIR, Artifact]:
    """Return a format with calls such as [f(a=x, b=y)], and its parser."""
    ir = formats()["bare-keyword-calls"].ir
    assert ir.tools.dialect is not None
    top = replace(ir.tools.dialect.top, strings=())
    call = (*ir.tools.call[:-1], Text(closer))
    ir = replace(ir, tools=replace(ir.tools, call=call, dialect=replace(ir.tools.dialect, top=top)))
    return ir, load_artifact(generate(ir))


def _read(parser: Artifact, tools: list[dict[str, Any]], text: str) -> tuple[str | None, list[Any]]:
    message = parser.parse(text, tools=tools, prompt=None)
    return message["content"], [json.loads(call["function"]["arguments"]) for call in message["tool_calls"] or ()]


def _rewritten(ir: TemplateIR, parser: Artifact, tools: list[dict[str, Any]], text: str) -> str | None:
    """Return the same call in the template's own spelling; None if arguments come twice, or there is no call."""
    message = parser.parse(text, tools=tools, prompt=None)
    calls = [json.loads(call["function"]["arguments"], object_pairs_hook=list) for call in message["tool_calls"] or ()]
    if not calls or any(len(dict(pairs)) < len(pairs) for pairs in calls):
        return None
    return written(ir, calls_message(*(("f", dict(pairs)) for pairs in calls), content=message["content"]))


@pytest.mark.sweep(6)
@needs_engine
@pytest.mark.parametrize("tools", [KNOWN, ANY], ids=["known keys", "any keys"])
@pytest.mark.parametrize("closer", [")", ")</call>"])
def test_against_the_parser(closer: str, tools: list[dict[str, Any]]) -> None:
    ir, parser = _raw(closer)
    made = grammar(ir, tools=tools, tool_choice="required").text
    taken = 0
    for pieces in itertools.product((*PIECES, closer), repeat=3):
        value = "".join(pieces)
        if value != value.strip():
            continue
        for arguments in ({"a": value}, {"a": value, "b": "y"}):
            text = written(ir, calls_message(("f", arguments)))
            content, calls = _read(parser, tools, text)
            if accepts(made, text):
                # Perhaps as other arguments, or as more calls than one.
                taken += 1
                assert content is None and calls, text
            else:
                assert calls != [arguments], text
    assert taken > 500


@pytest.mark.sweep(8)
@needs_engine
@pytest.mark.parametrize("tools", [KNOWN, ANY], ids=["known keys", "any keys"])
@pytest.mark.parametrize("name", OWN)
def test_what_is_taken_is_read_back(name: str, tools: list[dict[str, Any]]) -> None:
    ir, parser = _own(name)
    made = grammar(ir, tools=tools, tool_choice="required").text
    taken = refused = 0
    for pieces in itertools.product(OWN_PIECES[name], repeat=3):
        arguments = {"a": "".join(pieces), "b": "y"}
        text = written(ir, calls_message(("f", arguments)))
        content, calls = _read(parser, tools, text)
        if accepts(made, text):
            taken += 1
            assert content is None, text
            assert written(ir, calls_message(*(("f", call) for call in calls))) == text
        else:
            refused += calls == [arguments]
    # Nearly all that is read back is taken.
    assert taken > 200
    assert refused < 20


@needs_engine
@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("value", ["Oslo", "a = b", "two words", "it's (so): 1, 2", "Grüße, 世界"])
def test_ordinary_text_is_taken(name: str, value: str) -> None:
    ir, _ = _own(name)
    made = grammar(ir, tools=KNOWN, tool_choice="required").text
    assert accepts(made, written(ir, calls_message(("f", {"a": value, "b": value}), ("f", {"a": value}))))


@pytest.mark.sweep(8)
@needs_engine
@pytest.mark.parametrize("tools", [KNOWN, ANY], ids=["known keys", "any keys"])
@pytest.mark.parametrize("name", OWN)
def test_walks_are_read_back(name: str, tools: list[dict[str, Any]]) -> None:
    ir, parser = _own(name)
    walker = Walker(grammar(ir, tools=tools, tool_choice="required").text)
    chance = random.Random(name)
    compared = 0
    for _ in range(100):
        text = walker.text(chance)
        again = _rewritten(ir, parser, tools, text)
        if again is not None:
            # White space around the content and the calls is free.
            assert "".join(again.split()) == "".join(text.split())
            compared += 1
    assert compared > 50


@needs_engine
@pytest.mark.parametrize("name", OWN)
def test_nested_values_of_walks_are_read_back(name: str) -> None:
    ir, parser = _own(name)
    walker = Walker(grammar(ir, tools=NESTED, tool_choice="required").text)
    chance = random.Random(name)
    for _ in range(60):
        text = walker.text(chance)
        _, calls = _read(parser, NESTED, text)
        types = {"a": list, "b": dict}
        assert calls, text
        assert all(isinstance(value, types[key]) for call in calls for key, value in call.items()), text
