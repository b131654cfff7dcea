"""The events of Anthropic's Messages API, from the text completions of an engine.

{"choices": [{"text": "Hi<call>…"}]}  →  {"type": "content_block_delta", "index": 0, "delta": {…}}
"""

from __future__ import annotations

import json
import uuid

from .events import Answer, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .events import AnswerPart

STOP_REASON_OF = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


class MessageAnswer(Answer):
    """Reasoning, text and calls are content blocks, in the order in which the model writes them.

    `stop_sequences` are those of the request: one that the engine names in `stop_reason` is reported.
    """

    def __init__(self, model: str, *, stream: bool = True, stop_sequences: Sequence[str] = (), **parser: Any) -> None:
        super().__init__(model, stream=stream, **parser)
        self.id = "msg_" + uuid.uuid4().hex
        self._stop_sequences = list(stop_sequences)

    def _first(self) -> list[dict[str, Any]]:
        return [{"type": "message_start", "message": self._message([], None)}]

    def _opened(self, part: AnswerPart) -> list[dict[str, Any]]:
        if part.kind == "call":
            part.call_id = part.call_id or "toolu_" + uuid.uuid4().hex[:24]
        return [{"type": "content_block_start", "index": part.place, "content_block": block(part, {})}]

    def _delta(self, part: AnswerPart, text: str) -> dict[str, Any]:
        if part.kind == "call":
            delta = {"type": "input_json_delta", "partial_json": text}
        elif part.kind == "reasoning":
            delta = {"type": "thinking_delta", "thinking": text}
        else:
            delta = {"type": "text_delta", "text": text}
        return {"type": "content_block_delta", "index": part.place, "delta": delta}

    def _done(self, part: AnswerPart) -> list[dict[str, Any]]:
        return [{"type": "content_block_stop", "index": part.place}]

    def _last(self, reason: str) -> list[dict[str, Any]]:
        name, sequence = self._why(reason)
        delta = {"stop_reason": name, "stop_sequence": sequence}
        return [{"type": "message_delta", "delta": delta, "usage": self._usage()}, {"type": "message_stop"}]

    def _failed(self) -> list[dict[str, Any]]:
        return [self._error()]

    def _whole(self) -> dict[str, Any]:
        if self.error is not None:
            return self._error()
        blocks = [block(part, json_object(part.text)) for part in self._parts]
        return self._message(blocks, self.finish_reason)

    def _error(self) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "api_error", "message": str((self.error or {}).get("message"))}}

    def _message(self, blocks: list[dict[str, Any]], reason: str | None) -> dict[str, Any]:
        name, sequence = self._why(reason)
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": blocks,
            "stop_reason": name,
            "stop_sequence": sequence,
            "usage": self._usage(),
        }

    def _why(self, reason: str | None) -> tuple[str | None, str | None]:
        if reason == "stop" and isinstance(self.stop, str) and self.stop in self._stop_sequences:
            return "stop_sequence", self.stop
        return STOP_REASON_OF.get(reason or ""), None

    def _usage(self) -> dict[str, int]:
        return {
            "input_tokens": tokens(self.usage, "prompt_tokens"),
            "output_tokens": tokens(self.usage, "completion_tokens"),
        }


def block(part: AnswerPart, given: object) -> dict[str, Any]:
    """Return a content block as it begins, or as a whole if its text is known."""
    whole = part.state != "in_progress"
    if part.kind == "call":
        return {"type": "tool_use", "id": part.call_id, "name": part.name, "input": given}
    if part.kind == "reasoning":
        return {"type": "thinking", "thinking": part.text if whole else "", "signature": ""}
    return {"type": "text", "text": part.text if whole else ""}


def json_object(text: str) -> object:
    """Return the arguments of a call; numbers that Python refuses stay text, and so do arguments that are nested too
    deeply."""
    try:
        found = json.loads(text or "{}", parse_int=whole_number)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"arguments": text}


def whole_number(digits: str) -> object:
    try:
        return int(digits)
    except ValueError:
        return digits
