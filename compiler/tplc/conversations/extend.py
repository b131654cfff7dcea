"""Prompts that grow message by message, at a cost that does not grow with them.

    text, state = extender.start([user])        text            "<u>Hi<end><a>"
    grown = extender.extend(state, answer)      grown.added     "Hello<end>"
    grown = extender.extend(grown.state, user)  grown.added     "<u>So?<end><a>"

What a message adds is found in a short conversation that ends as the long one does.  Probes show for which messages
this holds for a template; for the others the whole conversation is rendered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tplc.conversations.battery import Conversation, accepted
from tplc.errors import TplcError
from tplc.ir.hashes import sha256
from tplc.ir.nodes import Json, TemplateIR

Message = Mapping[str, Json]
_ASSISTANT = "assistant"
_MOST_RECENT = 12
_FIRST: Message = {"role": "user", "content": "Hello."}
_PLAIN = frozenset(("role", "content", "tool_calls", "name", "tool_call_id"))

# The last message's role, the appended message's role, and whether any message has reasoning, and calls.
Situation = tuple[str, str, bool, bool]


@dataclass(frozen=True, slots=True)
class PromptSetting:
    """The constant inputs of a growing conversation: its tools, and the variables of the template."""

    tools: tuple[Message, ...] = ()
    variables: tuple[tuple[str, Json], ...] = ()


# Messages, their setting, and whether a generation prompt follows.
RenderPrompt = Callable[[Sequence[Message], PromptSetting, bool], str]


@dataclass(frozen=True, slots=True)
class PromptState:
    """A conversation and its text, which ends with a generation prompt unless an answer is the last message.

    `length` is the text's, `digest` is made of the texts that were added; no text is kept.
    """

    previous: PromptState | None
    message: Message
    setting: PromptSetting
    opening: Message | None
    length: int
    digest: str
    has_reasoning: bool
    has_calls: bool

    @property
    def messages(self) -> list[Message]:
        found: list[Message] = []
        state: PromptState | None = self
        while state is not None:
            found.append(state.message)
            state = state.previous
        return found[::-1]


@dataclass(frozen=True, slots=True)
class ExtendedPrompt:
    """`added` is what the message adds to the text; if `is_whole`, it is all of the new text, and the earlier text is
    no prefix of it, or not known to be one."""

    added: str
    is_whole: bool
    state: PromptState


class PromptExtender:
    """Extends the prompts of one template.  `debug`: each step is compared with renders of the whole conversation."""

    def __init__(self, render: RenderPrompt, ir: TemplateIR, *, debug: bool = False) -> None:
        self.debug = debug
        self._render = render
        self._ir = ir
        self._known: dict[str, set[Situation]] = {}

    def start(self, messages: Sequence[Message], setting: PromptSetting) -> tuple[str, PromptState]:
        """Return the text of a conversation, and the state to extend."""
        text = self._text(messages, setting)
        return text, _state(messages, setting, len(text), sha256(text))

    def extend(self, state: PromptState, message: Message) -> ExtendedPrompt:
        """Return what a message adds, and the state with it."""
        if _situation(state, message) in self._situations(state.setting):
            added = self._added(_recent(state), state.setting, message)
            if added is not None:
                digest = sha256(f"{state.digest}{added}")
                grown = _grown(state, message, state.setting, state.length + len(added), digest)
                if self.debug:
                    self._check(state, grown, added)
                return ExtendedPrompt(added, False, grown)
        text = self._text([*state.messages, message], state.setting)
        return ExtendedPrompt(text, True, _grown(state, message, state.setting, len(text), sha256(text)))

    def _situations(self, setting: PromptSetting) -> set[Situation]:
        """Return the situations in which all probes of the template agree with renders of the whole conversation."""
        key = json.dumps(setting.variables)
        if key not in self._known:
            self._known[key] = self._probed(setting.variables)
        return self._known[key]

    def _probed(self, variables: tuple[tuple[str, Json], ...]) -> set[Situation]:
        agreeing: set[Situation] = set()
        others: set[Situation] = set()

        def is_rendered(one: Conversation) -> bool:
            return self._tried(one.messages, PromptSetting(one.tools, variables)) is not None

        for one in accepted(self._ir, is_rendered):
            setting = PromptSetting(one.tools, variables)
            for index in range(1, len(one.messages)):
                before, message = one.messages[:index], one.messages[index]
                earlier = self._tried(before, setting)
                later = self._tried((*before, message), setting)
                if earlier is not None and later is not None:
                    state = _state(before, setting, 0, "")
                    added = self._added(_recent(state), setting, message)
                    agrees = added is not None and later == earlier + added
                    (agreeing if agrees else others).add(_situation(state, message))
        return agreeing - others

    def _added(self, recent: Sequence[Message], setting: PromptSetting, message: Message) -> str | None:
        """Return the text that the message adds to a short conversation; None if the template changes earlier text or
        refuses it."""
        earlier = self._tried(recent, setting)
        later = self._tried((*recent, message), setting)
        if earlier is None or later is None or not later.startswith(earlier):
            return None
        return later[len(earlier) :]

    def _text(self, messages: Sequence[Message], setting: PromptSetting) -> str:
        return self._render(messages, setting, messages[-1].get("role") != _ASSISTANT)

    def _tried(self, messages: Sequence[Message], setting: PromptSetting) -> str | None:
        try:
            return self._text(messages, setting)
        except TplcError:
            return None

    def _check(self, state: PromptState, grown: PromptState, added: str) -> None:
        earlier = self._text(state.messages, state.setting)
        text = self._text(grown.messages, grown.setting)
        is_same = len(earlier) == state.length and sha256(text[: state.length]) == sha256(earlier)
        if not is_same or text[state.length :] != added:
            raise TplcError(
                f"message {len(grown.messages) - 1} adds something else to the whole conversation than to its end: "
                "the template looks at earlier messages; render the whole conversation"
            )


def _recent(state: PromptState) -> list[Message]:
    """Return the end of a conversation from the last user message on, after its system prompt."""
    found: list[Message] = []
    at: PromptState | None = state
    while at is not None:
        found.append(at.message)
        if at.message.get("role") == "user" or len(found) == _MOST_RECENT:
            break
        at = at.previous
    found.reverse()
    if at is None:
        return found
    begin = [state.opening] if state.opening is not None else []
    if found[0].get("role") == "user":
        return [*begin, *found] if found[0] is not state.opening else found
    while len(found) > 1 and found[0].get("role") != _ASSISTANT:
        found.pop(0)
    return [*begin, _FIRST, *found]


def _situation(state: PromptState, message: Message) -> Situation:
    return (
        str(state.message.get("role")),
        str(message.get("role")),
        state.has_reasoning or _has_reasoning(message),
        state.has_calls or bool(message.get("tool_calls")),
    )


def _has_reasoning(message: Message) -> bool:
    return any(value for key, value in message.items() if key not in _PLAIN)


def _state(messages: Sequence[Message], setting: PromptSetting, length: int, digest: str) -> PromptState:
    state: PromptState | None = None
    for message in messages:
        state = _grown(state, message, setting, length, digest)
    assert state is not None
    return state


def _grown(
    state: PromptState | None, message: Message, setting: PromptSetting, length: int, digest: str
) -> PromptState:
    opening = state.opening if state is not None else message if message.get("role") != "user" else None
    return PromptState(
        state,
        message,
        setting,
        opening,
        length,
        digest,
        (state is not None and state.has_reasoning) or _has_reasoning(message),
        (state is not None and state.has_calls) or bool(message.get("tool_calls")),
    )
