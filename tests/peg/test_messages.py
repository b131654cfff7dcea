"""What outputs mean, one idea each, read alike by the generated parser, its stream, and the PEG."""

from __future__ import annotations

import pytest

from tests.fluent import case

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
    case("tagged-json").output("Write <fn> and </fn> around it.").expect("Write <fn> and  around it.")


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
    ("value", "expected"),
    [("2", 2), ("two", "two"), ("[1]", "[1]"), ("007", 7)],
)
def test_raw_value_of_an_integer(value: str, expected: object) -> None:
    text = f"[ability]look\n[k]days[/k]\n[v]{value}[/v]\n[/ability]"
    case("key-value-tags").tools(TOOLS).output(text).expect(calls=[("look", {"days": expected})])


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
