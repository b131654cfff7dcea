"""Texts that hold no call stay as they are, in every example's format (`make prose` reads them in more)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fuzz.formats import formats, named
from tests.kept.plain_text import Counts, read_all, texts, without
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate
from tplc.ir.nodes import GenerationPrompt
from tplc.lower import lower
from tplc.lower.interpret import interpret
from tplc.verify.artifact import load_module

NAMES = [one.name for one in formats()]


@pytest.mark.sweep(9)
@pytest.mark.parametrize("name", NAMES)
def test_no_call_is_read_and_nothing_is_lost(name: str) -> None:
    one, counts = named(name), Counts()
    read_all(name, one.ir, one.parser.parse, counts)
    assert counts.read > 80
    assert counts.shown == []


@pytest.mark.parametrize("name", ["addressed-parts", "bare-json", "forced-open", "string-delimiters", "plain-chat"])
def test_the_grammar_reads_them_so(name: str) -> None:
    one = named(name)
    engine = PegEngine(one.ir)
    for text in texts()[::4]:
        assert engine.parse(text) == one.parser.parse(text), text


def test_a_closer_in_the_prompt_is_no_slip() -> None:
    """White space that the template writes after the closer is dropped whether `stray_closers` is tolerated or not."""
    ir = named("forced-open").ir
    end = ir.reasoning.end.strip()
    prompt = GenerationPrompt((), ir.turn.prompts[0].text.removesuffix(ir.turn.prompts[0].head) + end, end)
    ir = replace(
        ir,
        reasoning=replace(ir.reasoning, end=end + " " * 6),
        turn=replace(ir.turn, prompts=(prompt,), other_heads=()),
    )
    for format_ in (ir, without(ir, "stray_closers")):
        parser, engine = load_module(generate(format_, "python")), PegEngine(format_)
        for text, content in (("    def f():\n        return 1", "def f():\n        return 1"), ("      x", "x")):
            readings = [parser.parse(text), engine.parse(text), interpret(lower(format_), text).message]
            assert [reading["content"] for reading in readings] == [content] * 3
    kept = load_module(generate(without(ir, "stray_closers"), "python")).parse("It is" + end + " two.")
    assert kept["content"] == "It is" + end + " two."
