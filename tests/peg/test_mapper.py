"""The mapper on trees made by hand: it knows a node's name, its place, its children and the text, and no parser."""

from __future__ import annotations

from dataclasses import dataclass, field

from tplc_runtime.peg_form import FormOfCalls, FormOfValues
from tplc_runtime.peg_mapper import Prefilled, map_tree
from tplc_runtime.peg_readers import Readers
from tplc_runtime.values import Style

JSON = Style([('"', '"', "json"), ("'", "'", "python")], {"true": "true", "True": "true"})
READERS = Readers(FormOfCalls(FormOfValues((JSON, JSON, JSON))), {})


@dataclass
class Node:
    expr_name: str
    start: int
    end: int
    full_text: str
    children: list[Node] = field(default_factory=list)


def tree(text: str, *parts: tuple[str, str] | tuple[str, str, list[tuple[str, str]]]) -> Node:
    """Return a turn of parts (name, text, inner parts), in the order of the text."""
    root = Node("turn", 0, len(text), text)
    at = 0
    for name, piece, *inner in parts:
        start = text.index(piece, at)
        node = Node(name, start, start + len(piece), text)
        inner_at = start
        for inner_name, inner_piece in inner[0] if inner else []:
            inner_start = text.index(inner_piece, inner_at)
            node.children.append(Node(inner_name, inner_start, inner_start + len(inner_piece), text))
            inner_at = inner_start + len(inner_piece)
        root.children.append(node)
        at = node.end
    return root


def test_content_between_markers() -> None:
    text = "Hi there.<end> \n"
    mapped = map_tree(tree(text, ("content", "Hi there."), ("turn_end", "<end>"), ("content", " \n")), READERS)
    assert mapped.message == {
        "role": "assistant",
        "content": "Hi there.",
        "reasoning_content": None,
        "tool_calls": [],
    }
    assert mapped.incomplete is False


def test_reasoning_and_a_cut() -> None:
    text = "<r>Hm"
    mapped = map_tree(
        tree(text, ("reasoning", text, [("reasoning_open", "<r>"), ("reasoning_text", "Hm"), ("cut", "")])), READERS
    )
    assert mapped.message == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hm",
        "tool_calls": [],
    }
    assert mapped.incomplete is True


def test_text_of_the_prompt_is_not_emitted_again() -> None:
    text = "Once upon a time"
    node = tree(text, ("content", text))
    assert map_tree(node, READERS, prefilled=Prefilled(len("Once upon"))).message["content"] == " a time"


def test_reasoning_stays_in_the_content() -> None:
    text = "<r>Hm</r>Yes"
    parts = [("reasoning_open", "<r>"), ("reasoning_text", "Hm"), ("reasoning_close", "</r>")]
    node = tree(text, ("reasoning", "<r>Hm</r>", parts), ("content", "Yes"))
    assert map_tree(node, READERS, parse_reasoning=False).message["content"] == text
    assert map_tree(node, READERS).message["content"] == "Yes"


def call(text: str, *parts: tuple[str, str]) -> Node:
    root = Node("turn", 0, len(text), text)
    calls = Node("tool_calls", 0, len(text), text)
    calls.children = tree(text, ("call", text, list(parts))).children
    root.children = [calls]
    return root


def test_broken_arguments_are_repaired() -> None:
    text = "f {'a': True, b: [1, 2"
    node = call(text, ("name", "f"), ("arguments", "{'a': True, b: [1, 2"))
    arguments = node.children[0].children[0].children[1]
    arguments.children = [Node("loose_value", arguments.start, arguments.end, text)]
    mapped = map_tree(node, READERS)
    assert mapped.message["tool_calls"] == [
        {"id": None, "type": "function", "function": {"name": "f", "arguments": '{"a": true, "b": [1, 2]}'}}
    ]


def test_a_call_of_another_tool_with_the_same_rules() -> None:
    text = "f #7 {}"
    node = call(text, ("name_for_f", "f"), ("id", "#7"), ("arguments", "{}"))
    assert map_tree(node, READERS).message["tool_calls"] == [
        {"id": "#7", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]
