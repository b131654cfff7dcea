"""Rendering probes: conversations whose every value is a sentinel.

    Prober(renderer).tail([assistant]) → "{end}{bot}zqcontent0x{end}"

A tail is what the template writes after the last user message.  A refusal (the template raises) is an observation like
any other.  Every render is remembered, so questions may be asked as often as wanted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

from tplc.errors import LimitExceeded, RenderFailed, TemplateRaised
from tplc.ir.nodes import Json
from tplc.ir.write import json_type
from tplc.messages import (
    ArgumentForm,
    Call,
    Empty,
    Follow,
    Message,
    answer,
    function_tool,
    question,
    tool_call,
    tool_result,
)
from tplc.render import Renderer
from tplc.transformations import transformations

ToolsGiven = Literal["full", "bare", "none"]

USER = "zquser0x"
NEXT_USER = "zquser1x"
TOOL_RESULT = "zqtoolresult0x"
SYSTEM = "zqsystem0x"
CONTENT = "zqcontent0x"
REASONING = "zqreason0x"
CONTROL = "zqcontrol0x"  # a text of no meaning

NOT_SHOWN = "the user's message is not in the render"
CHANGED = "the {}'s message is not in the render as it was given: the template {}"


def name_of(call: int) -> str:
    return f"zqname{call}x"


def key_of(argument: int) -> str:
    return f"zqkey{argument}x"


def value_of(call: int, argument: int) -> str:
    return f"zqvalue{call}n{argument}x"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The template raised; `reason` is its message."""

    reason: str


@dataclass(frozen=True, slots=True)
class Setup:
    """How a template wants its conversations: what stays the same from probe to probe.

    `context` are variables, as sorted pairs; `arguments` the form of arguments; `content` what a message with calls and
    no text has for content ("absent": no such key); `ids` the length of ids (0: none), `naming` a pattern for ids that
    say more ("functions.{name}:{index}"); `encoded`: arguments come out as a JSON string that contains them, which is
    read; `follow` what comes after the turn, where tool results say their tool's name or not (`tool_names`).
    """

    context: tuple[tuple[str, Json], ...] = ()
    system: bool = False
    parts: bool = False
    tools: ToolsGiven = "full"
    arguments: ArgumentForm = "object"
    content: Empty = "null"
    ids: int = 9
    naming: str = ""
    tool_names: bool = True
    encoded: bool = False
    follow: Follow = "none"

    def with_context(self, **values: Json) -> Setup:
        return replace(self, context=tuple(sorted({**dict(self.context), **values}.items())))


def id_of(call: int, setup: Setup) -> str | None:
    """Return a call's id: `setup.ids` letters and digits, or what the setup's naming says; None for no id."""
    if setup.naming:
        return setup.naming.format(name=name_of(call), index=call)
    return own_id(call, setup)


def own_id(call: int, setup: Setup) -> str | None:
    """Return a call's id where it is a value of its own, and no name or counter is in it."""
    if setup.naming:
        return None
    return f"zqid{call}".ljust(setup.ids, "w") if setup.ids else None


def sentinel_call(call: int, count: int = 1) -> Call:
    return Call(name_of(call), tuple((key_of(i), value_of(call, i)) for i in range(count)))


@dataclass(frozen=True, slots=True)
class Question:
    """What a pass of the learner asks of a template, in words for people; `name` is for programs."""

    name: str
    text: str


_NONE = Question("", "")


@dataclass(frozen=True, slots=True)
class Probe:
    """One conversation that was put to the template, under which question, and its render."""

    question: Question
    messages: tuple[Message, ...]
    setup: Setup
    generation: bool
    calls: tuple[Call, ...]
    result: str | Refusal


Observer = Callable[[Probe], None]
_Asks = ParamSpec("_Asks")
_Found = TypeVar("_Found")


@dataclass(slots=True)
class Prober:
    """Renders probes through one renderer and remembers the results; `observer` is called with each, and with the
    question that it belongs to (see `asks`)."""

    renderer: Renderer
    observer: Observer | None = None
    question: Question = _NONE
    _seen: dict[str, str | Refusal] = field(default_factory=dict)

    def render(
        self, messages: Sequence[Message], setup: Setup, *, generation: bool = False, calls: Sequence[Call] = ()
    ) -> str | Refusal:
        tools = tool_list(setup, calls)
        variables = dict(setup.context)
        key = json.dumps([list(messages), tools, generation, variables])
        if key not in self._seen:
            try:
                self._seen[key] = self.renderer.render(
                    list(messages), tools=tools, add_generation_prompt=generation, **variables
                )
            except (TemplateRaised, RenderFailed) as error:
                self._seen[key] = Refusal(str(error))
            self._check_size(self._seen[key])
        if self.observer is not None:
            self.observer(Probe(self.question, tuple(messages), setup, generation, tuple(calls), self._seen[key]))
        return self._seen[key]

    def change_of(self, text: str, render: str) -> str:
        """Return what the template does to a text that isn't in its render: the name of a transformation; "" if none
        explains it."""
        return next((name for name, _ in transformations(self.renderer.disguised(text), render)), "")

    def _check_size(self, result: str | Refusal) -> None:
        """Raise an error for a render that is too long: learning takes time and memory with its length."""
        limits = self.renderer.limits
        if isinstance(result, str) and len(result) > limits.probe_chars:
            raise LimitExceeded(self.renderer.name, "probe_chars", str(limits.probe_chars), found=str(len(result)))

    def tail(
        self,
        turn: Sequence[Message],
        setup: Setup,
        *,
        generation: bool = False,
        calls: Sequence[Call] = (),
    ) -> str | Refusal:
        """Return the render of [user, *turn, *follow] after the user's text; `turn` may be empty. With a following
        message, the tail ends before that message's text."""
        messages = [*opening(setup), *turn]
        if turn:
            messages += following(setup, calls)
        rendered = self.render(messages, setup, generation=generation, calls=calls)
        if isinstance(rendered, Refusal):
            return rendered
        at = rendered.rfind(USER)
        if at < 0:
            change = self.change_of(USER, rendered)
            return Refusal(CHANGED.format("user", change) if change else NOT_SHOWN)
        tail = rendered[at + len(USER) :]
        for stop in (TOOL_RESULT, NEXT_USER):
            if turn and setup.follow != "none" and stop in tail:
                return tail[: tail.index(stop)]
        return tail


def asks(name: str, text: str) -> Callable[[Callable[_Asks, _Found]], Callable[_Asks, _Found]]:
    """Return a decorator that names a pass's question: its renders are recorded under it. The pass's first argument is
    the prober."""
    question = Question(name, text)

    def named(ask: Callable[_Asks, _Found]) -> Callable[_Asks, _Found]:
        @wraps(ask)
        def asked(*args: _Asks.args, **kwargs: _Asks.kwargs) -> _Found:
            prober = args[0]
            assert isinstance(prober, Prober)
            before, prober.question = prober.question, question
            try:
                return ask(*args, **kwargs)
            finally:
                prober.question = before

        return asked

    return named


def after_content(prober: Prober, setup: Setup) -> str | None:
    """Return the text after an answer of content alone; None if it isn't rendered."""
    tail = prober.tail([assistant(setup, content=CONTENT)], setup)
    return None if isinstance(tail, Refusal) or CONTENT not in tail else tail[tail.rindex(CONTENT) + len(CONTENT) :]


def opening(setup: Setup) -> list[Message]:
    return question(USER, parts=setup.parts, system=SYSTEM if setup.system else None)


def following(setup: Setup, calls: Sequence[Call]) -> list[Message]:
    messages: list[Message] = []
    if setup.follow in ("tool", "tool_user"):
        for i, call in enumerate(calls):
            name, identifier = call.name if setup.tool_names else None, id_of(i, setup) if setup.ids else None
            messages.append(tool_result(TOOL_RESULT, parts=setup.parts, name=name, id=identifier))
    if setup.follow in ("user", "tool_user"):
        messages += question(NEXT_USER, parts=setup.parts)
    return messages


def assistant(
    setup: Setup,
    *,
    content: str | None = None,
    reasoning: tuple[str, str] | None = None,
    calls: Sequence[Call] = (),
) -> Message:
    """Return an assistant message. `reasoning` is (key, text); the key `content:KIND` makes a content part."""
    made = [
        tool_call(call.name, dict(call.arguments), id=id_of(i, setup), form=setup.arguments)
        for i, call in enumerate(calls)
    ]
    return answer(content, parts=setup.parts, empty=setup.content, reasoning=reasoning, calls=made)


def tool_list(setup: Setup, calls: Sequence[Call]) -> list[dict[str, Json]] | None:
    """Return tools that fit the calls: one for each name, with every key as a string or any-typed property."""
    if setup.tools == "none":
        return None
    tools: dict[str, dict[str, Json]] = {}
    for call in calls or (Call("zqtool0x", ((key_of(0), ""),)),):
        properties: dict[str, Json] = {
            key: {**schema_of(value), "description": "An argument."} for key, value in call.arguments
        }
        parameters: dict[str, Json] = {"type": "object", "properties": properties, "required": list(properties)}
        if setup.tools == "full":
            parameters["additionalProperties"] = False
        tools[call.name] = function_tool(call.name, "A function.", parameters)
    return list(tools.values())


def schema_of(value: Json) -> dict[str, Json]:
    """Return a schema as tool authors write it: objects with properties, lists with items."""
    schema: dict[str, Json] = {"type": _type_in_schema(value)}
    if isinstance(value, dict):
        schema["properties"] = {key: schema_of(member) for key, member in value.items()}
        schema["additionalProperties"] = True
    elif isinstance(value, list):
        schema["items"] = schema_of(value[0]) if value else {"type": "string"}
    return schema


def _type_in_schema(value: Json) -> str:
    """Return the type of a value; a null argument gets one that templates can print, because those that walk schemas
    know no "null"."""
    return "string" if value is None else json_type(value)
