"""A rendered conversation read back into messages, where the template's markers delimit them.

    "<u>Hi<end><a>Hello<end>"  →  [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]

The text before and after each role's messages is learned from renders.  The result is rendered again and compared with
the text, so a conversation is misread only if another one has the same render.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from tplc import driver
from tplc.conversations.battery import Conversation, accepted
from tplc.conversations.template import ConversationTemplate, RenderedConversation
from tplc.errors import RenderFailed, TemplateRaised, TplcError, Undecided, UnsupportedTemplate
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import Json
from tplc.messages import set_reasoning

_ASSISTANT = "assistant"
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """`ambiguous` are the indexes of messages whose text contains a marker of another message: other messages may have
    the same render.  `prompted`: the text ends with a generation prompt."""

    messages: tuple[dict[str, Json], ...]
    ambiguous: tuple[int, ...] = ()
    prompted: bool = False


@dataclass(frozen=True, slots=True)
class RoleMarkers:
    """The text before and after the messages of a role; `first`: only at the beginning of a conversation."""

    role: str
    header: str
    ends: tuple[str, ...]
    first: bool


def parse_conversation(
    template: str | ConversationTemplate,
    text: str,
    *,
    tools: Sequence[Mapping[str, Json]] | None = None,
    special_tokens: Mapping[str, str] | None = None,
) -> ParsedConversation:
    """Return the messages of a rendered conversation.

    `template` is a template's text, or a ConversationTemplate.  `tools` are those the text was rendered with.
    Raises UnsupportedTemplate if the template does not delimit the texts of users, and Undecided if what was read does
    not render to the text.
    """
    if isinstance(template, str):
        with ConversationTemplate(template, special_tokens=special_tokens) as made:
            return parse_conversation(made, text, tools=tools)
    reader = _reader(template, tools)
    messages, ambiguous, prompted = reader.read(text)
    again = _rendered(template, messages, tools, prompt=prompted)
    if again != text:
        at = _first_difference(again or "", text)
        raise Undecided(
            template.name,
            None,
            f"what was read renders to another text, from character {at}: {text[at : at + _SHOWN]!r}",
        )
    return ParsedConversation(tuple(messages), tuple(ambiguous), prompted)


_KNOWN_READERS: WeakKeyDictionary[ConversationTemplate, dict[str, _RenderReader]] = WeakKeyDictionary()


def _reader(template: ConversationTemplate, tools: Sequence[Mapping[str, Json]] | None) -> _RenderReader:
    """Return the reader of a template with these tools; it is learned once."""
    known = _KNOWN_READERS.setdefault(template, {})
    key = json.dumps(tools)
    if key not in known:
        known[key] = _RenderReader(template, tools)
    return known[key]


class _RenderReader:
    def __init__(self, template: ConversationTemplate, tools: Sequence[Mapping[str, Json]] | None) -> None:
        self.name = template.name
        self.ir = template.ir
        self.markers = list(_markers(template, tools))
        self.prompts = sorted({prompt.text for prompt in self.ir.turn.prompts if prompt.text}, key=len, reverse=True)
        self.stream: Any = driver.artifact_of(self.ir).stream
        self.tools = tools
        is_delimited = any(one.header.strip() for one in self.markers if not one.first and one.role == _ASSISTANT)
        for one in self.markers:
            if one.role == "user" and not is_delimited and not any(end.strip() for end in one.ends):
                raise UnsupportedTemplate(template.name, "nothing shows where the text of a user ends")
        if not any(one.role == "user" for one in self.markers):
            raise UnsupportedTemplate(template.name, "no render shows the text around a user's message")

    def read(self, text: str) -> tuple[list[dict[str, Json]], list[int], bool]:
        messages: list[dict[str, Json]] = []
        ambiguous: list[int] = []
        at = 0
        while at < len(text):
            if text[at:] in self.prompts and messages:
                return messages, ambiguous, True
            marker = self.opening(text, at, messages)
            if marker is None:
                raise self.unread(text, at)
            start = at + len(marker.header)
            found = self.closing(text, start, marker)
            if found is None:
                raise self.unread(text, start)
            stop, at = found
            body = text[start:stop]
            if self.holds_marker(body):
                ambiguous.append(len(messages))
            messages.append(self.message(marker, body, text[stop:at], text[:start], messages))
        return messages, ambiguous, False

    def opening(self, text: str, at: int, messages: Sequence[Mapping[str, Json]]) -> RoleMarkers | None:
        fitting = [
            one
            for one in self.markers
            if text.startswith(one.header, at) and one.first == (not messages) and (one.header or messages)
        ]
        return max(fitting, key=lambda one: len(one.header), default=None)

    def closing(self, text: str, start: int, marker: RoleMarkers) -> tuple[int, int] | None:
        """Return where the text of a message ends, and where the next message begins."""
        best: tuple[int, int] | None = None
        for end in marker.ends:
            at = self.next_end(text, end, start)
            while at >= 0:
                stop = at + len(end)
                if stop == len(text) or text[stop:] in self.prompts or self.opens(text, stop):
                    if best is None or (at, -stop) < (best[0], -best[1]):
                        best = at, stop
                    break
                at = self.next_end(text, end, at + 1)
        return best

    def next_end(self, text: str, end: str, start: int) -> int:
        """Return where an end may be; an end that is not text is where another message begins."""
        if end:
            return text.find(end, start)
        openers = [one.header for one in self.markers if one.header.strip() and not one.first]
        found = [at for opener in (*openers, *self.prompts) if (at := text.find(opener, start)) >= 0]
        return min(found, default=len(text) if start <= len(text) else -1)

    def opens(self, text: str, at: int) -> bool:
        return any(not one.first and text.startswith(one.header, at) for one in self.markers)

    def holds_marker(self, body: str) -> bool:
        cores = {one.header.strip() for one in self.markers if not one.first}
        cores |= {end.strip() for one in self.markers for end in one.ends}
        return any(core in body for core in cores if core)

    def message(
        self, marker: RoleMarkers, body: str, end: str, before: str, messages: Sequence[Mapping[str, Json]]
    ) -> dict[str, Json]:
        if marker.role == _ASSISTANT:
            return self.answer(body + end, before)
        message: dict[str, Json] = {"role": marker.role, "content": body}
        if marker.role == "tool":
            calls = _waiting(messages)
            if calls:
                message |= {"name": calls[0]["function"]["name"], "tool_call_id": calls[0].get("id")}
        return message

    def answer(self, text: str, before: str) -> dict[str, Json]:
        stream = self.stream(tools=self.tools, prompt=before)
        stream.feed(text)
        stream.finish()
        read: Any = stream.message
        message: dict[str, Json] = {"role": _ASSISTANT, "content": read["content"]}
        if read.get("tool_calls"):
            objects = self.ir.capabilities.object_arguments
            message["tool_calls"] = [
                _call(call, index, objects=objects) for index, call in enumerate(read["tool_calls"])
            ]
        if read.get("reasoning_content") and self.ir.reasoning.key:
            set_reasoning(message, self.ir.reasoning.key, read["reasoning_content"])
        return message

    def unread(self, text: str, at: int) -> Undecided:
        return Undecided(self.name, None, f"no message is delimited at character {at}: {text[at : at + _SHOWN]!r}")


def _call(call: Mapping[str, Any], index: int, *, objects: bool) -> dict[str, Any]:
    function = dict(call["function"])
    if objects:
        with suppress(NotJson):
            function["arguments"] = parse_json(function["arguments"] or "{}")
    return {"id": call.get("id") or f"callid{index:03}", "type": "function", "function": function}


def _waiting(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return calls that have no result yet."""
    results = 0
    for message in reversed(messages):
        if message["role"] == "tool":
            results += 1
        elif message.get("tool_calls"):
            return list(message["tool_calls"][results:])
        else:
            break
    return []


def _markers(template: ConversationTemplate, tools: Sequence[Mapping[str, Json]] | None) -> Iterator[RoleMarkers]:
    found: dict[tuple[str, str, bool], dict[str, None]] = {}
    for one in _probes(template, tools):
        try:
            read = template.read(one.messages, tools=tools if tools is not None else one.tools or None)
        except (Undecided, RenderFailed, TemplateRaised):
            continue
        for index, message in enumerate(one.messages):
            header, end = _around(read, index)
            key = (str(message["role"]), header, index == 0)
            found.setdefault(key, {})[end] = None
    for (role, header, first), ends in found.items():
        yield RoleMarkers(role, header, tuple(sorted(ends, key=len, reverse=True)), first)


def _probes(template: ConversationTemplate, tools: Sequence[Mapping[str, Json]] | None) -> list[Conversation]:
    def is_rendered(one: Conversation) -> bool:
        return _rendered(template, one.messages, tools if tools is not None else one.tools, prompt=False) is not None

    found = accepted(template.ir, is_rendered)
    return [one for one in found if tools is not None or not one.tools]


def _around(read: RenderedConversation, index: int) -> tuple[str, str]:
    """Return the text that a message has before its own, and the text that ends it."""
    header = end = ""
    for span in read.spans:
        if span.message == index:
            if span.part == "header":
                header += read.text[span.start : span.stop]
            elif span.part == "end":
                end += read.text[span.start : span.stop]
    return header, end


def _rendered(
    template: ConversationTemplate,
    messages: Sequence[Mapping[str, Json]],
    tools: Sequence[Mapping[str, Json]] | None,
    *,
    prompt: bool,
) -> str | None:
    try:
        return template.render(messages, tools=tools or None, add_generation_prompt=prompt)
    except TplcError:
        return None


def _first_difference(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
