"""Plug-ins in vLLM: driven as the server does it, whole and in chunks, against our own parser."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from tests.servers.answers import CUTS, LOOK, NAMES, Answer, Read, answers, ir_of
from tests.servers.plugins import plugin_file, plugin_module
from tests.servers.tokens import tiny_tokenizer

if importlib.util.find_spec("vllm") is None:
    pytest.skip("vLLM is not there: make servers", allow_module_level=True)


@cache
def tokenizer(special: tuple[str, ...]) -> Any:
    return tiny_tokenizer(special)


@cache
def parser_class(name: str, special: tuple[str, ...] = ()) -> Any:
    from vllm.parser.parser_manager import ParserManager

    plugin = plugin_module(name, "vllm")
    return ParserManager.get_parser(
        name if plugin.PARSES_CALLS else None,
        name if plugin.PARSES_REASONING else None,
        True,
        "model",
        tokenizer=tokenizer(special),
    )


def request_of(tools: Sequence[Mapping[str, Any]], **options: Any) -> Any:
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

    asked = {"tools": [dict(tool) for tool in tools], **options}
    return ChatCompletionRequest(messages=[{"role": "user", "content": "Hi."}], model="model", **asked)


def begun(name: str, answer: Answer, special: tuple[str, ...] = (), **options: Any) -> tuple[Any, Any, list[int]]:
    """Return a parser for an answer, the request, and the prompt's tokens."""
    tokens = tokenizer(special)
    request = request_of(answer.tools, **options)
    parser = parser_class(name, special)(tokens, request.tools, chat_template_kwargs={})
    ids = tokens.encode(answer.prompt, add_special_tokens=False)
    parser.set_prompt_token_ids(ids)
    return parser, parser.adjust_request(request), ids


def whole(name: str, answer: Answer, *, check_ids: bool = True) -> Read:
    _, request, prompt = begun(name, answer)
    parser = parser_class(name)(tokenizer(()), request.tools, chat_template_kwargs={})
    parser.set_prompt_token_ids(prompt)
    reasoning, content, calls = parser.parse(answer.text, request, enable_auto_tools=True)
    ids = [call["id"] for call in answer.message["tool_calls"]]
    assert not check_ids or all(wanted in (None, call.id) for call, wanted in zip(calls or [], ids, strict=True))
    return reasoning or "", content or "", [(call.name, call.arguments) for call in calls or []]


def streamed(name: str, answer: Answer, size: int) -> Read:
    _, request, ids = begun(name, answer)
    parser = parser_class(name)(tokenizer(()), request.tools, chat_template_kwargs={})
    if not plugin_module(name, "vllm").PARSES_CALLS:
        # After reasoning, no parser reads the text: it is passed on unchanged.
        answer = answer.stopped(name)
    reasoning = content = ""
    calls: dict[int, tuple[str, str]] = {}
    named: dict[int, str] = {}
    for chunk, last in answer.chunks(size):
        delta = parser.parse_delta(chunk, [0], request, prompt_token_ids=ids, finished=last)
        if delta is None:
            continue
        reasoning += delta.reasoning or ""
        content += delta.content or ""
        for call in delta.tool_calls:
            if call.id:
                assert call.index not in named, "one id for a call, with its name"
                named[call.index] = call.id
            before = calls.get(call.index, ("", ""))
            calls[call.index] = (before[0] + (call.function.name or ""), before[1] + (call.function.arguments or ""))
    assert named.keys() == calls.keys()
    return reasoning, content, list(calls.values())


def blank_is_none(read: Read) -> Read:
    """Return None for blank content: vLLM sends no content of white space alone with calls, if it sends an answer
    whole."""
    reasoning, content, calls = read
    return reasoning, content if content.strip() or not calls else "", calls


@pytest.mark.parametrize("name", NAMES)
def test_reads_as_our_parser_does(name: str) -> None:
    parser = plugin_module(name, "vllm")
    for answer in answers(name):
        wanted = answer.wanted(parser, stream=False)
        assert whole(name, answer, check_ids=wanted == answer.ours) == blank_is_none(wanted), str(answer)
        wanted = answer.wanted(parser, stream=True)
        for size in CUTS:
            assert streamed(name, answer, size) == wanted, (size, str(answer))
    assert len(answers(name)) > 20


def by(name: str, text: str, *, prompt: str | None = None, **options: Any) -> tuple[Any, Any]:
    """Return a new parser for a text, and what it reads from the whole text."""
    before = ir_of(name).turn.prompts[0].text if prompt is None else prompt
    parser, request, _ = begun(name, Answer(text, before, (LOOK,), {}), **options)
    return parser, parser.parse(text, request, enable_auto_tools=True)


def test_a_file_is_registered_by_its_path(tmp_path: Any) -> None:
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    path = plugin_file("tagged-json", "vllm")
    ToolParserManager.import_tool_parser(str(path))
    ReasoningParserManager.import_reasoning_parser(str(path))
    assert ToolParserManager.get_tool_parser("tagged-json").engine_based_streaming
    assert ReasoningParserManager.get_reasoning_parser("tagged-json").engine_based_streaming


def test_special_tokens_are_kept() -> None:
    for name in ("tagged-json", "forced-open"):
        _, request, _ = begun(name, Answer("", ir_of(name).turn.prompts[0].text, (LOOK,), {}))
        assert request.skip_special_tokens is False


def test_ids_of_the_model_are_kept() -> None:
    answer = next(one for one in answers("ids-with-names") if one.message["tool_calls"])
    _, request, ids = begun("ids-with-names", answer)
    parser = parser_class("ids-with-names")(tokenizer(()), request.tools, chat_template_kwargs={})
    _, _, calls = parser.parse(answer.text, request, enable_auto_tools=True)
    assert [call.id for call in calls] == [call["id"] for call in answer.message["tool_calls"]] != [None]
    parser = parser_class("ids-with-names")(tokenizer(()), request.tools, chat_template_kwargs={})
    delta = parser.parse_delta(answer.text, ids, request, prompt_token_ids=ids, finished=True)
    assert [call.id for call in delta.tool_calls if call.id] == [call.id for call in calls]


THOUGHT = "<musing>\nHm.\n</musing>\n\n"
CALL = '<fn>\n{"name": "look", "arguments": {}}\n</fn>'


def test_without_a_reasoning_parser_reasoning_stays_in_the_content() -> None:
    from vllm.parser.parser_manager import ParserManager

    plugin_module("tagged-json", "vllm")
    kind = ParserManager.get_parser("tagged-json", None, True, "model", tokenizer=tokenizer(()))
    request = request_of([LOOK])
    whole_answer = kind(tokenizer(()), request.tools).parse(THOUGHT + "Hi." + CALL, request, enable_auto_tools=True)
    assert whole_answer[:2] == (None, "<musing>\nHm.\n</musing>\n\nHi.")
    delta = kind(tokenizer(()), request.tools).parse_delta(
        THOUGHT + "Hi." + CALL, [0], request, prompt_token_ids=[0], finished=True
    )
    assert (delta.reasoning, delta.content) == whole_answer[:2]


def test_reasoning_that_comes_again() -> None:
    text = THOUGHT + "So. <musing>\nOr?\n</musing>\n\nYes." + CALL
    prompt = ir_of("tagged-json").turn.prompts[0].text
    message = plugin_module("tagged-json", "vllm").StreamParser(tools=[LOOK], prompt=prompt)
    message.feed(text)
    message.finish()
    answer = Answer(text, prompt, (LOOK,), message.message)
    assert message.message["reasoning_content"] == "Hm.Or?"
    assert whole("tagged-json", answer) == answer.ours
    assert {size: streamed("tagged-json", answer, size) for size in CUTS} == dict.fromkeys(CUTS, answer.ours)


@pytest.mark.parametrize("special", [(), ("<musing>", "</musing>")])
def test_the_engine_hears_of_the_end_of_reasoning_once(special: tuple[str, ...]) -> None:
    tokens = tokenizer(special)
    prompts = ir_of("tagged-json").turn.prompts
    parser = parser_class("tagged-json", special)(tokens, None, chat_template_kwargs={}).reasoning_parser
    before = tokens.encode("What of </musing>? " + prompts[0].text, add_special_tokens=False)
    assert not parser.is_reasoning_end(before)
    assert parser.is_reasoning_end(tokens.encode(prompts[1].text, add_special_tokens=False))
    ids = tokens.encode(THOUGHT + "Hi.", add_special_tokens=False)
    ended = [
        tokens.decode(ids[: at + 1])
        for at, token in enumerate(ids)
        if parser.is_reasoning_end_streaming([*before, *ids[: at + 1]], [token])
    ]
    assert ended == [THOUGHT.rstrip()]


def test_an_answer_that_is_continued() -> None:
    prompt = ir_of("tagged-json").turn.prompts[0].text + "<musing>\nWell"
    request = request_of([LOOK])
    ids = tokenizer(()).encode(prompt, add_special_tokens=False)
    kwargs = {"chat_template_kwargs": {"continue_final_message": True}}
    rest = ", yes.\n</musing>\n\nHi." + CALL
    parser = parser_class("tagged-json")(tokenizer(()), request.tools, **kwargs)
    parser.set_prompt_token_ids(ids)
    assert parser.parse(rest, parser.adjust_request(request), enable_auto_tools=True)[:2] == (", yes.", "Hi.")
    parser = parser_class("tagged-json")(tokenizer(()), request.tools, **kwargs)
    delta = parser.parse_delta(rest, [0], request, prompt_token_ids=ids, finished=True)
    assert (delta.reasoning, delta.content, delta.tool_calls[0].function.name) == (", yes.", "Hi.", "look")


@pytest.mark.parametrize("text", ["Hi. <f", '<fn>\n{"na', THOUGHT + "<", "<mus", "  ", ""])
def test_nothing_is_lost_at_the_end(text: str) -> None:
    prompt = ir_of("tagged-json").turn.prompts[0].text
    stream = plugin_module("tagged-json", "vllm").StreamParser(tools=[LOOK], prompt=prompt)
    stream.feed(text)
    stream.finish()
    answer = Answer(text, prompt, (LOOK,), stream.message)
    wanted = answer.ours
    assert whole("tagged-json", answer) == wanted
    assert {size: streamed("tagged-json", answer, size) for size in CUTS} == dict.fromkeys(CUTS, wanted)


def test_calls_without_tools_in_the_request_are_dropped() -> None:
    _, (reasoning, content, calls) = by("tagged-json", THOUGHT + "Hi." + CALL, tool_choice="none")
    assert (reasoning, content, calls) == ("Hm.", "Hi.", [])


PLACE = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}},
}
# Every way in which an answer can end inside a call, in a format that has JSON arguments and in one that has raw text.
CUT_CALLS = {
    "tagged-json": '<fn>\n{"name": "look", "arguments": {"place": "Oslo and th',
    "parameter-tags": "<deed>\n<do=look>\n<with=place>\nOslo and th",
}


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Run with both settings for a call in which an answer ends."""
    for name in CUT_CALLS:
        monkeypatch.setattr(plugin_module(name, "vllm"), "ON_INCOMPLETE", request.param)
    return str(request.param)


@pytest.mark.parametrize("name", CUT_CALLS)
@pytest.mark.parametrize("keeping", ["drop", "keep"], indirect=True)
def test_a_call_that_is_cut_is_not_run(name: str, keeping: str) -> None:
    """An engine reports `stop` if the model ends its answer inside a call: only this protects a client then."""
    from vllm.entrypoints.serve.utils.tool_calls_utils import resolve_finish_reason

    prompt = ir_of(name).turn.prompts[0].text
    answer = Answer("Hi. " + CUT_CALLS[name], prompt, (PLACE,), {})
    _, request, _ = begun(name, answer)
    kept = [("look", '{"place": "Oslo and th"}')]
    reasoning, content, calls = whole(name, Answer(answer.text, prompt, (PLACE,), {"tool_calls": []}), check_ids=False)
    assert ((reasoning + content).strip(), calls) == ("Hi.", kept if keeping == "keep" else [])
    reason = resolve_finish_reason("stop", request, bool(calls))
    assert reason == ("tool_calls" if keeping == "keep" else "stop")
    for size in CUTS:
        reasoning, content, [(called, arguments)] = streamed(name, answer, size)
        assert ((reasoning + content).strip(), called) == ("Hi.", "look")
        if keeping == "keep":
            assert arguments == kept[0][1]
        else:
            with pytest.raises(json.JSONDecodeError):
                json.loads(arguments)


@pytest.mark.parametrize("special", [(), ("<musing>", "</musing>")])
def test_reasoning_tokens_are_counted(special: tuple[str, ...]) -> None:
    tokens = tokenizer(special)
    thought = "Hm, is Łódź far?"
    for prompt, text in (
        ("<~assistant~>\n", THOUGHT.replace("Hm.", thought) + "Yes." + CALL),
        ("<~assistant~>\n", "Yes."),
    ):
        request = request_of([LOOK])
        parser = parser_class("tagged-json", special)(tokens, request.tools, chat_template_kwargs={})
        parser.set_prompt_token_ids(tokens.encode(prompt, add_special_tokens=False))
        ids = tokens.encode(text, add_special_tokens=False)
        wanted = len(tokens.encode(thought, add_special_tokens=False)) if thought in text else 0
        assert parser.count_reasoning_tokens(ids) == wanted
        counts = [parser.count_reasoning_tokens(ids[:n]) for n in range(len(ids) + 1)]  # as it streams
        assert counts == sorted(counts)
        assert counts[-1] == wanted


def test_a_model_that_vllm_reads_by_a_parser_of_its_own(tmp_path: Any) -> None:
    """vLLM chooses Harmony's parser by the model's type; with another type, it uses the plug-in."""
    from vllm.config import ModelConfig
    from vllm.parser.parser_manager import ParserManager

    name = "channels"
    plugin_module(name, "vllm")
    with pytest.raises(TypeError, match="Harmony requires GptOssReasoningParser, got FormatReasoningParser"):
        ParserManager.get_parser(name, name, True, "model", is_harmony=True, tokenizer=tokenizer(()))
    config = {
        "architectures": ["GptOssForCausalLM"],
        "model_type": "gpt_oss",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 300,
        "quantization_config": {"quant_method": "mxfp4"},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    options = {"model": str(tmp_path), "skip_tokenizer_init": True, "dtype": "bfloat16"}
    assert ModelConfig(**options).hf_config.model_type == "gpt_oss"
    usual = ModelConfig(**options).quantization
    # What vLLM sets itself for that type has to be said then.
    overrides = {"model_type": "gpt_oss_by_template", "quantization_config": {"quant_method": "gpt_oss_mxfp4"}}
    given = ModelConfig(**options, hf_overrides=overrides)
    assert given.hf_config.model_type == "gpt_oss_by_template"  # all that vLLM asks before it takes Harmony's parser
    assert given.architectures == ["GptOssForCausalLM"]
    assert given.quantization == usual
