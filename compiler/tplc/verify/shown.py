"""What a template shows of a message, shape by shape.

    content and two calls  →  Shown(setting, frame, trailing), or the reason why not: "content is dropped"

Every part is a word that can be found again; a part whose word does not occur in the turn is not shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tplc.errors import RenderFailed, TemplateRaised
from tplc.ir.nodes import Json, TemplateIR
from tplc.messages import Call, Follow, Message
from tplc.render import CLOCK, EncodedTools, Renderer
from tplc.transformations import transformations
from tplc.verify.battery import Case, Shape
from tplc.verify.conversation import Setting, assistant, conversation, offered_tools, opening, settings
from tplc.verify.cut import TurnFrame, trailing_of
from tplc.verify.words import Words, words_of

Context = tuple[tuple[str, Json], ...]
_LONGEST = 160
_MOST_RECENT = 50  # renders that are kept: one in three is asked for again, soon after


@dataclass(frozen=True, slots=True)
class Shown:
    """How to render a shape so that all of it shows."""

    setting: Setting
    frame: TurnFrame


@dataclass(frozen=True, slots=True)
class NotShown:
    """`parts` are those that are dropped; `refusal` is the template's own reason, if it raised; `why` says what is
    shown in their place, and `changed` what becomes of their words if the render depends on them, both in this
    setting."""

    parts: tuple[str, ...]
    refusal: str = ""
    why: str = ""
    changed: str = ""
    setting: Setting = field(default_factory=Setting)


class Stage:
    """Renders cases of one IR in one context, and remembers what a setting has around its turns."""

    def __init__(
        self, ir: TemplateIR, renderer: Renderer, context: Context, calls: Sequence[Call], *, seed: int = 0
    ) -> None:
        self.words = words_of(ir.provenance.sha256, seed, renderer.source)
        self._ir = ir
        self._renderer = renderer
        self._context = dict(context)
        self._tools = offered_tools([*calls, *_words(Shape(False, False, 3), self.words).calls, _earlier(self.words)])
        self._encoded_tools = EncodedTools.of(self._tools)
        self._recent: dict[tuple[str, bool, bool], str] = {}
        self._frames: dict[Setting, TurnFrame | None] = {}
        self._trailing: dict[Setting, str | None] = {}

    @property
    def context(self) -> Context:
        return tuple(self._context.items())

    def tools(self, setting: Setting) -> list[dict[str, Json]] | None:
        return self._tools if setting.tools else None

    def answer(self, case: Case, setting: Setting) -> Message:
        return assistant(self._ir, case, setting)

    def conversation(self, case: Case, setting: Setting, *, followed: Case | None = None) -> list[Message]:
        """Return the conversation.  `followed`: the case whose tools' results follow the turn, if it is another one."""
        return conversation(self._ir, case, setting, self.words, followed=followed)

    def render(self, case: Case, setting: Setting, *, followed: Case | None = None) -> str:
        """Return the whole render; raise TemplateRaised or RenderFailed if the template refuses the case."""
        return self._render(self.conversation(case, setting, followed=followed), setting, prompt=False)

    def trace(self, case: Case, setting: Setting, *, clock: datetime = CLOCK, seed: int = 0) -> str:
        """Return the whole render at another time, or with other random choices."""
        messages, tools = self.conversation(case, setting), self.tools(setting)
        given = {"add_generation_prompt": False, "every_text": False, **self._context}
        return self._renderer.trace(messages, tools=tools, clock=clock, seed=seed, **given).text  # type: ignore[arg-type]

    def frame(self, setting: Setting) -> TurnFrame | None:
        """Return the frame of the turn; None if this setting does not render at all."""
        key = replace(setting, follow="none")
        if not setting.after_result:
            key = Setting(parts=setting.parts, system=setting.system, tools=setting.tools)
        if key not in self._frames:
            self._frames[key] = self._new_frame(key)
        return self._frames[key]

    def _new_frame(self, setting: Setting) -> TurnFrame | None:
        messages = opening(self._ir, setting, self.words)
        try:
            asked = self._render(messages, setting, prompt=False)
            prompt = self._render(messages, setting, prompt=True)
        except (TemplateRaised, RenderFailed):
            return None
        words = self.words.after_result() if setting.after_result else self.words
        there = words.question in asked and words.question in prompt
        return TurnFrame(self._ir.turn, asked, prompt, words, after_result=setting.after_result) if there else None

    def content_trailing(self, setting: Setting) -> str | None:
        """Return the text after a turn of content alone; None if it isn't rendered.

        The text that is the same after every message is best found there: a call's own closers may look like an end.
        """
        if setting not in self._trailing:
            self._trailing[setting] = self._new_content_trailing(setting)
        return self._trailing[setting]

    def after_content(self, setting: Setting) -> list[str]:
        """Return what is after plain content: at the end of a conversation, and before a user's message."""
        found: list[str] = []
        follows: tuple[Follow, ...] = ("none", "user")
        for follow in follows:
            there = replace(setting, follow=follow)
            frame, words = self.frame(there), _words(Shape(False, True, 0), self.words)
            try:
                full = self.render(words, there)
            except (TemplateRaised, RenderFailed):
                continue
            text = frame.with_trailing(full) if frame is not None and frame.asks(full) else None
            if text is not None and words.content in text:
                found.append(text[text.rindex(words.content) + len(words.content) :])
        return found

    def _new_content_trailing(self, setting: Setting) -> str | None:
        frame, words = self.frame(setting), _words(Shape(False, True, 0), self.words)
        if frame is None:
            return None
        try:
            full = self.render(words, setting)
        except (TemplateRaised, RenderFailed):
            return None
        turn = frame.with_trailing(full) if frame.asks(full) else None
        return trailing_of(frame, full, words.content) if turn is not None and words.content in turn else None

    def leaves_reasoning_open(self, case: Case, turn: str) -> bool:
        """Return whether the turn begins with an opener of reasoning that is never closed, although the case has no
        reasoning: then no content is shown."""
        start, end = self._ir.reasoning.start.strip(), self._ir.reasoning.end.strip()
        return bool(start) and not case.reasoning and turn.lstrip().startswith(start) and end not in turn

    def is_written_as_reasoning(self, shape: Shape, place: Shown) -> bool:
        """Return whether the template writes content between the marks of reasoning."""
        start, end = self._ir.reasoning.start.strip(), self._ir.reasoning.end.strip()
        words = _words(shape, self.words)
        before, _, after = (place.frame.with_trailing(self.render(words, place.setting)) or "").partition(words.content)
        return bool(start and end) and before.rstrip().endswith(start) and after.lstrip().startswith(end)

    def _render(self, messages: list[Message], setting: Setting, *, prompt: bool) -> str:
        asked = json.dumps(messages), setting.tools, prompt
        if asked not in self._recent:
            if len(self._recent) == _MOST_RECENT:
                self._recent.clear()
            tools = self._encoded_tools if setting.tools else None
            self._recent[asked] = self._renderer.render(
                messages, tools=tools, add_generation_prompt=prompt, **self._context
            )
        return self._recent[asked]


def shown(stage: Stage, shape: Shape, tried: Sequence[Setting]) -> Shown | NotShown:
    """Return the first setting in which the whole shape shows, otherwise the parts that the best setting leaves out.

    Content in parts doesn't count if the template writes the same text otherwise: then it prints the list."""
    best: NotShown | None = None
    for setting in tried:
        found = _shown_in(stage, _words(shape, stage.words), setting)
        if isinstance(found, Shown):
            text = (
                _shown_in(stage, _words(shape, stage.words), replace(setting, parts=False)) if setting.parts else found
            )
            return text if isinstance(text, NotShown) and text.changed else _quiet(stage, shape, found)
        if best is None or (bool(found.refusal), len(found.parts)) < (bool(best.refusal), len(best.parts)):
            best = found
    return best or NotShown(("everything",))


def _quiet(stage: Stage, shape: Shape, found: Shown) -> Shown:
    """Return where a shape without content shows with the least text: a template may print None."""
    words, empty = _words(shape, stage.words), replace(found.setting, empty_content="empty")
    other = _shown_in(stage, words, empty) if not shape.content and found.setting != empty else found
    if not isinstance(other, Shown):
        return found
    return min(found, other, key=lambda shown: len(stage.render(words, shown.setting)))


def usual_settings(ir: TemplateIR, stage: Stage) -> tuple[Setting, ...]:
    """Return the settings worth trying for every shape: those in which content or a call shows, before any follower."""
    likely = tuple(settings(ir))
    found: list[Setting] = []
    for shape in (Shape(False, True, 0), Shape(False, False, 1)):
        tried = likely if ir.tools.format != "none" or not shape.calls else likely[:12]
        result = shown(stage, shape, list(_distinct(tried, shape)))
        if isinstance(result, Shown) or result.changed or result.why:
            found.append(result.setting)
    follows: tuple[Follow, ...] = ("none", "tool", "user", "tool_user")
    variants = [replace(setting, follow=follow) for follow in follows for setting in reversed(found)]
    variants += [replace(setting, empty_content="empty") for setting in reversed(found)]
    return tuple(dict.fromkeys([*reversed(found), *variants]))


def without_content_as_reasoning(
    stage: Stage, results: Mapping[Shape, Shown | NotShown]
) -> dict[Shape, Shown | NotShown]:
    """Return the results without content that is written as reasoning: it can't be mistaken for a message."""
    found = dict(results)
    for shape, result in results.items():
        other = results.get(Shape(True, False, shape.calls))
        lone = shape.content and not shape.reasoning and isinstance(other, NotShown)
        if lone and isinstance(result, Shown) and stage.is_written_as_reasoning(shape, result):
            found[shape] = NotShown(("content",), why="it is inside the markers of reasoning")
    return found


def silence(stage: Stage, tried: Sequence[Setting]) -> str:
    """Return why a message of content does not show, in the template's own words."""
    words = _words(Shape(False, True, 0), stage.words)
    reasons: list[str] = []
    for setting in tried or (Setting(),):
        try:
            full = stage.render(words, setting)
        except (TemplateRaised, RenderFailed) as error:
            reasons.append(f"the template refuses a question and its answer: {error.message}")
            continue
        frame = stage.frame(setting)
        if frame is None:
            return "the user's text is not in the render of a question, so no turn can be separated from it"
        if not frame.asks(full) or words.content not in full:
            missing = "the question" if not frame.asks(full) else "the answer's text"
            return f"the render of a question and its answer does not contain {missing}: {_quoted(full)}"
        asked, answered = (text.rpartition(stage.words.question)[2] for text in (frame.prompt, full))
        return (
            f"no answer follows the text that was learned to precede it: after the question, the prompt continues with "
            f"{_quoted(asked)}, and a conversation with an answer with {_quoted(answered)}"
        )
    return reasons[0] if reasons else ""


def _quoted(text: str) -> str:
    return json.dumps(text if len(text) <= _LONGEST else text[:_LONGEST] + "…", ensure_ascii=False)


def _distinct(tried: Sequence[Setting], shape: Shape) -> Iterator[Setting]:
    """Yield settings that differ for the shape: without calls, the form of arguments and of missing content doesn't
    matter."""
    seen = set()
    for setting in tried:
        key = setting if shape.calls else replace(setting, arguments="object", empty_content="null")
        if key not in seen:
            seen.add(key)
            yield setting


def _shown_in(stage: Stage, words: Case, setting: Setting) -> Shown | NotShown:
    frame = stage.frame(setting)
    if frame is None:
        return NotShown(("everything",), "the conversation does not render")
    try:
        full = stage.render(words, setting)
    except (TemplateRaised, RenderFailed) as error:
        return NotShown(_part_names(words), error.message)
    turn = frame.with_trailing(full) if frame.asks(full) else None
    if turn is None:
        return NotShown(_part_names(words), "the turn does not follow the question")
    missing = [(name, word) for name, word in _parts(words) if word not in turn]
    if missing:
        changed = _change(stage, words, setting, full, turn, [word for _, word in missing])
        names = tuple(dict.fromkeys(name for name, _ in missing))
        return NotShown(names, changed=changed, setting=setting)
    if stage.leaves_reasoning_open(words, turn):
        return NotShown(("content",), why="it follows an opener of reasoning that is never closed", setting=setting)
    last = max((word for _, word in _parts(words)), key=turn.rindex)
    trailing = stage.content_trailing(setting) if "tool" not in setting.follow else None
    if trailing is None or not turn.endswith(trailing):
        trailing = trailing_of(frame, full, last)
    return Shown(setting, replace(frame, trailing=trailing))


def _with_others(words: Case, missing: Sequence[str]) -> Case:
    """Return the case with other words of the same length in the place of those that are missing."""

    def other(word: str) -> str:
        return word[::-1] if word in missing else word

    calls = tuple(
        Call(other(call.name), tuple((other(key), other(str(value))) for key, value in call.arguments))
        for call in words.calls
    )
    return replace(words, reasoning=other(words.reasoning), content=other(words.content), calls=calls)


def _change(stage: Stage, words: Case, setting: Setting, full: str, turn: str, missing: Sequence[str]) -> str:
    """Return what the template makes of words that the turn is without; "" if the render does not depend on them."""
    try:
        if stage.render(_with_others(words, missing), setting) == full:
            return ""
    except (TemplateRaised, RenderFailed):
        return ""
    found = ((word, *made) for word in missing for made in transformations(word, turn))
    word, name, written = next(found, ("", "", ""))
    if name:
        return f"the template {name}: {_quoted(word)} is written {_quoted(written)}"
    return "the render depends on the message's words, but contains none of them unchanged"


def _earlier(words: Words) -> Call:
    name, key, value, _ = words.earlier
    return Call(name, ((key, value),))


def _words(shape: Shape, words: Words) -> Case:
    calls = tuple(Call(name, ((key, value),)) for name, key, value in words.calls[: shape.calls])
    return Case("words", words.reasoning if shape.reasoning else "", words.content if shape.content else "", calls)


def _parts(words: Case) -> Iterator[tuple[str, str]]:
    if words.reasoning:
        yield "reasoning", words.reasoning
    if words.content:
        yield "content", words.content
    for number, call in enumerate(words.calls):
        part = "calls" if not number else "further calls"
        yield part, call.name
        for key, value in call.arguments:
            yield part, key
            yield part, str(value)


def _part_names(words: Case) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, _ in _parts(words)))


def summary(results: dict[Shape, Shown | NotShown]) -> tuple[str, ...]:
    """Return short descriptions of what isn't rendered: "reasoning", "content next to calls", "two calls (refused:
    …)"."""
    never = [
        part for part, has in _PARTS.items() if not any(has(s) for s, r in results.items() if isinstance(r, Shown))
    ]
    if "calls" in never:
        never.remove("more than one call")
    lines: dict[str, str] = {}
    for shape, result in results.items():
        if isinstance(result, Shown):
            continue
        absent = [part for part in never if _PARTS[part](shape)]
        for part in absent or [_dropped(shape, result)]:
            # A refusal of several parts at once does not say which of them it is about.
            alone = shape.reasoning + shape.content + (shape.calls > 0) == 1 or not absent
            refused = f" (refused: {result.refusal})" if result.refusal else ""
            because = f" ({result.why})" if result.why else refused
            lines[part] = lines.get(part) or (because if alone else "")
    return tuple(line + because for line, because in lines.items())


_PARTS: dict[str, Callable[[Shape], bool]] = {
    "reasoning": lambda shape: shape.reasoning,
    "content": lambda shape: shape.content,
    "calls": lambda shape: shape.calls > 0,
    "more than one call": lambda shape: shape.calls > 1,
}


def _present(shape: Shape) -> list[str]:
    return [part for part, has in _PARTS.items() if has(shape)]


def _dropped(shape: Shape, result: NotShown) -> str:
    if result.refusal:
        return str(shape)
    others = [part for part in _present(shape) if part not in result.parts and part != "more than one call"]
    return f"{' and '.join(result.parts)} next to {' and '.join(others)}" if others else str(shape)
