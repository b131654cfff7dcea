r"""What a parser reads: every marker with its variants and where it counts, what ends a slot, what may follow a value.

    Acceptor(ends=("<end>",), reasoning_starts=(Marker("<why>"),), calls=CallForm(…), …)

`lower` makes it once from the IR, and every backend prints it: no backend works out again what is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tplc.ir.markers import (
    ends_in_text,
    is_distinctive,
    is_word_at_line,
    opening_tag,
    pieces_of,
)
from tplc.lower.call_form import CallForm, Where
from tplc.lower.layouts import unique
from tplc.lower.openers import distinctive_suffixes


@dataclass(frozen=True, slots=True)
class Marker:
    text: str
    where: Where = "anywhere"


@dataclass(frozen=True, slots=True)
class TextEscapes:
    """The texts that stand for characters in content or reasoning, each with its character."""

    kind: str  # the member of a message
    replaced: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Acceptor:
    """`reasoning_ends` without `reasoning_starts`: reasoning is what is before its end, and nothing opens it.

    `heads` are what prompts may hold of the turn, the default first; one that is an end is none of it.
    `in_messages`: the template writes a turn as several messages, each with its end, so that a further one continues.
    """

    anchors: tuple[str, ...]
    heads: tuple[str, ...]
    headers: tuple[str, ...]
    ends: tuple[str, ...]
    last_ends: tuple[str, ...]  # those that stand in text too, so they count only where nothing but white space follows
    reasoning_starts: tuple[Marker, ...]
    reasoning_ends: tuple[str, ...]
    content_spaces: tuple[str, ...]  # white space that the template writes before the content, by the shape of the turn
    content_starts: tuple[Marker, ...]
    content_ends: tuple[str, ...]
    ignorable_closers: tuple[Marker, ...]  # closers of reasoning that are dropped though none is open
    calls: CallForm | None
    in_messages: bool
    tolerances: frozenset[str]  # the general ones that are in force
    prose_headers: tuple[str, ...] = ()  # headers that people write as well: no further turn begins with them
    escapes: tuple[TextEscapes, ...] = ()
    after_reasoning: str = ""  # the white space that the template writes between open reasoning and the end of the turn

    @property
    def further(self) -> tuple[str, ...]:
        """Return what opens a further message of a turn after an end, if there are calls: any header, or one with a
        call."""
        calls = self.calls
        if calls is None or calls.opening.where != "anywhere":
            return ()
        if self.in_messages:
            return self.headers
        return tuple(
            f"{header.rstrip()} {opener.lstrip()}" for header in self.headers for opener in calls.opening.openers
        )

    @property
    def repeated_reasoning(self) -> tuple[str, ...]:
        """Return what is dropped where reasoning has just been opened: its opener (the template's, or else the tag that
        its closing tag implies), and if prompts open it, a header, or both, also without the header's first pieces."""
        known = "repeated_markers" in self.tolerances and self.reasoning_ends
        starts = [start.text for start in self.reasoning_starts] or map(opening_tag, self.reasoning_ends)
        openers = [start for start in starts if known and is_distinctive(start)]
        opened = [start for start in openers if any(start.strip() in head for head in self.heads)]
        ends = [rest for header in self.headers for rest in (header, *distinctive_suffixes(header))]
        both = [end + start for start in opened for end in ends]
        # A header with whose end markers begin may be followed by the rest of another marker.
        begins = tuple(piece for marker in markers_of(self) for piece in pieces_of(marker))
        alone = [text for text in self.headers if not any(piece.startswith(pieces_of(text)[-1]) for piece in begins)]
        return unique([*openers, *both, *(alone if opened else ())])

    @property
    def closer_opens_content(self) -> bool:
        """Return whether the closer of reasoning is what opens content, too: no words open reasoning after it."""
        starts = tuple(start.text.strip() for start in self.content_starts)
        is_both = bool(starts and self.reasoning_ends) and all(
            text.strip().endswith(starts) for text in self.reasoning_ends
        )
        return is_both and any(start.where == "before content" for start in self.reasoning_starts)

    @property
    def left_over(self) -> tuple[str, ...]:
        """Return the openers that models write in the place of a call's closer: dropped."""
        known = "repeated_markers" in self.tolerances
        return self.calls.opening.left_over if self.calls is not None and known else ()

    @property
    def name_opens_message(self) -> bool:
        """Return whether the text that ends a call's name may open a message as well; it doesn't after a call that is
        kept."""
        ends = [text.strip() for slot in self.calls.header for text in slot.suffixes] if self.calls else []
        opens = [one.text.strip() for one in (*self.reasoning_starts, *self.content_starts)]
        return not set(ends).isdisjoint(opens)

    @property
    def reasoning_ends_at_lines(self) -> tuple[str, ...]:
        return tuple(text for text in self.reasoning_ends if is_word_at_line(text))

    @property
    def weak_content_ends(self) -> tuple[str, ...]:
        """Return the ends of content that people also write: they count only before text that may follow content."""
        return tuple(text for text in self.content_ends if ends_in_text(text))

    @property
    def escape_of_ends(self) -> str:
        """Return how content has the first character of its own end: a character, then that one; "" if as it is.

        `\\"` if content is a JSON string: nothing that begins with the `"` of it is a marker."""
        replaced = {text: char for each in self.escapes if each.kind == "content" for text, char in each.replaced}
        pairs = [text for text in replaced for end in self.content_ends if len(text) == 2 and text[1] == end[0]]
        return next((text for text in pairs if replaced.get(text[0] * 2) == text[0]), "")

    @property
    def distinctive_content_ends(self) -> tuple[str, ...]:
        return tuple(text for text in self.content_ends if not ends_in_text(text))


def markers_of(acceptor: Acceptor) -> Iterator[str]:
    """Yield the markers around reasoning, content, calls and their arguments."""
    calls = acceptor.calls
    yield from (start.text for start in (*acceptor.reasoning_starts, *acceptor.content_starts))
    yield from (*acceptor.reasoning_ends, *acceptor.content_ends)
    if calls is not None:
        yield from (*calls.opening.section_starts, *calls.opening.starts, *calls.closing.closers)
        yield from calls.pairs.opens if calls.pairs is not None else ()
        yield from calls.pairs.value_end.closers if calls.pairs is not None else ()
