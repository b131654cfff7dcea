"""Chat completions as OpenAI's clients expect them, made by a generated parser, and read by the real client."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.example_case import EXAMPLES
from tplc.driver import GrammarOptions, ParserOptions, generate, load_ir
from tplc.verify.artifact import load_module
from tplc_runtime.openai import Completion, finish_reason

CALL = 'I look.\n<fn>\n{"name": "look", "arguments": {"at": "it"}}\n</fn>'
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


@cache
def parser() -> ModuleType:
    ir = load_ir((EXAMPLES / "tagged-json" / "out" / "ir.json").read_text(encoding="utf-8"))
    return load_module(generate(ir, "python", GrammarOptions(parser=ParserOptions(openai=True))))


def completion(**options: Any) -> Any:
    return parser().ChatCompletion("m", **options)


def events(text: str, size: int, reason: str | None = "stop", index: int = 0) -> Iterator[dict[str, Any]]:
    for at in range(0, len(text), size):
        yield {"choices": [{"index": index, "text": text[at : at + size], "finish_reason": None}]}
    yield {"choices": [{"index": index, "text": "", "finish_reason": reason}]}
    yield {"choices": [], "usage": USAGE}


def deltas(chunks: list[dict[str, Any]], index: int = 0) -> list[dict[str, Any]]:
    return [choice["delta"] for chunk in chunks for choice in chunk["choices"] if choice["index"] == index]


def reasons(chunks: list[dict[str, Any]]) -> list[str | None]:
    return [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_stream(size: int) -> None:
    chat = completion(include_usage=True)
    chunks = [chunk for event in events(CALL, size) for chunk in chat.read(event)] + chat.finish()
    assert {(chunk["id"], chunk["object"], chunk["created"], chunk["model"]) for chunk in chunks} == {
        (chat.id, "chat.completion.chunk", chat.created, "m")
    }
    first, *rest = deltas(chunks)
    assert first == {"role": "assistant", "content": None}
    assert "".join(delta.get("content", "") for delta in rest) == "I look."
    calls = [call for delta in rest for call in delta.get("tool_calls", [])]
    assert [sorted(call) for call in calls[1:]] == [["function", "index"]] * (len(calls) - 1)
    assert calls[0]["id"].startswith("call_") and calls[0]["function"]["name"] == "look"
    assert "".join(call["function"]["arguments"] for call in calls) == '{"at": "it"}'
    *open_, last, usage = chunks
    assert set(reasons(open_)) == {None} and reasons([last]) == ["tool_calls"]
    assert (usage["choices"], usage["usage"]) == ([], USAGE)
    assert chat.response()["choices"][0]["message"]["tool_calls"][0]["id"] == calls[0]["id"]


def test_a_whole_answer() -> None:
    chat = completion(stream=False)
    for event in events("<musing>\nHm.\n</musing>\n\nFine.", 4):
        chat.read(event)
    assert chat.response() == {
        "id": chat.id,
        "object": "chat.completion",
        "created": chat.created,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Fine.", "refusal": None, "reasoning_content": "Hm."},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE,
    }


@pytest.mark.parametrize(
    ("text", "reason", "expected"),
    [
        ("Fine.", "stop", "stop"),
        ("Fine.", None, "stop"),
        ("Fine.", "eos", "stop"),
        ("Fine", "length", "length"),
        ("Fine", "limit", "length"),
        ("Fine", {"type": "length"}, "length"),
        ("Fine", {"type": "stop", "matched": 2}, "stop"),
        ("Fine", "content_filter", "content_filter"),
        (CALL, "stop", "tool_calls"),
        (CALL, "tool_calls", "tool_calls"),
        (CALL[:-12], "stop", "length"),
        (CALL[:-12], "length", "length"),
        ("<musing>\nHm", None, "length"),
        ("", None, "stop"),
    ],
)
def test_what_ended_an_answer(text: str, reason: Any, expected: str) -> None:
    chat = completion()
    chat.read({"choices": [{"text": text, "finish_reason": reason}]})
    assert reasons(chat.finish()[-1:]) in ([expected], [])
    assert chat.response()["choices"][0]["finish_reason"] == expected


def test_several_choices() -> None:
    chat = completion()
    both = zip(events("One.", 1), events(CALL, 40, "length", index=1), strict=False)
    chunks = [chunk for pair in both for event in pair for chunk in chat.read(event)] + chat.finish()
    assert "".join(delta.get("content") or "" for delta in deltas(chunks)) == "One."
    assert [delta for delta in deltas(chunks, 1) if "role" in delta] == [{"role": "assistant", "content": None}]
    answer = chat.response()["choices"]
    assert [(choice["index"], choice["message"]["content"]) for choice in answer] == [(0, "One."), (1, "I look.")]


def test_nothing_after_the_end() -> None:
    chat = completion()
    chat.read({"choices": [{"text": "One.", "finish_reason": "stop"}]})
    assert chat.read({"choices": [{"text": " Two.", "finish_reason": "stop"}]}) == []
    assert chat.finish() == [] and chat.response()["choices"][0]["message"]["content"] == "One."


class LateId:
    """A parser of a format whose ids come after the arguments."""

    incomplete = False
    message = {  # noqa: RUF012 - a stand-in
        "role": "assistant",
        "content": None,
        "reasoning_content": None,
        "tool_calls": [{"id": "late", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    }

    def feed(self, chunk: str, *, special: object = None) -> list[dict[str, Any]]:
        head = {"index": 0, "id": None, "type": "function", "function": {"name": "look", "arguments": ""}}
        rest = [{"index": 0, "function": {"arguments": "{}"}}, {"index": 0, "id": "late"}]
        return [{"tool_calls": [call]} for call in [head, *rest]]

    def finish(self) -> list[dict[str, Any]]:
        return []


class LateCompletion(Completion):
    PARSER = LateId  # type: ignore[assignment]


def test_an_id_that_comes_too_late() -> None:
    chat = LateCompletion("m")
    calls = [call for delta in deltas(chat.feed("x")) for call in delta.get("tool_calls", [])]
    made = calls[0]["id"]
    assert made.startswith("call_") and calls[1:] == [{"index": 0, "function": {"arguments": "{}"}}]
    assert chat.response()["choices"][0]["message"]["tool_calls"][0]["id"] == made
    whole = LateCompletion("m", stream=False)
    whole.feed("x")
    assert whole.response()["choices"][0]["message"]["tool_calls"][0]["id"] == "late"


def test_reasoning_under_another_name() -> None:
    chat = completion(reasoning_key="reasoning")
    assert {"reasoning": "Hm."} in deltas(chat.feed("<musing>\nHm.\n</musing>\n\nFine."))
    assert chat.response()["choices"][0]["message"]["reasoning"] == "Hm."


def test_the_engines_own_words() -> None:
    assert finish_reason("abort", LateId()) == "abort"  # type: ignore[arg-type]


@contextmanager
def serving(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the proxy and the engine of the vendoring guide."""
    import re

    import tplc

    guide = (ROOT / "docs" / "vendoring.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"<!-- file: (\S+) -->\n```\w*\n(.*?)\n```", guide, re.DOTALL))
    hut = (ROOT / "docs" / "hut.jinja").read_text(encoding="utf-8")
    ir = tplc.compile_template(hut, name="hut.jinja")
    made = generate(ir, "python", GrammarOptions(parser=ParserOptions(openai=True)))
    modules = {"hut_parser": load_module(made)}
    for name in ("proxy", "engine"):
        monkeypatch.setitem(__import__("sys").modules, "hut_parser", modules["hut_parser"])
        modules[name] = load_module(files[f"{name}.py"], f"{name}.py")
    handlers: list[type[BaseHTTPRequestHandler]] = [modules["engine"].Engine, modules["proxy"].Proxy]
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for handler in handlers]
    proxy: Any = handlers[1]
    proxy.engine = f"http://127.0.0.1:{servers[0].server_port}/v1/completions"
    proxy.template = tplc.ChatTemplate(hut, ir=ir)
    for server in servers:
        Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{servers[1].server_port}/v1"
    for server in servers:
        server.shutdown()
        server.server_close()
    proxy.template.close()


TOOLS = [{"type": "function", "function": {"name": "forecast", "parameters": {"type": "object", "properties": {}}}}]
ASKED: dict[str, Any] = {"model": "hut", "messages": [{"role": "user", "content": "Snow?"}], "tools": TOOLS}


@pytest.mark.skipif(importlib.util.find_spec("openai") is None, reason="openai, the client, is not installed")
@pytest.mark.filterwarnings("ignore")
def test_the_real_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import openai

    with serving(tmp_path, monkeypatch) as url:
        client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
        answer = client.chat.completions.create(**ASKED, n=2)
        assert [choice.finish_reason for choice in answer.choices] == ["tool_calls", "tool_calls"]
        call = answer.choices[1].message.tool_calls[0]
        assert (call.function.name, json.loads(call.function.arguments)) == ("forecast", {"city": "Oslo", "days": 3})
        assert (answer.model, answer.usage.total_tokens, answer.choices[0].message.role) == ("hut", 17, "assistant")
        cut = client.chat.completions.create(**ASKED, max_tokens=60)
        assert cut.choices[0].finish_reason == "length"
        with client.chat.completions.stream(**ASKED, stream_options={"include_usage": True}) as stream:
            kinds = {event.type for event in stream}
            final = stream.get_final_completion()
        assert "tool_calls.function.arguments.done" in kinds
        message = final.choices[0].message
        assert (message.content, message.tool_calls[0].function.name) == ("Let me look.", "forecast")
        assert (final.choices[0].finish_reason, final.usage.total_tokens) == ("tool_calls", 17)
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(**{**ASKED, "tools": [{"type": "function", "function": {}}]})
        client.close()


ERRORS = [
    ({"error": {"message": "no memory", "code": 500}}, {"message": "no memory", "code": 500}),
    ({"error": "no memory"}, "no memory"),
    (["choices"], "expected an event with choices, got list"),
    ({"choices": "text"}, "choices: expected a list, got str"),
    ({"choices": ["text"]}, "choices[0]: expected an object, got str"),
    ({"choices": [{"text": "Hi."}, {"index": 1, "text": 7}]}, "choices[1].text: expected text, got int"),
    ({"choices": [{"index": "first", "text": "Hi."}]}, "choices[0].index: expected a whole number, got str"),
    (
        {"choices": [{"index": 0, "delta": {"content": "Hi."}}]},
        "choices[0]: has no text: this is an event of chat completions; ask the engine for text completions",
    ),
]


@pytest.mark.parametrize(("event", "wanted"), ERRORS, ids=[str(event) for event, _ in ERRORS])
def test_an_error_of_the_engine_is_passed_on_and_ends_the_stream(event: Any, wanted: Any) -> None:
    if isinstance(wanted, str):
        wanted = {"message": wanted, "type": "engine_error", "param": None, "code": None}
    chat = completion(include_usage=True)
    chat.read({"choices": [{"index": 0, "text": "Wel"}]})
    assert chat.read(event) == [{"error": wanted}]
    assert chat.error == wanted
    assert (chat.read({"choices": [{"index": 0, "text": "l"}]}), chat.finish(), chat.response()) == (
        [],
        [],
        {"error": wanted},
    )


def test_calls_alone_have_no_content_in_a_stream() -> None:
    chat = completion()
    call = CALL.partition("\n")[2]
    chunks = [chunk for event in events(call, 5) for chunk in chat.read(event)] + chat.finish()
    assert {delta["content"] for delta in deltas(chunks) if "content" in delta} == {None}
    assert chat.response()["choices"][0]["message"]["content"] is None
