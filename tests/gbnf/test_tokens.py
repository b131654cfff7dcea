"""Grammars with markers as tokens, in llama.cpp's own engine: a call can't be spelled in ordinary tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.gbnf.formats import formats, written
from tests.gbnf.llama import accepts_tokens, needs_llama, refused
from tests.gbnf.test_formats import MESSAGES, WITH_CALLS, WRONG
from tests.gbnf.tools import ALL
from tests.special.fed import with_tokens
from tplc.backends.gbnf import Grammar, grammar
from tplc.backends.gbnf.lint import lint
from tplc.errors import UsageError
from tplc.ir.nodes import TemplateIR
from tplc.lower import lower
from tplc.lower.special import special_tokens

CALL = MESSAGES[0]


@cache
def ir_of(name: str) -> TemplateIR:
    return with_tokens(formats()[name].ir)


@cache
def made(name: str, choice: str) -> Grammar:
    return grammar(ir_of(name), tools=ALL, tool_choice=choice, token_literals=True)


def numbers(name: str) -> dict[str, int]:
    ir = ir_of(name)
    return {token.text: token.id for token in special_tokens(ir, lower(ir)).markers if token.id is not None}


def tokens(name: str, text: str, *, spelled: bool = False) -> list[tuple[int, str]]:
    """Return the text in tokens. `spelled`: each has one character, and none is a marker's own token."""
    return [*_tokens({} if spelled else numbers(name), text)]


def _tokens(known: dict[str, int], text: str) -> Iterator[tuple[int, str]]:
    longest = sorted(known, key=len, reverse=True)
    for piece in re.split("(" + "|".join(map(re.escape, longest)) + ")" if longest else "(?!)", text):
        if piece in known:
            yield known[piece], piece
        else:
            yield from ((ord(char) + 1000, char) for char in piece)


def of_tokens(name: str) -> bool:
    """Return whether the format's calls open with a token that opens nothing else."""
    return any(trigger.type == "token" for trigger in made(name, "auto").triggers)


BY_TOKEN = (
    "array-with-ids", "channels", "fenced-json", "ids-with-names", "key-value-tags", "keyword-calls",
    "markers-by-shape", "open-json", "parameter-tags", "python-literals", "sectioned-ids", "tagged-json",
    "thinking-parts", "typed-attributes", "wrapped-content",
)  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("name", WITH_CALLS)
def test_every_format_has_a_grammar(name: str, choice: str) -> None:
    text = made(name, choice).text
    assert lint(text, has_tokens=True) == []
    if "<[" not in text:
        assert text == grammar(ir_of(name), tools=ALL, tool_choice=choice).text


def test_formats_whose_calls_open_with_a_token() -> None:
    assert tuple(name for name in WITH_CALLS if of_tokens(name)) == BY_TOKEN


@pytest.mark.sweep(4)
@needs_llama
@pytest.mark.parametrize("name", WITH_CALLS)
def test_the_engine_takes_rendered_calls(name: str) -> None:
    auto, required = made(name, "auto"), made(name, "required")
    assert refused(auto.text) is None
    assert refused(required.text) is None
    for message in MESSAGES:
        text = written(ir_of(name), message)
        assert accepts_tokens(required.text, tokens(name, text)), text
        for trigger in auto.triggers:
            if trigger.type == "token" and trigger.value in text:
                assert accepts_tokens(auto.text, tokens(name, text[text.index(trigger.value) :])), text
    for message in WRONG:
        assert not accepts_tokens(required.text, tokens(name, written(ir_of(name), message))), message


@needs_llama
@pytest.mark.parametrize("choice", ["required", "get_weather"])
@pytest.mark.parametrize("name", BY_TOKEN)
def test_a_forced_call_cannot_be_spelled(name: str, choice: str) -> None:
    text = written(ir_of(name), CALL)
    assert accepts_tokens(made(name, choice).text, tokens(name, text))
    assert not accepts_tokens(made(name, choice).text, tokens(name, text, spelled=True))
    portable = grammar(ir_of(name), tools=ALL, tool_choice=choice)
    assert accepts_tokens(portable.text, tokens(name, text, spelled=True))


def test_a_trigger_is_the_token_alone() -> None:
    found = made("sectioned-ids", "auto")
    assert [(trigger.type, trigger.value) for trigger in found.triggers] == [("token", "<!calls!>")]
    assert found.triggers[0].token == numbers("sectioned-ids")["<!calls!>"]
    assert f'# Trigger, token {found.triggers[0].token}: "<!calls!>"\n' in found.text
    assert found.to_json()["grammar_triggers"] == [
        {"type": "token", "value": "<!calls!>", "token": found.triggers[0].token}
    ]


def test_without_ids_there_are_no_literals() -> None:
    with pytest.raises(
        UsageError, match="token literals: the ids of the format's tokens are not known: name a model's folder"
    ):
        grammar(formats()["tagged-json"].ir, tools=ALL, token_literals=True)
