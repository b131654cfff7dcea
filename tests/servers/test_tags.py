"""The tags that plug-ins give servers for requests, in the real xgrammar: from where on they hold, and for what."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pytest

from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import tool
from tests.gbnf.vocabulary import vocabulary
from tests.servers.answers import Answer

if importlib.util.find_spec("vllm") is None:
    pytest.skip("vLLM is not there: make servers", allow_module_level=True)

TOOLS = (
    tool("look", {"at": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}, required=("at",)),
    tool("see", {}),
)
STRICT = tuple({**one, "function": {**one["function"], "strict": True}} for one in TOOLS)
GOOD: tuple[tuple[tuple[str, dict[str, Any]], ...], ...] = (
    (("look", {"at": "it", "days": 2}),),
    (("look", {"at": "Tromsø, now"}),),
    (("see", {}),),
    (("look", {"at": "a"}), ("see", {})),
)
WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("look", {"days": 2}),
    ("look", {"at": "it", "days": -1}),
    ("look", {"at": "it", "other": "x"}),
)
NAMES = sorted(formats())
# No single text distinguishes the beginning of their calls: they are constrained only if calls are required.
UNTRIGGERED = {
    *("addressed-parts", "bare-array", "bare-json", "bare-keyword-calls"),
    *("forced-open", "recipient-lines", "string-delimiters"),
}


@lru_cache(maxsize=64)
def compiled(tag: str) -> Any:
    import xgrammar

    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([]), cache_enabled=False, max_threads=1)
    return compiler.compile_structural_tag(tag)


def accepts(tag: str, text: str) -> bool:
    import xgrammar

    matcher = xgrammar.GrammarMatcher(compiled(tag), terminate_without_stop_token=True)
    return (not text or matcher.accept_string(text)) and matcher.is_completed()


def vllm_tag(name: str, tools: tuple[Mapping[str, Any], ...], **options: Any) -> tuple[str, bool]:
    """Return the tag, and whether it applies from the answer's beginning on, or only after the reasoning."""
    from tests.servers.test_vllm import begun

    answer = Answer("", formats()[name].ir.turn.prompts[0].text, tools, {})
    parser, request, ids = begun(name, answer, **options)
    tag = request.structured_outputs.structural_tag if request.structured_outputs else ""
    begins = request.resolve_reasoning_ended(parser, ids)
    return tag, parser.reasoning_parser is None or bool(begins)


def sglang_tag(name: str, tools: tuple[Mapping[str, Any], ...], choice: Any, **options: Any) -> str:
    from tests.servers.test_sglang import call_parser

    found = call_parser(name, Answer("", "", tools, {})).get_structure_constraint(choice, **options)
    if found is None:
        return ""
    kind, tag = found
    assert kind == "structural_tag"
    return json.dumps(tag.model_dump())


def after_reasoning(name: str, text: str) -> str:
    """Return the text after the marker that ends reasoning, as the server passes it on."""
    reasoning = formats()[name].ir.reasoning
    return text.partition(reasoning.end.strip())[2] if reasoning.mode == "forced_open" else text


@pytest.mark.parametrize("choice", ["required", "auto"])
@pytest.mark.parametrize("name", NAMES)
def test_vllm_takes_what_the_template_writes_and_refuses_wrong_arguments(name: str, choice: str) -> None:
    ir = formats()[name].ir
    tag, begins = vllm_tag(name, STRICT, tool_choice=choice)
    if not tag:
        assert choice == "auto" and name in UNTRIGGERED
        return
    for calls in GOOD:
        if len(calls) == 1 or ir.tools.parallel:
            text = written(ir, calls_message(*calls))
            assert accepts(tag, text if begins else after_reasoning(name, text)), text
    for call in WRONG:
        text = written(ir, calls_message(call))
        assert not accepts(tag, text if begins else after_reasoning(name, text)), text


@pytest.mark.parametrize("name", NAMES)
def test_sglang_accepts_what_the_template_writes_after_the_reasoning(name: str) -> None:
    ir = formats()[name].ir
    tag = sglang_tag(name, STRICT, "required")
    for calls in GOOD:
        if len(calls) == 1 or ir.tools.parallel:
            text = after_reasoning(name, written(ir, calls_message(*calls)))
            assert accepts(tag, text), text
    for call in WRONG:
        assert not accepts(tag, after_reasoning(name, written(ir, calls_message(call))))


def test_optional_reasoning_is_in_the_tag() -> None:
    """Without it, the server would wait for the end of reasoning that may never come."""
    ir = formats()["tagged-json"].ir
    call = written(ir, calls_message(GOOD[0][0]))
    tag, begins = vllm_tag("tagged-json", TOOLS, tool_choice="required")
    assert begins and accepts(tag, call) and accepts(tag, "<musing>\nHm.\n</musing>\n\n" + call)
    assert not accepts(tag, "Hello.") and not accepts(tag, "<musing>\nHm.\n</musing>\n\nHello.")


def test_reasoning_that_the_prompt_opens_is_before_the_tag() -> None:
    call = after_reasoning("forced-open", written(formats()["forced-open"].ir, calls_message(GOOD[0][0])))
    tag, begins = vllm_tag("forced-open", TOOLS, tool_choice="required")
    assert not begins and accepts(tag, call) and not accepts(tag, "Hello.")
    # A server that is not to send reasoning lets the tag hold from the first token on.
    tag, begins = vllm_tag("forced-open", TOOLS, tool_choice="required", include_reasoning=False)
    assert begins and accepts(tag, "Hm.</sketch>" + call) and not accepts(tag, "Hm.</sketch>Hello.")


def test_which_calls() -> None:
    look, see = (written(formats()["tagged-json"].ir, calls_message(calls[0])) for calls in (GOOD[0], GOOD[2]))
    named = {"type": "function", "function": {"name": "see"}}
    tag, _ = vllm_tag("tagged-json", TOOLS, tool_choice=named)
    assert accepts(tag, see) and not accepts(tag, look)
    both = written(formats()["tagged-json"].ir, calls_message(*GOOD[3]))
    for parallel in (True, False):
        tag, _ = vllm_tag("tagged-json", TOOLS, tool_choice="required", parallel_tool_calls=parallel)
        assert accepts(tag, look) and accepts(tag, both) == parallel
        tag = sglang_tag("tagged-json", TOOLS, "required", parallel_tool_calls=parallel)
        assert accepts(tag, look) and accepts(tag, both) == parallel


def test_arguments_are_free_unless_a_tool_is_strict() -> None:
    loose = written(formats()["tagged-json"].ir, calls_message(("look", {"at": 3, "other": [1]})))
    assert accepts(vllm_tag("tagged-json", TOOLS, tool_choice="required")[0], loose)
    assert accepts(sglang_tag("tagged-json", TOOLS, "required"), loose)
    assert not accepts(vllm_tag("tagged-json", STRICT, tool_choice="required")[0], loose)
    assert not accepts(sglang_tag("tagged-json", STRICT, "required"), loose)
    assert vllm_tag("tagged-json", TOOLS, tool_choice="auto")[0] == sglang_tag("tagged-json", TOOLS, "auto") == ""


def test_without_the_compiler_calls_are_read_and_not_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.servers.plugins import plugin_module

    for server in ("vllm", "sglang"):
        monkeypatch.setattr(plugin_module("tagged-json", server), "ENFORCES", False)
    assert vllm_tag("tagged-json", TOOLS, tool_choice="required")[0] == ""
    assert sglang_tag("tagged-json", TOOLS, "required") == ""


@pytest.mark.parametrize("special", [False, True])
def test_markers_that_are_special_tokens(special: bool) -> None:
    """Tokens are chosen by masks, as an engine samples."""
    import numpy
    import xgrammar

    from tests.servers.tokens import tiny_tokenizer

    tokenizer = tiny_tokenizer(("<fn>", "</fn>", "<musing>", "</musing>") if special else ())
    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer)
    tag, _ = vllm_tag("tagged-json", TOOLS, tool_choice="required")
    grammar = xgrammar.GrammarCompiler(info, cache_enabled=False, max_threads=1).compile_structural_tag(tag)
    matcher = xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=True)
    ids = tokenizer.encode(written(formats()["tagged-json"].ir, calls_message(GOOD[0][0])), add_special_tokens=False)
    bits = numpy.full((1, (info.vocab_size + 31) // 32), -1, dtype=numpy.int32)
    for token in ids:
        matcher.fill_next_token_bitmask(bits, 0)
        assert bits[0, token // 32] >> (token % 32) & 1 and matcher.accept_token(token)
    assert matcher.is_completed()


@pytest.mark.parametrize("name", ["tagged-json", "string-delimiters", "parameter-tags", "keyword-calls"])
def test_properties_come_in_any_order(name: str) -> None:
    """Some templates sort keys, so what they write is not in the order of a schema."""
    for arguments in ({"at": "it", "days": 2}, {"days": 2, "at": "it"}):
        text = written(formats()[name].ir, calls_message(("look", arguments)))
        assert accepts(vllm_tag(name, STRICT, tool_choice="required")[0], text)
        assert accepts(sglang_tag(name, STRICT, "required"), after_reasoning(name, text))


# Of a processor, for one tag with a vocabulary as large as those of models; some take two.
SECONDS = 60


@pytest.mark.parametrize("name", ["tagged-json", "sectioned-ids", "channels", "forced-open"])
def test_a_tag_of_required_calls_compiles_in_bounded_time(name: str) -> None:
    import xgrammar

    words = list(vocabulary())
    info = xgrammar.TokenizerInfo(words, vocab_size=len(words), stop_token_ids=[len(words) - 1])
    tag, _ = vllm_tag(name, STRICT, tool_choice="required")
    start = time.process_time()
    made = xgrammar.GrammarCompiler(info, cache_enabled=False, max_threads=1).compile_structural_tag(tag)
    matcher, mask = xgrammar.GrammarMatcher(made), xgrammar.allocate_token_bitmask(1, info.vocab_size)
    for letter in "Well, let me look.":
        matcher.fill_next_token_bitmask(mask)
        matcher.accept_string(letter)
    assert time.process_time() - start < SECONDS
