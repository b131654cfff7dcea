"""One answer as a list of parts in their order, for protocols that send an event where a part begins and ends.

{"reasoning_content": "Hm."}, {"content": "Fine."}, {"tool_calls": […]}  →  reasoning, text, call
"""

from __future__ import annotations

from .openai import engine_error, error_in, finish_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, ClassVar

    from .message import Delta


class AnswerPart:
    """A piece of an answer in its place: `kind` is reasoning, text or call, `text` a call's arguments."""

    def __init__(self, kind: str, place: int) -> None:
        self.kind = kind
        self.place = place
        self.id = ""
        self.text = ""
        self.name = ""
        self.call_id = ""
        self.call = -1  # a call's index among the calls
        self.state = "in_progress"


class Answer:
    """One request with one answer: `read` each event of the engine and `finish` at its end; both return events, each
    with its `type`.  `response` is the whole answer.

    `stream` says which of the two is sent: an id that a model writes after a call's arguments comes too late for a
    stream.  Other keywords are the parser's.
    """

    PARSER: Callable[..., Any]
    # What a protocol calls these.
    _first: ClassVar[Callable[[Any], list[dict[str, Any]]]]
    _opened: ClassVar[Callable[[Any, AnswerPart], list[dict[str, Any]]]]
    _delta: ClassVar[Callable[[Any, AnswerPart, str], dict[str, Any]]]
    _done: ClassVar[Callable[[Any, AnswerPart], list[dict[str, Any]]]]
    _last: ClassVar[Callable[[Any, str], list[dict[str, Any]]]]
    _failed: ClassVar[Callable[[Any], list[dict[str, Any]]]]
    _whole: ClassVar[Callable[[Any], dict[str, Any]]]

    def __init__(self, model: str, *, stream: bool = True, **parser: Any) -> None:
        self.model = model
        self.usage: Mapping[str, Any] | None = None
        self.error: dict[str, Any] | None = None  # what the engine reported, or what is wrong with its events
        self.finish_reason: str | None = None
        self.stop: object = None  # the text that the engine stopped at, where it names one
        self._stream = stream
        self._parser = self.PARSER(**parser)
        self._parts: list[AnswerPart] = []
        self._begun = False
        self._finished = False

    def read(self, event: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the events for an event of the engine's completions; those with `choices: []` bring usage.

        An error, of the engine or in its event, becomes the protocol's error event.  Nothing follows it.
        """
        if self._finished:
            return []
        problem = error_in(event) or other_answer(event)
        if problem is not None:
            return self._stopped(problem)
        self.usage = event.get("usage") or self.usage
        events: list[dict[str, Any]] = []
        for choice in event.get("choices") or ():
            events += self.feed(choice.get("text") or "")
            reason = choice.get("finish_reason")
            if reason is not None:
                self.stop = choice.get("stop_reason")
                events += self._ended(reason)
        return events

    def feed(self, text: str, *, special: Sequence[Sequence[int]] | None = None) -> list[dict[str, Any]]:
        """Return the events for a piece of the answer's text; `special` as parsers take it."""
        events = self._first_once()
        if text and self.finish_reason is None:
            events += self._events(self._parser.feed(text, special=special))
        return events

    def finish(self) -> list[dict[str, Any]]:
        """Return the last events, with the usage that the engine gave."""
        if self._finished:
            return []
        events = [*self._first_once(), *self._ended(None)]
        reason = self.finish_reason or ""
        if reason not in ("stop", "tool_calls", "length", "content_filter"):
            return [*events, *self._stopped(engine_error(f"the engine ended the answer: {reason}"))]
        self._finished = True
        return [*events, *self._last(reason)]

    def response(self) -> dict[str, Any]:
        """Return the whole answer, finished if it is not, or the error in its place."""
        self.finish()
        return self._whole()

    def _first_once(self) -> list[dict[str, Any]]:
        if self._begun:
            return []
        self._begun = True
        return self._first()

    def _stopped(self, problem: dict[str, Any]) -> list[dict[str, Any]]:
        self.error = problem
        self._finished = True
        if self._parts and self._parts[-1].state == "in_progress":
            self._parts[-1].state = "incomplete"
        return [*self._first_once(), *self._failed()]

    def _ended(self, reason: object) -> list[dict[str, Any]]:
        if self.finish_reason is not None:
            return []
        events = self._events(self._parser.finish())
        self.finish_reason = finish_reason(reason, self._parser)
        return [*events, *self._end_part("completed" if self.finish_reason != "length" else "incomplete")]

    def _events(self, deltas: list[Delta]) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        for delta in deltas:
            for name, value in delta.items():
                if name == "tool_calls":
                    for call in value:
                        events += self._call(call)
                elif name == "content":
                    events += self._text("text", value or "")
                elif name == "reasoning_content":
                    events += self._text("reasoning", value or "")
        return events

    def _text(self, kind: str, text: str) -> list[dict[str, Any]]:
        return [*self._part(kind, -1), *self._longer(text)] if text else []

    def _call(self, delta: Delta) -> list[dict[str, Any]]:
        index, function = delta["index"], delta.get("function") or {}
        known = next((part for part in self._parts if part.call == index), None)
        events: list[dict[str, Any]] = []
        if known is None:
            events += self._part("call", index, function.get("name", ""), delta.get("id") or "")
        elif delta.get("id") and not self._stream:
            known.call_id = delta["id"]
        text = function.get("arguments") or ""
        # The arguments of a call are whole before another part begins.
        return [*events, *self._longer(text)] if text and self._parts[-1].call == index else events

    def _part(self, kind: str, call: int, name: str = "", written: str = "") -> list[dict[str, Any]]:
        """Make the current part one of this kind, a new one if need be."""
        if self._parts and self._parts[-1].kind == kind and self._parts[-1].call == call:
            return []
        events = self._end_part("completed")
        part = AnswerPart(kind, len(self._parts))
        if kind == "call":
            part.name, part.call, part.call_id = name, call, written
        self._parts.append(part)
        return [*events, *self._opened(part)]

    def _longer(self, text: str) -> list[dict[str, Any]]:
        part = self._parts[-1]
        part.text += text
        return [self._delta(part, text)]

    def _end_part(self, state: str) -> list[dict[str, Any]]:
        if not self._parts or self._parts[-1].state != "in_progress":
            return []
        self._parts[-1].state = state
        return self._done(self._parts[-1])


def other_answer(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the problem with an event that has a second answer: these protocols have one answer per request."""
    for choice in event.get("choices") or ():
        if choice.get("index"):
            got = f"got one with the index {choice['index']}"
            return engine_error(f"choices: expected one answer, {got}: ask the engine for n=1")
    return None


def tokens(usage: Mapping[str, Any] | None, name: str, detail: str = "") -> int:
    """Return a count of an engine's usage; 0 if it is missing."""
    found: Any = (usage or {}).get(name)
    if detail:
        found = found.get(detail) if isinstance(found, dict) else None
    return found if isinstance(found, int) else 0
