"""The parts of a turn, character by character."""

from __future__ import annotations

from itertools import pairwise

import pytest

import tplc
from tests.example_case import EXAMPLES, load_examples
from tplc.driver import load_ir
from tplc.ir.nodes import TemplateIR


def example_ir(name: str) -> TemplateIR:
    return load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))


def parts(name: str, text: str, prompt: str | None = None) -> list[tuple[str, str]]:
    return [(span.part, text[span.start : span.stop]) for span in tplc.spans(example_ir(name), text, prompt=prompt)]


def test_a_turn_with_everything() -> None:
    text = (
        "<musing>\nHm.\n</musing>\n\nI look.\n<fn>\n"
        '{"name": "look", "arguments": {"at": "it"}}\n</fn>\n<fn>\n{"name": "see", "arguments": {}}\n</fn><~/~>\n'
    )
    assert parts("tagged-json", text) == [
        ("reasoning", "<musing>\nHm.\n</musing>\n\n"),
        ("content", "I look."),
        ("call", '\n<fn>\n{"name": "look", "arguments": '),
        ("arguments", '{"at": "it"}'),
        ("call", '}\n</fn>\n<fn>\n{"name": "see", "arguments": '),
        ("arguments", "{}"),
        ("call", "}\n</fn>"),
        ("end", "<~/~>\n"),
    ]


def test_arguments_before_the_name() -> None:
    """A parser reports arguments after the name, although they are written before it."""
    assert parts("tagged-json", '<fn>{"arguments":{"at":"look"},"name":"look"}</fn>Hi.') == [
        ("call", '<fn>{"arguments":'),
        ("arguments", '{"at":"look"}'),
        ("call", ',"name":"look"}</fn>'),
        ("content", "Hi."),
    ]


def test_values_that_a_further_pair_follows() -> None:
    """The parser reports such a value together with the next key, when that begins."""
    text = '<.code.>[look(city="Oslo", days=2, far=True, by=None, at={"a": 1, "b": [2]})]<./code.>'
    assert parts("keyword-calls", text) == [
        ("call", "<.code.>[look("),
        *_pairs([("city", "=", '"Oslo"', ", "), ("days", "=", "2", ", "), ("far", "=", "True", ", ")]),
        *_pairs([("by", "=", "None", ", "), ("at", "=", '{"a": 1, "b": [2]}', ")]<./code.>")]),
    ]


def test_objects_as_values_of_pairs() -> None:
    text = '<deed>\n<do=look>\n<with=o>\n{"a": 1}\n</with>\n<with=n>\n3\n</with>\n</do>\n</deed><:>\n'
    assert parts("parameter-tags", text) == [
        ("call", "<deed>\n<do=look>\n<with="),
        *_pairs([("o", ">\n", '{"a": 1}', "\n</with>\n<with="), ("n", ">\n", "3", "\n</with>\n</do>\n</deed>")]),
        ("end", "<:>\n"),
    ]


def _pairs(pairs: list[tuple[str, str, str, str]]) -> list[tuple[str, str]]:
    return [(part, text) for pair in pairs for part, text in zip(["arguments", "call"] * 2, pair, strict=True)]


def test_reasoning_that_the_prompt_opened() -> None:
    assert parts("parameter-tags", "Hm.\n</musings>\n\nFine.<:>\n") == [
        ("reasoning", "Hm.\n</musings>\n\n"),
        ("content", "Fine."),
        ("end", "<:>\n"),
    ]


def test_parts_between_headers() -> None:
    text = "{channel}notes{body}Hm.{stop}{start}assistant{channel}reply{body}Fine.{done}"
    assert parts("channels", text) == [
        ("reasoning", "{channel}notes{body}Hm.{stop}"),
        ("header", "{start}assistant"),
        ("content", "{channel}reply{body}Fine."),
        ("end", "{done}"),
    ]


@pytest.mark.sweep(9)
@pytest.mark.parametrize("example", load_examples(), ids=lambda example: example.name)
def test_spans_make_up_the_text(example: object) -> None:
    name = example.name  # type: ignore[attr-defined]
    for output in example.outputs:  # type: ignore[attr-defined]
        found = tplc.spans(example_ir(name), output.text)
        assert "".join(output.text[span.start : span.stop] for span in found) == output.text
        assert all(one.part != other.part for one, other in pairwise(found))
