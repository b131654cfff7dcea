"""Conversations of all kinds, in the form that a template takes: what is said of a template is tried on them.

conversations(ir)  →  "a question and an answer", "two calls, their results, an answer", …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tplc.ir.nodes import Json, TemplateIR
from tplc.messages import Call, Empty, Message, answer, function_tool, question, tool_call, tool_result
from tplc.verify.battery import id_of

TOOLS: tuple[dict[str, Json], ...] = (
    function_tool(
        "rain",
        "Report whether it rains.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where."},
                "note": {"type": "string", "description": "What else."},
            },
            "required": ["city"],
        },
    ),
    function_tool("now", "Report the time.", {"type": "object", "properties": {}}),
)
_OSLO = Call("rain", (("city", "Oslo"), ("note", "by noon, please")))
_ROME = Call("rain", (("city", "Rome"),))
_NOW = Call("now", ())


@dataclass(frozen=True, slots=True)
class MessageForm:
    """How messages are put: content as parts, what stands for no content, arguments as text, a key for reasoning."""

    parts: bool
    empty: Empty
    text_arguments: bool
    reasoning: str


@dataclass(frozen=True, slots=True)
class Conversation:
    title: str
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class _Saying:
    """One message: its role and its text."""

    role: str
    content: str | None = None
    reasoning: str = ""
    calls: tuple[Call, ...] = ()


def _user(text: str = "What is it like?") -> _Saying:
    return _Saying("user", text)


def _answered(text: str | None = "It is fine.", reasoning: str = "", *calls: Call) -> _Saying:
    return _Saying("assistant", text, reasoning, calls)


def _result(text: str = '{"rain": true}') -> _Saying:
    return _Saying("tool", text)


_SYSTEM = _Saying("system", "You are kind.")
_WHY = "They want to know."
_MORE = "First this.\n\nThen that."

# Title, and turns; texts hold no markers except where the title says so.
_TEXT: tuple[tuple[str, tuple[_Saying, ...]], ...] = (
    ("a question and an answer", (_user(), _answered())),
    ("a system prompt", (_SYSTEM, _user(), _answered())),
    ("two turns", (_user(), _answered(), _user("And then?"), _answered("Then it rains."))),
    (
        "three turns and a system prompt",
        (_SYSTEM, _user("A"), _answered("One"), _user("B"), _answered("Two"), _user("C"), _answered("3")),
    ),
    ("five turns", tuple(turn for at in range(5) for turn in (_user(f"Question {at}?"), _answered(f"Answer {at}.")))),
    ("several paragraphs", (_user("Write.\n\nA lot."), _answered("Dear reader,\n\n- one\n- two\n\nYours."))),
    ("text beyond ASCII", (_user("Grüße aus Tromsø 🎉"), _answered("世界 — ja, grüß dich 🌧"))),
    (
        "code",
        (
            _user("Code?"),
            _answered("```python\nprint({'a': [1, 2]})\n```"),
            _user("<b>?</b>"),
            _answered("if a < b & c: d()"),
        ),
    ),
    ("outer white space", (_user("  Hi. \n"), _answered("Hello.\n"), _user("\n\nSo?"), _answered("So."))),
    ("one text twice", (_user("Same."), _answered("Same."), _user("Same."), _answered("Same."))),
    ("a very short answer", (_user("1+1"), _answered("2"), _user("1-1"), _answered("0"))),
    ("a long text", (_user("Write. " * 40), _answered("All work and no play. " * 40))),
)
_REASONED: tuple[tuple[str, tuple[_Saying, ...]], ...] = (
    ("reasoning", (_user(), _answered("Fine.", _WHY))),
    ("reasoning of several lines", (_SYSTEM, _user(), _answered("Fine.", _MORE))),
    ("reasoning in the last turn only", (_user(), _answered("Fine."), _user("Why?"), _answered("So.", _WHY))),
    ("reasoning in the first turn only", (_user(), _answered("Fine.", _WHY), _user("Why?"), _answered("So."))),
    (
        "reasoning in all turns",
        (
            _user(),
            _answered("Fine.", _WHY),
            _user("Why?"),
            _answered("So.", _MORE),
            _user("Oh?"),
            _answered("Yes.", _WHY),
        ),
    ),
)
_CALLED: tuple[tuple[str, tuple[_Saying, ...]], ...] = (
    ("a call", (_user(), _answered(None, "", _OSLO))),
    ("a call without arguments", (_user("Time?"), _answered(None, "", _NOW))),
    ("two calls", (_user(), _answered(None, "", _OSLO, _ROME))),
    ("three calls", (_user(), _answered(None, "", _OSLO, _NOW, _ROME))),
    ("content and a call", (_user(), _answered("I look.", "", _OSLO))),
    ("content and two calls", (_SYSTEM, _user(), _answered("I look.", "", _OSLO, _ROME))),
    ("a call and its result", (_user(), _answered(None, "", _OSLO), _result(), _answered("It rains."))),
    (
        "two calls and their results",
        (_SYSTEM, _user(), _answered(None, "", _OSLO, _ROME), _result(), _result("dry"), _answered("Wet and dry.")),
    ),
    (
        "two rounds of calls",
        (
            _user(),
            _answered(None, "", _OSLO),
            _result(),
            _answered(None, "", _ROME),
            _result("dry"),
            _answered("Wet, dry."),
        ),
    ),
    (
        "a call, and a question after its answer",
        (_user(), _answered(None, "", _OSLO), _result(), _answered("Wet."), _user("Rome?"), _answered("I don't know.")),
    ),
    (
        "a call in a later turn",
        (_user("Hi."), _answered("Hello."), _user(), _answered("I look.", "", _OSLO), _result(), _answered("Wet.")),
    ),
    (
        "results that end a conversation",
        (
            _user(),
            _answered(None, "", _OSLO),
            _result("line\nline"),
            _answered("Wet."),
            _user("Time?"),
            _answered(None, "", _NOW),
        ),
    ),
)
_ALL: tuple[tuple[str, tuple[_Saying, ...]], ...] = (
    ("reasoning and a call", (_user(), _answered(None, _WHY, _OSLO))),
    ("reasoning, content and a call", (_user(), _answered("I look.", _WHY, _OSLO))),
    (
        "reasoning, a call, its result, reasoning",
        (_user(), _answered(None, _WHY, _OSLO), _result(), _answered("Wet.", _MORE)),
    ),
    (
        "reasoning in two rounds of calls",
        (
            _SYSTEM,
            _user(),
            _answered(None, _WHY, _OSLO),
            _result(),
            _answered("Next.", _MORE, _ROME),
            _result("dry"),
            _answered("Wet, dry.", _WHY),
        ),
    ),
    (
        "reasoning and calls, and another turn",
        (
            _user(),
            _answered(None, _WHY, _OSLO),
            _result(),
            _answered("Wet.", _WHY),
            _user("Rome?"),
            _answered(None, _WHY, _ROME),
            _result("dry"),
            _answered("Dry.", _WHY),
        ),
    ),
)


def conversations(ir: TemplateIR, form: MessageForm | None = None) -> Iterator[Conversation]:
    """Yield all kinds of conversations that the format has; a template may still refuse some of them."""
    form = form or form_of(ir)
    kinds = list(_TEXT)
    has_calls = ir.tools.format != "none"
    if form.reasoning:
        kinds += _REASONED
    if has_calls:
        kinds += _CALLED
    if form.reasoning and has_calls:
        kinds += _ALL
    for title, turns in kinds:
        yield Conversation(title, tuple(_messages(ir, turns, form)), TOOLS if any(turn.calls for turn in turns) else ())


def form_of(ir: TemplateIR) -> MessageForm:
    seen = ir.capabilities
    return MessageForm(
        parts=False,
        empty="null" if seen.null_content else "empty",
        text_arguments=seen.string_arguments and not seen.object_arguments,
        reasoning="" if ":" in ir.reasoning.key else ir.reasoning.key,
    )


def accepted(
    ir: TemplateIR, is_rendered: Callable[[Conversation], bool], found: Sequence[Conversation] | None = None
) -> list[Conversation]:
    """Return the conversations that a template renders, in the message form in which it renders most of them."""
    form = form_of(ir)
    best: list[Conversation] = []
    for one in (
        form,
        replace(form, parts=not form.parts),
        replace(form, empty="empty"),
        replace(form, text_arguments=not form.text_arguments),
    ):
        rendered = [conversation for conversation in conversations(ir, one) if is_rendered(conversation)]
        if len(rendered) > len(best):
            best = rendered
        if one == form and len(rendered) == len(list(conversations(ir, one))):
            break
    return best


def _messages(ir: TemplateIR, turns: Sequence[_Saying], form: MessageForm) -> Iterator[Message]:
    count = 0
    waiting: list[tuple[str, str]] = []
    for turn in turns:
        if turn.role == "assistant":
            waiting = [(call.name, id_of(ir, call, count + index)) for index, call in enumerate(turn.calls)]
            count += len(turn.calls)
            yield answer(
                turn.content,
                parts=form.parts,
                empty=form.empty,
                reasoning=(form.reasoning, turn.reasoning) if turn.reasoning else None,
                calls=[
                    tool_call(call.name, dict(call.arguments), id=id, form="text" if form.text_arguments else "object")
                    for call, (_, id) in zip(turn.calls, waiting, strict=True)
                ],
            )
        elif turn.role == "tool":
            name, id = waiting.pop(0)
            yield tool_result(turn.content or "", parts=form.parts, name=name, id=id)
        else:
            yield {**question(turn.content or "", parts=form.parts)[0], "role": turn.role}
