"""Make a template for training: the same text, with tags around what a model generates, and verify both.

    training_template(ConversationTemplate(source))  →  TrainingTemplate(text, conversations=34, …)

Every conversation of the battery is rendered with the tags and without: the texts are equal to the byte, and the tags
are around the characters that `conversation_spans` gives, counted as transformers counts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tplc import driver
from tplc.conversations.battery import Conversation, accepted
from tplc.conversations.division import divisions
from tplc.conversations.generation import (
    NotDivided,
    Piece,
    TracedConversation,
    Wrapping,
    WritingPlace,
    marked_source,
    pieces_of,
    places_of,
    trace_runs,
    with_tags,
    without_marks,
)
from tplc.conversations.masks import PARTS, MaskPart, Range, selected
from tplc.conversations.source import SegmentedSource, read_template
from tplc.conversations.template import ConversationTemplate, RenderedConversation
from tplc.errors import RenderFailed, TemplateError, TemplateRaised, Undecided, UnsupportedTemplate, VerificationFailed
from tplc.ir.nodes import Json
from tplc.learn.tokens import stand_ins

_LONGEST = 60
# Places whose text must be divided before it can be tagged.
_MOST_DIVISIONS = 4


@dataclass(frozen=True, slots=True)
class TrainingTemplate:
    """`conversations` were rendered and compared, under each of the `settings` (variables of the template).

    `other_masks` are settings under which some masks differ from the template's tags: the generation prompt supplies
    more or less then.  `undecided` are the conversations of which the renders do not show what is generated.
    """

    text: str
    conversations: int
    settings: tuple[Mapping[str, Json], ...]
    other_masks: tuple[Mapping[str, Json], ...] = ()
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Shown:
    """A conversation under one setting: its text, and the characters of it that count."""

    conversation: Conversation
    setting: Mapping[str, Json]
    read: RenderedConversation
    ranges: tuple[Range, ...]

    @property
    def title(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.setting.items())
        return self.conversation.title + (f" with {given}" if given else "")


def training_template(template: ConversationTemplate, parts: Sequence[MaskPart] = PARTS) -> TrainingTemplate:
    """Return the template with generation tags around these parts of what a model writes.

    For special tokens that the template writes and that were not given, stand-ins are written in the renders: the tags
    are around an end token also if its text is not known.

    Raises UnsupportedTemplate with the line and the reason where the source cannot be divided so, and
    VerificationFailed where renders with the tags are not what they must be.
    """
    missing = stand_ins(template.source, template.special_tokens)
    if missing:
        tokens = {**template.special_tokens, **missing}
        with ConversationTemplate(template.source, name=template.name, ir=template.ir, special_tokens=tokens) as whole:
            return training_template(whole, parts)
    settings = _settings(template)
    shown, undecided = _shown(template, settings, parts)
    source = read_template(template.source, template.name)
    if "{% generation" in template.source or any(segment.name == "generation" for segment in source.segments):
        raise UnsupportedTemplate(template.name, "the template has generation tags already")
    usual = [one for one in shown if one.setting == settings[0]]
    if not usual:
        raise UnsupportedTemplate(template.name, undecided[0] if undecided else "it renders no conversation")
    try:
        text, problems = _proved(template, source, shown)
    except UnsupportedTemplate:
        if len(usual) == len(shown):
            raise
        problems = [("", "")]
        text = ""
    others: list[Mapping[str, Json]] = []
    if problems and len(usual) < len(shown):
        # The text that a prompt supplies may depend on variables; the tags are for their default values.
        text, problems = _proved(template, source, usual)
        for one in shown:
            if one.setting not in others and one.setting != settings[0]:
                same = [other for other in shown if other.setting == one.setting]
                failed = _problems(template, text, same)
                problems += [problem for problem in failed if problem[1] != _OTHER_MASK]
                if failed:
                    others.append(one.setting)
    if problems:
        lines = tuple(f"{title}: {problem}" for title, problem in problems[: driver.MOST_FAILURES])
        raise VerificationFailed(template.name, len(problems), len(shown), lines)
    return TrainingTemplate(text, len({one.conversation.title for one in shown}), settings, tuple(others), undecided)


def _settings(template: ConversationTemplate) -> tuple[Mapping[str, Json], ...]:
    found: list[Mapping[str, Json]] = []
    for prompt in template.ir.turn.prompts:
        setting = dict(prompt.context)
        if setting not in found:
            found.append(setting)
    return tuple(found) or ({},)


def _shown(
    template: ConversationTemplate, settings: Sequence[Mapping[str, Json]], parts: Sequence[MaskPart]
) -> tuple[list[_Shown], tuple[str, ...]]:
    shown: list[_Shown] = []
    undecided: list[str] = []
    usual: dict[str, Any] = dict(settings[0])

    def is_rendered(one: Conversation) -> bool:
        try:
            template.render(one.messages, tools=one.tools, **usual)
        except (RenderFailed, TemplateRaised):
            return False
        return True

    found = accepted(template.ir, is_rendered)
    for setting in settings:
        for one in found:
            try:
                read = template.read(one.messages, tools=one.tools, variables=setting)
            except (RenderFailed, TemplateRaised):
                continue
            except Undecided as error:
                if setting == settings[0]:
                    undecided.append(f"{one.title}: {error.reason}")
                continue
            shown.append(_Shown(one, setting, read, tuple(selected(read.spans, parts))))
    return shown, tuple(undecided)


def _proved(
    template: ConversationTemplate, source: SegmentedSource, shown: Sequence[_Shown], depth: int = 0
) -> tuple[str, list[tuple[str, str]]]:
    """Return the template with tags, and the problems of its renders."""
    try:
        text = _tagged(template, source, shown)
    except NotDivided as error:
        for divided in divisions(source, error.place, error.cuts) if depth < _MOST_DIVISIONS else ():
            try:
                text, problems = _proved(template, read_template(divided, template.name), shown, depth + 1)
            except UnsupportedTemplate:
                continue
            if not problems:
                return text, []
        raise
    return text, _problems(template, text, shown)


def _tagged(template: ConversationTemplate, source: SegmentedSource, shown: Sequence[_Shown]) -> str:
    places = places_of(source)
    traced = _traced(template, source, places, shown)
    trace_runs(places, traced)
    pieces = [piece for place in places for piece in pieces_of(template.name, source, place, traced)]

    def describe(piece: Piece) -> str:
        return _mixed(piece, source, traced)

    wrapping = Wrapping(template.name, source, pieces, describe, _reasoning(template))
    made = with_tags(source, wrapping.wraps())
    if made == source.text:
        raise UnsupportedTemplate(template.name, _nowhere(places, shown))
    return made


def _reasoning(template: ConversationTemplate) -> str:
    key = template.ir.reasoning.key
    return key if key and ":" not in key else "reasoning_content"


def _nowhere(places: Sequence[WritingPlace], shown: Sequence[_Shown]) -> str:
    if not any(one.ranges for one in shown):
        return "the template writes nothing that a model generates in these parts"
    return "what a model generates is not written by statements of the template's own stream"


def _traced(
    template: ConversationTemplate, source: SegmentedSource, places: Sequence[WritingPlace], shown: Sequence[_Shown]
) -> list[TracedConversation]:
    made = marked_source(source, places, _reasoning(template))
    traced = []
    tokens = template.renderer.special_tokens
    with driver.open_renderer(made, name=template.name, special_tokens=tokens, probing=False) as renderer:
        for one in shown:
            variables: dict[str, Any] = dict(one.setting)
            try:
                marked = renderer.render(
                    list(one.conversation.messages), tools=list(one.conversation.tools) or None, **variables
                )
            except TemplateError as error:
                raise UnsupportedTemplate(
                    template.name, f"its source cannot be traced: {error.message} (in: {one.title})"
                ) from error
            if without_marks(marked) != one.read.text:
                raise UnsupportedTemplate(
                    template.name,
                    "what its statements write cannot be traced: it depends on how the source is divided "
                    f"(in: {one.title})",
                )
            traced.append(TracedConversation(one.title, marked, one.read.text, one.ranges))
    return traced


def _mixed(piece: Piece, source: SegmentedSource, traced: Sequence[TracedConversation]) -> str:
    """Return why a piece is neither always generated nor never."""
    place = piece.place
    text = " ".join(source.text[place.start : place.stop].split())[:_LONGEST]
    cases: dict[bool, str] = {}
    for number, _, start, stop in place.runs:
        a, b = start + piece.first, stop if piece.last is None else start + piece.last
        inside = any(x <= a and b <= y for x, y in traced[number].ranges)
        if b > a:
            cases.setdefault(inside, traced[number].title)
    if len(cases) < 2:
        return f"a tag around it would hide names that are set there: {text}"
    return (
        f"one place writes what a model generates (in: {cases[True]}) and what it does not (in: {cases[False]}): {text}"
    )


_OTHER_MASK = "the tags are around other characters than a model generates"


def _problems(template: ConversationTemplate, text: str, shown: Sequence[_Shown]) -> list[tuple[str, str]]:
    """Return the problems of renders of the template with tags: conversation, and problem."""
    problems: list[tuple[str, str]] = []
    tokens = template.renderer.special_tokens
    try:
        with driver.open_renderer(text, name=template.name, special_tokens=tokens, probing=False) as renderer:
            for one in shown:
                variables: dict[str, Any] = dict(one.setting)
                tools = list(one.conversation.tools) or None
                try:
                    traced = renderer.trace(list(one.conversation.messages), tools=tools, **variables)
                except (RenderFailed, TemplateRaised) as error:
                    problems.append((one.title, f"is refused with the tags: {error.message}"))
                    continue
                if traced.text != one.read.text:
                    problems.append((one.title, "its text is another one with the tags"))
                elif _joined(traced.generated) != _joined(one.ranges):
                    problems.append((one.title, _OTHER_MASK))
    except TemplateError as error:
        problems.append(("the template with tags", str(error)))
    return problems


def _joined(ranges: Sequence[Range]) -> list[Range]:
    made: list[Range] = []
    for start, stop in sorted(ranges):
        if stop <= start:
            continue
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(stop, made[-1][1]))
        else:
            made.append((start, stop))
    return made
