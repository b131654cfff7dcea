"""Find the owner and the part of each stretch of a shape's render, and whether a model generates it.

    messages  [user w0, assistant w1]
    render    "<u>w0<end>\n<a><why></why>w1<end>\n"
    prompt    "<u>w0<end>\n<a>"                         what the model continues when it writes messages[1]
    →  messages[0] "<u>w0<end>\n", messages[1] header "<a>", reasoning "<why></why>", content "w1", end "<end>\n"

A message begins where the one before ends, and ends where a render of the conversation up to it ends.  What a model
generates begins where the prompt for it ends.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

from tplc.conversations.shapes import ConversationShape, WordSlot
from tplc.errors import Undecided
from tplc.explain.turn_spans import TurnPart, marked, spans
from tplc.ir.markers import common_prefix, common_suffix
from tplc.ir.nodes import Json, TemplateIR
from tplc.learn.align import cut_left, cut_right

SpanPart = Literal["header", "reasoning", "content", "call", "arguments", "end", "prompt"]
ASSISTANT = "assistant"
# Pieces of a render, or why there is none.
Pieces = tuple[str, ...]
Render = Callable[[list[dict[str, Json]], bool], "Pieces | str"]

_PARTS: dict[str, TurnPart] = {
    "content": "content",
    "reasoning": "reasoning",
    "name": "call",
    "id": "call",
    "key": "arguments",
    "argument": "arguments",
}


@dataclass(frozen=True, slots=True)
class Border:
    """A place in a render of the shape: so far into a piece."""

    piece: int
    offset: int


@dataclass(frozen=True, slots=True)
class Stretch:
    start: Border
    stop: Border
    message: int | None
    part: SpanPart
    generated: bool = False
    call: int | None = None


@dataclass(frozen=True, slots=True)
class ConversationLayout:
    """The stretches make up the render.  `prompted` is the last assistant's message and where its prompt ends, if the
    render begins with that prompt."""

    pieces: Pieces
    stretches: tuple[Stretch, ...]
    prompted: tuple[int, Border] | None


def layout_of(
    name: str, ir: TemplateIR, shape: ConversationShape, pieces: Pieces, render: Render, *, generation: bool = False
) -> ConversationLayout:
    """Return the layout of a conversation.  `render` returns the pieces of a shorter conversation, or why the template
    refuses it."""
    return _Laying(name, ir, shape, pieces, render).layout(generation=generation)


class _Laying:
    def __init__(self, name: str, ir: TemplateIR, shape: ConversationShape, pieces: Pieces, render: Render) -> None:
        self.name = name
        self.ir = ir
        self.shape = shape
        self.slots = shape.slots
        self.pieces = pieces
        self.render = render
        self.text = "".join(pieces)
        self.starts = [0, *accumulate(map(len, pieces))]
        self.own: dict[int, list[int]] = {}
        self.owners: dict[int, int | None] = {}
        for index in range(1, len(pieces), 2):
            owner = self.slots[pieces[index]].message
            self.owners[index] = owner
            if owner is not None:
                self.own.setdefault(owner, []).append(index)
        self.ends = sorted({end.strip() for end in ir.turn.ends if end.strip()}, key=len, reverse=True)

    def layout(self, *, generation: bool) -> ConversationLayout:
        stretches: list[Stretch] = []
        prompted: tuple[int, Border] | None = None
        at = 0
        for index, message in enumerate(self.shape.messages):
            is_answer = message.get("role") == ASSISTANT
            if is_answer:
                self.check_whole(index)
                start, is_exact = self.prompt_end(index, at)
                prompted = (index, self.border(start)) if is_exact else None
            else:
                start = max(at, self.first(index, at))
            stop = max(self.message_end(index, at, generation=generation), start)
            if is_answer:
                self.check_owners(index, (piece for piece, _ in self.slots_between(start, stop)))
            if start > at:
                stretches.append(self.stretch(at, start, index, "header"))
            if is_answer:
                stretches += self.generated(index, start, stop)
            elif stop > start:
                stretches += self.other(index, start, stop)
            at = stop
        if at < len(self.text):
            part: SpanPart = "prompt" if generation else "end"
            message_index = None if generation else len(self.shape.messages) - 1
            stretches.append(self.stretch(at, len(self.text), message_index, part))
        return ConversationLayout(self.pieces, tuple(_merged(stretches)), prompted)

    # Borders

    def check_whole(self, index: int) -> None:
        """Raise an error if text of another message is inside an assistant's message."""
        own = self.own.get(index, [])
        self.check_owners(index, range(own[0], own[-1], 2) if own else ())

    def check_owners(self, index: int, pieces: Iterable[int]) -> None:
        for piece in pieces:
            owner = self.owners[piece]
            if owner not in (index, None):
                raise self.undecided(index, f"the template writes text of messages[{owner}] inside it")

    def first(self, index: int, at: int) -> int:
        return next((self.starts[piece] for piece in self.own.get(index, ()) if self.starts[piece] >= at), at)

    def prompt_end(self, index: int, at: int) -> tuple[int, bool]:
        """Return where the prompt for a message ends, and whether the render begins with the prompt."""
        prompt = self.render(self.shape.messages[:index], True)
        if isinstance(prompt, str):
            raise self.undecided(index, f"the template refuses the conversation before it as a prompt: {prompt}")
        text = "".join(prompt)
        if self.text.startswith(text):
            return len(text), True
        # The past is written otherwise in the prompt; what follows its last text is compared.
        own = self.own.get(index)
        if not own:
            raise self.undecided(
                index, "none of its texts are in the render, which does not begin with the prompt for it"
            )
        before = own[0] - 2
        if (found := self.after_prompt(prompt[-1], self.pieces[before + 1])) is not None:
            return self.starts[before + 1] + found, False
        if before < 1 or len(prompt) < 3 or prompt[-2] != self.pieces[before]:
            if before < 1 and len(prompt) == 1:
                return self.starts[own[0] - 1] + _agreed(prompt[0], self.pieces[own[0] - 1]), False
            raise self.undecided(index, "what the render has before it is not what the prompt for it ends with")
        return self.starts[before + 1] + _agreed(prompt[-1], self.pieces[before + 1]), False

    def after_prompt(self, prompt: str, text: str) -> int | None:
        """Return where the prompt's generation prompt ends in a text that contains it once; otherwise None."""
        for known in (prompt, *sorted({one.text for one in self.ir.turn.prompts}, key=len, reverse=True)):
            core = known.strip()
            if core and prompt.endswith(known) and text.count(core) == 1:
                end = text.index(core) + len(core)
                return end + len(common_prefix(known[len(known.rstrip()) :], text[end:]))
        return None

    def message_end(self, index: int, at: int, *, generation: bool) -> int:
        is_answer = self.shape.messages[index].get("role") == ASSISTANT
        last = index == len(self.shape.messages) - 1
        alone = self.pieces if last and not generation else self.render(self.shape.messages[: index + 1], False)
        own = self.own.get(index)
        if not isinstance(alone, str):
            text = "".join(alone)
            # Where nothing ends the last answer, that says nothing of the others.
            shows = last or not is_answer or bool(alone[-1].strip())
            if self.text.startswith(text) and len(text) >= at and shows:
                appended = self.appended(index, own) if last and is_answer and not generation else ""
                return len(text) - len(appended)
        if not own:
            if is_answer:
                raise self.undecided(index, "none of its texts are in the render, and its end is unknown")
            return at
        end = self.starts[own[-1] + 1]
        rest = self.pieces[own[-1] + 1]
        is_last_text = own[-1] + 2 >= len(self.pieces)
        tail = (
            alone[-1] if not isinstance(alone, str) and len(alone) > 2 and alone[-2] == self.pieces[own[-1]] else None
        )
        if tail is not None and rest.startswith(tail) and (tail.strip() or not is_answer):
            return end + len(tail)
        if is_answer and (closed := self.closed_before_prompt(index, rest)) is not None:
            return end + closed
        if is_answer:
            own_rest = rest.removesuffix(self.header_of_next(index, rest))
            closers = [(found, -len(core), core) for core in self.ends if (found := own_rest.find(core)) >= 0]
            if closers:
                found, size, core = min(closers)
                return end + found - size + self.space_after(core, own_rest[found - size :])
            if own_rest == tail:
                return end + len(own_rest)
            if is_last_text and last:
                return len(self.text)
        if tail is None:
            if is_answer:
                raise self.undecided(index, "its end is unknown: the template refuses it as the last message")
            return end
        if tail.strip() and any(tail.strip() == prompt.text.strip() for prompt in self.ir.turn.prompts):
            tail = ""  # a prompt that is written whether it was asked for or not
        shared = _agreed(tail, rest)
        if is_answer and tail and not shared and rest:
            raise self.undecided(index, "its end is unknown: another text follows it if it is the last message")
        return end + shared

    def space_after(self, core: str, text: str) -> int:
        """Return how much of the white space after the answer's end marker the text contains."""
        spaces = [end[end.index(core) + len(core) :] for end in self.ir.turn.ends if end.strip() == core]
        return max((len(common_prefix(space, text)) for space in spaces), default=0)

    def header_of_next(self, index: int, rest: str) -> str:
        """Return the end of the text after an answer that also precedes the next message if no message is before that:
        it opens the message, and ends no answer."""
        following = self.shape.messages[index + 1 : index + 2]
        alone = self.render(following, False) if following else ""
        if isinstance(alone, str) or len(alone) < 2:
            return ""
        shared = common_suffix(alone[0], rest)
        return rest[cut_right(rest, len(rest) - len(shared)) :]

    def closed_before_prompt(self, index: int, rest: str) -> int | None:
        """Return how many of the characters after an answer close it before a generation prompt; None if that isn't
        known."""
        prompted = self.render(self.shape.messages[: index + 1], True)
        own = self.own[index]
        if isinstance(prompted, str) or len(prompted) < 3 or prompted[-2] != self.pieces[own[-1]]:
            return None
        for prompt in sorted({prompt.text for prompt in self.ir.turn.prompts}, key=len, reverse=True):
            closing = prompted[-1].removesuffix(prompt)
            if prompt.strip() and closing.strip() and closing != prompted[-1] and rest.startswith(closing):
                return len(closing)
        return None

    def appended(self, index: int, own: list[int] | None) -> str:
        """Return the text that the template writes after the last answer although no prompt was requested."""
        tail = self.pieces[own[-1] + 1] if own else ""
        opening = self.ir.turn.prompts[0].text if self.ir.turn.prompts else ""
        if opening.strip() and tail.endswith(opening):
            return opening
        before = self.shape.messages[:index]
        closers = [(found, -len(core)) for core in self.ends if (found := tail.find(core)) >= 0]
        if not closers or not before or self.render(before, True) != self.render(before, False):
            return ""
        # Nothing depends on whether a prompt is asked for.
        found, size = min(closers)
        after = tail[found - size :]
        return after if after.strip() else ""

    # Parts

    def generated(self, index: int, start: int, stop: int) -> Iterator[Stretch]:
        parts = self.parts(start, stop)
        if parts and parts[0][0] == "header":
            # The prompt for this position lacks it; a header is no answer all the same.
            yield self.stretch(start, parts[0][2], index, "header")
            parts = parts[1:]
        for part, first, last in _without_headers(parts):
            for call, a, b in (
                self.calls(index, first, last) if part in ("call", "arguments") else [(None, first, last)]
            ):
                yield self.stretch(a, b, index, part, generated=True, call=call)

    def parts(self, start: int, stop: int) -> list[tuple[TurnPart, int, int]]:
        """Return the parts as the format is read, or as the words show them if it can't be read."""
        read = [
            (span.part, start + span.start, start + span.stop)
            for span in spans(self.ir, self.text[start:stop], prompt=self.text[:start])
        ]
        if self.agree(read, start, stop):
            return read
        return list(self.by_words(start, stop))

    def agree(self, read: Sequence[tuple[TurnPart, int, int]], start: int, stop: int) -> bool:
        """Return whether each word is in the part for which it was given.  Content may contain reasoning between its
        markers."""
        for piece, slot in self.slots_between(start, stop):
            at = self.starts[piece]
            part = next((part for part, first, last in read if first <= at < last), None)
            if part != _PARTS[slot.kind] and (slot.kind, part) != ("content", "reasoning"):
                return False
        return True

    def slots_between(self, start: int, stop: int) -> Iterator[tuple[int, WordSlot]]:
        for piece in range(1, len(self.pieces), 2):
            if start <= self.starts[piece] < stop:
                yield piece, self.slots[self.pieces[piece]]

    def by_words(self, start: int, stop: int) -> Iterator[tuple[TurnPart, int, int]]:
        at = start
        previous: WordSlot | None = None
        before: TurnPart | None = None
        for piece, slot in self.slots_between(start, stop):
            part = _PARTS[slot.kind]
            if previous is not None and before == part and _is_one_text(previous, slot):
                yield part, at, self.starts[piece]
            else:
                for gap, first, last in marked(self.ir, self.text[at : self.starts[piece]], before, part):
                    yield gap, at + first, at + last
            yield part, self.starts[piece], self.starts[piece + 1]
            at, before, previous = self.starts[piece + 1], part, slot
        if at < stop:
            for gap, first, last in marked(self.ir, self.text[at:stop], before, None):
                yield gap, at + first, at + last

    def calls(self, index: int, start: int, stop: int) -> Iterator[tuple[int | None, int, int]]:
        """Yield the stretch, cut where another call begins."""
        borders = self.call_borders(index)
        at = start
        for call, border in borders:
            if at < border < stop:
                yield call, at, border
                at = border
        following = [call for call, border in borders if border >= stop]
        given = self.shape.messages[index].get("tool_calls")
        final = len(given) - 1 if isinstance(given, list) else 0
        last = following[0] if following else final if borders or final == 0 else None
        if at < stop:
            yield last, at, stop

    def call_borders(self, index: int) -> list[tuple[int, int]]:
        """Return where each call except the last ends: the text after its last word is the same as after the last
        call's."""
        words = [piece for piece in self.own.get(index, ()) if self.slots[self.pieces[piece]].call is not None]
        if not words:
            return []
        after_last = self.pieces[words[-1] + 1]
        borders = []
        for piece, following in pairwise(words):
            call, other = self.slots[self.pieces[piece]].call, self.slots[self.pieces[following]].call
            if call != other and call is not None:
                borders.append((call, self.starts[piece + 1] + _agreed(self.pieces[piece + 1], after_last)))
        return borders

    def other(self, index: int, start: int, stop: int) -> Iterator[Stretch]:
        own = [piece for piece in self.own.get(index, ()) if start <= self.starts[piece] < stop]
        end = self.starts[own[-1] + 1] if own else start
        if end > start:
            yield self.stretch(start, end, index, "content")
        if stop > end:
            yield self.stretch(end, stop, index, "end" if own else "header")

    def stretch(
        self,
        start: int,
        stop: int,
        message: int | None,
        part: SpanPart,
        *,
        generated: bool = False,
        call: int | None = None,
    ) -> Stretch:
        return Stretch(self.border(start), self.border(stop), message, part, generated, call)

    def border(self, at: int) -> Border:
        piece = min(bisect_right(self.starts, at) - 1, len(self.pieces) - 1)
        # An empty literal has the place of what follows it.
        while piece and self.starts[piece] == at and self.starts[piece - 1] == at:
            piece -= 1
        if piece % 2 and self.starts[piece] != at:
            raise AssertionError("a border inside a word")
        return Border(piece, at - self.starts[piece])

    def undecided(self, index: int, reason: str) -> Undecided:
        return Undecided(self.name, index, reason)


def _without_headers(parts: Sequence[tuple[TurnPart, int, int]]) -> Iterator[tuple[TurnPart, int, int]]:
    """Yield parts without separate headers: a header inside an answer belongs to the part that it opens."""
    following: TurnPart = "end"
    made: list[tuple[TurnPart, int, int]] = []
    for part, first, last in reversed(parts):
        following = following if part == "header" else part
        made.append((following, first, last))
    return reversed(made)


def _is_one_text(one: WordSlot, other: WordSlot) -> bool:
    """Return whether two words are in one text, or in the arguments of one call."""
    if one.kind in ("key", "argument"):
        return (one.message, one.call) == (other.message, other.call)
    return one.source == other.source >= 0


def _agreed(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts, up to a readable place."""
    shared = len(common_prefix(one, other))
    while True:
        cut = min(cut_left(one, shared), cut_left(other, shared))
        if cut == shared:
            return cut
        shared = cut


def _merged(stretches: Sequence[Stretch]) -> Iterator[Stretch]:
    previous: Stretch | None = None
    for one in stretches:
        if previous is None:
            previous = one
        elif (previous.message, previous.part, previous.generated, previous.call) == (
            one.message,
            one.part,
            one.generated,
            one.call,
        ):
            previous = Stretch(
                previous.start, one.stop, previous.message, previous.part, previous.generated, previous.call
            )
        else:
            yield previous
            previous = one
    if previous is not None:
        yield previous
