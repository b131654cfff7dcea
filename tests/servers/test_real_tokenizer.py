"""Two bugs of vLLM's own parsers with the tokenizer of a real model, from a package: reproduced, and not in plug-ins.

1. A model that writes about its format spells the markers in ordinary tokens, and a parser of text makes a call of it.
2. The grammar of a forced call takes such text, and a parser that goes by ids finds no call in it.
"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.servers import answers
from tplc import compile_template
from tplc.ir.nodes import Token
from tplc.ir.tokens import with_marker_tokens

if importlib.util.find_spec("vllm") is None:
    pytest.skip("vLLM is not there: make servers", allow_module_level=True)

from tests.servers.test_special_tokens import streamed
from tests.servers.test_vllm import request_of
from tplc import driver

FILE = ROOT / "build" / "servers" / "tokenizer" / "tokenizer.json"
if not FILE.is_file():
    pytest.skip("the tokenizer is not there: make servers", allow_module_level=True)

# Tokens that the format has and this tokenizer has not: added to it, as models do that are derived from others.
ADDED = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
BEGIN = """\
{%- for m in messages %}
{{- "<|im_start|>" + m.role + "\\n" + (m.content or "") }}
{%- for c in m.tool_calls or [] %}
"""
END = """\
{%- endfor %}
{{- "<|im_end|>\\n" }}
{%- endfor %}
{%- if add_generation_prompt %}{{ "<|im_start|>assistant\\n" }}{% endif %}"""
JSON_CALLS = (
    BEGIN + '{{- "\\n<tool_call>\\n" + {"name": c.function.name, "arguments": c.function.arguments} | tojson '
    '+ "\\n</tool_call>" }}' + END
)
KEY_VALUE_CALLS = (
    BEGIN + '{{- "\\n<tool_call>" + c.function.name }}'
    "{%- for k, v in c.function.arguments.items() %}"
    '{{- "<arg_key>" + k + "</arg_key><arg_value>" }}{{ v if v is string else v | tojson }}{{ "</arg_value>" }}'
    '{%- endfor %}{{- "</tool_call>" }}' + END
)
TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "look",
            "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
        },
    },
)
# By the parser of the server: the template of its format, and a call.
FORMATS = {
    "hermes": (JSON_CALLS, '<tool_call>\n{"name": "look", "arguments": {"at": "it"}}\n</tool_call>'),
    "glm47": (KEY_VALUE_CALLS, "<tool_call>look<arg_key>at</arg_key><arg_value>it</arg_value></tool_call>"),
}
EACH = pytest.mark.parametrize("theirs", FORMATS)


@cache
def tokenizer() -> Any:
    from tokenizers import AddedToken
    from transformers import PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(tokenizer_file=str(FILE), eos_token="<|im_end|>")
    added = [AddedToken(text, special=True, normalized=False) for text in ADDED]
    made.add_special_tokens({"extra_special_tokens": added})
    return made


@cache
def without_added_tokens() -> Any:
    """Return a tokenizer that encodes text in ordinary tokens only, as a model may spell it."""
    from tokenizers import Tokenizer

    data = json.loads(FILE.read_text(encoding="utf-8"))
    return Tokenizer.from_str(json.dumps({**data, "added_tokens": []}))


def spelled(text: str) -> list[int]:
    ids: list[int] = without_added_tokens().encode(text, add_special_tokens=False).ids
    assert tokenizer().decode(ids) == text
    return ids


def in_tokens(text: str) -> list[int]:
    ids: list[int] = tokenizer().encode(text, add_special_tokens=False)
    return ids


@cache
def plugged_in(theirs: str) -> str:
    """Return the name of the plug-in for the same format."""
    vocabulary = tokenizer().get_added_vocab()
    tokens = tuple(Token(text, number, special=True) for text, number in vocabulary.items())
    name = f"ours-for-{theirs}"
    learned = replace(compile_template(FORMATS[theirs][0]), tokens=tokens)
    answers._learned[name] = with_marker_tokens(learned)
    return name


@cache
def parser_class(name: str) -> Any:
    from vllm.parser.parser_manager import ParserManager

    from tests.servers.plugins import plugin_module

    if name.startswith("ours"):
        plugin_module(name, "vllm")
    return ParserManager.get_parser(name, None, True, "model", tokenizer=tokenizer())


def read(name: str, ids: list[int], size: int, **options: Any) -> tuple[str, list[Any]]:
    """Return content and calls of an answer, in chunks of so many tokens; 0: whole."""
    request = request_of(TOOLS, **options)
    parser = parser_class(name)(tokenizer(), request.tools, chat_template_kwargs={})
    request = parser.adjust_request(request)
    if size:
        _, content, calls = streamed(parser, request, ids, size, tokenizer=tokenizer())
        return content, calls
    parser.set_prompt_token_ids(in_tokens("<|im_start|>assistant\n"))
    _, content, calls = parser.parse(
        tokenizer().decode(ids), request, enable_auto_tools=True, model_output_token_ids=ids
    )
    return content or "", [(call.name, call.arguments) for call in calls or []]


def tag_of(name: str) -> str:
    """Return the tag that constrains the answer to a request that requires a call."""
    request = request_of(TOOLS, tool_choice="required")
    parser = parser_class(name)(tokenizer(), request.tools, chat_template_kwargs={})
    tag: str = parser.adjust_request(request).structured_outputs.structural_tag
    return tag


@cache
def compiler() -> Any:
    import xgrammar

    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer())
    return xgrammar.GrammarCompiler(info, cache_enabled=False, max_threads=1)


def takes(tag: str, ids: list[int]) -> bool:
    """Return whether an answer of these tokens may end after them."""
    import xgrammar

    matcher = xgrammar.GrammarMatcher(compiler().compile_structural_tag(tag))
    return all(matcher.accept_token(number) for number in [*ids, tokenizer().eos_token_id])


CALLED = [("look", '{"at": "it"}')]


@pytest.mark.parametrize("size", [0, 1])
def test_their_parser_of_text_makes_a_call_of_an_explanation(size: int) -> None:
    assert read("hermes", spelled(f"I write {FORMATS['hermes'][1]} for it."), size)[1] == CALLED


@EACH
@pytest.mark.parametrize("size", [0, 1, 2, 5, 1000])
def test_ours_makes_none(theirs: str, size: int) -> None:
    prose = f"I write {FORMATS[theirs][1]} for it."
    assert read(plugged_in(theirs), spelled(prose), size) == (prose, [])


@EACH
@pytest.mark.parametrize("size", [0, 1, 2, 5, 1000])
def test_ours_reads_the_call_after_an_explanation(theirs: str, size: int) -> None:
    call = FORMATS[theirs][1]
    prose = f"I write {call} for it."
    assert read(plugged_in(theirs), [*spelled(f"{prose}\n"), *in_tokens(call)], size) == (prose, CALLED)


def test_their_forced_call_can_be_spelled_and_is_no_call() -> None:
    call = FORMATS["glm47"][1]
    assert takes(tag_of("glm47"), spelled(call))
    assert read("glm47", in_tokens(call), 1) == ("", CALLED)
    assert read("glm47", spelled(call), 1) == (call, [])


@EACH
def test_our_forced_call_can_not_be_spelled(theirs: str) -> None:
    name, call = plugged_in(theirs), FORMATS[theirs][1]
    assert takes(tag_of(name), in_tokens(call))
    assert not takes(tag_of(name), spelled(call))
    for size in (0, 1, 1000):
        assert read(name, in_tokens(call), size, tool_choice="required") == ("", CALLED)


def test_the_compiler_finds_the_tokens_in_the_file() -> None:
    from tplc.sources import load_tokens

    added = load_tokens(str(FILE)).added_tokens
    learned = driver.compile_template(JSON_CALLS, added_tokens=added)
    assert [(token.text, token.id) for token in learned.tokens if "tool" in token.text] == [
        ("</tool_call>", tokenizer().convert_tokens_to_ids("</tool_call>")),
        ("<tool_call>", tokenizer().convert_tokens_to_ids("<tool_call>")),
    ]
