"""Outputs found by fuzzing: the smallest that showed a defect, and the message it means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.example_case import load_examples
from tests.fuzz.check import check
from tests.fuzz.formats import named
from tplc.ir.write import write_message

# format, output, content, (name, arguments), diagnostics
FOUND = [
    # Arguments that are no object, and that the output's end cut off, were lost.
    (
        "name-as-key",
        '(use[{"f":"abc',
        '"abc"',
        ("f", "{}"),
        ["the output ends inside a call", "the arguments are not an object"],
    ),
    # A value without a key, in the place of a field, was skipped in silence.
    ("open-json", '[=request=]{"function": "f", [1]}', None, ("f", "{}"), ["unknown field ", "call: missing key"]),
    # So was a field that comes again.
    (
        "open-json",
        '[=request=]{"function": "f", "function": "g", "input": {}}',
        None,
        ("f", "{}"),
        ["repeated field function"],
    ),
    (
        "open-json",
        '[=request=]{"function": "f", "input": {}, "input": {"a": 1}}',
        None,
        ("f", "{}"),
        ["repeated field input"],
    ),
    (
        "pretty-json",
        '```json[{"step": "f", "with": {}, "with": ["a',
        None,
        ("f", "{}"),
        ["repeated field with", "the output ends inside a call"],
    ),
    # A key without characters was not translated into JSON.
    (
        "python-literals",
        "[run]{'callable': 'f', 'kwargs': {'': 1, 'b': {'': 2}}}[ran]",
        None,
        ("f", '{"": 1, "b": {"": 2}}'),
        [],
    ),
    # And a second id.
    (
        "array-with-ids",
        '{{DO}}[{"id": "a", "name": "f", "id": "b", "arguments": {}}]',
        None,
        ("f", "{}"),
        ["repeated field id"],
    ),
    # White space that JSON does not know: what became of the white space next to it depended on the chunks.
    ("pretty-json", '```json[{"step": "f", "with": {\n\u2029}}]```', None, ("f", "{\n }"), []),
    # A second name that is another one was dropped in silence; so was one in the closing tag.
    (
        "addressed-parts",
        '<:from assistant to f:><run name="g">\n</run>',
        None,
        ("f", "{}"),
        ["the name comes again as g"],
    ),
    ("closer-with-name", r"\begin{f}{}\end{g}", None, ("f", "{}"), ["the name comes again as g"]),
    # A call's number without what closes it was read as the beginning of the call's object.
    ("forced-closed", '[[call 1{"args": {}, "fn": "f"} [[/call]]', None, ("f", "{}"), []),
    # A line ends a name; whether a marker on the next one broke it depended on the chunks.
    ("key-value-tags", "[ability]o\n[@user@]", None, ("o", "{}"), []),
]


@pytest.mark.parametrize(("name", "text", "content", "call", "diagnostics"), FOUND)
def test_found(name: str, text: str, content: str | None, call: tuple[str, str], diagnostics: list[str]) -> None:
    form = named(name)
    parser = form.parser.StreamParser()
    parser.feed(text)
    parser.finish()
    message = parser.message
    assert check(form, text, {}, list(text)).broken == ()
    functions = [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
    reported = [diagnostic.text for diagnostic in parser.diagnostics]
    assert (message["content"], functions, sorted(reported)) == (content, [call], sorted(diagnostics)), json.dumps(
        message
    )
    assert check(form, text, {}, list(text)).broken == ()


def test_markers_that_overlap() -> None:
    """A marker that doesn't count at its place held back another that begins inside it, only in some chunkings."""
    form = named("tagged-name-json")
    text, options = "§muse§§§call§end§", {"prompt": "§assistant§"}
    assert form.parser.parse(text, **options)["reasoning_content"] == "§§call"
    for at in range(len(text)):
        assert check(form, text, options, [text[:at], text[at:]]).broken == ()


TOOLS = {"tools": named("channels").tools}
# What a chunk's end decided too early: whether a key lacks its quote, a header goes on, an opener comes twice.
CHUNKS = [
    ("array-with-ids", ['{{DO}}{d:e,"s\t:', '"}'], {}),
    ("bare-json", ['{"name":"n"params:{"t\x1c:f', "alse"], {}),
    ("channels", ["{to}{channel listrooms{channel", "}"], TOOLS),
    ("python-literals", ["[run]{'callable':[run]{'callable':'[run]{'callab", "le':'"], {}),
    ("pretty-json", ["Steps:```json T Steps:```jso", "n"], {}),
    ("ids-with-names", ["[=one=]functions.e:1[=given=][=/one=]t", "[=/one=]"], {}),
    ("fenced-json", ["〔一个〕function〔名〕e``````〔/一个〕{", "〔/一个〕"], {}),
    ("recipient-lines", ["everyone\n", "sendnote\n{}"], TOOLS),
    ("markers-by-shape", [" ", ', {"call": "f", "with": {}}'], TOOLS),
    ("recipient-lines", ["==>get_forecast{} ,", ' {"city": "Oslo"}'], TOOLS),
    ("recipient-lines", ["==>get_forecast{}; ", '{"city": "Oslo"}\n'], TOOLS),
    ("parameter-tags", ["<do=sendnote</with>\n", '<with=<deed> <do>\nof."}]\n</with>\n</do>\n</deed>'], TOOLS),
]


@pytest.mark.parametrize(("name", "chunks", "options"), CHUNKS, ids=[chunk[0] for chunk in CHUNKS])
def test_chunks_decide_nothing(name: str, chunks: list[str], options: dict[str, Any]) -> None:
    form, text = named(name), "".join(chunks)
    assert check(form, text, options, chunks).broken == ()
    assert check(form, text, options, list(text)).broken == ()


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", [one.name for one in load_examples() if named(one.name).ir.tools.format != "none"])
@pytest.mark.parametrize("after", ["", "[", "{", ', {"city": "Oslo"}', " and more", "</", '"'])
def test_answers_go_on_after_a_call_of_the_prompt(name: str, after: str) -> None:
    form = named(name)
    call = {"id": "functions.get_forecast:0", "function": {"name": "get_forecast", "arguments": {"city": "Oslo"}}}
    text = write_message(form.ir, {"role": "assistant", "content": None, "tool_calls": [call]})
    for end in range(len(text) - 12, len(text) + 1):
        options = {**TOOLS, "prompt": text[:end], "continue_final_message": True}
        assert check(form, after, options, list(after)).broken == ()


def test_openers_that_come_twice_are_reported() -> None:
    parser = named("ids-with-names").parser.StreamParser()
    parser.feed("[=one=][=one=]functions.t:0[=given=]")
    parser.finish()
    assert [call["function"]["name"] for call in parser.message["tool_calls"]] == ["t"]
    assert [note.text for note in parser.diagnostics] == ["the calls are opened twice", "the output ends inside a call"]


# Calls in another form that the output cuts before anything of them is an argument, and values in another form.
UNACCOUNTED = [
    ("keyword-calls", "<.code.>listrooms{ /"),
    ("keyword-calls", "<.code.>listrooms({"),
    ("words-in-calls", "⟨do getforecast {"),
    ("recipient-lines", 'getforecast{"arguments"{'),
    ("python-literals", "[run]{'callablegetforecast{'arguments'{"),
    ("python-literals", "[run]{'callablelist_rooms','kwargs':'r':{"),
    ("forced-closed", '[[call1]]{"args"{d:{}}"fn"list_rooms'),
    ("nested-elements", '^<job ofgetforecast">^<true>^</true>^<detailed>1^</detailed>'),
    ("open-json", '[=request=]{"function"getforecast,input:`{city'),
    ("recipient-lines", 'getforecast{"arguments"{}}'),
    ("recipient-lines", 'getforecast{"arguments"{==>'),
    ("keyword-calls", '<.code.>listrooms({"arguments"{}}'),
    ("ids-with-names", '[=one=]listrooms{"arguments" {}}'),
    ("python-literals", "[run]{'callablelistrooms','kwargs':'args':{}}"),
    ("addressed-parts", 'to"sendnote<given n=to></given>'),
    ("parameter-tags", "<do=e><with=><with</do></deed>"),
    ("cdata-values", '<actname="g"><argkey=""><arg</act>'),
    ("wrapped-content", "<#act#>"),
    ("json-array", "«wishe»"),
    ("tagged-name-json", "§muse§§assistant§§muse§"),
    ("closer-with-name", "\\reflect{\\assistant\\\\reflect{"),
]


@pytest.mark.parametrize(
    ("name", "opener"),
    [
        ("pretty-json", '```json[{"step": "send_note", '),
        ("open-json", '[=request=]{"function": "send_note", '),
        ("bare-json", '{"name": "send_note", '),
    ],
)
def test_arguments_next_to_the_name_are_json_wherever_they_are_cut(name: str, opener: str) -> None:
    text = '"to": ["a", {"b": [1, tru'
    for end in range(len(text) + 1):
        assert check(named(name), opener + text[:end], TOOLS, [opener + text[:end]]).broken == ()


@pytest.mark.parametrize(("name", "text"), UNACCOUNTED)
def test_nothing_of_a_truncated_call_is_lost(name: str, text: str) -> None:
    assert check(named(name), text, TOOLS, list(text)).broken == ()


@pytest.mark.parametrize(
    ("name", "text"), [("recipient-lines", '"{'), ("keyword-calls", '<.code.>"('), ("channels", "{to}fn..{}")]
)
def test_a_tool_without_a_name_is_not_called(name: str, text: str) -> None:
    tools = [{"type": "function", "function": {"name": "", "parameters": {}}}]
    assert check(named(name), text, {"tools": tools}, list(text)).broken == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tagged-json", '<fn>\n{"tool": "get_forecast", "args": {"city": "\\ud83d"}}\n</fn><~/~>\n'),
        ("tagged-json", '{"name": "get_forecast", "arguments": {"city": "\\ud83d"}}'),
        ("keyword-calls", '<.code.>[get_forecast({"city": "\\ud83d"})]'),
        ("keyword-calls", "<.code.>[get_forecast(city='\\ud83d')]"),
        ("parameter-tags", '<deed>\n<do=get_forecast>\n{"city": "\\ud83d"}\n</do>\n</deed><:>\n'),
    ],
)
def test_half_a_surrogate_pair_in_escapes_stays_an_escape(name: str, text: str) -> None:
    form = named(name)
    assert check(form, text, {"tools": form.tools}, list(text)).broken == ()


def test_an_object_that_cannot_be_read_makes_no_arguments() -> None:
    """An object in the place of all pairs was dropped as a whole if it contained a number that no JSON number can
    be."""
    form = named("keyword-calls")
    text = '<.code.>[get_forecast({"a": 1e9999, "b": 2})]'
    assert check(form, text, {"tools": form.tools}, list(text)).broken == ()
