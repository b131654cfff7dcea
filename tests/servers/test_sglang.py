"""Plug-ins in SGLang: driven as the server does it, whole and in chunks, against our own parser."""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.servers.answers import CUTS, LOOK, NAMES, Answer, Read, answers
from tests.servers.plugins import plugin_module
from tests.servers.tokens import tiny_tokenizer

if importlib.util.find_spec("sglang") is None:
    pytest.skip("SGLang is not there: make servers", allow_module_level=True)


@cache
def registered(name: str) -> Any:
    plugin = plugin_module(name, "sglang")
    plugin.register()
    return plugin


def reasoning_parser(name: str, answer: Answer, *, stream: bool) -> Any:
    """Make the parser as the server does: it passes whether the model is to reason, but not the prompt."""
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    plugin = registered(name)
    if not plugin.PARSES_REASONING:
        return None
    head, heads = answer.head(name), plugin.StreamParser.HEADS
    switched = any(map(plugin.reasoning_open, heads))
    forced = plugin.reasoning_open(head) if switched else not plugin.reasoning_ended(head)
    return ReasoningParser(name, stream, forced, tool_call_parser_active=plugin.PARSES_CALLS)


def call_parser(name: str, answer: Answer) -> Any:
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    if not registered(name).PARSES_CALLS:
        return None
    return FunctionCallParser([Tool(**tool) for tool in answer.tools], name)


def whole(name: str, answer: Answer) -> Read:
    reasoning, text, calls = "", answer.text, []
    if (parser := reasoning_parser(name, answer, stream=False)) is not None:
        reasoning, text = parser.parse_non_stream(text)
    if (parser := call_parser(name, answer)) is not None and parser.has_tool_call(text):
        text, calls = parser.parse_non_stream(text)
    return reasoning, text, [(call.name, call.parameters) for call in calls]


def streamed(name: str, answer: Answer, size: int) -> Read:
    first, second = reasoning_parser(name, answer, stream=True), call_parser(name, answer)
    reasoning = content = ""
    found: list[Any] = []
    for chunk, last in answer.chunks(size):
        if first is not None:
            thought, chunk = first.parse_stream_chunk(chunk)
            if last:
                more, rest = first.parse_stream_end()
                thought, chunk = thought + more, chunk + rest
            reasoning += thought
        if second is not None:
            chunk, calls = second.parse_stream_chunk(chunk)
            if last:
                rest, more = second.parse_stream_end()
                chunk, calls = chunk + rest, [*calls, *more]
            found += calls
        content += chunk
    calls: dict[int, tuple[str, str]] = {}
    for call in found:
        name, arguments = calls.get(call.tool_index, ("", ""))
        calls[call.tool_index] = (name + (call.name or ""), arguments + call.parameters)
    if second is not None:
        sent = [call["arguments"] for call in second.detector.prev_tool_call_arr]
        assert sent == second.detector.streamed_args_for_tool == [arguments for _, arguments in calls.values()]
    return reasoning, content, list(calls.values())


@pytest.mark.parametrize("name", NAMES)
def test_reads_as_our_parser_does(name: str) -> None:
    parser = plugin_module(name, "sglang")
    for answer in answers(name):
        wanted = answer.wanted(parser, stream=False)
        assert whole(name, answer) == wanted, str(answer)
        wanted = answer.wanted(parser, stream=True)
        for size in CUTS:
            assert streamed(name, answer, size) == wanted, (size, str(answer))
    assert len(answers(name)) > 20


THOUGHT = "<musing>\nHm.\n</musing>\n\n"
CALL = '<fn>\n{"name": "look", "arguments": {}}\n</fn>'


def reasoning(text: str, size: int = 5, **options: Any) -> list[tuple[str, str]]:
    """Return what a reasoning parser sends for chunks: reasoning and the rest."""
    parser = registered("tagged-json").FormatReasoningDetector(**options)
    results = [parser.parse_streaming_increment(text[at : at + size]) for at in range(0, len(text), size)]
    results.append(parser.finish())
    return [(one.reasoning_text, one.normal_text) for one in results if one.reasoning_text or one.normal_text]


def test_what_follows_the_reasoning_is_handed_on_as_it_came() -> None:
    found = reasoning(THOUGHT + "Hi.\n" + CALL + "<~/~>\n", tool_call_parser_active=True)
    assert "".join(rest for _, rest in found) == "Hi.\n" + CALL + "<~/~>\n"


def test_without_a_parser_of_calls_the_rest_is_the_content() -> None:
    assert "".join(rest for _, rest in reasoning(THOUGHT + "Hi.<~/~>\n")) == "Hi."


def test_reasoning_as_a_whole() -> None:
    assert reasoning(THOUGHT + "Hi.", 50, stream_reasoning=False) == [("Hm.", "Hi.")]
    assert reasoning("<musing>\nHm", stream_reasoning=False) == [("Hm", "")]


def test_reasoning_that_replaces_the_content() -> None:
    assert reasoning(THOUGHT, force_nonempty_content=True) == [("", "Hm.")]
    assert reasoning(THOUGHT + "Hi.", 50, force_nonempty_content=True) == [("Hm.", "Hi.")]


def test_reasoning_that_comes_again_stays_in_the_content() -> None:
    text = THOUGHT + "So. <musing>\nOr?\n</musing>\n\nYes." + CALL
    answer = Answer(text, "<~assistant~>\n", (LOOK,), {})
    wanted = ("Hm.", "So. <musing>\nOr?\n</musing>\n\nYes.", [("look", "{}")])
    assert whole("tagged-json", answer) == wanted
    assert {size: streamed("tagged-json", answer, size) for size in CUTS} == dict.fromkeys(CUTS, wanted)


def test_an_answer_that_is_continued() -> None:
    options = {"continue_final_message": True, "previous_content": "<musing>\nWell", "tool_call_parser_active": True}
    found = reasoning(", yes.\n</musing>\n\nHi.", **options)
    assert ("".join(thought for thought, _ in found), "".join(rest for _, rest in found)) == (", yes.", "Hi.")


def test_both_names_are_choices_once_registered() -> None:
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    plugin = registered("tagged-json")
    assert FunctionCallParser.ToolCallParserEnum["tagged-json"] is plugin.FormatDetector
    assert ReasoningParser.DetectorMap["tagged-json"] is plugin.FormatReasoningDetector


def test_the_servers_variables_say_whether_prompts_reason() -> None:
    for name, opened in (("forced-open", True), ("tagged-json", False)):
        parser = registered(name).FormatReasoningDetector()
        assert (parser.think_start_token, parser.think_end_token) == registered(name).StreamParser.AROUND_REASONING[
            0
        ] + (registered(name).StreamParser.AROUND_REASONING[1])
        ids = parser.get_self_opened_think_start_token_ids(tiny_tokenizer())
        assert (ids is None) == opened


@cache
def of_the_server(name: str) -> Any:
    """Return a function from the server's source: importing its whole file would need libraries of a GPU."""
    spec = importlib.util.find_spec("sglang.srt.entrypoints.openai")
    assert spec is not None and spec.origin is not None
    tree = ast.parse((Path(spec.origin).parent / "serving_chat.py").read_text(encoding="utf-8"))
    [function] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    space: dict[str, Any] = {"ChatCompletionRequest": Any}
    exec(compile(ast.Module([function], []), name, "exec"), space)
    return space[name]


PLACE = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}},
}


@pytest.mark.parametrize("keeping", ["drop", "keep"])
def test_a_call_that_is_cut_is_marked(keeping: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server asks for these indices before it reports `tool_calls` as the reason of a finish."""
    _incomplete_tool_call_indices = of_the_server("_incomplete_tool_call_indices")
    monkeypatch.setattr(registered("tagged-json"), "ON_INCOMPLETE", keeping)
    answer = Answer(
        CALL + '\n<fn>\n{"name": "look", "arguments": {"place": "Oslo and th', "<~assistant~>\n", (PLACE,), {}
    )
    for text, indices in ((answer.text, {1}), (CALL, set())):
        parser = call_parser("tagged-json", answer)
        found = [parser.parse_stream_chunk(text[at : at + 7])[1] for at in range(0, len(text), 7)]
        found.append(parser.parse_stream_end()[1])
        assert _incomplete_tool_call_indices(parser) == indices
        pieces = [call.parameters for calls in found for call in calls if call.tool_index == 1]
        if indices:
            cut = '{"place": "Oslo and th'
            assert "".join(pieces) == (cut + '"}' if keeping == "keep" else cut)
    parser = call_parser("tagged-json", answer)
    _, calls = parser.parse_non_stream(answer.text)
    kept = ["{}", '{"place": "Oslo and th"}'] if keeping == "keep" else ["{}"]
    assert [call.parameters for call in calls] == kept
    assert _incomplete_tool_call_indices(parser) == ({1} if keeping == "keep" else set())


SHARED = Path(__file__).resolve().parents[3] / "shared" / "templates"


def switched_templates() -> list[str]:
    """Return templates whose generation prompt is switched by one of the servers' own variables."""
    if not SHARED.is_dir():
        return []
    words = ("enable_thinking", "thinking")
    return sorted(path.name for path in SHARED.glob("*.jinja") if any(w in path.read_text("utf-8") for w in words))


@pytest.mark.parametrize("file", switched_templates())
def test_the_server_tells_whether_a_request_reasons(file: str) -> None:
    """By default, switched on, and switched off: `force_reasoning` is what the prompt of the template asks for."""
    from tplc.targets.plugins import plugin

    ir = learned(file)
    if ir is None or not any(
        dict(prompt.context).keys() & {"thinking", "enable_thinking"} for prompt in ir.turn.prompts
    ):
        pytest.skip("no prompt is switched")
    space: dict[str, Any] = {"__name__": file}
    exec(compile(plugin(ir, "sglang", name="switched"), file, "exec"), space)
    space["register"]()
    detector = space["FormatReasoningDetector"]
    server = SimpleNamespace(
        reasoning_parser="switched",
        template_manager=SimpleNamespace(reasoning_config=None),
        _reasoning_detector=detector(),
    )
    [switch] = {name for prompt in ir.turn.prompts for name in dict(prompt.context)} & {"thinking", "enable_thinking"}
    default = ir.turn.prompts[0].head
    heads = {None: default, True: default, False: default}
    heads |= {dict(p.context)[switch]: p.head for p in ir.turn.prompts[1:] if switch in dict(p.context)}
    for value, head in heads.items():
        request = SimpleNamespace(
            chat_template_kwargs=None if value is None else {switch: value}, reasoning_effort=None
        )
        reasons = of_the_server("_get_reasoning_from_request")(server, request)
        parser = detector(force_reasoning=reasons, tool_call_parser_active=False)
        text = "Hm." + ir.reasoning.end + "Yes." if space["reasoning_open"](head) else "Yes."
        result = parser.detect_and_parse(text)
        wanted = ("Hm.", "Yes.") if space["reasoning_open"](head) else ("", "Yes.")
        assert (result.reasoning_text.strip(), result.normal_text.strip()) == wanted, (value, head)


@cache
def learned(file: str) -> Any:
    from tplc import driver
    from tplc.errors import TplcError

    source = (SHARED / file).read_text(encoding="utf-8")
    try:
        with driver.open_renderer(source, name=file) as renderer:
            return driver.tolerate(driver.learn_format(renderer, name=file, source_text=source))
    except TplcError:
        return None
