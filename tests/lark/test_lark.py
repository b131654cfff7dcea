"""Lark grammars in the real llguidance: what templates render is accepted, wrong arguments are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.gbnf.formats import calls_message, formats, written
from tests.lark.engine import Tokens, accepts, needs_engine, needs_tokenizers, of, refused
from tests.lark.renders import TOOLS, WRONG
from tplc.backends.lark import LarkGrammar, NoLark, lark
from tplc.grammars.request.errors import GrammarNotExact
from tplc.ir.nodes import TemplateIR
from tplc.ir.tokens import AddedToken

CASES = ROOT / "tests/cases/lark"
GOOD: list[tuple[tuple[str, dict[str, Any]], ...]] = [
    (("look", {"at": "it", "days": 2}),),
    (("look", {"at": "Tromsø, now"}),),
    (("see", {}),),
    (("look", {"at": "a"}), ("see", {})),
]
NAMES = sorted(formats())


def made(name: str, choice: str = "auto", tokens: Tokens | None = None, **asked: Any) -> LarkGrammar:
    added = None if tokens is None else tokens.added
    return lark(formats()[name].ir, tools=TOOLS, tool_choice=choice, tokens=added, **asked)


def check(ir: TemplateIR, choice: str, tokens: Tokens | None) -> None:
    text = made(ir.provenance.name, choice, tokens).text
    content = "Well." if choice == "auto" and ir.content.with_calls == "before" else None
    for calls in GOOD:
        if len(calls) == 1 or ir.tools.parallel:
            turn = written(ir, calls_message(*calls, content=content))
            assert accepts(text, turn, tokens), turn
    # A name that opens no call leaves text that is free.
    unknown = [("listen", {"at": "it"})] if choice == "required" else []
    for call in [*WRONG, *unknown]:
        turn = written(ir, calls_message(call))
        assert not accepts(text, turn, tokens), turn


@pytest.mark.sweep(6)
@needs_engine
@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("name", NAMES)
def test_markers_that_are_text(name: str, choice: str) -> None:
    check(formats()[name].ir, choice, None)


@pytest.mark.sweep(5)
@needs_tokenizers
@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("name", NAMES)
def test_markers_that_are_special_tokens(name: str, choice: str) -> None:
    ir = formats()[name].ir
    check(ir, choice, of(ir.preserved_tokens))


@pytest.mark.sweep(5)
@needs_tokenizers
@pytest.mark.parametrize("name", NAMES)
def test_markers_that_are_other_added_tokens(name: str) -> None:
    ir = formats()[name].ir
    check(ir, "auto", of(ir.preserved_tokens, special=False))


@pytest.mark.parametrize(
    ("name", "choice", "tokens"),
    [
        ("tagged-json", "auto", False),
        ("tagged-json", "required", True),
        ("parameter-tags", "auto", True),
        ("python-literals", "required", False),
        ("bare-json", "auto", False),
        ("forced-open", "required", False),
    ],
)
def test_text(name: str, choice: str, tokens: bool, golden: Callable[[Path, str], None]) -> None:
    ir = formats()[name].ir
    added = [AddedToken(text, 100 + place, True) for place, text in enumerate(ir.preserved_tokens)]
    text = lark(ir, tools=TOOLS, tool_choice=choice, tokens=added if tokens else None).text
    golden(CASES / f"{name}.{choice}{'.tokens' if tokens else ''}.lark", text)


@needs_tokenizers
def test_a_grammar_of_text_never_matches_tokens() -> None:
    """This is why the tokenizer must be known."""
    ir = formats()["tagged-json"].ir
    tokens = of(ir.preserved_tokens)
    turn = written(ir, calls_message(("see", {})))
    assert accepts(made("tagged-json", "required", tokens).text, turn, tokens)
    assert not accepts(made("tagged-json", "required").text, turn, tokens)
    assert refused(made("tagged-json", "required", tokens).text) is not None, "no tokenizer without the tokens"


def test_markers_that_are_tokens_are_reported() -> None:
    ir = formats()["tagged-json"].ir
    some = [AddedToken("<fn>", 7, True), AddedToken("</fn>", 8, False), AddedToken("<other>", 9, True)]
    grammar = lark(ir, tools=TOOLS, tokens=some)
    assert (grammar.tokens, grammar.known) == (("<fn>",), True)
    assert grammar.texts == ("</fn>", "</musing>", "<musing>", "<~/~>")
    assert "// Written as text, because the tokenizer does not have them: " in grammar.text
    assert lark(ir, tools=TOOLS).texts == ir.preserved_tokens


def test_a_token_without_angle_brackets_goes_by_its_number() -> None:
    ir = formats()["python-literals"].ir
    text = lark(ir, tools=TOOLS, tokens=[AddedToken("[run]", 7, True)]).text
    assert "(<[7]> " in text and ' "[run]' not in text.partition("start:")[2]


@needs_engine
def test_text_is_free_until_a_call_begins() -> None:
    text = made("tagged-json").text
    assert accepts(text, "Just < text > of any kind.\n\n<f") and not accepts(text, "Now <fn>\n{}")
    assert not accepts(made("tagged-json", "required").text, "Just text.")


@needs_tokenizers
def test_free_text_holds_the_other_tokens() -> None:
    ir = formats()["tagged-json"].ir
    tokens = of(ir.preserved_tokens)
    text = made("tagged-json", "auto", tokens).text
    assert accepts(text, "<musing>\nWell.\n</musing>\n\nYes.", tokens)
    assert accepts(text, "<musing>\nWell.\n</musing>\n\n" + written(ir, calls_message(("see", {}))), tokens)
    assert not accepts(text, "Yes.<~/~>", tokens)


@needs_engine
def test_one_call_only() -> None:
    ir = formats()["tagged-json"].ir
    both = written(ir, calls_message(("see", {}), ("see", {})))
    one = written(ir, calls_message(("see", {})))
    assert accepts(made("tagged-json").text, both)
    text = made("tagged-json", parallel_tool_calls=False).text
    assert accepts(text, one) and not accepts(text, both)


@needs_engine
def test_any_order() -> None:
    ir = formats()["tagged-json"].ir
    turned = written(ir, calls_message(("look", {"days": 2, "at": "it"})))
    assert not accepts(made("tagged-json").text, turned)
    assert accepts(made("tagged-json", any_order=True).text, turned)


@needs_engine
def test_a_response_format() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}
    text = lark(formats()["tagged-json"].ir, json_schema=schema).text
    assert accepts(text, '{"n": 7}') and not accepts(text, '{"n": 70}') and not accepts(text, "seven")


@needs_engine
def test_long_text_is_read() -> None:
    for name in ("parameter-tags", "bare-json", "forced-open"):
        ir = formats()[name].ir
        turn = written(ir, calls_message(("look", {"at": "long " * 4000})))
        assert accepts(made(name, "required").text, turn), name


def test_nothing_is_constrained() -> None:
    assert made("tagged-json", "none").text == ""


def test_strict() -> None:
    unique = {"type": "object", "properties": {"at": {"type": "array", "uniqueItems": True}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": unique}}]
    ir = formats()["tagged-json"].ir
    assert [entry.keyword for entry in lark(ir, tools=tools).not_expressed] == ["uniqueItems"]
    with pytest.raises(GrammarNotExact):
        lark(ir, tools=tools, strict=True)


def test_a_size_that_is_allowed() -> None:
    texts = [f"{number:05}" for number in range(3000)]
    parameters = {"type": "object", "properties": {"at": {"enum": texts, "type": "string", "maxLength": 9}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    made = lark(formats()["parameter-tags"].ir, tools=tools, most_characters=9000)
    assert [entry.keyword for entry in made.not_expressed] == ["parameters"]
    assert len(made.text) < 9000


def test_calls_that_only_tokens_in_a_row_distinguish_from_text() -> None:
    with pytest.raises(NoLark) as caught:
        lark(formats()["tagged-json"].ir, tools=TOOLS, tokens=[AddedToken(">!", 7, True)])
    assert str(caught.value) == (
        "tagged-json: lark cannot express this: calls that begin with tokens which free text has too (>!)\n"
        '    a call begins with "<fn>"; --tool-choice required does not need this'
    )


def test_what_cannot_be_expressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tplc.backends.lark.lexing._MOST_PAIRS", 3)
    with pytest.raises(NoLark) as caught:
        made("python-literals", tokens=Tokens(None, None, (AddedToken("[run]", 7, True),)))
    assert str(caught.value) == (
        "python-literals: lark cannot express this: text that can end where other text continues\n"
        "    the request takes too many rules"
    )
