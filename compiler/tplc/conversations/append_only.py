"""Check whether a template is append-only: each next prompt begins with the previous prompt and its answer.

    prompt 1  "<u>Hi<end><a>"       answer 1  "<why>Hm</why>Hello<end>"
    prompt 2  "<u>Hi<end><a>Hello<end><u>So?<end><a>"
    →  after reasoning: not append-only; "<why>Hm</why>Hello" is "Hello" in the next prompt

Caches of prefixes and rollouts of several turns depend on it.  Everything is found by renders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

from tplc import driver
from tplc.conversations.battery import Conversation, accepted
from tplc.conversations.source import SegmentedSource, SourceToken, read_template
from tplc.conversations.template import ConversationTemplate
from tplc.errors import RenderFailed, TemplateRaised, TplcError, UnsupportedTemplate
from tplc.ir.markers import common_prefix
from tplc.ir.nodes import Json
from tplc.render import Renderer

TurnKind = Literal["text", "tools", "reasoning"]
KINDS: tuple[TurnKind, ...] = get_args(TurnKind)
_SHOWN = 60
_MOST_CHANGES = 3
_MOST_TRIED_FIRST = 4


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Where a prompt differs from the past that it should begin with: in which message of which conversation, and both
    texts from there on."""

    conversation: str
    message: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AppendOnly:
    """`rewritten` has the first difference of each kind of turns that has one; `kinds` are those that were tried."""

    kinds: tuple[TurnKind, ...]
    rewritten: Mapping[TurnKind, Rewritten]

    @property
    def holds(self) -> bool:
        return not self.rewritten


@dataclass(frozen=True, slots=True)
class AppendOnlyTemplate:
    """`changes` say which conditions of the template are others, with their lines."""

    text: str
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """The beginnings of a conversation up to an answer, and up to the next one."""

    conversation: Conversation
    kind: TurnKind
    answer: int
    following: int


def append_only(template: ConversationTemplate) -> AppendOnly:
    """Return the verdict on a template, for turns of text, turns with calls, and turns with reasoning."""
    steps = list(_steps(template))
    kinds = tuple(kind for kind in KINDS if any(step.kind == kind for step in steps))
    rewritten: dict[TurnKind, Rewritten] = {}
    for step in steps:
        if step.kind not in rewritten:
            found = _rewritten(template.renderer, step)
            if found is not None:
                rewritten[step.kind] = found
    return AppendOnly(kinds, rewritten)


def _steps(template: ConversationTemplate) -> Iterator[_Step]:
    def is_rendered(one: Conversation) -> bool:
        return _render(template.renderer, one, len(one.messages), prompt=False) is not None

    for one in accepted(template.ir, is_rendered):
        kind: TurnKind = "text"
        answers = [index for index, message in enumerate(one.messages) if message["role"] == "assistant"]
        if any(set(one.messages[index]) - {"role", "content", "tool_calls"} for index in answers):
            kind = "reasoning"
        elif one.tools:
            kind = "tools"
        for answer, following in pairwise(answers):
            yield _Step(one, kind, answer, following)


def _render(renderer: Renderer, one: Conversation, count: int, *, prompt: bool) -> str | None:
    try:
        return renderer.render(list(one.messages[:count]), tools=list(one.tools) or None, add_generation_prompt=prompt)
    except (RenderFailed, TemplateRaised):
        return None


def _past(renderer: Renderer, step: _Step) -> str | None:
    """Return the prompt for an answer and the answer after it, as an engine's cache contains them."""
    prompt = _render(renderer, step.conversation, step.answer, prompt=True)
    answered = _render(renderer, step.conversation, step.answer + 1, prompt=False)
    if prompt is None or answered is None:
        return None
    if answered.startswith(prompt):
        return answered
    # The answer is not written after its own prompt, so what follows is of another past.
    return prompt


def _both(renderer: Renderer, step: _Step) -> tuple[str, str] | None:
    """Return the past and the next prompt; None if the prompt begins with the past."""
    past = _past(renderer, step)
    following = _render(renderer, step.conversation, step.following, prompt=True) if past is not None else None
    if past is None or following is None or following.startswith(past):
        return None
    return past, following


def _rewritten(renderer: Renderer, step: _Step) -> Rewritten | None:
    found = _both(renderer, step)
    if found is None:
        return None
    past, following = found
    at = len(common_prefix(past, following))
    message = 0
    for index in range(step.answer + 1):
        begin = _render(renderer, step.conversation, index, prompt=False) if index else ""
        if begin is not None and len(begin) <= at:
            message = index
    return Rewritten(step.conversation.title, message, past[at : at + _SHOWN], following[at : at + _SHOWN])


# A variant of the template


def append_only_template(template: ConversationTemplate) -> AppendOnlyTemplate:
    """Return the template with conditions changed so that it only appends, and writes the last turn as before.

    Raises UnsupportedTemplate with the first difference where no change of its conditions does that.
    """
    steps = list(_steps(template))
    expected = {index: _last_turn(template.renderer, step) for index, step in enumerate(steps)}
    failing = _failing(template.renderer, steps)
    text = template.source
    changes: list[str] = []
    while failing and len(changes) < _MOST_CHANGES:
        best: tuple[int, str, str, list[int]] | None = None
        for edited, change in _edits(read_template(text, template.name)):
            left = _tried(template, edited, steps, expected, failing, best[0] if best else len(failing))
            if left is not None and (best is None or len(left) < best[0]):
                best = (len(left), edited, change, left)
                if not left:
                    break
        if best is None:
            break
        _, text, change, failing = best
        changes.append(change)
    if failing:
        first = _rewritten(template.renderer, steps[failing[0]])
        where = f": {first.before!r} becomes {first.after!r} (in: {first.conversation})" if first else ""
        raise UnsupportedTemplate(template.name, f"no change of its conditions makes it append-only{where}")
    return AppendOnlyTemplate(text, tuple(changes))


def _failing(renderer: Renderer, steps: Sequence[_Step], among: Sequence[int] | None = None) -> list[int]:
    chosen = range(len(steps)) if among is None else among
    return [index for index in chosen if _both(renderer, steps[index]) is not None]


def _last_turn(renderer: Renderer, step: _Step) -> tuple[str | None, str | None]:
    """Return the text after the prompt of the conversation's last answer, and the conversation's first prompt."""
    prompt = _render(renderer, step.conversation, step.answer, prompt=True)
    answered = _render(renderer, step.conversation, step.answer + 1, prompt=False)
    if prompt is None or answered is None:
        return None, None
    answers = [index for index, message in enumerate(step.conversation.messages) if message["role"] == "assistant"]
    first = answered if step.answer == answers[0] else None
    return (answered[len(prompt) :] if answered.startswith(prompt) else None), first


def _tried(
    template: ConversationTemplate,
    text: str,
    steps: Sequence[_Step],
    expected: Mapping[int, tuple[str | None, str | None]],
    failing: Sequence[int],
    fewer: int,
) -> list[int] | None:
    """Return the steps that fail with this text; None if it is not better, or changes the last turn."""
    try:
        with driver.open_renderer(
            text, name=template.name, special_tokens=template.renderer.special_tokens, probing=False
        ) as renderer:
            # Most conditions change nothing, which a few steps show.
            few = failing[:_MOST_TRIED_FIRST]
            if len(_failing(renderer, steps, few)) == len(few) or len(_failing(renderer, steps, failing)) >= fewer:
                return None
            left = _failing(renderer, steps)
            if len(left) >= fewer:
                return None
            for index, (answer, first) in expected.items():
                now, now_first = _last_turn(renderer, steps[index])
                if (answer is not None and now != answer) or (first is not None and now_first != first):
                    return None
            return left
    except TplcError:
        return None


def _edits(source: SegmentedSource) -> Iterator[tuple[str, str]]:
    """Yield the source with one condition, or one operand of `and` or `or`, replaced by a constant."""
    for segment in source.segments:
        is_statement = segment.name in ("if", "elif")
        for tokens in [segment.tokens[1:]] if is_statement else _inline(segment.tokens):
            for part in _sides(tokens):
                for constant in ("true", "false"):
                    start, stop = part[0].start, part[-1].stop
                    shown = " ".join(source.text[start:stop].split())
                    edited = f"{source.text[:start]}{constant}{source.text[stop:]}"
                    yield edited, f"line {source.line_at(start)}: {shown} is {constant}"


def _inline(tokens: Sequence[SourceToken]) -> Iterator[Sequence[SourceToken]]:
    """Yield the conditions of `A if CONDITION else B` within an expression."""
    for index, token in enumerate(tokens):
        if token.kind != "name" or token.text != "if":
            continue
        depth, stop = 0, index + 1
        while stop < len(tokens):
            one = tokens[stop]
            if one.kind == "operator":
                depth += (one.text in "([{") - (one.text in ")]}")
            if depth < 0 or (depth == 0 and (one.text == "else" or (one.kind == "operator" and one.text == ","))):
                break
            stop += 1
        yield tokens[index + 1 : stop]


def _sides(tokens: Sequence[SourceToken]) -> Iterator[Sequence[SourceToken]]:
    """Yield the whole condition, and the operands of its `and` and `or`."""
    if not tokens:
        return
    yield tokens
    depth, first, found = 0, 0, []
    for index, token in enumerate(tokens):
        if token.kind == "operator":
            depth += (token.text in "([{") - (token.text in ")]}")
        elif depth == 0 and token.kind == "name" and token.text in ("and", "or"):
            found.append(tokens[first:index])
            first = index + 1
    if found:
        yield from (part for part in [*found, tokens[first:]] if part)


def report_lines(verdict: AppendOnly) -> Iterator[tuple[str, str]]:
    """Yield the verdict for people: the kind of turns, and its explanation."""
    titles = {"text": "text", "tools": "calls", "reasoning": "reasoning"}
    for kind in verdict.kinds:
        found = verdict.rewritten.get(kind)
        if found is None:
            yield titles[kind], "append-only"
        else:
            yield (
                titles[kind],
                f"not append-only: messages[{found.message}] is written differently once a message follows: "
                f"{found.before!r} becomes {found.after!r} (in: {found.conversation})",
            )


def to_json(verdict: AppendOnly) -> dict[str, Json]:
    made: dict[str, Any] = {}
    for kind in verdict.kinds:
        found = verdict.rewritten.get(kind)
        made[kind] = {"append_only": found is None}
        if found is not None:
            made[kind] |= {
                "conversation": found.conversation,
                "message": found.message,
                "before": found.before,
                "after": found.after,
            }
    return made
