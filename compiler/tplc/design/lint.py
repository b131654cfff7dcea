"""Find messages that a format can't express, or that are misread: write messages in it and read them back.

    <get><city>Oslo</city></get>   →   Remark("a value that holds \"</city>\" ends there", …, "escape it: …")

Verification asks whether a parser is right about a template; here the parser is right, and the format is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tplc.errors import BadMessage, TemplateError
from tplc.ir.markers import could_be_prose
from tplc.ir.nodes import Json, PairArguments, Slot, TemplateIR, Text
from tplc.ir.own_markers import opening_of_calls, own_markers
from tplc.ir.printed import quoted
from tplc.ir.write import write_message
from tplc.messages import ArgumentForm, Call, Message, answer, question, tool_call, tool_result
from tplc.render import Renderer
from tplc.verify.artifact import Artifact
from tplc.verify.battery import Case
from tplc.verify.compare import as_message, difference
from tplc.verify.conversation import fitting_tools

NAME, KEY, WORDS = "look_up", "place", "the old harbour"
MOST_SHOWN = 4
# Values that many formats write like others, by what they are taken for.
_ALIKE: tuple[tuple[str, Json], ...] = (
    ("a number", "5"),
    ("true or false", "true"),
    ("null", "null"),
    ("an object", '{"a": 1}'),
    ("a list", "[1, 2]"),
)
_TEXTS: tuple[tuple[str, Json], ...] = (
    ("no text at all", ""),
    ("white space at its ends", f"  {WORDS}\n"),
    ("several lines", f"{WORDS}\n\n{WORDS}"),
    ("quotes", f"\"{WORDS}\" and 'so'"),
    ("a backslash", "C:\\new\\table"),
    ("angle brackets and ampersands", "a < b && b > c &lt; d"),
)
_VALUES: tuple[tuple[str, Json], ...] = (
    ("an object in an object", {"a": {"b": [1, 2]}}),
    ("a list of objects", [{"a": 1}, {"b": "c"}]),
    ("an empty list", []),
    ("an empty object", {}),
    ("null", None),
    ("a fraction", 2.5),
    ("a large number", 2**53 + 1),
)
_KEYS = ("with space", "with-hyphen", "with.dot", "with=sign", "")


@dataclass(frozen=True, slots=True)
class Remark:
    """`what` about the format, an example of it (`wrote` and what was `read`; "" where none is needed), and what would
    be `better`.  `about`: calls, content, reasoning, turn or template."""

    about: str
    what: str
    better: str
    wrote: str = ""
    read: str = ""


def lint(
    ir: TemplateIR,
    parser: Artifact,
    renderer: Renderer,
    added_tokens: Sequence[str] = (),
) -> tuple[Remark, ...]:
    """Return the remarks on a format.  `ir` is verified, `parser` was made from it, and `renderer` has its template.
    `added_tokens`: all tokens of the tokenizer, if known."""
    asker = _Asker(ir, parser)
    return (
        *_of_calls(ir, asker),
        *_of_values(ir, asker, added_tokens),
        *_of_text(ir, asker, added_tokens),
        *_of_turn(ir),
        *_of_template(ir, renderer),
    )


@dataclass(frozen=True, slots=True)
class _Misread:
    wrote: str
    read: str


class _Asker:
    def __init__(self, ir: TemplateIR, parser: Artifact) -> None:
        self._ir, self._parser = ir, parser

    def of(self, case: Case, *, tools: bool = True) -> _Misread | None:
        """Return the text that is misread; None if all is read as written, or if the format can't write it."""
        ir = self._ir
        try:
            text = write_message(ir, as_message(ir, case), head=ir.turn.prompts[0].head)
        except BadMessage:
            return None
        message = self._parser.parse(text, tools=fitting_tools(case) if tools else None)
        if difference(ir, case, message) is None:
            return None
        return _Misread(text, json.dumps(_shown_parts(message), ensure_ascii=False))

    def first(self, values: Sequence[Any], case: Callable[[Any], Case], *, tools: bool = True) -> _Found:
        misread = [(value, found) for value in values if (found := self.of(case(value), tools=tools)) is not None]
        return _Found([value for value, _ in misread], misread[0][1] if misread else _Misread("", ""))


@dataclass(frozen=True, slots=True)
class _Found:
    values: list[Any]
    example: _Misread

    def __bool__(self) -> bool:
        return bool(self.values)

    def remark(self, about: str, what: str, better: str) -> Remark:
        return Remark(about, what, better, self.example.wrote, self.example.read)


def _shown_parts(message: Any) -> dict[str, Json]:
    calls = [
        {"name": call["function"]["name"], "arguments": call["function"]["arguments"]}
        for call in message.get("tool_calls") or ()
    ]
    parts = {"reasoning_content": message.get("reasoning_content"), "content": message.get("content")}
    return {name: value for name, value in {**parts, "tool_calls": calls}.items() if value}


def _call(value: Json, key: str = KEY) -> Case:
    return Case("", calls=(Call(NAME, ((key, value),)),))


def _of_calls(ir: TemplateIR, asker: _Asker) -> Iterator[Remark]:
    tools = ir.tools
    if tools.format == "none":
        yield Remark("calls", "the template writes no calls", "write message.tool_calls, if the model may call tools")
        return
    if not tools.parallel:
        yield Remark("calls", "a turn holds one call at most", "write calls one after the other, each with its closer")
    if tools.call_id.position == "none":
        yield Remark(
            "calls",
            "calls have no ids: results are matched by their order alone",
            "write call.id if calls may run in parallel",
        )
    elif tools.call_id.position == "post_args":
        yield Remark(
            "calls", "a call's id comes after its arguments, so a stream delivers it last", "write it before them"
        )
    if ir.content.with_calls == "none":
        yield Remark("calls", "text next to calls is left out", "write message.content before the calls")
    elif ir.content.with_calls == "after":
        yield Remark(
            "calls",
            "text follows the calls, but clients expect it before them",
            "write message.content before the calls",
        )
    if asker.of(Case("", calls=(Call(NAME, ()),))) is not None:
        yield Remark("calls", "a call without arguments is not read as one", "write an empty list of arguments")


def _of_values(ir: TemplateIR, asker: _Asker, added_tokens: Sequence[str]) -> Iterator[Remark]:
    if ir.tools.format == "none":
        return
    closing = asker.first([*_closers(ir), *_typed(ir, added_tokens)], lambda marker: _call(f"{WORDS} {marker} {WORDS}"))
    if closing:
        yield closing.remark(
            "calls",
            f"a value cannot contain {_listed(map(quoted, closing.values))}: it ends there, or is not read as a value",
            "quote and escape values (JSON does), or close them with a special token, which text cannot contain",
        )
    alike = asker.first(_ALIKE, lambda pair: _call(pair[1]), tools=False)
    if alike:
        yield alike.remark(
            "calls",
            f"text is written like {_listed(name for name, _ in alike.values)}: only the schema distinguishes them",
            "quote text, or write the type next to a value",
        )
    for values, what in ((_TEXTS, "a text with"), (_VALUES, "a value that is")):
        wrong = asker.first(values, lambda pair: _call(pair[1]))
        if wrong:
            yield wrong.remark(
                "calls",
                f"{what} {_listed(name for name, _ in wrong.values)} does not come back",
                "write values as JSON",
            )
    keys = asker.first(_KEYS, lambda key: _call(WORDS, key))
    if keys:
        yield keys.remark(
            "calls", f"an argument cannot be named {_listed(map(quoted, keys.values))}", "quote names, or write JSON"
        )


def _of_text(ir: TemplateIR, asker: _Asker, added_tokens: Sequence[str]) -> Iterator[Remark]:
    plain = _typed(ir, added_tokens)
    misread = asker.first(plain, lambda marker: Case("", content=f"One may write {marker} in prose, as here."))
    if misread:
        yield misread.remark(
            "content",
            f"content that contains {_listed(map(quoted, misread.values))} is misread",
            "use markers that do not occur in prose, preferably special tokens of the tokenizer"
            + ("" if added_tokens else " (if they are special tokens already, name the tokenizer's file)"),
        )
    weak = [marker for marker in _distinct(ir) if could_be_prose(marker) and marker in _openers(ir)]
    if weak:
        yield Remark(
            "content",
            f"{_listed(map(quoted, weak))} opens a part but is ordinary text, so it counts only in a few places",
            "use markers that do not occur in prose",
        )
    reasoning = ir.reasoning
    if reasoning.mode != "none" and not reasoning.start.strip():
        yield Remark(
            "reasoning",
            "reasoning has no opener: the first text may be reasoning or content, so a stream holds it back",
            "open it, in the answer or in the generation prompt",
        )
    if reasoning.after_content:
        yield Remark(
            "reasoning", "reasoning comes after the content", "write it first, as models think before they answer"
        )


def _of_turn(ir: TemplateIR) -> Iterator[Remark]:
    ends = [end.strip() for end in ir.turn.ends if end.strip()]
    if not ends:
        yield Remark(
            "turn", "nothing ends the turn: no stop string can be set", "end each message with a marker of its own"
        )
    words = [end for end in ends if could_be_prose(end)]
    if words:
        yield Remark(
            "turn", f"{_listed(map(quoted, words))} ends the turn but also occurs in prose", "end it with a token"
        )
    if not ir.turn.header.strip():
        yield Remark("turn", "nothing opens the assistant's turn", "open each message with its role")
    for captured in ir.captured:
        if captured.by != "token" and not captured.any_word:  # the tokenizer gives tokens
            marker, on = quoted(captured.whole.strip()), _dependence(captured.by, captured.name)
            yield Remark(
                "turn",
                f"{marker} holds {quoted(captured.text)}: it depends on {on}",
                "write markers that are the same in every conversation",
            )


def _of_template(ir: TemplateIR, renderer: Renderer) -> Iterator[Remark]:
    """Yield remarks on requests of clients that the template rejects or misreads."""
    if ir.tools.format != "none":
        usual = _rendered(renderer, _conversation("object", ""))
        text = _rendered(renderer, _conversation("text", ""))
        without = _rendered(renderer, _conversation("object", None))
        if usual is not None and text != usual:
            yield Remark(
                "template",
                "arguments as JSON text, as OpenAI's clients send them, are "
                + ("written differently from an object" if text is not None else "not taken"),
                "{{ arguments if arguments is string else arguments | tojson }}, or leave it to the server",
            )
        if text is not None and usual is None:
            yield Remark(
                "template", "arguments as an object are not accepted", "{{ arguments | tojson }} for no string"
            )
        if usual is not None and without != usual:
            outcome = "written differently from empty text" if without is not None else "not taken"
            yield Remark("template", f"content null next to calls is {outcome}", "{{ message.content or '' }}")
    if not ir.capabilities.system_role:
        yield Remark("template", "a system message is not accepted", "write it first, before all others")


def _conversation(form: ArgumentForm, content: str | None) -> list[Message]:
    call = tool_call(NAME, {"place": WORDS}, id="call00001", form=form)
    return [
        *question(WORDS, parts=False),
        answer(content, parts=False, empty="null", calls=[call]),
        tool_result(WORDS, parts=False, name=NAME, id="call00001"),
        *question(WORDS, parts=False),
    ]


def _rendered(renderer: Renderer, messages: list[dict[str, Json]]) -> str | None:
    try:
        return renderer.render(messages)
    except TemplateError:
        return None


def _dependence(by: str, name: str) -> str:
    what = {
        "variable": f"the variable {name}",
        "position": "the turn's place in the conversation",
        "calls": "the number of calls",
    }
    return what[by]


def _typed(ir: TemplateIR, added_tokens: Sequence[str]) -> list[str]:
    """Return the markers that text can contain: those without any token of the tokenizer."""
    return [marker for marker in _distinct(ir) if not any(token and token in marker for token in added_tokens)]


def _closers(ir: TemplateIR) -> list[str]:
    """Return the text that closes the value of KEY if it contains the key."""
    pair = ir.tools.arguments.pair if isinstance(ir.tools.arguments, PairArguments) else ()
    items = pair[pair.index(Slot("value")) + 1 :] if Slot("value") in pair else ()
    texts = [item.text if isinstance(item, Text) else KEY for item in items]
    return ["".join(texts).strip()] if Slot("key") in items else []


def _distinct(ir: TemplateIR) -> list[str]:
    """Return the format's markers, without those that occur in any text."""
    return [marker for marker in own_markers(ir) if len(marker) > 1]


def _openers(ir: TemplateIR) -> list[str]:
    return [text.strip() for text in (ir.reasoning.start, ir.content.start, opening_of_calls(ir.tools))]


def _listed(names: Any) -> str:
    names = list(dict.fromkeys(names))
    more = len(names) - MOST_SHOWN
    shown = ", ".join(names[:MOST_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
