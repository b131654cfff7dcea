"""The events of OpenAI's Responses API, from the text completions of an engine.

{"choices": [{"text": "Hi<call>…"}]}  →  {"type": "response.output_text.delta", "output_index": 0, …}
"""

from __future__ import annotations

import time
import uuid

from .events import Answer, tokens
from .openai import call_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .events import AnswerPart

# Members of a request that its response repeats.
ECHOED_MEMBERS = (
    *("instructions", "max_output_tokens", "max_tool_calls", "metadata", "parallel_tool_calls"),
    *("previous_response_id", "reasoning", "service_tier", "store", "temperature", "text", "tool_choice", "tools"),
    *("top_logprobs", "top_p", "truncation", "user"),
)
PREFIXES = {"reasoning": "rs_", "text": "msg_", "call": "fc_"}


class ResponseAnswer(Answer):
    """Reasoning, messages and function calls are items, in the order in which the model writes them.

    `request` is the body of the request, some members of which its response repeats.
    """

    def __init__(
        self, model: str, *, stream: bool = True, request: Mapping[str, Any] | None = None, **parser: Any
    ) -> None:
        super().__init__(model, stream=stream, **parser)
        self.id = "resp_" + uuid.uuid4().hex
        self.created = int(time.time())
        self._request = request or {}
        self._sent = 0

    def _first(self) -> list[dict[str, Any]]:
        return [
            self._event("response.created", {"response": self._response("in_progress")}),
            self._event("response.in_progress", {"response": self._response("in_progress")}),
        ]

    def _opened(self, part: AnswerPart) -> list[dict[str, Any]]:
        part.id = PREFIXES[part.kind] + uuid.uuid4().hex
        if part.kind == "call" and not part.call_id:
            part.call_id = call_id()
        added = self._event("response.output_item.added", {"output_index": part.place, "item": self._item(part)})
        if part.kind == "call":
            return [added]
        return [added, self._of_content("response.content_part.added", part, {"part": self._content(part)})]

    def _delta(self, part: AnswerPart, text: str) -> dict[str, Any]:
        if part.kind == "call":
            return self._of("response.function_call_arguments.delta", part, {"delta": text})
        if part.kind == "reasoning":
            return self._of_content("response.reasoning_text.delta", part, {"delta": text})
        return self._of_content("response.output_text.delta", part, {"delta": text, "logprobs": []})

    def _done(self, part: AnswerPart) -> list[dict[str, Any]]:
        events = []
        if part.kind == "call":
            events.append(self._of("response.function_call_arguments.done", part, {"arguments": part.text}))
        else:
            if part.kind == "reasoning":
                events.append(self._of_content("response.reasoning_text.done", part, {"text": part.text}))
            else:
                done = {"text": part.text, "logprobs": []}
                events.append(self._of_content("response.output_text.done", part, done))
            events.append(self._of_content("response.content_part.done", part, {"part": self._content(part)}))
        item = {"output_index": part.place, "item": self._item(part)}
        return [*events, self._event("response.output_item.done", item)]

    def _last(self, reason: str) -> list[dict[str, Any]]:
        status = self._status()
        return [self._event("response." + status, {"response": self._response(status)})]

    def _failed(self) -> list[dict[str, Any]]:
        return [self._event("response.failed", {"response": self._response("failed")})]

    def _whole(self) -> dict[str, Any]:
        return self._response(self._status())

    def _status(self) -> str:
        if self.error is not None:
            return "failed"
        return "incomplete" if self.finish_reason in ("length", "content_filter") else "completed"

    def _event(self, kind: str, members: dict[str, Any]) -> dict[str, Any]:
        self._sent += 1
        return {"type": kind, "sequence_number": self._sent - 1, **members}

    def _of(self, kind: str, part: AnswerPart, members: dict[str, Any]) -> dict[str, Any]:
        return self._event(kind, {"item_id": part.id, "output_index": part.place, **members})

    def _of_content(self, kind: str, part: AnswerPart, members: dict[str, Any]) -> dict[str, Any]:
        return self._of(kind, part, {"content_index": 0, **members})

    def _content(self, part: AnswerPart) -> dict[str, Any]:
        if part.kind == "reasoning":
            return {"type": "reasoning_text", "text": part.text}
        return {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}

    def _item(self, part: AnswerPart) -> dict[str, Any]:
        head = {"id": part.id, "status": part.state}
        if part.kind == "call":
            called = {"call_id": part.call_id, "name": part.name, "arguments": part.text}
            return {"type": "function_call", **head, **called}
        content = [self._content(part)] if part.text else []
        if part.kind == "reasoning":
            return {"type": "reasoning", **head, "summary": [], "content": content}
        return {"type": "message", **head, "role": "assistant", "content": content}

    def _response(self, status: str) -> dict[str, Any]:
        problem = str((self.error or {}).get("message"))
        why = "content_filter" if self.finish_reason == "content_filter" else "max_output_tokens"
        usual: dict[str, Any] = {"instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": None}
        usual |= {"tool_choice": "auto", "tools": [], "top_p": None}
        return {
            **usual,
            **{name: self._request[name] for name in ECHOED_MEMBERS if self._request.get(name) is not None},
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "model": self.model,
            "status": status,
            "error": {"code": "server_error", "message": problem} if status == "failed" else None,
            "incomplete_details": {"reason": why} if status == "incomplete" else None,
            "output": [self._item(part) for part in self._parts],
            "usage": None if self.usage is None or status == "in_progress" else usage_of_response(self.usage),
        }


def usage_of_response(usage: Mapping[str, Any]) -> dict[str, Any]:
    read, written = tokens(usage, "prompt_tokens"), tokens(usage, "completion_tokens")
    cached = tokens(usage, "prompt_tokens_details", "cached_tokens")
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": tokens(usage, "completion_tokens_details", "reasoning_tokens")},
        "total_tokens": tokens(usage, "total_tokens") or read + written,
    }
