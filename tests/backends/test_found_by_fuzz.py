"""Outputs that were once read differently in chunks: whole, character by character, and in the chunks that showed
it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.example_case import EXAMPLES
from tests.fuzz.formats import named
from tplc.backends.peg.engine import PegEngine
from tplc.driver import load_ir

OPEN = {"prompt": '^<job of="l">^<k>', "continue_final_message": True}


@pytest.mark.parametrize(
    ("name", "chunks", "given", "content", "arguments"),
    [
        # White space inside of a word of a marker is none of the marker's.
        ("pretty-json", ["o", "Steps ", ":"], {}, "oSteps :", None),
        ("pretty-json", ["o", "Ste", "ps:\n", "```js"], {}, "o", None),
        ("pretty-json", ["o", "Steps:", "``` json"], {}, "oSteps:``` json", None),
        ("pretty-json", ["[St", "eps ", ":```"], {}, "[Steps :", None),
        # What opens the arguments may begin a marker that ends the call.
        ("array-with-ids", ['{{DO}}[{"id":"","name":"n", "arguments": {{', "END}}"], {}, None, "{}"),
        # What opens a pair of an element may begin what opens the calls.
        ("nested-elements", ["^<", "jobs>^<jo", 'b of="'], OPEN, None, '{"jobs": {}}}'),
        # A comma before a comment at the end of a list separates nothing.
        ("closer-with-name", ['\\begin{f}{"to": ["Ana",', "// a"], {}, None, '{"to": ["Ana"]}'),
        # The opener of a string may be cut, and what follows its closer shows that it is one.
        (
            "string-delimiters",
            ['(!ask:f{a:[‹"b', '"', "›,‹", '"c"›', "],d:yes}!)"],
            {},
            None,
            '{"a":["b","c"],"d":true}',
        ),
        # A name may hold what ends names, and white space around that.
        ("sectioned-ids", ["<!call!>tools.l:s\n:0<!args!", ">"], {}, None, "{}"),
        ("sectioned-ids", ["<!call!>tools.l:s:\n0<!ar", "gs!>{}"], {}, None, "{}"),
        ("sectioned-ids", ["<!call!>tools.l:s\n:", "0 <!args!"], {}, "<!call!>tools.l:s\n:0 <!args!", None),
        ("sectioned-ids", ["<!call!>tools.l:s\n", "x:0<!args!>{}"], {}, "<!call!>tools.l:s\nx:0<!args!>{}", None),
    ],
)
def test_the_same_in_any_chunks(
    name: str, chunks: list[str], given: dict[str, Any], content: str | None, arguments: str | None
) -> None:
    parser = named(name).parser
    text = "".join(chunks)
    message = parser.parse(text, **given)
    assert message["content"] == content
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == [arguments] * (arguments is not None)
    for cut in (chunks, list(text), [text]):
        stream = parser.StreamParser(**given)
        for chunk in cut:
            stream.feed(chunk)
        stream.finish()
        assert stream.message == message
    ir = load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))
    assert PegEngine(ir).parse(text, **given)["content"] == content


def test_a_diagnostic_of_a_value_is_reported_at_its_end() -> None:
    text = '<:from assistantto f:><run name="f"><given name="parameters">{"":""}</given>'
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {}}}}}]
    reported = []
    for chunks in ([text], list(text), [text[:-5], text[-5:]]):
        stream = named("addressed-parts").parser.StreamParser(tools=tools)
        for chunk in chunks:
            stream.feed(chunk)
        stream.finish()
        reported.append([tuple(diagnostic) for diagnostic in stream.diagnostics])
    end = text.index("</given>")
    all_in_one = (end, "one argument holds all of them", "arguments_in_one")
    assert reported == [[all_in_one, (len(text), "the output ends inside a call", "ends_in_call")]] * 3
