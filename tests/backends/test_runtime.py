"""The pieces of generated parsers, imported as the package tplc_runtime."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tplc_runtime.markers import Marks
from tplc_runtime.schema import item_of, member_of, parameters_of, types_of
from tplc_runtime.values import Reader, Style

WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
JSON = Style((('"', '"', "json"), ("'", "'", "python")), WORDS)
BARE = Style((("~", "~", "none"),), WORDS, ("<", ";", ">", "(", "=", "&", ")"), bare_keys=True)


def read(text: str, style: Style = JSON, *, step: int = 0) -> str:
    """The value as JSON: read at once, or `step` characters at a time."""
    reader = Reader((style, style, style))
    pos = 0
    for end in range(step, len(text), step) if step else ():
        pos = reader.read(text[:end], pos, False)
    reader.read(text, pos, True)
    return reader.take() + reader.close()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": [true, null]}', '{"a": 1, "b": [true, null]}'),
        ('{"a" :1 ,\n"b":[ ] }', '{"a" :1 ,\n"b":[ ] }'),
        ("{'a': True, 'b': None}", '{"a": true, "b": null}'),
        ("{'it': 'it\\'s \"so\"'}", '{"it": "it\'s \\"so\\""}'),
        ("{'x': '\\x41\\101\\U0001f600'}", '{"x": "AA\U0001f600"}'),
        ('{"a": "\\q"}', '{"a": "\\\\q"}'),
        ('{"a": "line\nbreak\x00"}', '{"a": "line\\nbreak\\u0000"}'),
        ('{"a": "\\ud800 \\u00e9"}', '{"a": "\\ud800 \\u00e9"}'),
        ('{"a": [1, 2}', '{"a": [1, 2]}'),
        ('{"a": 1 "b": 2}', '{"a": 1 , "b": 2}'),
        ('{"a": 1,}', '{"a": 1}'),
        ('{"a" 1}', '{"a" : 1}'),
        ('{"a": }', '{"a":  null}'),
        ('{a: Oslo, "b": New York}', '{"a": "Oslo", "b": "New York"}'),
        ('{"a": [+1, .5, 1., 1_000, 0x1F, 007, nan, -Infinity]}',
         '{"a": [1, 0.5, 1.0, 1000, 31, 7, "nan", "-Infinity"]}'),
        ('{"a": 1.5e10}', '{"a": 1.5e10}'),
        ('{"a": "cut', '{"a": "cut"}'),
        ('{"a": {"b": [1, {"c', '{"a": {"b": [1, {"c": null}]}}'),
        ('{"a": "cut \\', '{"a": "cut \\\\"}'),
        ('{"a": 1} rest', '{"a": 1}'),
        ("", "null"),
    ],
)  # fmt: skip
def test_values_become_json(text: str, value: str) -> None:
    assert read(text) == value
    assert read(text, step=1) == value
    json.loads(value)


def test_another_style() -> None:
    assert read('(a=~it\'s \\ "so"~&b=<1;True>)', BARE) == '{"a":"it\'s \\\\ \\"so\\"","b":[1,true]}'


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=12,
    ),
    st.integers(1, 7),
    st.booleans(),
)
def test_json_passes_through(value: Any, step: int, ascii_only: bool) -> None:
    text = json.dumps({"value": value}, ensure_ascii=ascii_only)
    assert read(text) == text
    assert read(text, step=step) == text


@settings(deadline=None)
@given(st.text(alphabet="{}[]\"':,\\ abntruefalsn0123.-+eE\n"), st.integers(1, 5))
def test_anything_becomes_json(text: str, step: int) -> None:
    value = read(text)
    json.loads(value)
    assert read(text, step=step) == value


def test_words_of_json_in_a_dialect_with_other_words_at_once_and_piece_by_piece() -> None:
    words = Style((('"', '"', "json"),), {"True": "true", "False": "false", "None": "null"})
    text = '{"a": true, "b": False, "c": null, "d": "' + "long enough for the fast way " * 4 + '"}'
    for value in (text, text.replace("False", "false")):
        wanted = value.replace(" true", ' "true"').replace(" false", ' "false"').replace("False", "false")
        wanted = wanted.replace(" null", ' "null"')
        assert [read(value, words, step=step) for step in (0, 1, 7)] == [wanted] * 3


def test_depth_costs_no_recursion() -> None:
    text = "[" * 1_000_000
    value = read(text)
    assert value == text + "]" * 1_000_000


def test_long_numbers_stay_text() -> None:
    digits = "9" * 10_000
    assert read(f"[{digits}]") == f"[{digits}]"


@given(
    st.lists(st.text("<ab />", min_size=1, max_size=5), min_size=1, max_size=4),
    st.text("<ab /", max_size=30),
    st.sampled_from(["", "-" * 200]),
)
def test_the_first_marker_is_found_in_short_and_long_text(markers: list[str], text: str, after: str) -> None:
    marks, text = Marks(mark=markers), text + after
    found = (marks.find(text, at, anchored=True) for at in range(len(text)))
    assert marks.find(text, 0) == next(filter(None, found), None)


def test_the_longest_marker_is_found() -> None:
    marks = Marks(call=["\n<call>\n"], calls=["<call> <all>"])
    assert tuple(marks.find("a <call>\n<all>", 0) or ()) == ("calls", 2, 14, "", "")
    assert tuple(marks.find("a <call> b", 0) or ()) == ("call", 2, 8, "\n", "\n")


@pytest.mark.parametrize(
    ("text", "held"),
    [("text", 4), ("text <", 5), ("text\n<ca", 4), ("text <x", 7), ("a\n", 1), ("a <call> \n", 2), ("a <call> <a", 2)],
)
def test_what_may_become_a_marker_is_held(text: str, held: int) -> None:
    assert Marks(call=["\n<call>\n"], calls=["<call> <all>"]).held(text, 0) == held


def test_a_marker_that_ends_like_a_word_is_no_beginning_of_a_word() -> None:
    marks = Marks(all=["to all\n"])
    assert marks.find("to allocate", 0) is None
    assert marks.held("to all", 0) == 0


SCHEMA = {
    "properties": {
        "plain": {"type": "integer"},
        "list": {"type": ["string", "null"]},
        "union": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/City"}]},
        "nullable": {"type": "number", "nullable": True},
        "enum": {"enum": ["a", 1, None]},
        "const": {"const": True},
        "shape": {"properties": {}},
        "items": {"items": {"type": "number"}},
        "open": {},
        "loop": {"$ref": "#/properties/loop"},
        "broken": {"type": 3, "enum": "x"},
    },
    "$defs": {"City": {"type": "object"}},
}


@pytest.mark.parametrize(
    ("key", "types"),
    [
        ("plain", {"integer"}),
        ("list", {"string", "null"}),
        ("union", {"string", "object"}),
        ("nullable", {"number", "null"}),
        ("enum", {"string", "integer", "null"}),
        ("const", {"boolean"}),
        ("shape", {"object"}),
        ("items", {"array"}),
        ("open", None),
        ("loop", None),
        ("broken", None),
        ("missing", None),
    ],
)
def test_types_of_an_argument(key: str, types: set[str] | None) -> None:
    assert types_of(member_of(SCHEMA, SCHEMA, key), SCHEMA) == types


def test_items_of_a_list() -> None:
    assert item_of(SCHEMA["properties"]["items"], SCHEMA) == {"type": "number"}


def test_tools_are_read_piece_by_piece() -> None:
    tools = [{"function": {"name": "f", "parameters": {"a": 1}}}, {"name": "g", "input_schema": {}}, 3, {"function": 1}]
    assert parameters_of(tools) == {"f": {"a": 1}, "g": {}}
    assert parameters_of("f") == {}
