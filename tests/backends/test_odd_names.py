"""Names and keys may contain the texts that end others, or be empty; an answer may consist of white space."""

from __future__ import annotations

from typing import Any

import pytest

from tests.backends.parsers import parser_for, streamed
from tests.conftest import ROOT
from tests.fluent import case
from tplc.backends.peg.engine import PegEngine
from tplc.driver import learn_format, open_renderer
from tplc.ir.write import write_message

KEYS = ["a=b", "a b", "it's", 'say "hi"', "<k>", "&lt;k&gt;", "k" * 80, "a/b", "a, b", "x\ny", "[k]", "a:b", "用", ""]
# Of each format: a call with one argument, and with it between others.
CALLS = {
    "keyword-calls": ('<.code.>[look({key}="Oslo")]<./code.>', '<.code.>[look(p="1", {key}="Oslo", r="x")]<./code.>'),
    "bare-keyword-calls": ('[look({key}="Oslo")]', ""),
    "parameter-tags": (
        "<deed>\n<do=look>\n<with={key}>\nOslo\n</with>\n</do>\n</deed>",
        "<deed>\n<do=look>\n<with=p>\n1\n</with>\n<with={key}>\nOslo\n</with>\n<with=r>\nx\n</with>\n</do>\n</deed>",
    ),
    "key-value-tags": (
        "\n[ability]look\n[k]{key}[/k]\n[v]Oslo[/v]\n[/ability]",
        "\n[ability]look\n[k]p[/k]\n[v]1[/v]\n[k]{key}[/k]\n[v]Oslo[/v]\n[k]r[/k]\n[v]x[/v]\n[/ability]",
    ),
    "cdata-values": (
        '<act name="look"><arg key="{key}">Oslo</arg></act>',
        '<act name="look"><arg key="p">1</arg><arg key="{key}">Oslo</arg><arg key="r">x</arg></act>',
    ),
}


def tools(name: str, *keys: str) -> list[dict[str, Any]]:
    properties = {key: {"type": "string"} for key in keys}
    return [{"type": "function", "function": {"name": name, "parameters": {"properties": properties}}}]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", CALLS)
def test_keys_of_the_schema(name: str) -> None:
    one, between = CALLS[name]
    for key in KEYS:
        if name == "bare-keyword-calls" and key in ("", "[k]"):
            continue  # these can't be distinguished from code and lists in answers
        given = case(name).tools(tools("look", "p", key, "r", "a"))
        given.output(one.replace("{key}", key)).expect(calls=[("look", {key: "Oslo"})])
        if between:
            given.output(between.replace("{key}", key)).expect(calls=[("look", {"p": "1", key: "Oslo", "r": "x"})])


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_nested_elements(key: str) -> None:
    """Only the parser is tested: one rule of the PEG says how all elements are closed."""
    text = f'^<jobs>\n^<job of="look">^<p>1^</p>^<{key}>Oslo^</{key}>^</job>\n^</jobs>^[.]^\n'
    read = case("nested-elements").output(text).tools(tools("look", "p", key)).read_by_all()
    for engine in ("parser", "stream"):
        message, incomplete = read[engine]
        assert [call["function"]["name"] for call in message["tool_calls"]] == ["look"]
        assert (message["content"], incomplete) == (None, False)
    assert read["parser"] == read["stream"]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("called", ["ns::f", "a:b", "get_x:0", "a/b:c", "a/b", "f.g", "x" * 80])
def test_names_that_contain_the_text_before_the_number(called: str, known: bool) -> None:
    for name, opened, identifier, end in (
        ("sectioned-ids", "<!calls!><!call!>", f"tools.{called}:0", '<!args!>{"q": 1}<!/call!><!/calls!><!.!>'),
        ("ids-with-names", "[=ask=][=one=]", f"functions.{called}:0", '[=given=]{"q": 1}[=/one=][=/ask=][=close=]'),
    ):
        given = case(name).tools(tools(called, "q")) if known else case(name)
        given.output(opened + identifier + end).expect(calls=[(called, {"q": 1}, identifier)])


@pytest.mark.parametrize("called", ["f§with§g", "§with§", "f§with§", "f"])
def test_names_that_contain_the_text_before_the_arguments(called: str) -> None:
    given = case("tagged-name-json").tools(tools(called, "q"))
    given.output(f'§call§{called}§with§{{"q": 1}}§end§').expect(calls=[(called, {"q": 1})])


def test_a_number_that_is_none() -> None:
    text = "<!calls!><!call!>tools.get:f<!args!>{}<!/call!><!call!>tools.b:1<!args!>{}<!/call!><!/calls!><!.!>"
    case("sectioned-ids").output(text).expect(calls=[("get", {}, "tools.get:f"), ("b", {}, "tools.b:1")])


@pytest.mark.parametrize("text", [" ", "\n", "\n\n", "  \n ", "\t"])
@pytest.mark.parametrize(
    ("name", "end"),
    [("bare-json", "|end of turn|"), ("sectioned-ids", "<!.!>"), ("bare-array", " /over/\n"), ("name-as-key", "%%\n")],
)
def test_white_space_is_an_answer_where_nothing_else_is(name: str, end: str, text: str) -> None:
    case(name).output(text + end).expect(text)
    case(name).output(text).expect(text)


@pytest.mark.parametrize("known", [False, True])
def test_escaped_characters_of_names(known: bool) -> None:
    """If a template writes `&amp;` for `&` in names and keys, the parser undoes it there, and leaves values as they
    are."""
    source = (ROOT / "tests" / "cases" / "learn" / "escaped-characters-of-names.jinja").read_text("utf-8")
    with open_renderer(source, name="characters") as renderer:
        ir = learn_format(renderer, name="characters", source_text=source)
    text = '<do what="a&amp;b&quot;c<d"><with name="k&amp;amp;q">v &amp; w</with></do></turn>'
    given = tools('a&b"c<d', "k&amp;q") if known else None
    module, shared = parser_for(ir), PegEngine(ir).parse(text, tools=given)
    call = {"name": 'a&b"c<d', "arguments": '{"k&amp;q": "v &amp; w"}'}
    wanted = {
        "role": "assistant",
        "content": None,
        "reasoning_content": None,
        "tool_calls": [{"id": None, "type": "function", "function": call}],
    }
    assert module.parse(text, tools=given) == streamed(module, list(text), tools=given) == shared == wanted
    assert write_message(ir, wanted) == text + "\n"


@pytest.mark.parametrize(
    "written",
    ["replace('&', '_')", "replace('<', '-') | replace('>', '-')", "replace('&', 'and')", "replace('\"', \"'\")"],
)
def test_escapes_of_several_characters_are_not_read_back(written: str) -> None:
    """The escaped text is a word or a character that names contain themselves."""
    path = ROOT / "tests" / "cases" / "learn" / "escaped-characters-of-names.jinja"
    own = "replace('&', '&amp;') | replace('\"', '&quot;')"
    source = path.read_text("utf-8").replace(own, written)
    assert written in source
    with open_renderer(source, name="characters") as renderer:
        assert learn_format(renderer, name="characters", source_text=source).tools.replaced == ()
