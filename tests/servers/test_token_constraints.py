"""A forced call can't be spelled in ordinary tokens: asked of the masks of the real xgrammar and llguidance."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.servers.answers import ir_of
from tests.servers.tokens import tiny_tokenizer
from tests.special.fed import read, tokens_in
from tplc import driver
from tplc.ir.nodes import TemplateIR, Token
from tplc.ir.tokens import AddedToken, with_marker_tokens
from tplc.ir.write import write_message
from tplc.verify.artifact import load_module

for package in ("xgrammar", "llguidance", "transformers", "torch"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not there: make servers", allow_module_level=True)

TOOLS = tuple(
    {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
    }
    for name in ("look", "see")
)
NAMES = ["tagged-json", "parameter-tags", "sectioned-ids", "key-value-tags"]
CHOICES = ["required", "look"]


@cache
def tokenizer(name: str) -> Any:
    return tiny_tokenizer(ir_of(name).preserved_tokens)


@cache
def ir_with_ids(name: str) -> TemplateIR:
    vocabulary = tokenizer(name).get_vocab()
    tokens = tuple(Token(text, vocabulary[text], special=True) for text in ir_of(name).preserved_tokens)
    return with_marker_tokens(replace(ir_of(name), tokens=tokens))


def options(choice: str) -> driver.GrammarOptions:
    return driver.GrammarOptions(tools=TOOLS, tool_choice=choice)


def call_of(name: str) -> str:
    """Return a call as the format writes it, after some text, without the end of the turn."""
    ir = ir_of(name)
    function = {"name": "look", "arguments": {"at": "it"}}
    message = {"content": "So.", "tool_calls": [{"id": "call00001", "function": function}]}
    if ir.reasoning.end and ir.turn.heads[0]:
        message["reasoning_content"] = "Hm."
    text = write_message(ir, message, head=ir.turn.heads[0])
    end = max((end for end in ir.turn.ends if text.endswith(end)), key=len, default="")
    return text.removesuffix(end)


def spelled(name: str, text: str) -> list[int]:
    return [number for char in text for number in tokenizer(name).encode(char, add_special_tokens=False)]


class Masks:
    """What xgrammar lets come next, token by token."""

    def __init__(self, name: str, tag: str) -> None:
        import numpy
        import xgrammar

        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer(name))
        compiler = xgrammar.GrammarCompiler(info, cache_enabled=False, max_threads=1)
        self.matcher = xgrammar.GrammarMatcher(compiler.compile_structural_tag(tag))
        self.bits = numpy.full((1, (info.vocab_size + 31) // 32), -1, dtype=numpy.int32)

    def taken(self, ids: list[int]) -> int:
        """Return how many of the ids are accepted one after the other, by the mask before each."""
        for place, number in enumerate(ids):
            self.bits[:] = -1
            self.matcher.fill_next_token_bitmask(self.bits, 0)
            allowed = bool(self.bits[0][number // 32] >> (number % 32) & 1)
            assert allowed == self.matcher.accept_token(number)
            if not allowed:
                return place
        return len(ids)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", NAMES)
def test_xgrammar_forces_the_token(name: str, choice: str) -> None:
    tag = driver.generate(ir_with_ids(name), "structural_tag", options(choice))
    assert '"token_triggered_tags"' in tag
    text, end = call_of(name), tokenizer(name).eos_token_id
    good = tokenizer(name).encode(text, add_special_tokens=False)
    masks = Masks(name, tag)
    assert masks.taken(good) == len(good)
    assert masks.matcher.accept_token(end)
    # Spelled in ordinary tokens, it is text: the answer can't end after it.
    wrong = Masks(name, tag)
    wrong.taken(spelled(name, text))
    assert wrong.taken([end]) == 0


@pytest.mark.parametrize("name", NAMES)
def test_what_xgrammar_accepts_the_parser_reads_as_a_call(name: str) -> None:
    ir, text = ir_with_ids(name), call_of(name)
    parser = load_module(driver.generate(ir, "python"))
    found = read(parser, text, tokens_in(text, tuple(parser.TOKENS)))
    assert [call["function"]["name"] for call in found.message["tool_calls"]] == ["look"]
    assert read(parser, text, ()).message["tool_calls"] == []


@pytest.mark.parametrize("name", NAMES)
def test_another_tool_than_the_chosen_one(name: str) -> None:
    tag = driver.generate(ir_with_ids(name), "structural_tag", options("see"))
    good = tokenizer(name).encode(call_of(name), add_special_tokens=False)
    assert Masks(name, tag).taken(good) < len(good)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", NAMES)
def test_llguidance_forces_the_token(name: str, choice: str) -> None:
    import llguidance

    made = tokenizer(name)
    added = [AddedToken(token.text, token.id or 0, apart=True) for token in ir_with_ids(name).tokens]
    asked = replace(options(choice), tokens=tuple(added))
    text = driver.generate(ir_of(name), "lark", asked)
    engine = llguidance.LLTokenizer(made.backend_tokenizer.to_str(), eos_token=made.eos_token_id, slices=[])
    good = made.encode(call_of(name), add_special_tokens=False)

    def matcher() -> Any:
        found = llguidance.LLMatcher(engine, llguidance.grammar_from("lark", text), log_level=0)
        assert not found.is_error(), found.get_error()
        return found

    whole = matcher()
    assert whole.try_consume_tokens(good) == len(good)
    assert whole.is_accepting()
    wrong = matcher()
    wrong.try_consume_tokens(spelled(name, call_of(name)))
    assert not wrong.is_accepting()


def test_the_old_tag_is_kept_where_no_token_opens_calls() -> None:
    ir = ir_of("tagged-json")
    tag = json.loads(driver.generate(ir, "structural_tag", options("auto")))
    assert tag["format"]["type"] == "triggered_tags"
