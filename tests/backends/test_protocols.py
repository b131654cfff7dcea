"""Events of OpenAI's Responses API and of Anthropic's Messages API, read by the types and clients of their packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from tests.example_case import EXAMPLES
from tplc.driver import GrammarOptions, ParserOptions, generate, load_ir
from tplc.verify.artifact import load_module
from tplc_runtime.messages import json_object

CALL = '<fn>\n{"name": "look", "arguments": {"at": "it"}}\n</fn>'
THOUGHT = "<musing>\nHm.\n</musing>\n\n"
BOTH = f"{THOUGHT}I look.\n{CALL}\n{CALL}"
AGAIN = f"{THOUGHT}One.{THOUGHT}Two."
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
SIZES = (1, 3, 7, 1000)


@cache
def parser(name: str = "tagged-json") -> ModuleType:
    ir = load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))
    options = ParserOptions(responses=True, messages=True, main=False)
    return load_module(generate(ir, "python", GrammarOptions(parser=options)))


def engine(text: str, size: int, reason: str | None = "stop", **more: object) -> Iterator[dict[str, Any]]:
    for at in range(0, len(text), size):
        yield {"choices": [{"index": 0, "text": text[at : at + size], "finish_reason": None}]}
    yield {"choices": [{"index": 0, "text": "", "finish_reason": reason, **more}]}
    yield {"choices": [], "usage": USAGE}


def read(answer: Any, text: str, size: int = 3, reason: str | None = "stop", **more: object) -> list[dict[str, Any]]:
    return [made for event in engine(text, size, reason, **more) for made in answer.read(event)] + answer.finish()


def response(**options: Any) -> Any:
    return parser().OpenAIResponse("m", **options)


def message(**options: Any) -> Any:
    return parser().AnthropicMessage("m", **options)


@pytest.mark.parametrize("name", ["plain-chat", "tagged-json", "sectioned-ids"])
def test_answers_make_no_difference_to_the_parser(name: str) -> None:
    """A parser has the members that its own methods name. A name that answers use as well would keep another member."""
    ir = load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))
    plain, others = load_module(generate(ir, "python")), parser(name)
    assert members(others.StreamParser) == members(plain.StreamParser)


def members(parser: type) -> set[str]:
    return {name for base in parser.__mro__ for name in vars(base)}


# OpenAI's Responses API


def valid_response_events(events: list[dict[str, Any]]) -> None:
    """Check that each event is one of the package's types as a whole, without a member that these don't know."""
    for event in events:
        made = adapter("openai.types.responses", "ResponseStreamEvent").validate_python(event)
        assert made.type == event["type"]
        assert unknown(made) == set(), event


@cache
def adapter(module: str, name: str) -> Any:
    types = pytest.importorskip(module)
    return pytest.importorskip("pydantic").TypeAdapter(getattr(types, name))


def unknown(made: Any) -> set[str]:
    """Return the members that a pydantic model accepted without knowing them, at any depth."""
    found = set(getattr(made, "model_extra", None) or ())
    for value in made.__dict__.values():
        for one in value if isinstance(value, list) else [value]:
            if hasattr(one, "model_extra"):
                found |= unknown(one)
    return found


def items(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event["item"] for event in events if event["type"] == "response.output_item.done"]


def shown(item: dict[str, Any]) -> tuple[str, ...]:
    if item["type"] == "function_call":
        return "call", item["name"], item["arguments"]
    return item["type"], "".join(part["text"] for part in item["content"])


@pytest.mark.parametrize("size", SIZES)
def test_events_of_a_response(size: int) -> None:
    answer = response(request={"tool_choice": "required", "model": "other", "input": "Hi."})
    events = read(answer, BOTH, size)
    valid_response_events(events)
    kinds = [event["type"].removeprefix("response.") for event in events]
    once = [kind for kind, before in zip(kinds, ["", *kinds], strict=False) if kind != before]
    of_text = [
        "output_item.added",
        "content_part.added",
        "{}.delta",
        "{}.done",
        "content_part.done",
        "output_item.done",
    ]
    of_call = ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"]
    assert once == [
        *["created", "in_progress"],
        *[kind.format("reasoning_text") for kind in of_text],
        *[kind.format("output_text") for kind in of_text],
        *of_call,
        *of_call,
        "completed",
    ]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [shown(item) for item in items(events)] == [
        ("reasoning", "Hm."),
        ("message", "I look."),
        ("call", "look", '{"at": "it"}'),
        ("call", "look", '{"at": "it"}'),
    ]
    last = events[-1]["response"]
    assert last["output"] == items(events) and last == answer.response()
    assert (last["status"], last["tool_choice"], last["model"]) == ("completed", "required", "m")
    assert last["usage"] == {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 3,
    }


def test_deltas_of_an_item_add_up_and_name_it() -> None:
    events = read(response(), BOTH, 2)
    for place, item in enumerate(items(events)):
        deltas = [event for event in events if event["type"].endswith(".delta") and event["output_index"] == place]
        assert {event["item_id"] for event in deltas} == {item["id"]}
        assert "".join(event["delta"] for event in deltas) == shown(item)[-1]
    ids = [item["id"].partition("_")[0] for item in items(events)]
    assert ids == ["rs", "msg", "fc", "fc"]
    assert len({item["id"] for item in items(events)} | {item.get("call_id") for item in items(events)[2:]}) == 6


@pytest.mark.parametrize("size", SIZES)
def test_reasoning_between_texts_keeps_its_place(size: int) -> None:
    events = read(response(), AGAIN, size)
    valid_response_events(events)
    order = [("reasoning", "Hm."), ("message", "One."), ("reasoning", "Hm."), ("message", "Two.")]
    assert [shown(item) for item in items(events)] == order
    made = message()
    read(made, AGAIN, size)
    blocks = [(block["type"], block.get("thinking") or block.get("text")) for block in made.response()["content"]]
    assert blocks == [("thinking", "Hm."), ("text", "One."), ("thinking", "Hm."), ("text", "Two.")]


@pytest.mark.parametrize(
    ("text", "reason", "status", "why"),
    [
        ("Fine.", "stop", "completed", None),
        ("Fine.", None, "completed", None),
        (CALL, "stop", "completed", None),
        ("Fine", "length", "incomplete", {"reason": "max_output_tokens"}),
        ("Fine", "content_filter", "incomplete", {"reason": "content_filter"}),
        (CALL[:-12], "stop", "incomplete", {"reason": "max_output_tokens"}),
        ("<musing>\nHm", None, "incomplete", {"reason": "max_output_tokens"}),
        ("", "stop", "completed", None),
        ("Fine", "abort", "failed", None),
    ],
)
def test_the_status_of_a_response(text: str, reason: str | None, status: str, why: object) -> None:
    answer = response()
    events = read(answer, text, reason=reason)
    valid_response_events(events)
    last = events[-1]
    assert (last["type"], last["response"]["status"]) == (f"response.{status}", status)
    assert last["response"]["incomplete_details"] == why
    # An item that was whole before the end stays so.
    state = "incomplete" if why == {"reason": "max_output_tokens"} else "completed"
    assert [item["status"] for item in answer.response()["output"]] == [state] * bool(text)
    assert (last["response"]["error"] is None) == (status != "failed")


# Anthropic's Messages API


def valid_message_events(events: list[dict[str, Any]]) -> None:
    for event in events:
        made = adapter("anthropic.types", "RawMessageStreamEvent").validate_python(event)
        assert made.type == event["type"]
        assert unknown(made) == set(), event


@pytest.mark.sweep(6)
@pytest.mark.parametrize("size", SIZES)
def test_events_of_a_message(size: int) -> None:
    made = message()
    events = read(made, BOTH, size)
    valid_message_events(events)
    starts = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    assert [block["type"] for block in starts] == ["thinking", "text", "tool_use", "tool_use"]
    assert [block.get("input", {}) for block in starts] == [{}, {}, {}, {}]
    for place in range(len(starts)):
        own = [event["type"].removeprefix("content_block_") for event in events if event.get("index") == place]
        assert own == ["start", *["delta"] * (len(own) - 2), "stop"]
    deltas = [[*event["delta"].values()] for event in events if event["type"] == "content_block_delta"]
    assert "".join(text for kind, text in deltas if kind == "thinking_delta") == "Hm."
    assert "".join(text for kind, text in deltas if kind == "text_delta") == "I look."
    assert "".join(text for kind, text in deltas if kind == "input_json_delta") == '{"at": "it"}' * 2
    assert events[-2:] == [
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"input_tokens": 1, "output_tokens": 2},
        },
        {"type": "message_stop"},
    ]
    whole = made.response()
    anthropic_types = pytest.importorskip("anthropic.types")
    assert unknown(anthropic_types.Message.model_validate(whole)) == set()
    assert whole["content"][2:] == [
        {"type": "tool_use", "id": starts[2]["id"], "name": "look", "input": {"at": "it"}},
        {"type": "tool_use", "id": starts[3]["id"], "name": "look", "input": {"at": "it"}},
    ]
    assert starts[2]["id"].startswith("toolu_") and starts[2]["id"] != starts[3]["id"]


@pytest.mark.parametrize(
    ("text", "reason", "expected"),
    [
        ("Fine.", "stop", "end_turn"),
        ("Fine.", None, "end_turn"),
        (CALL, "stop", "tool_use"),
        ("Fine", "length", "max_tokens"),
        (CALL[:-12], "stop", "max_tokens"),
        ("Fine", "content_filter", "refusal"),
        ("", "stop", "end_turn"),
    ],
)
def test_the_stop_reason_of_a_message(text: str, reason: str | None, expected: str) -> None:
    made = message()
    events = read(made, text, reason=reason)
    valid_message_events(events)
    assert (events[-2]["delta"]["stop_reason"], made.response()["stop_reason"]) == (expected, expected)


def test_a_stop_sequence_is_named() -> None:
    made = message(stop_sequences=["END"])
    events = read(made, "Fine.", stop_reason="END")
    assert events[-2]["delta"] == {"stop_reason": "stop_sequence", "stop_sequence": "END"}
    made = message(stop_sequences=["END"])
    assert read(made, "Fine.", stop_reason="<~/~>")[-2]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}


def test_arguments_that_python_refuses_are_kept() -> None:
    huge, deep = "1" * 5000, "[" * 200_000 + "]" * 200_000
    assert json_object(f'{{"a": {huge}}}') == {"a": huge}
    assert json_object(f'{{"a": {deep}}}') == {"arguments": f'{{"a": {deep}}}'}
    assert json_object("") == {}


# Both


BAD = [
    ({"error": {"message": "no memory", "code": 500}}, "no memory"),
    ({"choices": "text"}, "choices: expected a list, got str"),
    (
        {"choices": [{"index": 1, "text": "Hi."}]},
        "choices: expected one answer, got one with the index 1: ask the engine for n=1",
    ),
]


@pytest.mark.parametrize(("event", "problem"), BAD, ids=[problem for _, problem in BAD])
@pytest.mark.parametrize("begun", [True, False])
def test_an_error_of_the_engine_ends_the_answer(event: Any, problem: str, begun: bool) -> None:
    answer, made = response(), message()
    events = [
        [*(one.read({"choices": [{"text": "Wel"}]}) if begun else ()), *one.read(event)] for one in (answer, made)
    ]
    valid_response_events(events[0])
    assert [one["type"] for one in events[0]][:1] == ["response.created"]
    failed = events[0][-1]["response"]
    assert (failed["status"], failed["error"]) == ("failed", {"code": "server_error", "message": problem})
    assert [item["status"] for item in failed["output"]] == ["incomplete"] * begun
    assert events[1][-1] == {"type": "error", "error": {"type": "api_error", "message": problem}}
    assert answer.response() == failed and made.response() == events[1][-1]
    for one in (answer, made):
        assert (one.read({"choices": [{"text": "l"}]}), one.finish()) == ([], [])


def test_nothing_after_the_end() -> None:
    for one in (response(), message()):
        read(one, "One.")
        whole = one.response()
        assert (one.read({"choices": [{"text": " Two."}]}), one.finish()) == ([], [])
        assert one.response() == whole


@pytest.mark.parametrize("name", ["tagged-json", "sectioned-ids", "channels", "markers-by-shape"])
def test_outputs_of_examples(name: str) -> None:
    """Events add up to the parser's own message, in any chunking."""
    from tests.example_case import load_example

    for output in load_example(EXAMPLES / name).outputs:
        wanted = parser(name).parse(output.text)
        for size in (1, 5, 1000):
            answer, made = parser(name).OpenAIResponse("m"), parser(name).AnthropicMessage("m")
            events = read(answer, output.text, size)
            valid_response_events(events)
            valid_message_events(read(made, output.text, size))
            found = [shown(item) for item in items(events)]
            assert "".join(one[1] for one in found if one[0] == "message") == (wanted["content"] or "")
            assert "".join(one[1] for one in found if one[0] == "reasoning") == (wanted["reasoning_content"] or "")
            calls = [call["function"] for call in wanted["tool_calls"]]
            assert [one[1:] for one in found if one[0] == "call"] == [(one["name"], one["arguments"]) for one in calls]
            blocks = [block for block in made.response()["content"] if block["type"] == "tool_use"]
            assert [block["input"] for block in blocks] == [json.loads(call["arguments"]) for call in calls]


@contextmanager
def serving(lines: list[dict[str, Any]]) -> Iterator[str]:
    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in lines:
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.filterwarnings("ignore")
def test_openai_s_client_reads_a_stream() -> None:
    openai = pytest.importorskip("openai")
    answer = response()
    with serving(read(answer, BOTH)) as url:
        client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
        with client.responses.stream(model="m", input="Look.") as stream:
            kinds = {event.type for event in stream}
            final = stream.get_final_response()
        client.close()
    assert {"response.output_text.delta", "response.function_call_arguments.delta", "response.completed"} <= kinds
    assert [item.type for item in final.output] == ["reasoning", "message", "function_call", "function_call"]
    assert (final.output_text, final.output[2].arguments, final.usage.total_tokens) == ("I look.", '{"at": "it"}', 3)


@pytest.mark.filterwarnings("ignore")
def test_anthropic_s_client_reads_a_stream() -> None:
    anthropic = pytest.importorskip("anthropic")
    made = message()
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Look."}]}
    with serving(read(made, BOTH)) as url:
        client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        with client.messages.stream(**asked) as stream:
            final = stream.get_final_message()
        client.close()
    assert [block.type for block in final.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert (final.content[0].thinking, final.content[1].text, final.content[2].input) == (
        "Hm.",
        "I look.",
        {"at": "it"},
    )
    assert (final.stop_reason, final.usage.output_tokens, final.usage.input_tokens) == ("tool_use", 2, 1)
    failing = message()
    with serving(failing.read({"error": "no memory"})) as url:
        client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        with (
            pytest.raises(anthropic.APIStatusError, match=re.escape("no memory")),
            client.messages.stream(**asked) as s,
        ):
            s.get_final_message()
        client.close()
