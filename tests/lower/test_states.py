"""The states of a turn: their printed form, and the interpreter that defines what they mean against parser and PEG."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.backends.parsers import parser_for
from tests.fuzz.formats import Format, formats
from tests.fuzz.outputs import Writer, random_chunks
from tplc.backends.peg.engine import PegEngine
from tplc.ir.nodes import Tolerance
from tplc.lower import lower
from tplc.lower.interpret import Interpretation, interpret
from tplc.lower.interpret_calls import NotAsWritten
from tplc.lower.printed_states import printed_states, states_graph

CASES = Path(__file__).resolve().parent.parent / "cases" / "states"
NAMES = [form.name for form in formats()]
Golden = Callable[[Path, str], None]


def named(name: str) -> Format:
    return next(form for form in formats() if form.name == name)


@pytest.mark.parametrize("name", ["plain-chat", "tagged-json", "forced-open", "wrapped-content"])
def test_states_are_printed(name: str, golden: Golden) -> None:
    golden(CASES / f"{name}.txt", printed_states(lower(named(name).ir)))


def test_states_are_a_graph(golden: Golden) -> None:
    golden(CASES / "tagged-json.dot", states_graph(lower(named("tagged-json").ir)))


def said(reading: Interpretation) -> tuple[Any, ...]:
    return reading.message, reading.incomplete, reading.trailing, reading.diagnostics


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", NAMES)
def test_the_parser_reads_as_the_interpreter(name: str) -> None:
    form = named(name)
    # The interpreter doesn't know truncated markers of the turn yet.
    ir = replace(form.ir, tolerances=(*form.ir.tolerances, Tolerance("cut_markers", enabled=False)))
    parser = parser_for(ir)
    acceptor, writer = lower(ir), Writer(form, random.Random(f"states {name}"))
    for _ in range(20):
        _, text = writer.output()
        # Of reasoning that a prompt opened, its marker is content where reasoning is not parsed.
        parse_reasoning = bool(acceptor.heads[0]) or writer.rng.random() < 0.7
        expected = said(interpret(acceptor, text, parse_reasoning=parse_reasoning, parse_tool_calls=False))
        for chunks in ([text], random_chunks(text, writer.rng)):
            stream = parser.StreamParser(parse_tool_calls=False, parse_reasoning=parse_reasoning)
            for chunk in chunks:
                stream.feed(chunk)
            stream.finish()
            diagnostics = [tuple(diagnostic) for diagnostic in stream.diagnostics]
            assert (stream.message, stream.incomplete, stream.trailing, diagnostics) == expected, (text, chunks)


def test_a_state_decides_before_the_state_before_content() -> None:
    """At the beginning of an answer, an end of the turn that also occurs in text is text."""
    form = named("name-as-key")
    text = "%%. So.\n(use [] use)%%\n"
    message = form.parser.parse(text, parse_tool_calls=False)
    assert message["content"] == "%%. So.\n(use [] use)"
    assert interpret(lower(form.ir), text, parse_tool_calls=False).message == message


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", NAMES)
def test_the_peg_reads_as_the_interpreter(name: str) -> None:
    form = named(name)
    engine, acceptor = PegEngine(form.ir), lower(form.ir)
    for text in form.outputs:
        read = engine.read(text, parse_tool_calls=False)
        reading = interpret(acceptor, text, parse_tool_calls=False)
        assert (dict(read.message), read.incomplete) == (reading.message, reading.incomplete), text


# Formats whose calls the interpreter doesn't define: their values have a wrapper, a type or elements.
UNDEFINED = {"cdata-values", "nested-elements", "typed-attributes"}


def with_arguments(message: dict[str, Any]) -> dict[str, Any]:
    """Return the message with each call's arguments as an object."""
    calls = [
        {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


@pytest.mark.sweep(9)
@pytest.mark.parametrize("name", NAMES)
def test_calls_are_read_as_the_interpreter_reads_them(name: str) -> None:
    form = named(name)
    ir = replace(form.ir, tolerances=(*form.ir.tolerances, Tolerance("cut_markers", enabled=False)))
    parser, engine, acceptor = parser_for(ir), PegEngine(ir), lower(ir)
    writer, with_calls = Writer(form, random.Random(f"calls {name}")), 0
    for text in [*form.outputs, *(writer.output()[1] for _ in range(40))]:
        try:
            reading = interpret(acceptor, text)
        except NotAsWritten:
            continue
        with_calls += bool(reading.calls)
        for chunks in ([text], random_chunks(text, writer.rng)):
            stream = parser.StreamParser()
            for chunk in chunks:
                stream.feed(chunk)
            stream.finish()
            found = (with_arguments(stream.message), stream.incomplete, stream.trailing)
            assert (*found, [tuple(each) for each in stream.diagnostics]) == said(reading), (text, chunks)
        if text in form.outputs:
            read = engine.read(text)
            assert (with_arguments(dict(read.message)), read.incomplete) == (reading.message, reading.incomplete), text
    assert (with_calls > 0) == (acceptor.calls is not None and name not in UNDEFINED)
