"""Special tokens, and text that spells them: what counts, what stays, and the same for every chunking."""

from __future__ import annotations

import random
from functools import cache
from types import ModuleType

import pytest

from tests.backends.parsers import parser_for
from tests.servers.answers import ir_of
from tests.special.fed import EOS, Answer, Ranges, cuts, mixed, read, tokens_in, turns, with_tokens
from tests.special.sweep import of_prose
from tplc.backends.peg.engine import PegEngine
from tplc.backends.python import generate
from tplc.lower import lower
from tplc.verify.artifact import load_module

# One for each class that parsers stand on.
NAMES = ["plain-chat", "tagged-json", "channels", "parameter-tags", "nested-elements", "cdata-values", "sectioned-ids"]
EVERY = pytest.mark.parametrize("name", NAMES)
CALL = '<fn>\n{"name": "look", "arguments": {"at": "<fn>"}}\n</fn>'


@cache
def tagged() -> ModuleType:
    return parser_for(with_tokens(ir_of("tagged-json")))


def said(text: str, special: Ranges | None, **options: object) -> Answer:
    """Return what is read from the text, which is the same for every chunking."""
    once = read(tagged(), text, special, **options)
    for size in range(1, len(text)):
        assert read(tagged(), text, special, cuts(text, size), **options) == once, size
    assert once.message == once.deltas
    return once


@pytest.mark.sweep(3)
@EVERY
def test_spelled_tokens_are_text(name: str) -> None:
    ir = with_tokens(ir_of(name))
    for title, text in turns(ir):
        assert of_prose(parser_for(ir), f"So: {text}", title) == ""


@EVERY
def test_special_tokens_are_markers(name: str) -> None:
    ir = with_tokens(ir_of(name))
    parser = parser_for(ir)
    for _, text in turns(ir):
        special = tokens_in(text, tuple(parser.TOKENS))
        assert read(parser, text, special) == read(parser, text, None)


@pytest.mark.sweep(5)
@EVERY
def test_every_chunking_gives_the_same(name: str) -> None:
    ir, rng = with_tokens(ir_of(name)), random.Random(name)
    parser, texts = parser_for(ir), [text for _, text in turns(ir)]
    for _ in range(150):
        text, special = mixed(rng, tuple(parser.TOKENS), texts, 10)
        once = read(parser, text, special)
        assert once.message == once.deltas, (text, special)
        for size in (1, 2, 5):
            assert read(parser, text, special, cuts(text, size)) == once, (text, special, size)


@pytest.mark.sweep(3)
@EVERY
def test_the_peg_says_the_same(name: str) -> None:
    ir, rng = with_tokens(ir_of(name)), random.Random(name)
    parser, engine, texts = parser_for(ir), PegEngine(ir), [text for _, text in turns(ir)]
    prose = [(f"So: {text}", special) for text in texts for special in ((), tokens_in(text, tuple(parser.TOKENS)))]
    for text, special in [*prose, *(mixed(rng, tuple(parser.TOKENS), texts, 5) for _ in range(25))]:
        found, wanted = engine.read(text, special=special), read(parser, text, special)
        assert (found.message, found.incomplete) == (wanted.message, wanted.incomplete), (text, special)


@EVERY
def test_the_engines_have_the_same_tokens(name: str) -> None:
    ir = with_tokens(ir_of(name))
    parser, known = parser_for(ir), PegEngine(ir).tokens
    assert {token.text: token.id for token in known.all} == parser.TOKENS
    assert tuple(parser.END_TOKENS) == tuple(token.text for token in known.ends) == (EOS.text,)
    shared = load_module(generate(ir, runtime="installed"))
    assert (shared.TOKENS, shared.END_TOKENS) == (parser.TOKENS, parser.END_TOKENS)


def test_without_ranges_all_is_as_before() -> None:
    assert said(CALL, None).message["tool_calls"][0]["function"]["arguments"] == '{"at": "<fn>"}'
    assert said("a\udfffb", None).text == "a\udfffb"


def test_a_model_that_explains_its_format() -> None:
    text = f"I write {CALL} for a call, and <musing>\nthis</musing> to think.<~/~>"
    found = said(text, ())
    assert (found.text, found.message["tool_calls"], found.diagnostics) == (text, [], ())


def test_a_call_after_the_explanation() -> None:
    prose = "<fn> opens a call:\n"
    special = tuple((start + len(prose), end + len(prose)) for start, end in tokens_in(CALL, ("<fn>\n", "</fn>")))
    found = said(prose + CALL, special)
    assert (found.message["content"], len(found.message["tool_calls"])) == ("<fn> opens a call:", 1)
    assert found.message["tool_calls"][0]["function"]["arguments"] == '{"at": "<fn>"}'


def test_a_token_counts_in_one_range_and_ranges_that_touch_are_one() -> None:
    assert said(CALL, ((0, 3),)).message["tool_calls"] == []
    assert said(CALL, ((1, 4),)).message["tool_calls"] == []
    closer = CALL.rindex("</fn>")
    assert len(said(CALL, ((0, 2), (2, 4), (closer, closer + 5))).message["tool_calls"]) == 1


def test_ranges_that_are_none() -> None:
    text = "a<fn>b"
    for special in (((3, 3),), ((4, 1),), ((50, 60),), ((-9, 0),)):
        assert read(tagged(), text, special).text == text


def test_a_token_that_ends_an_answer() -> None:
    text = f"Hi.{EOS.text} And more."
    found = said(text, ((3, 3 + len(EOS.text)),))
    assert (found.text, found.trailing, found.incomplete) == ("Hi.", " And more.", False)
    assert found.diagnostics == ((3, "text after the end of the turn"),)
    assert said(text, ()).text == text


def test_a_token_that_ends_an_answer_inside_a_call() -> None:
    text = CALL[:-8] + EOS.text
    found = said(text, ((0, 4), (len(CALL) - 8, len(text))))
    assert found.message["tool_calls"][0]["function"]["arguments"] == '{"at": "<fn>"}'
    assert (found.incomplete, found.trailing) == (True, "")


def test_a_special_token_that_is_no_marker_stays() -> None:
    found = said("a<unk> b", ((1, 6),))
    assert found.text == "a<unk> b"
    assert found.diagnostics == ((1, "a special token that is no marker: <unk>"),)
    stream = tagged().StreamParser()
    stream.feed("a<unk> b", special=((1, 6),))
    assert stream.diagnostics == [(1, "a special token that is no marker: <unk>", "unknown_special_token")]
    both = said("a<unk><musing>\nb", ((1, 14),))
    assert (both.message["content"], both.message["reasoning_content"]) == ("a<unk>", "b")
    assert both.diagnostics[0] == (1, "a special token that is no marker: <unk>")


def test_an_output_that_ends_in_a_beginning() -> None:
    assert said("Hi.<fn", ()).text == "Hi.<fn"
    assert said("Hi.<fn", None).trailing == "<fn"
    assert said("Hi.<fn", ((3, 6),)).trailing == "<fn"


def test_text_like_the_guard() -> None:
    for text in ("a\udfff\udfffb", "<fn\udfff>", "<\udfff<fn>\udfff>", "\udfff"):
        assert said(text, ()).text == text


def test_offsets_are_those_of_the_text() -> None:
    text = f"<fn> <fn> {CALL.replace('look', 'nope')}"
    start = text.rindex("<fn>\n")
    found = said(text, ((start, start + 4),), tools=[{"name": "look", "parameters": {}}])
    assert [note for _, note in found.diagnostics] == ["unknown tool nope"]
    plain = said(CALL.replace("look", "nope"), ((0, 4),), tools=[{"name": "look", "parameters": {}}])
    assert [at - start for at, _ in found.diagnostics] == [at for at, _ in plain.diagnostics]


def test_an_opener_without_its_token() -> None:
    """It is tolerated, but not in text that spells the token: such text describes the format."""
    ir = with_tokens(ir_of("parameter-tags"))
    parser = parser_for(ir)
    calls = lower(ir).calls
    assert calls is not None
    opener = next(text for text in calls.opening.openers if not any(token in text for token in parser.TOKENS))
    call = dict(turns(ir))["one call"]
    bare = call[call.index(opener) :]
    assert len(read(parser, bare, tokens_in(bare, tuple(parser.TOKENS))).message["tool_calls"]) == 1
    prose = f"{parser.StreamParser.TOKEN_OPENS[0]} is left out: {bare}"
    assert read(parser, prose, ()).message["tool_calls"] == []


def test_a_parser_without_tokens_has_nothing_of_them() -> None:
    parser = parser_for(ir_of("tagged-json"))
    assert not hasattr(parser, "TOKENS")
    assert not hasattr(parser, "SpecialTokens")
    assert len(read(parser, CALL, ()).message["tool_calls"]) == 1


@pytest.mark.sweep(10)
@EVERY
def test_a_guard_or_a_spelled_token_anywhere_in_a_call(name: str) -> None:
    """Text that waits in the buffer may contain a guard when the next chunk without one arrives."""
    ir = with_tokens(ir_of(name))
    parser = parser_for(ir)
    text = dict(turns(ir)).get("one call", next(turns(ir))[1])
    special = tokens_in(text, tuple(parser.TOKENS))
    for at in range(len(text) + 1):
        if any(start < at < stop for start, stop in special):
            continue
        for more in ("\udfff", next(iter(parser.TOKENS))):
            longer = text[:at] + more + text[at:]
            ranges = tuple(span if span[1] <= at else (span[0] + len(more), span[1] + len(more)) for span in special)
            once = read(parser, longer, ranges)
            assert once.message == once.deltas
            for size in (1, 3):
                assert read(parser, longer, ranges, cuts(longer, size)) == once, (longer, size)
