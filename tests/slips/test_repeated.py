"""What comes twice is always reported: an opener or a closer of calls, and an argument, of which readers of JSON differ
in which of the two counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.backends.parsers import NAMES, ir_of, parser_of
from tests.slips.__main__ import AUTHORED, of_template
from tests.slips.bases import TOOLS
from tests.slips.kinds import KINDS, slips
from tests.slips.measure import answers, outcome_of, read
from tests.slips.written import pieces_of, text_of
from tplc.backends.peg.engine import PegEngine
from tplc.ir.nodes import PairArguments

REPEATING = {kind: KINDS[kind] for kind in ("opener twice", "closer twice")}
CALLING = [name for name in NAMES if ir_of(name).tools.format != "none"]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", CALLING)
def test_a_repeated_argument_is_reported(name: str) -> None:
    ir = ir_of(name)
    function = {"name": "get_weather", "arguments": {"city": "Oslo", "citi": "Rome"}}
    head = ir.turn.prompts[0].head if ir.turn.prompts else ""
    pieces = pieces_of(ir, {"tool_calls": [{"type": "function", "function": function}]}, head=head) or []
    text = text_of([replace(piece, text=piece.text.replace("citi", "city")) for piece in pieces])
    assert text.count("city") > 1
    for chunks in ([text], list(text)):
        stream = parser_of(name).StreamParser(tools=TOOLS)
        for chunk in chunks:
            stream.feed(chunk)
        stream.finish()
        assert "repeated_argument" in [diagnostic.code for diagnostic in stream.diagnostics]
        # Two members of a JSON object are what the model wrote; a pair may be of another call.
        assert stream.incomplete == isinstance(ir.tools.arguments, PairArguments)
    peg = PegEngine(ir).read(text, tools=TOOLS)
    assert peg.incomplete == stream.incomplete


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", CALLING)
def test_a_repeated_marker_of_calls_is_reported(name: str) -> None:
    parser = parser_of(name)
    for base, answer in answers(ir_of(name)):
        right, _ = read(parser, answer.text, TOOLS)
        if answer.calls and outcome_of(answer.message, right.message) == "recovered":
            codes = {diagnostic.code for diagnostic in right.diagnostics}
            assert codes.isdisjoint(("calls_opened_twice", "left_over")), answer.text
            for kind, text in slips(answer, REPEATING, most=3):
                stream, _ = read(parser, text, TOOLS)
                assert outcome_of(answer.message, stream.message) == "recovered", (kind, base, text)
                assert stream.diagnostics, (kind, base, text)
                chunked, _ = read(parser, text, TOOLS, list(text))
                assert [*chunked.diagnostics] == [*stream.diagnostics], text


# The second call has no opener of its own; the end of the turn begins like the closer of the calls.
@pytest.mark.parametrize(("name", "kind"), [("tabs", "opener twice"), ("xml-turn", "closer twice")])
def test_only_what_comes_twice_is_reported(name: str, kind: str) -> None:
    _, found = of_template(f"{AUTHORED}authored/{name}", which="issue", kinds=(kind,), two=0, unended=True)
    twice = ("the calls are opened twice", "</turn> is left over after a call")
    assert found
    assert not any(one.chunked for one in found)
    assert all(sum(one.diagnostics.count(note) for note in twice) == (kind == "opener twice") for one in found)
