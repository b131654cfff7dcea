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
        "Tell whether it rains.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where."},
                "note": {"type": "string", "description": "What else."},
            },
            "required": ["city"],
        },
    ),
    function_tool("now", "Tell the time.", {"type": "object", "properties": {}}),
)
_OSLO = Call("rain", (("city", "Oslo"), ("note", "by noon, please")))
_ROME = Call("rain", (("city", "Rome"),))
_NOW = Call("now", ())


@dataclass(frozen=True, slots=True)
class Form:
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
class _Turn:
    """One message: its role, and what it says."""

    role: str
    content: str | None = None
    reasoning: str = ""
    calls: tuple[Call, ...] = ()


def _user(text: str = "What is it like?") -> _Turn:
    return _Turn("user", text)


def _said(text: str | None = "It is fine.", reasoning: str = "", *calls: Call) -> _Turn:
    return _Turn("assistant", text, reasoning, calls)


def _result(text: str = '{"rain": true}') -> _Turn:
    return _Turn("tool", text)


_SYSTEM = _Turn("system", "You are kind.")
_WHY = "They want to know."
_MORE = "First this.\n\nThen that."

# Title, and turns; texts hold no markers except where the title says so.
_TEXT: tuple[tuple[str, tuple[_Turn, ...]], ...] = (
    ("a question and an answer", (_user(), _said())),
    ("a system prompt", (_SYSTEM, _user(), _said())),
    ("two turns", (_user(), _said(), _user("And then?"), _said("Then it rains."))),
    (
        "three turns and a system prompt",
        (_SYSTEM, _user("A"), _said("One"), _user("B"), _said("Two"), _user("C"), _said("3")),
    ),
    ("five turns", tuple(turn for at in range(5) for turn in (_user(f"Question {at}?"), _said(f"Answer {at}.")))),
    ("several paragraphs", (_user("Write.\n\nA lot."), _said("Dear reader,\n\n- one\n- two\n\nYours."))),
    ("text beyond ASCII", (_user("Grüße aus Tromsø 🎉"), _said("世界 — ja, grüß dich 🌧"))),
    (
        "code",
        (_user("Code?"), _said("```python\nprint({'a': [1, 2]})\n```"), _user("<b>?</b>"), _said("if a < b & c: d()")),
    ),
    ("outer white space", (_user("  Hi. \n"), _said("Hello.\n"), _user("\n\nSo?"), _said("So."))),
    ("one text twice", (_user("Same."), _said("Same."), _user("Same."), _said("Same."))),
    ("a very short answer", (_user("1+1"), _said("2"), _user("1-1"), _said("0"))),
    ("a long text", (_user("Tell. " * 40), _said("All work and no play. " * 40))),
)
_REASONED: tuple[tuple[str, tuple[_Turn, ...]], ...] = (
    ("reasoning", (_user(), _said("Fine.", _WHY))),
    ("reasoning of several lines", (_SYSTEM, _user(), _said("Fine.", _MORE))),
    ("reasoning in the last turn only", (_user(), _said("Fine."), _user("Why?"), _said("So.", _WHY))),
    ("reasoning in the first turn only", (_user(), _said("Fine.", _WHY), _user("Why?"), _said("So."))),
    (
        "reasoning in all turns",
        (_user(), _said("Fine.", _WHY), _user("Why?"), _said("So.", _MORE), _user("Oh?"), _said("Yes.", _WHY)),
    ),
)
_CALLED: tuple[tuple[str, tuple[_Turn, ...]], ...] = (
    ("a call", (_user(), _said(None, "", _OSLO))),
    ("a call without arguments", (_user("Time?"), _said(None, "", _NOW))),
    ("two calls", (_user(), _said(None, "", _OSLO, _ROME))),
    ("three calls", (_user(), _said(None, "", _OSLO, _NOW, _ROME))),
    ("content and a call", (_user(), _said("I look.", "", _OSLO))),
    ("content and two calls", (_SYSTEM, _user(), _said("I look.", "", _OSLO, _ROME))),
    ("a call and its result", (_user(), _said(None, "", _OSLO), _result(), _said("It rains."))),
    (
        "two calls and their results",
        (_SYSTEM, _user(), _said(None, "", _OSLO, _ROME), _result(), _result("dry"), _said("Wet and dry.")),
    ),
    (
        "two rounds of calls",
        (_user(), _said(None, "", _OSLO), _result(), _said(None, "", _ROME), _result("dry"), _said("Wet, dry.")),
    ),
    (
        "a call, and a question after its answer",
        (_user(), _said(None, "", _OSLO), _result(), _said("Wet."), _user("Rome?"), _said("I don't know.")),
    ),
    (
        "a call in a later turn",
        (_user("Hi."), _said("Hello."), _user(), _said("I look.", "", _OSLO), _result(), _said("Wet.")),
    ),
    (
        "results that end a conversation",
        (_user(), _said(None, "", _OSLO), _result("line\nline"), _said("Wet."), _user("Time?"), _said(None, "", _NOW)),
    ),
)
_ALL: tuple[tuple[str, tuple[_Turn, ...]], ...] = (
    ("reasoning and a call", (_user(), _said(None, _WHY, _OSLO))),
    ("reasoning, content and a call", (_user(), _said("I look.", _WHY, _OSLO))),
    ("reasoning, a call, its result, reasoning", (_user(), _said(None, _WHY, _OSLO), _result(), _said("Wet.", _MORE))),
    (
        "reasoning in two rounds of calls",
        (
            _SYSTEM,
            _user(),
            _said(None, _WHY, _OSLO),
            _result(),
            _said("Next.", _MORE, _ROME),
            _result("dry"),
            _said("Wet, dry.", _WHY),
        ),
    ),
    (
        "reasoning and calls, and another turn",
        (
            _user(),
            _said(None, _WHY, _OSLO),
            _result(),
            _said("Wet.", _WHY),
            _user("Rome?"),
            _said(None, _WHY, _ROME),
            _result("dry"),
            _said("Dry.", _WHY),
        ),
    ),
)


def conversations(ir: TemplateIR, form: Form | None = None) -> Iterator[Conversation]:
    """All kinds that the format has; a template may still refuse some of them."""
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


def form_of(ir: TemplateIR) -> Form:
    seen = ir.capabilities
    return Form(
        parts=False,
        empty="null" if seen.null_content else "empty",
        text_arguments=seen.string_arguments and not seen.object_arguments,
        reasoning="" if ":" in ir.reasoning.key else ir.reasoning.key,
    )


def accepted(
    ir: TemplateIR, is_rendered: Callable[[Conversation], bool], found: Sequence[Conversation] | None = None
) -> list[Conversation]:
    """The conversations that a template renders, in the form in which it renders most of them."""
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


def _messages(ir: TemplateIR, turns: Sequence[_Turn], form: Form) -> Iterator[Message]:
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
