"""Ends of the turn that the output cuts directly after complete calls: dropped and reported, also letters alone."""

from __future__ import annotations

import pytest

from tests.backends.parsers import NAMES, ir_of, parser_of
from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, source_of
from tests.property.every_reader import EveryReader
from tests.slips.bases import MESSAGES, TOOLS
from tests.slips.written import pieces_of, text_of
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template
from tplc_runtime.pattern import LEAST_CUT

CALLING = [name for name in NAMES if ir_of(name).tools.format != "none"]


def cut_answers(name: str, base: str = "call") -> list[str]:
    """Return an answer of the format, cut inside of the end of the turn that follows its calls."""
    ir = ir_of(name)
    head = ir.turn.prompts[0].head if ir.turn.prompts else ""
    pieces = pieces_of(ir, MESSAGES[base], head=head) or []
    at = next((at for at, piece in enumerate(pieces) if piece.kind == "turn_end"), 0)
    core = pieces[at].core if at else ""
    cuts = [core[:size] for size in range(1, len(core))]
    squeezed = [(cut, "".join(cut.split())) for cut in cuts]
    long = [cut for cut, rest in squeezed if len(rest) >= LEAST_CUT - (not rest.isalnum())]
    return [text_of(pieces[:at]) + cut for cut in long]


@pytest.mark.parametrize("name", CALLING)
def test_a_cut_end_after_calls_is_dropped(name: str) -> None:
    engine = PegEngine(ir_of(name))
    for text in cut_answers(name):
        read = []
        for chunks in ([text], list(text)):
            stream = parser_of(name).StreamParser(tools=TOOLS)
            for chunk in chunks:
                stream.feed(chunk)
            stream.finish()
            codes = {diagnostic.code for diagnostic in stream.diagnostics}
            read.append((stream.message, stream.incomplete, [*map(str, stream.diagnostics)]))
            assert stream.message["content"] is None, text
            assert len(stream.message["tool_calls"]) == 1
            assert not codes.isdisjoint(("ends_in_marker", "ends_in_call", "left_over")), (text, codes)
        assert read[0] == read[1]
        peg = engine.read(text, tools=TOOLS)
        assert (peg.message, peg.incomplete) == read[0][:2], text


def test_the_examples_have_such_ends() -> None:
    assert sum(bool(cut_answers(name)) for name in CALLING) >= 15


LETTERS = {  # after calls, and the content that is left
    "\nUse": None,
    "\nUser": None,
    "Use": None,
    "\nUs": "Us",
    "\nUses": "Uses",
    "\nYes. Use": "Yes. Use",
}


@pytest.mark.parametrize("after", LETTERS, ids=repr)
def test_letters_of_a_cut_end_are_dropped_directly_after_calls(after: str) -> None:
    one = "{{- '<call>' ~ (c.function | tojson) ~ '</call>' }}"
    source = source_of(CONTENT + calls(one)).replace("<|e|>", "\\nUser: ")
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert (ir.verification.verified, ir.turn.ends) == (True, ("\nUser: ",))
    readers = EveryReader(ir)
    text = '<call>{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}</call>'
    message = readers.parse(text + after, tools=TOOLS)
    content = (message["content"] or "").strip() or None
    assert (content, len(message["tool_calls"]), readers.differ) == (LETTERS[after], 1, [])


PUNCTUATION = {
    "~.~.~": "It is.",
    "~.~.~.~.": "It is.",
    "~.~.": "It is.~.~.",
    "~.": "It is.~.",
    "~.~.~.~.~ ~": "It is.~.~.~.~.~ ~",
}


@pytest.mark.parametrize("after", PUNCTUATION)
def test_a_cut_end_without_letters_is_dropped_after_content_if_it_is_long(after: str) -> None:
    source = source_of(CONTENT).replace("<|e|>", "~.~.~.~.~j")
    readers = EveryReader(compile_template(source, name="t", special_tokens=TOKENS))
    assert (readers.parse("It is." + after)["content"], readers.differ) == (PUNCTUATION[after], [])


def test_a_cut_end_of_one_repeated_character_is_text() -> None:
    source = source_of(CONTENT).replace("<|e|>", "======j")
    readers = EveryReader(compile_template(source, name="t", special_tokens=TOKENS))
    assert (readers.parse("It is.=====")["content"], readers.differ) == ("It is.=====", [])


@pytest.mark.parametrize("content", ["Like this:\n```python\nx = 1\n```", "see ```", "a `b`", "[1]["])
def test_a_cut_marker_is_dropped_after_what_could_begin_a_longer_one(content: str) -> None:
    """A fence may be around a call, so a call could begin with one that closes code."""
    stream = parser_of("thinking-parts").StreamParser()
    stream.feed(content + "[NE")
    stream.finish()
    assert (stream.message["content"], stream.trailing) == (content, "[NE")
    assert PegEngine(ir_of("thinking-parts")).read(content + "[NE").message == stream.message
