"""Warn about a template before a user trusts it.

    chat.jinja:7:12: the render depends on what a user's message says: with "deploy now" in it, …

Three things are looked for, and the first and the last are proven by renders that differ:

- the render depends on the words of a message.  This is the pattern of a backdoor, in which one phrase changes the
  model's prompt.  Every phrase that the template names or compares messages with is put into the messages, and the text
  around the messages must not change.  A phrase that is one of the template's own markers may end the message;
- the template loads others, calls functions or uses Python internals;
- two renders of one conversation differ; or they differ at another time in more than the date; or they differ in more
  than the words if other words are used (drawn at random, so that no template knows them).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from itertools import product

from tplc.audit.suspects import SourcePosition, Suspects, suspects
from tplc.errors import LimitExceeded, RenderFailed, TemplateRaised, UnsafeTemplate, UnsupportedTemplate
from tplc.ir.markers import without_space
from tplc.ir.nodes import TemplateIR
from tplc.ir.own_markers import opening_of_calls
from tplc.learn.align import token_spans
from tplc.learn.candidates import candidates
from tplc.learn.conversation import base_setup
from tplc.learn.probe import (
    Prober,
    Refusal,
    Setup,
    assistant,
    sentinel_call,
    tool_list,
)
from tplc.messages import Message, text_content, tool_result
from tplc.render import CLOCK, Renderer, Trace

MOST_RENDERS = 1500  # a template that names more phrases than these is checked for as many
_LONG, _LONG_WORD = 20_000, "zqlong0".ljust(98, "w") + " "  # characters of a long message, and what it is made of
_SHOWN = 60
_MOST_WORDS = 3000
_MOMENTS = (datetime(1999, 1, 2, 3, 4, 5), datetime(2031, 12, 30, 22, 58, 56), datetime(2077, 7, 7, 0, 0, 0))


class _TooMuch(Refusal):
    """A render that met a limit."""


@dataclass(frozen=True, slots=True)
class TemplateWarning:
    """`line` and `column` count from 1; 0 where it is not known."""

    name: str
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        place = self.name + (f":{self.line}" if self.line else "") + (f":{self.column}" if self.column else "")
        return f"{place}: {self.text}"


def find_warnings(renderer: Renderer, ir: TemplateIR) -> tuple[TemplateWarning, ...]:
    """Return the warnings in the order of their places. The template must have been learned, because conversations are
    written in its form."""
    source = renderer.source
    found = suspects(source)
    reports = [(place, text) for place, text in found.reaches]
    stage = _stage(renderer, ir)
    if stage is not None:
        reports += _unsteady(stage, found)
        reports += _phrases(stage, found)
    named = [TemplateWarning(renderer.name, place.line, place.column, text) for place, text in reports]
    return tuple(sorted(dict.fromkeys(named), key=lambda one: (one.line, one.column, one.text)))


# The conversation in which phrases are tried


@dataclass(slots=True)
class _Conversation:
    """One conversation with every role the template takes, the content of each message left open."""

    renderer: Renderer
    setup: Setup
    roles: tuple[str, ...]
    own: str = ""  # the markers of the format, and what is written around empty words
    renders: int = 0
    compared: dict[str, int] = field(default_factory=dict)

    def trace(self, contents: Sequence[str], *, clock: datetime = CLOCK, seed: int = 0) -> Trace | Refusal:
        self.renders += 1
        calls = [sentinel_call(0)]
        messages: list[Message] = []
        for role, text in zip(self.roles, contents, strict=True):
            if role == "assistant":
                called = len(messages) + 1 < len(self.roles) and self.roles[len(messages) + 1] == "tool"
                messages.append(assistant(self.setup, content=text, calls=calls if called else ()))
            elif role == "tool":
                identity = "zqid0".ljust(self.setup.ids, "w")
                messages.append(tool_result(text, parts=self.setup.parts, name=calls[0].name, id=identity))
            else:
                messages.append({"role": role, "content": text_content(text, parts=self.setup.parts)})
        tools, context = tool_list(self.setup, calls), dict(self.setup.context)
        try:
            traced = self.renderer.trace(
                messages,
                tools=tools,
                add_generation_prompt=self.roles[-1] != "assistant",
                clock=clock,
                seed=seed,
                every_text=False,
                **context,
            )
        except (LimitExceeded, UnsafeTemplate) as error:
            if isinstance(error, LimitExceeded) and error.limit == "total_seconds":
                raise
            self.renders += MOST_RENDERS // 4  # the next ones may take as long
            return _TooMuch(str(error)) if isinstance(error, LimitExceeded) else Refusal(str(error))
        except (TemplateRaised, RenderFailed) as error:
            return Refusal(str(error))
        for line, text in traced.compared:
            self.compared.setdefault(text, line)
        return traced

    def words(self) -> list[str]:
        return [f"zqwatch{index}x" for index in range(len(self.roles))]


_CONVERSATIONS = (
    ("user", "assistant", "user", "assistant", "tool", "assistant", "user"),
    ("user", "assistant", "user", "assistant", "tool", "assistant"),
    ("user", "assistant", "user", "assistant", "tool"),
    ("user", "assistant", "user"),
    ("user", "assistant"),
    ("user",),
)


def _stage(renderer: Renderer, ir: TemplateIR) -> _Conversation | None:
    """Return the longest conversation that shows its last user message and most of the others."""
    prober = Prober(renderer)
    try:
        base = base_setup(prober, candidates(renderer.source), renderer.name)
    except UnsupportedTemplate:
        return None
    seen = ir.capabilities
    arguments = ("text", "object") if seen.string_arguments and not seen.object_arguments else ("object", "text")
    best: tuple[int, _Conversation] | None = None
    for roles, argument, system, ids in product(_CONVERSATIONS, arguments, (("system",), ()), (9, 24)):
        setup = replace(base, arguments=argument, ids=ids)  # type: ignore[arg-type]
        stage = _Conversation(renderer, setup, (*system, *roles))
        traced = stage.trace(stage.words())
        if isinstance(traced, Refusal):
            continue
        shown = sum(word in traced.text for word in stage.words())
        if best is None or shown > best[0]:
            best = (shown, stage)
        if shown == len(stage.roles):
            break
    if best is None:
        return None
    best[1].renders = 0
    traced = best[1].trace(best[1].words())
    assert isinstance(traced, Trace)
    best[1].own = without_space("\0".join([traced.text, *_markers(ir)]))
    return best[1]


def _markers(ir: TemplateIR) -> Iterator[str]:
    tools, turn = ir.tools, ir.turn
    yield from (ir.reasoning.start, ir.reasoning.end, ir.content.start, ir.content.end, tools.section_start)
    yield from (tools.section_end, turn.header, *turn.ends, *ir.preserved_tokens, opening_of_calls(ir.tools))


# Phrases


_FORMS: Mapping[str, Callable[[str], str]] = {
    "with": lambda phrase: f"zqa0x {phrase} zqb0x",
    "that is": lambda phrase: phrase,
    "that begins with": lambda phrase: f"{phrase} zqb0x",
    "that ends with": lambda phrase: f"zqa0x {phrase}",
}
_Form = Callable[[str], str]
_WRITTEN: tuple[_Form, ...] = (
    lambda text: text,
    str.strip,
    str.lstrip,
    str.rstrip,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    html.escape,
    str.lower,
    str.upper,
)
_TELLING = ' Zq"<&\n\\\u00e9 '  # no two forms write it alike
_WHO = {"system": "the system message", "user": "a user's message", "assistant": "an answer", "tool": "a tool's result"}


def _phrases(stage: _Conversation, found: Suspects) -> Iterator[tuple[SourcePosition, str]]:
    base = stage.trace(stage.words())
    assert isinstance(base, Trace)
    yield from _length(stage, base)
    forms = _forms(stage, base)
    places: dict[str, SourcePosition] = {}
    for text, place in found.phrases:
        places.setdefault(text, place)
    tried: set[str] = set()
    warned: dict[str, SourcePosition] = {}
    waiting = [*stage.compared, *places]
    while waiting and stage.renders < MOST_RENDERS:
        phrase = waiting.pop(0)
        # One that contains another has that one's effect.
        if phrase in tried or not any(map(str.isalnum, phrase)) or any(known in phrase for known in warned):
            continue
        tried.add(phrase)
        before = len(stage.compared)
        for how, made in _FORMS.items():
            effect = _effect(stage, base, forms, phrase, made(phrase))
            if effect is not None:
                warned[phrase] = _place(phrase, places, found, stage)
                yield warned[phrase], _sentence(phrase, how, effect)
                break
        # A phrase may lead to where messages are compared with the next.
        waiting += list(stage.compared)[before:]


def _forms(stage: _Conversation, base: Trace) -> list[_Form | None]:
    """Return the form in which each message's content is written; None for an unknown form."""
    words, forms = stage.words(), []
    for index, word in enumerate(words):
        traced = stage.trace([*words[:index], word + _TELLING + word, *words[index + 1 :]])
        forms.append(
            next(
                (
                    form
                    for form in _WRITTEN
                    if isinstance(traced, Trace)
                    and base.text.replace(form(word), form(word + _TELLING + word)) == traced.text
                ),
                None,
            )
        )
    return forms


def _place(phrase: str, places: Mapping[str, SourcePosition], found: Suspects, stage: _Conversation) -> SourcePosition:
    """Return where the phrase is compared with a message, with the column if the phrase is written there."""
    line = stage.compared.get(phrase)
    if line is None:
        return places[phrase]
    return next((place for text, place in found.phrases if text == phrase and place.line == line), SourcePosition(line))


@dataclass(frozen=True, slots=True)
class _Effect:
    role: str
    line: int
    usual: str
    written: str | None  # None: refused


def _effect(
    stage: _Conversation, base: Trace, forms: Sequence[_Form | None], phrase: str, content: str
) -> _Effect | None:
    """Return the other changes if this is the content of all messages, and of the first message whose change shows."""
    words = stage.words()
    expected = base.text
    for word, form in zip(words, forms, strict=True):
        expected = expected.replace(word, (form or str)(content))
    together = stage.trace([content] * len(words))
    if isinstance(together, Trace) and together.text == expected:
        return None
    for index, role in enumerate(stage.roles):
        form = forms[index]
        if form is None and not _plain(phrase):
            continue
        traced = stage.trace([*words[:index], content, *words[index + 1 :]])
        usual = base.text.replace(words[index], (form or str)(content))
        if isinstance(traced, Refusal):
            if not token_spans(phrase):
                return _Effect(role, 0, "", None)
        elif traced.text != usual and not _normal(stage, phrase, usual, traced.text):
            return _difference(role, usual, traced)
    return None


def _plain(phrase: str) -> bool:
    return json.dumps(phrase)[1:-1] == phrase == html.escape(phrase)


def _normal(stage: _Conversation, phrase: str, usual: str, written: str) -> bool:
    """Return whether the difference is harmless: only the phrase is missing, apart from white space, or it contains a
    marker, which may cut and move the text around it but adds nothing foreign to the format."""
    bare = without_space(phrase)
    usual, written = without_space(usual), without_space(written)
    if usual == written or usual.replace(bare, "") == written.replace(bare, ""):
        return True
    if not token_spans(phrase):
        return False
    start, end = _apart(usual, written)
    brought = written[start : len(written) - end]
    for known in (bare, "zqa0x", "zqb0x"):
        brought = brought.replace(known, "\0")
    return all(part in stage.own for part in brought.split("\0"))


def _apart(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return the lengths of the common beginning and the common end."""
    most = min(len(one), len(other))
    start = next((at for at in range(most) if one[at] != other[at]), most)
    end = next((at for at in range(most - start) if one[-1 - at] != other[-1 - at]), most - start)
    return start, end


def _difference(role: str, usual: str, traced: Trace) -> _Effect:
    """Return the first words that are written in addition, otherwise the first that are missing, for people to read."""
    first, _ = _apart(usual, traced.text)
    one, other = (re.findall(r"\w+|\s+|.", text, re.DOTALL)[:_MOST_WORDS] for text in (usual, traced.text))
    start, end = _apart(one, other)
    one, other = one[start : len(one) - end], other[start : len(other) - end]
    changes = [
        change for change in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if change[0] != "equal"
    ]
    change = next((change for change in changes if "".join(other[change[3] : change[4]]).strip()), changes[0])
    return _Effect(
        role, _line(traced, first), "".join(one[change[1] : change[2]]), "".join(other[change[3] : change[4]])
    )


def _line(traced: Trace, offset: int) -> int:
    """Return the template's line that wrote the character at the offset."""
    at, line = 0, 0
    for line, text in traced.pieces:
        at += len(text)
        if at > offset:
            return line
    return line


def _sentence(phrase: str, how: str, effect: _Effect) -> str:
    head = f"the render depends on the words of a message: {_WHO[effect.role]} {how} {_short(phrase)}"
    if effect.written is None:
        return f"{head} is refused"
    at = f" (line {effect.line})" if effect.line else ""
    if not effect.written:
        return f"{head} takes out {_short(effect.usual)}{at}"
    instead = f" in place of {_short(effect.usual)}" if effect.usual.strip() else ""
    return f"{head} writes {_short(effect.written)}{instead}{at}"


def _short(text: str) -> str:
    """Return the text quoted, in plain characters, because a stranger's text is printed on a terminal."""
    return json.dumps(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def _length(stage: _Conversation, base: Trace) -> Iterator[tuple[SourcePosition, str]]:
    words = stage.words()
    for index, role in enumerate(stage.roles):
        content = _LONG_WORD * (_LONG // len(_LONG_WORD)) + "zqb0x"
        traced = stage.trace([*words[:index], content, *words[index + 1 :]])
        usual = base.text.replace(words[index], content)
        if isinstance(traced, _TooMuch):
            return  # a long text may take more than there is
        if isinstance(traced, Refusal) or without_space(traced.text) != without_space(usual):
            yield (
                SourcePosition(0),
                f"the render depends on the length of a message: {_WHO[role]} of {len(content)} characters",
            )
            return


# Chance and time


def _unsteady(stage: _Conversation, found: Suspects) -> Iterator[tuple[SourcePosition, str]]:
    words = stage.words()
    first = stage.trace(words)
    renders = [stage.trace(words, seed=seed) for seed in (1, 2, 3)]
    with Renderer(
        stage.renderer.source,
        name=stage.renderer.name,
        special_tokens=stage.renderer.special_tokens,
        limits=stage.renderer.limits,
        apart=True,
    ) as another:
        renders.append(replace(stage, renderer=another).trace(words))
    for traced in renders:
        if traced != first and (isinstance(traced, Refusal) or isinstance(first, Refusal) or traced.text != first.text):
            yield _unlike(first, traced, found.chance), "two renders of one conversation differ"
            break
    else:
        line = stage.renderer.differs_in_other_words()
        if line is not None:
            yield (
                SourcePosition(line),
                "the render depends on which words are in it: with others, drawn by chance, it differs",
            )
    if isinstance(first, Refusal):
        return
    for moment in _MOMENTS:
        traced = stage.trace(words, clock=moment)
        if isinstance(traced, Refusal) or _without_dates(traced) != _without_dates(first):
            more = "is refused" if isinstance(traced, Refusal) else "differs in more than the date"
            place = found.clock[0] if found.clock else SourcePosition(0)
            yield place, f"the render depends on the time: at {moment:%Y-%m-%d %H:%M} it {more}"
            return


def _unlike(first: Trace | Refusal, other: Trace | Refusal, chance: Sequence[SourcePosition]) -> SourcePosition:
    if len(chance) == 1:
        return chance[0]
    if isinstance(first, Refusal) or isinstance(other, Refusal):
        return chance[0] if chance else SourcePosition(0)
    pairs = zip(first.pieces, other.pieces, strict=False)
    line = next((line for (line, text), (_, different) in pairs if text != different), 0)
    return next((place for place in chance if place.line == line), SourcePosition(line))


def _without_dates(traced: Trace) -> str:
    text, dates = traced.text, traced.clock_texts
    for index, date in enumerate(dates):
        if date:
            text = text.replace(date, f"\0{dates.index(date) if date in dates[:index] else index}\0")
    return text
