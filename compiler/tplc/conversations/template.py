"""Find which characters of a conversation belong to which message, and which of them a model generates.

with ConversationTemplate(source) as template:
    read = template.read(messages, tools=tools)
read.text[read.spans[2].start:read.spans[2].stop]

One render of the conversation is all that a shape seen before takes, and one of its last prompt, which is compared.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tplc import driver, given
from tplc.conversations.fit import Misfit, fit, split
from tplc.conversations.layout import ConversationLayout, Pieces, SpanPart, layout_of
from tplc.conversations.shapes import ConversationShape, Identifiers, choose_words, phrase_pattern, shape_of, texts_of
from tplc.errors import RenderFailed, TemplateRaised, Undecided, UsageError
from tplc.ir.nodes import Json, TemplateIR
from tplc.messages import with_object_arguments

if TYPE_CHECKING:
    from tplc.render import Limits

Message = Mapping[str, Json]
_WAYS: tuple[Identifiers, ...] = ("apart", "linked", "kept")
_MOST_KEPT = 4096
_MOST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Span:
    """The characters from `start` up to `stop` of a rendered conversation.

    `message` is the index of the message they belong to; None for a generation prompt at the end.  `part` is

    header      what the template writes before a message, and all that the prompt for an answer supplies
    reasoning, content, call, arguments
                with the markers around each; `call` is the index of the call
    end         what the template writes after a message: an answer's end token, and what follows it
    prompt      the generation prompt at the end

    `generated`: a model writes these characters after the prompt for that position.
    """

    start: int
    stop: int
    message: int | None
    role: str
    part: SpanPart
    generated: bool = False
    call: int | None = None


@dataclass(frozen=True, slots=True)
class RenderedConversation:
    """The text of a conversation, and the spans that make it up, in order."""

    text: str
    spans: tuple[Span, ...]


class ConversationTemplate:
    """A template, its format, and the shapes of conversations seen so far.  Threads take turns."""

    def __init__(
        self,
        source: str,
        *,
        name: str = "template",
        ir: TemplateIR | None = None,
        special_tokens: Mapping[str, str] | None = None,
        limits: Limits | Mapping[str, float] | None = None,
    ) -> None:
        given.text("source", source, "the text of a template (str)")
        if ir is not None:
            given.instance("ir", ir, TemplateIR, "a TemplateIR, as compile_template gives it")
        self.name = name
        self.source = source
        self._given_tokens = special_tokens
        tokens = special_tokens if special_tokens is not None or ir is None else dict(ir.provenance.special_tokens)
        self.special_tokens = dict(tokens or {})
        self.renderer = driver.open_renderer(source, name=name, special_tokens=tokens, limits=limits, probing=False)
        self._ir = ir
        self._limits = limits
        self._phrases: set[str] = set()
        self._shapes: OrderedDict[str, _Known] = OrderedDict()
        self._pieces: OrderedDict[str, Pieces | str] = OrderedDict()
        self._ways: dict[bool, tuple[Identifiers, ...]] = {True: _WAYS, False: ("apart",)}
        self._lock = RLock()
        self._words = choose_words(source)

    @property
    def ir(self) -> TemplateIR:
        """Return the format; it is learned at the first use."""
        if self._ir is None:
            tokens = self._given_tokens
            with (
                driver.open_renderer(
                    self.source, name=self.name, special_tokens=tokens, limits=self._limits
                ) as renderer,
                renderer.within_total(),
            ):
                self._ir = driver.tolerate(
                    driver.learn_format(renderer, name=self.name, source_text=self.source, special_tokens=tokens)
                )
        return self._ir

    def close(self) -> None:
        self.renderer.close()

    def __enter__(self) -> ConversationTemplate:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Message] | None = None,
        add_generation_prompt: bool = False,
        **variables: Json,
    ) -> str:
        """Return the text of a conversation, as `apply_chat_template` writes it."""
        with self._lock:
            return self.renderer.render(
                list(messages),  # type: ignore[arg-type]
                tools=list(tools) if tools else None,  # type: ignore[arg-type]
                add_generation_prompt=add_generation_prompt,
                **variables,
            )

    def read(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Message] | None = None,
        add_generation_prompt: bool = False,
        variables: Mapping[str, Json] | None = None,
        check: bool = True,
    ) -> RenderedConversation:
        """Return the text of a conversation with its spans.

        Arguments that are JSON text become objects if the template can't write them as text.
        `variables` are the template's, as `chat_template_kwargs` of a request has them.
        `check`: the prompt of the last answer is rendered too, and compared with what the text begins with.
        Raises Undecided where the renders do not show whose a character is, and the template's own errors.
        """
        _check_messages(messages)
        given.tools(tools)
        read = partial(
            self._read,
            tools=tools or None,
            variables=dict(variables or {}),
            generation=add_generation_prompt,
            check=check,
        )
        with self._lock:
            try:
                return read(messages)
            except RenderFailed:
                objects = [with_object_arguments(message) for message in messages]
                if objects == list(messages):
                    raise
                return read(objects)

    def _read(
        self,
        messages: Sequence[Message],
        tools: Sequence[Message] | None,
        variables: dict[str, Any],
        *,
        generation: bool,
        check: bool,
    ) -> RenderedConversation:
        text = self.render(messages, tools=tools, add_generation_prompt=generation, **variables)
        has_calls = any(message.get("tool_calls") or message.get("role") == "tool" for message in messages)
        ways = self._ways[has_calls]
        problem: Undecided | None = None
        for way in ways:
            try:
                layout, starts = self._fitted(messages, text, tools, variables, way, generation=generation)
            except Undecided as error:
                problem = problem or error
                continue
            if way != ways[0]:
                self._ways[has_calls] = (way, *(other for other in ways if other != way))
            break
        else:
            assert problem is not None
            raise problem
        if check and layout.prompted is not None:
            index, border = layout.prompted
            prompt = self.render(messages[:index], tools=tools, add_generation_prompt=True, **variables)
            if prompt != text[: starts[border.piece] + border.offset]:
                raise Undecided(self.name, index, "the prompt for it depends on what the messages before it say")
        return RenderedConversation(text, tuple(_spans(layout, starts, messages)))

    def _fitted(
        self,
        messages: Sequence[Message],
        text: str,
        tools: Sequence[Message] | None,
        variables: dict[str, Any],
        way: Identifiers,
        *,
        generation: bool,
    ) -> tuple[ConversationLayout, list[int]]:
        while True:
            shape = self._shape(messages, tools, way)
            known = self._known(shape, tools, variables, generation=generation)
            if known.phrases <= self._phrases or not any(
                phrase in text for phrase in known.phrases - self._phrases for text in _all_texts(messages)
            ):
                break
            # The template compares texts with phrases that these texts hold: they stay in the shape.
            self._phrases |= {
                phrase for phrase in known.phrases if any(phrase in text for text in _all_texts(messages))
            }
        if isinstance(known.pieces, str):
            raise Undecided(self.name, None, f"the template refuses the conversation with other texts: {known.pieces}")
        fitted = fit(known.pieces, shape.slots, text)
        if isinstance(fitted, Misfit):
            raise self._misfit(fitted, known.pieces, shape, text)
        if known.problem is not None:
            raise known.problem
        if known.layout is None:
            try:
                known.layout = self._layout(shape, known.pieces, tools, variables, generation=generation)
            except Undecided as error:
                known.problem = error
                raise
        return known.layout, fitted

    def _shape(
        self, messages: Sequence[Message], tools: Sequence[Message] | None, way: Identifiers
    ) -> ConversationShape:
        return shape_of(messages, self._words, phrase_pattern(tuple(self._phrases)), way)

    def _known(
        self, shape: ConversationShape, tools: Sequence[Message] | None, variables: dict[str, Any], *, generation: bool
    ) -> _Known:
        key = json.dumps([shape.messages, tools, variables, generation])
        known = self._shapes.get(key)
        if known is None:
            known = self._asked(shape, tools, variables, generation=generation)
            self._shapes[key] = known
            if len(self._shapes) > _MOST_KEPT:
                self._shapes.popitem(last=False)
        else:
            self._shapes.move_to_end(key)
        return known

    def _asked(
        self, shape: ConversationShape, tools: Sequence[Message] | None, variables: dict[str, Any], *, generation: bool
    ) -> _Known:
        try:
            traced = self.renderer.trace(
                shape.messages,
                tools=list(tools) if tools else None,  # type: ignore[arg-type]
                add_generation_prompt=generation,
                every_text=True,
                **variables,
            )
        except (RenderFailed, TemplateRaised) as error:
            return _Known(str(error), frozenset())
        words = self._words.pattern
        phrases = frozenset(
            text for _, text in traced.compared if not words.search(text) and any(map(str.isprintable, text.strip()))
        )
        return _Known(split(traced.text, words, shape.slots), phrases)

    def _layout(
        self,
        shape: ConversationShape,
        pieces: Pieces,
        tools: Sequence[Message] | None,
        variables: dict[str, Any],
        *,
        generation: bool,
    ) -> ConversationLayout:
        def render(messages: list[dict[str, Json]], prompt: bool) -> Pieces | str:
            key = json.dumps([messages, tools, variables, prompt])
            found = self._pieces.get(key)
            if found is None:
                try:
                    text = self.render(messages, tools=tools, add_generation_prompt=prompt, **variables)
                except (RenderFailed, TemplateRaised) as error:
                    found = str(error)
                else:
                    found = split(text, self._words.pattern, shape.slots)
                self._pieces[key] = found
                if len(self._pieces) > _MOST_KEPT:
                    self._pieces.popitem(last=False)
            return found

        return layout_of(self.name, self.ir, shape, pieces, render, generation=generation)

    def _misfit(self, misfit: Misfit, pieces: Pieces, shape: ConversationShape, text: str) -> Undecided:
        at = misfit.piece if misfit.piece % 2 else misfit.piece - 1
        slot = shape.slots[pieces[at]] if at > 0 else None
        shown = json.dumps(text[misfit.at : misfit.at + _MOST_SHOWN], ensure_ascii=False)
        if slot is None:
            return Undecided(self.name, 0, f"the template writes {shown} before it, but not with other texts")
        where = slot.kind if misfit.piece % 2 else f"what follows its {slot.kind}"
        return Undecided(
            self.name, slot.message, f"the template does not write {where} as it does with other texts: {shown}"
        )


@dataclass(slots=True)
class _Known:
    """The result for a shape: its render or why it is refused, and the phrases that its texts were compared with."""

    pieces: Pieces | str
    phrases: frozenset[str]
    layout: ConversationLayout | None = None
    problem: Undecided | None = None


def _spans(layout: ConversationLayout, starts: list[int], messages: Sequence[Message]) -> list[Span]:
    found = []
    for one in layout.stretches:
        start = starts[one.start.piece] + one.start.offset
        stop = starts[one.stop.piece] + one.stop.offset
        if stop > start:
            role = "" if one.message is None else str(messages[one.message].get("role"))
            found.append(Span(start, stop, one.message, role, one.part, one.generated, one.call))
    return found


def _all_texts(messages: Sequence[Message]) -> list[str]:
    return [text for message in messages for text in texts_of(message)]


def _check_messages(messages: Sequence[Message]) -> None:
    given.listed("messages", messages, Mapping, 'messages such as {"role": "user", "content": …}')
    if not messages:
        raise UsageError("messages: a conversation has at least one")


def conversation_spans(
    template: str | ConversationTemplate,
    messages: Sequence[Message],
    *,
    tools: Sequence[Message] | None = None,
    special_tokens: Mapping[str, str] | None = None,
    add_generation_prompt: bool = False,
    **chat_template_kwargs: Json,
) -> list[Span]:
    """Return the spans that make up a rendered conversation, in order: see `Span`.

    `template` is a template's text, or a ConversationTemplate, which learns it once for many conversations.
    `chat_template_kwargs` are variables of the template.  Raises Undecided where renders do not show what a character
    belongs to, with the message and the reason.
    """
    if isinstance(template, ConversationTemplate):
        if special_tokens is not None:
            raise UsageError("special_tokens: the ConversationTemplate has them already")
        read = template.read(
            messages, tools=tools, add_generation_prompt=add_generation_prompt, variables=chat_template_kwargs
        )
        return list(read.spans)
    with ConversationTemplate(template, special_tokens=special_tokens) as made:
        return list(
            made.read(
                messages, tools=tools, add_generation_prompt=add_generation_prompt, variables=chat_template_kwargs
            ).spans
        )
