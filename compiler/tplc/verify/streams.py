"""What a parser is fed, whole and in chunks, and whether both give the same message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tplc.ir.nodes import Json
from tplc.verify.artifact import ParserStream
from tplc.verify.cut import TurnFrame
from tplc.verify.excerpts import quoted

_OTHER_ARGUMENTS = "the format doesn't have arguments as the template writes them"
_OTHER_CALLS = "the format doesn't have calls as the template writes them"
_DROPPED = "text of the template is dropped"
# What no message of the template may need, by the codes of diagnostics.
_TOLERATED = {
    "argument_not_closed": _OTHER_ARGUMENTS,
    "argument_not_opened": _OTHER_ARGUMENTS,
    "arguments_repaired": _OTHER_ARGUMENTS,
    "call_not_opened": "the format doesn't have what opens a call",
    "call_repaired": _OTHER_CALLS,
    "calls_opened_twice": _DROPPED,
    "ends_in_call": "the format doesn't have what closes a call",
    "fence_around_arguments": _DROPPED,
    "left_over": _DROPPED,
    "marker_spelled_otherwise": "the format doesn't have a marker as the template writes it",
    "no_argument": _OTHER_ARGUMENTS,
    "object_as_arguments": _OTHER_ARGUMENTS,
    "other_form_of_argument": _OTHER_ARGUMENTS,
    "other_form_of_calls": _OTHER_CALLS,
    "other_header": _OTHER_CALLS,
    "positional_arguments": _OTHER_ARGUMENTS,
    "reasoning_not_closed": "the format doesn't have what closes reasoning before a call",
    "reasoning_opened_twice": _DROPPED,
    "repeated_field": _OTHER_CALLS,
}


@dataclass(frozen=True, slots=True)
class Feed:
    """The text that the model would have written, and the prompt before it (None: the parser's default)."""

    text: str
    prompt: str | None
    tools: Sequence[Mapping[str, Json]] | None


def feed_of(frame: TurnFrame, turn: str, tools: Sequence[Mapping[str, Json]] | None) -> Feed:
    """Return the prompt's head and the rest of the turn; a turn that does not continue from the head is fed from its
    header."""
    head = frame.head()
    if turn.startswith(head):
        return Feed(turn[len(head) :], frame.prompt, tools)
    return Feed(turn, frame.bare_prompt(), tools)


def stream_problem(
    stream: ParserStream, text: str, sizes: Sequence[int], whole: Mapping[str, Any], *, may_doubt: bool = False
) -> str | None:
    """Return a problem if a stream that is fed the text in chunks of these sizes makes another message than `whole`, or
    deltas of another one, or if it tolerated something, or takes the message for incomplete; otherwise None.
    `may_doubt`: it may take it for incomplete, because a text quotes a marker that could as well be left over."""
    deltas: list[Mapping[str, Any]] = []
    for chunk in _chunks(text, sizes):
        deltas += stream.feed(chunk)
    deltas += stream.finish()
    message = stream.message
    if _essence(message) != _essence(whole):
        return f"in chunks of {_sizes(sizes)} it came back as {quoted(message)}, whole as {quoted(whole)}"
    message = accumulated(deltas)
    if _essence(message) != _essence(whole):
        return f"in chunks of {_sizes(sizes)} the deltas make {quoted(message)}, not {quoted(whole)}"
    notes = getattr(stream, "diagnostics", ())  # of a parser that has them
    tolerated = next((note for note in notes if note.code in _TOLERATED), None)
    if tolerated is not None:
        return f"{_TOLERATED[tolerated.code]}: {tolerated.text}"
    if may_doubt or not getattr(stream, "incomplete", False):
        return None
    return "the parser reports that the message is incomplete" + "".join(f": {note.text}" for note in notes[:1])


def accumulated(deltas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the message that a client makes of deltas."""
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    for delta in deltas:
        for name in ("content", "reasoning_content"):
            message[name] += delta.get(name) or ""
        for part in delta.get("tool_calls") or ():
            calls = message["tool_calls"]
            while len(calls) <= part["index"]:
                calls.append({"id": None, "function": {"name": "", "arguments": ""}})
            call = calls[part["index"]]
            call["id"] = part.get("id") or call["id"]
            for name, text in part.get("function", {}).items():
                call["function"][name] += text
    return message


def _essence(message: Mapping[str, Any]) -> tuple[str, str, list[tuple[str | None, str, str]]]:
    calls = [
        (call.get("id"), call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or []
    ]
    return message.get("content") or "", message.get("reasoning_content") or "", calls


def _chunks(text: str, sizes: Sequence[int]) -> Iterator[str]:
    at = 0
    for size in sizes:
        if at >= len(text):
            return
        yield text[at : at + size]
        at += size


def _sizes(sizes: Sequence[int]) -> str:
    if set(sizes) == {1}:
        return "one character"
    return str(sizes[0]) if len(set(sizes)) == 1 else f"{', '.join(map(str, sizes[:12]))}, …"
