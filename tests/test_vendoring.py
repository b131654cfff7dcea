"""The code of the vendoring guide that plugs into engines, against stand-ins of their interfaces (tests/engines.py)."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tplc
from tests.conftest import ROOT
from tests.documents import read_blocks
from tests.engines import Characters, installed

CALLS = 'Let me look.<do>forecast {"city": "Oslo", "days": 3}</do><do>forecast {"city": "Bergen"}</do>[end]'
THOUGHT = "<why>Snow is likely.</why>\n"
FORECAST = {
    "type": "function",
    "function": {
        "name": "forecast",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
TOOL = SimpleNamespace(model_dump=lambda: FORECAST)


@pytest.fixture(scope="module")
def guide() -> dict[str, str]:
    """The files of the guide, and the parser that it makes."""
    blocks = read_blocks((ROOT / "docs" / "vendoring.md").read_text(encoding="utf-8"))
    files = {block.file: block.text for block in blocks if block.file}
    files["hut_parser.py"] = tplc.generate(tplc.compile_template(files["hut.jinja"], name="hut.jinja"), "python")
    return files


@pytest.fixture
def load(guide: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A file of the guide as a module, where the engines are."""

    def module(name: str) -> ModuleType:
        made = ModuleType(name)
        exec(compile(guide[f"{name}.py"], f"docs/vendoring.md: {name}.py", "exec"), vars(made))
        return made

    with installed():
        monkeypatch.setitem(__import__("sys").modules, "hut_parser", module("hut_parser"))
        yield module


def chunks(text: str, size: int) -> Iterator[tuple[str, str, str]]:
    """Previous, current and delta text."""
    for at in range(0, len(text), size):
        yield text[:at], text[: at + size], text[at : at + size]


def joined(calls: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Name and arguments of each call, from deltas of whatever engine."""
    found: dict[int, tuple[str, str]] = {}
    for call in calls:
        name, arguments = found.get(call["index"], ("", ""))
        found[call["index"]] = (name + (call.get("name") or ""), arguments + (call.get("arguments") or ""))
    return list(found.values())


BOTH = [("forecast", '{"city": "Oslo", "days": 3}'), ("forecast", '{"city": "Bergen"}')]


def test_vllm_tool_parser(load: Any) -> None:
    kind = load("hut_vllm").HutToolParser
    request = SimpleNamespace(tools=[TOOL], tool_choice="auto", skip_special_tokens=True)
    assert kind(None).adjust_request(request).skip_special_tokens is False
    whole = kind(None).extract_tool_calls(CALLS, request).shown()
    assert (whole["tools_called"], whole["content"]) == (True, "Let me look.")
    assert [tuple(call["function"].values()) for call in whole["tool_calls"]] == BOTH
    none = kind(None).extract_tool_calls("Hello.[end]", SimpleNamespace(tools=None, tool_choice="none"))
    assert none.shown() == {"tools_called": False, "content": "Hello."}


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_vllm_tool_parser_streams(load: Any, size: int) -> None:
    parser = load("hut_vllm").HutToolParser(None)
    request = SimpleNamespace(tools=[TOOL], tool_choice="auto")
    content, calls = "", []
    for previous, current, delta in chunks(CALLS, size):
        message = parser.extract_tool_calls_streaming(
            previous_text=previous, current_text=current, delta_text=delta,
            previous_token_ids=[], current_token_ids=[], delta_token_ids=[], request=request,
        )  # fmt: skip
        if message is not None:
            content += message.content or ""
            calls += [{"index": call.index, **call.function.shown()} for call in message.tool_calls or []]
    assert (content, joined(calls)) == ("Let me look.", BOTH)
    # What vLLM takes the finish reason from, and compares with what was sent.
    assert [tuple(call.values()) for call in parser.prev_tool_call_arr] == BOTH
    assert parser.streamed_args_for_tool == [arguments for _, arguments in BOTH]


def test_vllm_reasoning_parser(load: Any) -> None:
    kind = load("hut_vllm").HutReasoningParser
    parser = kind(Characters())
    assert parser.extract_reasoning(THOUGHT + CALLS, None) == ("Snow is likely.", CALLS.removesuffix("[end]"))
    assert parser.extract_reasoning("Hello.[end]", None) == (None, "Hello.")
    ends = [parser.is_reasoning_end(list(map(ord, text))) for text in ("", "<why>Sn", THOUGHT, THOUGHT + "Let", "Let")]
    assert ends == [False, False, True, True, False]
    assert parser.extract_content_ids(list(map(ord, "<why>Sn"))) == []
    for name in ("extract_reasoning_streaming", "extract_reasoning_content_streaming"):
        parser = kind(Characters())
        deltas = [getattr(parser, name)(*texts, [], [], []) for texts in chunks(THOUGHT + "Hello.[end]", 5)]
        shown = [delta.shown() for delta in deltas if delta is not None]
        assert "".join(delta.get("reasoning", "") for delta in shown) == "Snow is likely."
        assert "".join(delta.get("content", "") for delta in shown) == "Hello."


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_sglang_detector(load: Any, size: int) -> None:
    module = load("hut_sglang")
    assert module.FunctionCallParser.ToolCallParserEnum == {"hut": module.HutDetector}
    detector = module.HutDetector()
    assert (detector.has_tool_call(CALLS), detector.has_tool_call("Hello.")) == (True, False)
    whole = detector.detect_and_parse(CALLS, [TOOL]).shown()
    assert whole == {
        "normal_text": "Let me look.",
        "calls": [{"tool_index": i, "name": name, "parameters": text} for i, (name, text) in enumerate(BOTH)],
    }
    results = [detector.parse_streaming_increment(delta, [TOOL]) for _, _, delta in chunks(CALLS, size)]
    assert "".join(result.normal_text for result in results) == "Let me look."
    calls = [
        {"index": call.tool_index, "name": call.name, "arguments": call.parameters}
        for result in results
        for call in result.calls
    ]
    assert joined(calls) == BOTH


def test_transformers(load: Any) -> None:
    class Tokens(list[int]):
        shape = (1, 4)

        def __getitem__(self, place: Any) -> Any:
            row, columns = place
            assert (row, columns.start) == (0, 4)
            return list(self)[columns]

    class Inputs(dict[str, Any]):
        def to(self, device: str) -> Inputs:
            assert device == "here"
            return self

    class Tokenizer(Characters):
        def apply_chat_template(self, messages: Any, tools: Any, add_generation_prompt: bool, tokenize: bool) -> str:
            assert (tools, add_generation_prompt, tokenize) == ([FORECAST], True, False)
            return "[user]\n" + messages[0]["content"] + "[end]\n[assistant]\n"

        def __call__(self, prompt: str, return_tensors: str, add_special_tokens: bool) -> Inputs:
            assert prompt.endswith("[assistant]\n") and (return_tensors, add_special_tokens) == ("pt", False)
            return Inputs(input_ids=Tokens([0] * 4))

    output = THOUGHT + CALLS
    model = SimpleNamespace(device="here", generate=lambda **_: Tokens([0] * 4 + list(map(ord, output))))
    messages = [{"role": "user", "content": "Snow?"}]
    message = load("hut_transformers").answer(model, Tokenizer(), messages, tools=[FORECAST], max_new_tokens=99)
    assert (message["reasoning_content"], message["content"]) == ("Snow is likely.", "Let me look.")
    assert [tuple(call["function"].values()) for call in message["tool_calls"]] == BOTH
