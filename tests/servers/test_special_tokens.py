"""Special tokens in vLLM: text that spells them makes no call in plug-ins, and forced calls are made of the tokens."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import pytest

from tests.servers import answers
from tests.servers.tokens import tiny_tokenizer
from tests.special.fed import with_tokens
from tplc import compile_template

if importlib.util.find_spec("vllm") is None:
    pytest.skip("vLLM is not there: make servers", allow_module_level=True)

from tests.servers.test_vllm import parser_class, request_of

NAME = "tokens-of-tests"
MARKERS = ("<tool_call>", "</tool_call>", "<think>", "</think>", "<|im_start|>", "<|im_end|>")
# The form of calls that several parsers of the server read.
SOURCE = """\
{%- for m in messages %}
{{- "<|im_start|>" + m.role + "\\n" }}
{%- if m.role == "assistant" and m.reasoning_content %}
{{- "<think>\\n" + m.reasoning_content + "\\n</think>\\n\\n" }}{% endif %}
{{- m.content or "" }}
{%- for c in m.tool_calls or [] %}
{{- "\\n<tool_call>\\n" + {"name": c.function.name, "arguments": c.function.arguments} | tojson + "\\n</tool_call>" }}
{%- endfor %}
{{- "<|im_end|>\\n" }}
{%- endfor %}
{%- if add_generation_prompt %}{{ "<|im_start|>assistant\\n" }}{% endif %}"""
TOOLS = (
    {
        "type": "function",
        "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
    },
)
CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "it"}}\n</tool_call>'
PROSE = f"I write {CALL} for a call."


@cache
def name() -> str:
    answers._learned[NAME] = with_tokens(compile_template(SOURCE))
    return NAME


@cache
def tiny() -> Any:
    return tiny_tokenizer(MARKERS)


def ids_of(text: str, *, spelled: bool) -> list[int]:
    """Return the ids of a text. `spelled`: none of them is a marker's own token."""
    if spelled:
        return [number for char in text for number in tiny().encode(char, add_special_tokens=False)]
    found: list[int] = tiny().encode(text, add_special_tokens=False)
    return found


def streamed(
    parser: Any, request: Any, ids: list[int], size: int, *, stripped: bool = False, tokenizer: Any = None
) -> tuple[str, str, list[Any]]:
    """Return what the server sends for the ids, so many at a time. `stripped`: it leaves special tokens out of the
    text."""
    known = tokenizer or tiny()
    prompt = known.encode("<|im_start|>assistant\n", add_special_tokens=False)
    reasoning, content, calls = "", "", {}
    for at in range(0, len(ids), size):
        some = ids[at : at + size]
        text = known.decode(some, skip_special_tokens=stripped)
        delta = parser.parse_delta(text, some, request, prompt_token_ids=prompt, finished=at + size >= len(ids))
        if delta is None:
            continue
        reasoning, content = reasoning + (delta.reasoning or ""), content + (delta.content or "")
        for call in delta.tool_calls:
            before = calls.get(call.index, ("", ""))
            calls[call.index] = (before[0] + (call.function.name or ""), before[1] + (call.function.arguments or ""))
    return reasoning, content, list(calls.values())


def ours(ids: list[int], size: int, **options: Any) -> tuple[str, str, list[Any]]:
    request = request_of(TOOLS)
    parser = parser_class(name(), MARKERS)(tiny(), request.tools, chat_template_kwargs={})
    return streamed(parser, parser.adjust_request(request), ids, size, **options)


def ours_whole(ids: list[int], *, stripped: bool = False) -> tuple[str, str, list[Any]]:
    """Return what the server sends for the ids as a whole answer."""
    request = request_of(TOOLS)
    parser = parser_class(name(), MARKERS)(tiny(), request.tools, chat_template_kwargs={})
    parser.set_prompt_token_ids(ids_of("<|im_start|>assistant\n", spelled=False))
    text = tiny().decode(ids, skip_special_tokens=stripped)
    reasoning, content, calls = parser.parse(
        text, parser.adjust_request(request), enable_auto_tools=True, model_output_token_ids=ids
    )
    return reasoning or "", content or "", [(call.name, call.arguments) for call in calls or []]


def theirs(tool_parser: str, ids: list[int], size: int = 1) -> tuple[str, str, list[Any]]:
    from vllm.parser.parser_manager import ParserManager

    request = request_of(TOOLS)
    made = ParserManager.get_parser(tool_parser, None, True, "model", tokenizer=tiny())
    parser = made(tiny(), request.tools, chat_template_kwargs={})
    return streamed(parser, parser.adjust_request(request), ids, size)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_text_that_spells_the_markers_makes_no_call(size: int) -> None:
    assert ours(ids_of(PROSE, spelled=True), size) == ("", PROSE, [])


def test_the_servers_own_parser_of_text_makes_a_call_of_it() -> None:
    assert theirs("hermes", ids_of(PROSE, spelled=True))[2] == [("look", '{"at": "it"}')]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("stripped", [False, True])
def test_tokens_make_one(size: int, stripped: bool) -> None:
    text = f"<think>\nHm, <think> a.\n</think>\n\nSo.\n{CALL}<|im_end|>"
    ids = [*ids_of("<think>", spelled=False), *ids_of("\nHm, <think> a.\n", spelled=True)]
    ids += ids_of(text[text.index("</think>") :], spelled=False)
    assert ours(ids, size, stripped=stripped) == ("Hm, <think> a.", "So.", [("look", '{"at": "it"}')])


def test_whole_answers_go_by_ids() -> None:
    assert ours_whole(ids_of(PROSE, spelled=True)) == ("", PROSE, [])
    assert ours_whole(ids_of(CALL, spelled=False)) == ("", "", [("look", '{"at": "it"}')])
    ids = [*ids_of(f"{PROSE}\n", spelled=True), *ids_of(CALL, spelled=False)]
    assert ours_whole(ids) == ("", PROSE, [("look", '{"at": "it"}')])


@pytest.mark.parametrize("stripped", [False, True])
def test_whole_answers_with_reasoning_go_by_ids(stripped: bool) -> None:
    thought = "It ends with </think> and <tool_call> follows."
    ids = [*ids_of("<think>", spelled=False), *ids_of(f"\n{thought}\n", spelled=True)]
    ids += ids_of("</think>\n\n", spelled=False) + ids_of(f"{PROSE}\n", spelled=True)
    ids += ids_of(f"{CALL}<|im_end|>", spelled=False)
    assert ours_whole(ids, stripped=stripped) == (thought, PROSE, [("look", '{"at": "it"}')])


def test_a_whole_answer_without_ids_is_read_by_its_text() -> None:
    request = request_of(TOOLS)
    parser = parser_class(name(), MARKERS)(tiny(), request.tools, chat_template_kwargs={})
    _, _, calls = parser.parse(PROSE, parser.adjust_request(request), enable_auto_tools=True)
    assert [call.name for call in calls] == ["look"]


def test_the_tool_parser_alone_goes_by_ids() -> None:
    from vllm.parser.parser_manager import ParserManager

    parser_class(name(), MARKERS)  # registers it
    made = ParserManager.get_parser(name(), None, True, "model", tokenizer=tiny())
    request = request_of(TOOLS)
    parser = made(tiny(), request.tools, chat_template_kwargs={})
    for spelled, count in ((True, 0), (False, 1)):
        ids = ids_of(CALL, spelled=spelled)
        _, content, calls = parser.parse(
            CALL, parser.adjust_request(request), enable_auto_tools=True, model_output_token_ids=ids
        )
        assert len(calls or []) == count
        assert (content or "") == (CALL if spelled else "")


def test_classes_of_the_server_are_left_as_they_are() -> None:
    from vllm.parser.abstract_parser import DelegatingParser
    from vllm.parser.parser_manager import ParserManager

    parser_class(name(), MARKERS)
    theirs = ParserManager.get_parser("hermes", None, True, "model", tokenizer=tiny())
    assert "parse" not in vars(theirs)
    assert DelegatingParser.parse.__module__ == "vllm.parser.abstract_parser"


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_spelled_end_of_reasoning_ends_none(size: int) -> None:
    thought = "It ends with </think> and <tool_call> follows."
    ids = [*ids_of("<think>", spelled=False), *ids_of(f"\n{thought}\n", spelled=True)]
    ids += ids_of("</think>\n\nSo.<|im_end|>", spelled=False)
    assert ours(ids, size) == (thought, "So.", [])


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_call_after_text_that_spells_one(size: int) -> None:
    ids = [*ids_of(f"{PROSE}\n", spelled=True), *ids_of(CALL, spelled=False)]
    assert ours(ids, size) == ("", PROSE, [("look", '{"at": "it"}')])


def test_ids_that_do_not_fit_the_text_leave_it_to_the_text() -> None:
    request = request_of(TOOLS)
    parser = parser_class(name(), MARKERS)(tiny(), request.tools, chat_template_kwargs={})
    parser.adjust_request(request)
    delta = parser.parse_delta(CALL, [0], request, prompt_token_ids=[], finished=True)
    assert [call.function.name for call in delta.tool_calls if call.function.name] == ["look"]
