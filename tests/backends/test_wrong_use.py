"""A parser that is used wrongly reports it: wrong types, text after the end, copies and pickles."""

from __future__ import annotations

import copy
import json
import pickle
import re
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import ir_of
from tests.example_case import committed_parser, load_examples
from tplc.ir.write import write_message

CALL = {"id": None, "type": "function", "function": {"name": "look", "arguments": {"at": "42"}}}
NAMES = [example.name for example in load_examples()]


@pytest.fixture(scope="module", params=NAMES)
def parser(request: pytest.FixtureRequest) -> ModuleType:
    return committed_parser(request.param)


def _text(stream: Any) -> str:
    """Return the text of a part that is text in every format, after any prompt."""
    message = stream.message
    calls = "".join(call["function"]["arguments"] for call in message["tool_calls"])
    return (message["reasoning_content"] or "") + (message["content"] or "") + calls + stream.trailing


WRONG = [(None, "None"), (b"text", "bytes: decode the bytes first"), (["text"], "list"), (7, "int")]


@pytest.mark.parametrize(("value", "kind"), WRONG, ids=[kind for _, kind in WRONG])
def test_wrong_types_name_the_argument(parser: ModuleType, value: Any, kind: str) -> None:
    wrong = re.escape(f"expected text (str), got {kind}")
    with pytest.raises(TypeError, match=f"^text: {wrong}$"):
        parser.parse(value)
    if value is not None:
        with pytest.raises(TypeError, match=f"^prompt: {wrong}$"):
            parser.parse("Hi.", prompt=value)
        with pytest.raises(TypeError, match=rf"^texts\[1\]: {wrong}$"):
            parser.parse_many(["Hi.", value])
    stream = parser.StreamParser()
    for before in ("", "Hi", " you"):  # in every way that text takes through the parser
        stream.feed(before)
        with pytest.raises(TypeError, match=f"^chunk: {wrong}$"):
            stream.feed(value)
    stream.finish()
    assert _text(stream) == "Hi you"


@pytest.mark.parametrize(("texts", "kind"), [("Hi.", "str"), (b"Hi.", "bytes"), (5, "int"), (None, "NoneType")])
def test_what_is_no_list_of_texts(parser: ModuleType, texts: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=f"^texts: expected a list of texts, got {kind}$"):
        parser.parse_many(texts)


def test_lists_of_another_length_are_refused(parser: ModuleType) -> None:
    given = ["Hi.", None]
    for prompts in ([], [None], ["", "", ""]):
        with pytest.raises(ValueError, match=rf"^prompts: expected 2, one for each text, got {len(prompts)}$"):
            parser.parse_many(iter(given), prompts=prompts)
    assert len(parser.parse_many(iter(given), prompts=[None, None])) == len(parser.parse_many(given)) == 2


def test_lists_of_tools_of_another_length_are_refused() -> None:
    module = committed_parser("parameter-tags")
    for tools in ([[TOOL]], [[TOOL], None, [TOOL]]):
        with pytest.raises(ValueError, match=rf"^tools: expected 2 lists, one for each text, got {len(tools)}$"):
            module.parse_many(["Hi.", None], tools=tools)


TOOL = {"type": "function", "function": {"name": "look", "parameters": {"properties": {"at": {"type": "string"}}}}}
NOT_JSON = "the tools are not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ([TOOL], ""),
        ((TOOL,), ""),
        (TOOL, ""),
        (TOOL["function"], ""),
        ({"tools": [TOOL]}, ""),
        (json.dumps([TOOL]), ""),
        (json.dumps({"tools": [TOOL]}), ""),
        ("{", NOT_JSON),
        (7, "the tools are no list"),
        ({"tools": 7}, "the tools are no list"),
        ([7], "a tool has no name"),
        ([{"type": "function", "function": {"parameters": {}}}], "a tool has no name"),
        ([{"type": "function", "function": {"name": "", "parameters": {}}}], "a tool has no name"),
        ({"look": {}}, "a tool has no name"),
    ],
    ids=repr,
)
def test_tools_are_read_or_reported(tools: object, problem: str) -> None:
    module = committed_parser("parameter-tags")
    text = write_message(ir_of("parameter-tags"), {"role": "assistant", "content": None, "tool_calls": [CALL]})
    stream = module.StreamParser(tools=tools)
    stream.feed(text)
    stream.finish()
    row, _ = module.parse_many([text, None], tools=[tools, None])  # a list of objects is one list of tools
    arguments = '{"at": 42}' if problem else '{"at": "42"}'
    assert module.parse(text, tools=tools)["tool_calls"][0]["function"]["arguments"] == arguments
    assert row["tool_calls"][0]["arguments"] == arguments
    noted = [{"offset": 0, "text": problem, "code": "tools_not_read"}] if problem else []
    assert [note._asdict() for note in stream.diagnostics] == row["diagnostics"] == noted


def test_one_tool_that_is_none_leaves_the_others() -> None:
    module = committed_parser("parameter-tags")
    text = write_message(ir_of("parameter-tags"), {"role": "assistant", "content": None, "tool_calls": [CALL]})
    assert module.parse(text, tools=[7, TOOL])["tool_calls"][0]["function"]["arguments"] == '{"at": "42"}'


def test_text_of_another_class(parser: ModuleType) -> None:
    class Text(str):
        __slots__ = ()

    assert parser.parse(Text("Hi.")) == parser.parse("Hi.")


def test_text_after_the_end_is_reported_and_kept(parser: ModuleType) -> None:
    stream = parser.StreamParser()
    stream.feed("Hi.")
    stream.finish()
    message, trailing, before = stream.message, stream.trailing, len(stream.diagnostics)
    assert [stream.feed(text) for text in ("", " more", "", " and more")] == [[]] * 4
    assert stream.finish() == []
    assert stream.message == message
    assert stream.trailing == trailing + " more and more"
    late = stream.diagnostics[before:]
    found = [(one.offset >= 3, one.text, one.code) for one in late]
    assert found == [(True, "text after the output was finished", "text_after_finish")]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_a_copy_goes_on_by_itself(parser: ModuleType, copied: Any) -> None:
    stream = parser.StreamParser()
    stream.feed("Hi")
    twin = copied(stream)
    twin.feed(" you")
    stream.feed(" there")
    for one in (stream, twin):
        one.finish()
    assert [_text(one) for one in (stream, twin)] == ["Hi there", "Hi you"]


def test_a_pickle_is_refused(parser: ModuleType) -> None:
    with pytest.raises(TypeError, match=r"^a parser cannot be pickled: keep the text that it was fed, and feed that "):
        pickle.dumps(parser.StreamParser())
