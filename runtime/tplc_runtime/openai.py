"""Write chat completions for clients of OpenAI's protocol, from the text completions of an engine.

    {"choices": [{"index": 0, "text": "Hi<call>…"}]}  →  {"object": "chat.completion.chunk", "choices": [{"delta": …}]}

A call gets a new id if the model writes none.  The finish reason combines the engine's and the parser's.
"""

from __future__ import annotations

import time
import uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from .message import Delta

# Reasons of engines for a truncated text; unknown reasons are passed on.
CUT_REASONS = ("length", "limit", "max_tokens", "max_new_tokens", "max_length")
STOP_REASONS = ("stop", "eos", "eos_token", "word", "stop_sequence", "stop_token", "end_turn", "tool_calls")


class Completion:
    """Converts one request: `read` each event of the engine, then `finish`; both return chunks.  `response` is the
    whole.

    `stream` chooses the form: an id that a model writes after a call's arguments comes too late for a stream.
    `include_usage` is as in `stream_options`.  Other keyword arguments are passed to the parsers.
    """

    PARSER: Callable[..., Any]

    def __init__(
        self,
        model: str,
        *,
        stream: bool = True,
        include_usage: bool = False,
        reasoning_key: str = "reasoning_content",
        **parser: Any,
    ) -> None:
        self.id = "chatcmpl-" + uuid.uuid4().hex
        self.created = int(time.time())
        self.model = model
        self.usage: Mapping[str, Any] | None = None
        self.error: dict[str, Any] | None = None  # the error of the engine, or the problem with its events
        self._stream = stream
        self._include_usage = include_usage
        self._reasoning_key = reasoning_key
        self._keywords = parser
        self._choices: dict[int, Choice] = {}

    def read(self, event: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Returns the chunks for an event of the engine's completions; events with `choices: []` contain the usage.

        An error of the engine, or an invalid event, is returned as `{"error": …}`, on which clients raise.  Nothing
        follows it.
        """
        if self.error is not None:
            return []
        problem = error_in(event)
        if problem is not None:
            self.error = problem
            return [{"error": problem}]
        self.usage = event.get("usage") or self.usage
        chunks: list[dict[str, Any]] = []
        for part in event.get("choices") or ():
            index = part.get("index") or 0
            chunks += self.feed(part.get("text") or "", index)
            reason = part.get("finish_reason")
            if reason is not None:
                chunks += self._ended(index, reason)
        return chunks

    def feed(
        self, text: str, index: int = 0, *, special: Sequence[Sequence[int]] | None = None
    ) -> list[dict[str, Any]]:
        """Returns the chunks for a piece of text of one choice; `special` is the parser's."""
        new = index not in self._choices
        choice = self._choices.setdefault(index, Choice(self.PARSER(**self._keywords), self._stream))
        deltas: list[Delta] = [{"role": "assistant", "content": None}] if new else []
        if text and choice.finish_reason is None:
            deltas += choice.shown(choice.parser.feed(text, special=special), self._reasoning_key)
        return [self._chunk(index, delta) for delta in deltas]

    def finish(self) -> list[dict[str, Any]]:
        """Returns the last chunks of choices without a finish reason, and the usage if it was requested."""
        if self.error is not None:
            return []
        if not self._choices:
            self._choices[0] = Choice(self.PARSER(**self._keywords), self._stream)
        chunks = [chunk for index in sorted(self._choices) for chunk in self._ended(index, None)]
        if self._include_usage and self.usage is not None:
            chunks.append({**self._head("chat.completion.chunk"), "choices": [], "usage": dict(self.usage)})
        return chunks

    def response(self) -> dict[str, Any]:
        """Returns the whole answer, and finishes it if necessary."""
        self.finish()
        if self.error is not None:
            return {"error": self.error}
        choices = [
            {
                "index": index,
                "message": choice.message(self._reasoning_key),
                "logprobs": None,
                "finish_reason": choice.finish_reason,
            }
            for index, choice in sorted(self._choices.items())
        ]
        usage = {} if self.usage is None else {"usage": dict(self.usage)}
        return {**self._head("chat.completion"), "choices": choices, **usage}

    def _ended(self, index: int, reason: object) -> Iterator[dict[str, Any]]:
        choice = self._choices[index]
        if choice.finish_reason is not None:
            return
        for delta in choice.shown(choice.parser.finish(), self._reasoning_key):
            yield self._chunk(index, delta)
        choice.finish_reason = finish_reason(reason, choice.parser)
        yield self._chunk(index, {}, choice.finish_reason)

    def _chunk(self, index: int, delta: Delta, reason: str | None = None) -> dict[str, Any]:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


class Choice:
    """One of a request's answers: its parser, and the ids of its calls as they were sent."""

    def __init__(self, parser: Any, stream: bool) -> None:
        self.parser = parser
        self.finish_reason: str | None = None
        self._stream = stream
        self._ids: dict[int, str] = {}

    def shown(self, deltas: list[Delta], reasoning_key: str) -> list[Delta]:
        """Returns deltas as clients add them up: with `function` in each, and each id once."""
        found = [self._shown(delta, reasoning_key) for delta in deltas]
        return [delta for delta in found if delta]

    def _shown(self, delta: Delta, reasoning_key: str) -> Delta:
        made: Delta = {}
        for name, value in delta.items():
            if name == "reasoning_content":
                made[reasoning_key] = value
            elif name == "tool_calls":
                calls = [call for part in value for call in self._shown_call(part)]
                if calls:
                    made[name] = calls
            else:
                made[name] = value
        return made

    def _shown_call(self, part: Delta) -> Iterator[Delta]:
        index, function = part["index"], part.get("function") or {}
        if index not in self._ids:
            self._ids[index] = part.get("id") or call_id()
            head = {"index": index, "id": self._ids[index], "type": "function"}
            yield {**head, "function": {"name": function.get("name", ""), "arguments": function.get("arguments", "")}}
        elif function:
            yield {"index": index, "function": function}

    def message(self, reasoning_key: str) -> dict[str, Any]:
        found = self.parser.message
        message: dict[str, Any] = {"role": "assistant", "content": found["content"], "refusal": None}
        if found["reasoning_content"] is not None:
            message[reasoning_key] = found["reasoning_content"]
        calls = [{**call, "id": self._id(index, call["id"])} for index, call in enumerate(found["tool_calls"])]
        return {**message, "tool_calls": calls} if calls else message

    def _id(self, index: int, written: str | None) -> str:
        if self._stream or written is None:
            return self._ids.setdefault(index, written or call_id())
        return written


def error_in(event: Any) -> dict[str, Any] | None:
    """Returns the error that an event reports, or the problem with the event, in the form that clients expect."""
    problem = ""
    if not isinstance(event, dict):
        problem = f"expected an event with choices, got {type(event).__name__}"
    elif event.get("error"):
        error = event["error"]
        return dict(error) if isinstance(error, dict) and "message" in error else engine_error(str(error))
    elif not isinstance(event.get("choices") or [], (list, tuple)):
        problem = f"choices: expected a list, got {type(event['choices']).__name__}"
    else:
        for place, part in enumerate(event.get("choices") or ()):
            problem = problem or wrong_part(f"choices[{place}]", part)
    return engine_error(problem) if problem else None


def wrong_part(place: str, part: Any) -> str:
    """Returns the problem with one of an event's choices; "" if there is none."""
    if not isinstance(part, dict):
        return f"{place}: expected an object, got {type(part).__name__}"
    if "text" not in part and ("delta" in part or "message" in part):
        return f"{place}: has no text: this is an event of chat completions; ask the engine for text completions"
    if not isinstance(part.get("text") or "", str):
        return f"{place}.text: expected text, got {type(part['text']).__name__}"
    if not isinstance(part.get("index") or 0, int):
        return f"{place}.index: expected a whole number, got {type(part['index']).__name__}"
    return ""


def engine_error(message: str) -> dict[str, Any]:
    return {"message": message, "type": "engine_error", "param": None, "code": None}


def call_id() -> str:
    return "call_" + uuid.uuid4().hex[:24]


def finish_reason(engine: object, parser: Any) -> str:
    """Returns the finish reason of an answer from the engine's own: a word, an object with a type, or None."""
    word = engine.get("type") if isinstance(engine, dict) else engine
    if word in CUT_REASONS or parser.incomplete:
        return "length"
    if word is not None and word not in STOP_REASONS:
        return str(word)
    return "tool_calls" if parser.message["tool_calls"] else "stop"
