"""What outputs mean, one idea each, read alike by the generated parser, its stream, and the PEG."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.fluent import case
from tests.ir_small import JSON, NAME_THEN_JSON
from tplc.ir.nodes import CallId, IdPosition, Slot, Text

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string"},
                    "days": {"type": "integer"},
                    "exact": {"type": ["boolean", "null"]},
                    "list": {"type": "array"},
                },
            },
        },
    }
]


def test_content_alone() -> None:
    case("tagged-json").output("Hello there.").expect("Hello there.")


def test_turn_end_is_dropped() -> None:
    case("tagged-json").output("Hello there.<~/~>\n").expect("Hello there.")


def test_reasoning_then_content() -> None:
    case("tagged-json").output("<musing>\nHm.\n</musing>\n\nYes.").expect("Yes.", reasoning="Hm.")


def test_reasoning_that_the_prompt_opened() -> None:
    case("forced-open").thinking(True).output("Hm.").expect(reasoning="Hm.", incomplete=True)


def test_reasoning_that_the_prompt_closed() -> None:
    case("tagged-json").thinking(False).output("Yes.").expect("Yes.")


def test_reasoning_is_kept_on_request() -> None:
    kept = "<musing>\nHm.\n</musing>\n\nYes."
    case("tagged-json").keep_reasoning().output(kept).expect(kept)


def test_call() -> None:
    text = '<fn>\n{"name": "look", "arguments": {"place": "Oslo", "days": 2}}\n</fn>'
    case("tagged-json").tools(TOOLS).output(text).expect(calls=[("look", '{"place": "Oslo", "days": 2}')])


def test_arguments_keep_their_spelling() -> None:
    text = '<fn>{"arguments":{"place":"Oslo" ,"days":2.50e1},"name":"look"}</fn>'
    case("tagged-json").output(text).expect(calls=[("look", '{"place":"Oslo" ,"days":2.50e1}')])


def test_calls_are_kept_on_request() -> None:
    text = 'So: <fn>{"name": "look", "arguments": {}}'
    case("tagged-json").keep_calls().output(text).expect(text)


def test_call_after_content() -> None:
    text = 'Let me look.\n<fn>\n{"name": "look", "arguments": {}}\n</fn><~/~>\n'
    case("tagged-json").output(text).expect("Let me look.", calls=[("look", {})])


def test_opener_that_opens_no_call() -> None:
    case("tagged-json").output("Write <fn> and </fn> around it.").expect("Write <fn> and </fn> around it.")


def test_marker_in_a_string_is_text() -> None:
    text = '<fn>\n{"name": "look", "arguments": {"place": "a </fn> b <~/~>"}}\n</fn>'
    case("tagged-json").output(text).expect(calls=[("look", {"place": "a </fn> b <~/~>"})])


def test_python_literals_become_json() -> None:
    text = "<fn>\n{'name': 'look', 'arguments': {'place': 'it\\'s', 'exact': True, 'days': None}}\n</fn>"
    case("tagged-json").output(text).expect(calls=[("look", '{"place": "it\'s", "exact": true, "days": null}')])


def test_arguments_as_a_string() -> None:
    text = '<fn>\n{"name": "look", "arguments": "{\\"place\\": \\"Oslo\\"}"}\n</fn>'
    case("tagged-json").output(text).expect(calls=[("look", '{"place": "Oslo"}')])


def test_cut_arguments_are_closed() -> None:
    text = '<fn>\n{"name": "look", "arguments": {"list": ["a", {"b": "c'
    case("tagged-json").output(text).expect(calls=[("look", '{"list": ["a", {"b": "c"}]}')], incomplete=True)


@pytest.mark.parametrize(
    ("value", "expected", "incomplete"),
    [("2", 2, False), ("two", "two", False), ("[1]", "[1]", True), ("007", 7, False)],
)
def test_raw_value_of_an_integer(value: str, expected: object, incomplete: bool) -> None:
    text = f"[ability]look\n[k]days[/k]\n[v]{value}[/v]\n[/ability]"
    case("key-value-tags").tools(TOOLS).output(text).expect(calls=[("look", {"days": expected})], incomplete=incomplete)


@pytest.mark.parametrize("value", ["2", "true", "[1]", "{}", " padded ", "null"])
def test_raw_value_of_a_string(value: str) -> None:
    text = f"[ability]look\n[k]place[/k]\n[v]{value}[/v]\n[/ability]"
    case("key-value-tags").tools(TOOLS).output(text).expect(calls=[("look", {"place": value})])


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2", 2), ("2.5", 2.5), ("true", True), ("null", None), ('["a"]', ["a"]), ("a b", "a b"), ("007", "007")],
)
def test_raw_value_without_tools(value: str, expected: object) -> None:
    text = f"[ability]look\n[k]x[/k]\n[v]{value}[/v]\n[/ability]"
    case("key-value-tags").output(text).expect(calls=[("look", {"x": expected})])


def test_raw_value_that_is_cut() -> None:
    text = "[ability]look\n[k]place[/k]\n[v]Os"
    case("key-value-tags").tools(TOOLS).output(text).expect(calls=[("look", {"place": "Os"})], incomplete=True)


def test_nested_elements() -> None:
    text = '^<jobs>\n^<job of="look">^<list>^<each>a^</each>^<each>2^</each>^</list>^</job>\n^</jobs>'
    case("nested-elements").output(text).expect(calls=[("look", {"list": ["a", 2]})])


def test_composed_id() -> None:
    text = '<!calls!><!call!>tools.look:0<!args!>{"days": 2}<!/call!><!/calls!>'
    case("sectioned-ids").output(text).expect(calls=[("look", {"days": 2}, "tools.look:0")])


def test_strings_between_delimiters() -> None:
    text = '(!ask:look{place:‹"say "hi""›,exact:yes,list:[1,‹"b"›]}!)'
    case("string-delimiters").output(text).expect(
        calls=[("look", {"place": 'say "hi"', "exact": True, "list": [1, "b"]})]
    )


def test_bare_object_is_a_call_only_of_a_tool() -> None:
    text = '{"name": "look", "parameters": {"days": 2}}'
    case("bare-json").tools(TOOLS).output(text).expect(calls=[("look", {"days": 2})])
    other = '{"name": "Ana", "parameters": {"days": 2}}'
    case("bare-json").tools(TOOLS).output(other).expect(other)


def test_keyword_arguments() -> None:
    text = "[look(place='Oslo', days=2, exact=None)]"
    calls = [("look", {"place": "Oslo", "days": 2, "exact": None})]
    case("bare-keyword-calls").tools(TOOLS).output(text).expect(calls=calls)


def test_prefilled_answer() -> None:
    case("tagged-json").prefilled("Once upon").output(" a time.").expect(" a time.")
    case("tagged-json").prefilled("Once upon").echo().output(" a time.").expect("Once upon a time.")


def test_channels() -> None:
    text = "{channel}notes{body}Hm.{stop}{start}assistant{channel}reply{body}Yes.{done}"
    case("channels").output(text).expect("Yes.", reasoning="Hm.")


# What is broken


def test_a_call_ends_the_reasoning() -> None:
    text = '{"arguments": {"days": 2}, "name": "look"}'
    case("tagged-json").output(f"<musing>\nHm.\n<fn>\n{text}\n</fn>").expect(
        reasoning="Hm.", calls=[("look", {"days": 2})]
    )
    case("tagged-json").output(f"<musing>\nHm.\n<fn>\n{text[:-1]}").expect(
        reasoning="Hm.", calls=[("look", {"days": 2})], incomplete=True
    )


@pytest.mark.parametrize(
    "text", ['See <fn>\n{"nam": {}}\n</fn>', '<fn>\n{"name": ""}\n\n</fn> <fn> x', "a <fn>{\n</fn>"]
)
def test_white_space_around_a_failed_call_stays(text: str) -> None:
    case("tagged-json").output(text).expect(text)


def test_white_space_after_a_call_that_has_no_closer_stays() -> None:
    text = '〔/思考〕〔调用〕〔一个〕function〔名〕look\n```json\n{"days": 2}\n:'
    case("fenced-json").output(text).expect("\n:", calls=[("look", {"days": 2})])


def test_reasoning_ends_failed_call_text() -> None:
    text = "See <fn>{</fn> <musing>\nHm.\n</musing>\n\nYes.</fn>"
    case("tagged-json").output(text).expect("See <fn>{</fn> Yes.</fn>", reasoning="Hm.")
    text = 'See <fn>{"a": 1} </fn> <musing>\nHm.\n</musing>\n\nYes.</fn>'
    case("tagged-json").output(text).expect('See <fn>{"a": 1} </fn> Yes.</fn>', reasoning="Hm.")


def test_arguments_that_are_no_object_are_content_once() -> None:
    for text, content in (('"arguments": "so", "name": "look"', '"so"'), ('"name": "look", "arguments": [1]', "[1]")):
        read = case("tagged-json").output(f"<fn>{{{text}}}</fn>")
        read.expect(content, calls=[("look", {})], incomplete=True)
    text = '<fn>{"arguments": "so"}</fn>'
    case("tagged-json").output(text).expect(text)


@pytest.mark.parametrize(
    ("arguments", "expected", "is_guessed"),
    [
        ('{"a": 1, "b" 2 "c": [3 4]}', {"a": 1, "b": 2, "c": [3, 4]}, False),
        ('{"a": [1, {"b": 2}, "c": "}"}', {"a": [1, {"b": 2}, "c", "}"]}, True),
        ('{"a": {"b": [1, 2}, "c": 3}', {"a": {"b": [1, 2]}, "c": 3}, True),
        ('{"a": ]] 1, "b":: x y\n, c: 007}', {"a": 1, "b": "x y", "c": 7}, False),
        ("{'a': it's, \"b\": \"it's\"}", {"a": "it's", "b": "it's"}, False),
        ('{"a": "x\\q", {"b": 1}}', {"a": "x\\q", "": {"b": 1}}, True),
        ('{"a": 1_000 .5, 0x1F, "b": nan}', {"a": 1000, '.5, 0x1F, "b': "nan"}, True),
    ],
)
def test_broken_arguments(arguments: str, expected: dict[str, object], is_guessed: bool) -> None:
    """If a repair had to guess where a value ends, the message is incomplete."""
    text = f'<fn>\n{{"name": "look", "arguments": {arguments}}}\n</fn>Yes.'
    case("tagged-json").output(text).expect("Yes.", calls=[("look", expected)], incomplete=is_guessed)


def test_broken_call_objects() -> None:
    text = '<fn>{"name" look, "arguments" {"a": 1} "x"}</fn>Yes.'
    case("tagged-json").output(text).expect("Yes.", calls=[("look", {"a": 1})])
    text = '[[call 1]] {"args" {"days" 2}, fn: "look"]} [[/call]]Yes.'
    case("forced-closed").output(text).expect("Yes.", calls=[("look", {"days": 2})])


# What the prompt holds already


@pytest.mark.parametrize(
    ("begun", "text", "arguments"),
    [
        ('<fn>\n{"name": "look", ', '"arguments": {"a": [1, 2]}}\n</fn>', '{"a": [1, 2]}'),
        ('<fn>\n{"name": "look", "arguments": {"a": "Os', 'lo"}}\n</fn>', 'lo"}'),
        ('<fn>\n{"name": "look", "arguments": {"a": 1', "2}}\n</fn>", "12}"),
        ('<fn>\n{"name": "look", "arguments": {"a": "\\', 'n"}}\n</fn>', '\\n"}'),
        ('<fn>\n{"name": "look", "arguments": {"a": tr', "ue}}\n</fn>", "true}"),
    ],
)
def test_a_call_that_the_prompt_begins_goes_on(begun: str, text: str, arguments: str) -> None:
    case("tagged-json").prefilled(begun).output(text).expect(calls=[("look", f"…{arguments}")])


def test_a_call_in_the_prompt_is_not_emitted_again() -> None:
    text = '<fn>\n{"name": "look", "arguments": {"a": 1}}'
    case("tagged-json").prefilled(text).output("\n</fn>Yes.").expect("Yes.")
    case("tagged-json").prefilled(text).echo().output("\n</fn>Yes.").expect("Yes.", calls=[("look", {"a": 1})])


def test_raw_arguments_that_the_prompt_begins_go_on() -> None:
    begun = "[ability]look\n[k]place[/k]\n[v]Oslo[/v]\n[k]days[/k]\n[v]"
    text = "2[/v]\n[/ability]"
    case("key-value-tags").tools(TOOLS).prefilled(begun).output(text).expect(calls=[("look", "…2}")])
    at = begun.index("lo[")
    case("key-value-tags").tools(TOOLS).prefilled(begun[:at]).output(begun[at:] + text).expect(
        calls=[("look", '…lo", "days": 2}')]
    )


def test_json_content_loses_its_fence() -> None:
    case("tagged-json").json_content().output('```json\n{"a": 1}\n```').expect('{"a": 1}')


# Call ids in their positions


@pytest.mark.parametrize(
    ("position", "layout", "text"),
    [
        ("none", "<call>{name}<with>{arguments}</call>", '<call>look<with>{"a": 1}</call>'),
        ("pre_func_name", "<call>{id}:{name}<with>{arguments}</call>", '<call>c-1:look<with>{"a": 1}</call>'),
        ("between_func_and_args", "<call>{name}#{id}<with>{arguments}</call>", '<call>look#c-1<with>{"a": 1}</call>'),
        ("post_args", "<call>{name}<with>{arguments}<id>{id}</call>", '<call>look<with>{"a": 1}<id>c-1</call>'),
    ],
)
@pytest.mark.parametrize("times", [1, 2])
def test_ids(position: IdPosition, layout: str, text: str, times: int) -> None:
    parts = re.split(r"\{(name|id|arguments)\}", layout)
    items = (Slot(part) if at % 2 else Text(part) for at, part in enumerate(parts))  # type: ignore[arg-type]
    own = CallId(position, (Slot("id"),) if "{id}" in layout else ())
    given = NAME_THEN_JSON.tools
    tools = replace(given, call=(*items,), call_id=own, dialect=JSON, section_start="", section_end="", separator="")
    calls = [("look", {"a": 1}, "c-1" if "{id}" in layout else None)] * times
    case(replace(NAME_THEN_JSON, tools=tools)).output("So:" + text * times).expect("So:", calls=calls)
