r"""Find markers in text that comes in pieces.

    Scanner(("call", "<call>", "\n", "\n", 0), find="<(?:(call>))", …).find("a\n<call>\nb", 0)  →  a match

The compiler computes the patterns (`tplc.lower.lexemes`).  A marker's core is the marker without its outer white space;
only cores are searched for.
"""

from __future__ import annotations

import sys
from functools import lru_cache

from .pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Marker = tuple[str, str, str, str, int]

JOINTS = Pattern(r"[\s_▁-]+")
IN_ANY_CASE = {**{upper: upper + 32 for upper in range(65, 91)}, ord("｜"): ord("|")}
RESPELLED = "\0"  # before the core of a marker that is in other case, or has other separators
PLAIN_WORD = Pattern(r"[\w.-]{0,64}")
NOTHING = "(?!)"


class Match:
    """A marker in a text.  `lead` and `trail` are the white space that the template writes around it; `ambiguous`: it
    may be part of a longer one."""

    __slots__ = ("ambiguous", "end", "kind", "lead", "start", "trail")

    def __init__(
        self, kind: str, start: int, end: int, lead: str = "", trail: str = "", ambiguous: bool = True
    ) -> None:
        self.kind, self.start, self.end = kind, start, end
        self.lead, self.trail, self.ambiguous = lead, trail, ambiguous

    def of_kind(self, kind: str) -> Match:
        return Match(kind, self.start, self.end, self.lead, self.trail, self.ambiguous)


class Scanner:
    """The markers that count in one place: for each its kind, its core with a space where white space may be, the white
    space before and after it, and whether it may be part of a longer one (1) or its beginning (2).

    `find` has a group for each of them; `near` matches where one may begin.  `width`: so far from the end a truncated
    marker may begin.  `leads` holds their leading white space.  `word`, of a slot: a plain word up to the text's end or
    to a marker that no other begins with; `trails` is the white space after each, None for what is not of the slot.
    `first`: what markers begin with; `wordless`: none begins with a character of words.
    """

    def __init__(
        self,
        *markers: Marker,
        find: str = NOTHING,
        near: str = NOTHING,
        width: int = 1,
        leads: str = "",
        word: str = NOTHING,
        trails: Sequence[str | None] = (),
        first: str = "",
        wordless: bool = True,
    ) -> None:
        self.markers, self.width, self.leads = markers, width, leads
        self.cores: tuple[str, ...] = ()  # the same, made when the first is asked for
        self._find, self._near = Pattern(find), Pattern(near)
        self.word, self.trails = Pattern(word), trails
        self.first, self.wordless = first, wordless

    def find(self, buf: str, pos: int, stop: int = sys.maxsize) -> Match | None:
        """The leftmost and longest marker from `pos` on."""
        match = self._find.search(buf, pos, stop)
        if match is None:
            return None
        kind, _, lead, trail, ambiguous = self.markers[match.lastindex - 1]
        return Match(kind, match.start(), match.end(), lead, trail, ambiguous > 0)

    def match(self, buf: str, pos: int) -> Match | None:
        """The longest marker at `pos`."""
        match = self._find.match(buf, pos)
        if match is None:
            return None
        kind, _, lead, trail, ambiguous = self.markers[match.lastindex - 1]
        return Match(kind, pos, match.end(), lead, trail, ambiguous > 1)

    def prefix_of(self, buf: str, pos: int) -> str:
        """A marker that the text from `pos` to the end could become; "" if there is none."""
        if len(buf) - pos > self.width or self._near.match(buf, pos) is None:
            return ""
        if self.cores == ():
            self.cores = tuple([marker[1] for marker in self.markers])
        return truncated_core(self.cores, buf[pos:])

    def is_truncated(self, buf: str, pos: int, kinds: Sequence[str], least: int = 1) -> bool:
        """Whether a marker of these kinds is truncated at the output's end: at least so many characters are there."""
        tail = buf[pos:] if len(buf) - pos <= self.width else ""
        enough = len("".join(tail.split())) >= least
        return enough and any(is_truncated(core, tail) for kind, core, _, _, _ in self.markers if kind in kinds)

    def partial_match(self, buf: str, pos: int) -> int:
        """Where text begins that could still become a marker, or be white space that belongs to one."""
        near = self._near.search(buf, max(pos, len(buf) - self.width))
        while near is not None:
            start = near.start()
            if self.prefix_of(buf, start):
                return self.with_lead(buf, pos, start)
            near = self._near.search(buf, start + 1)
        return self.with_lead(buf, pos, len(buf))

    def safe_prefix_end(self, text: str) -> int:
        """As `partial_match`; -1 if there may be a whole marker, which takes a closer look."""
        near = self._near.search(text)
        while near is not None:
            start = near.start()
            if self.prefix_of(text, start):
                return self.with_lead(text, 0, start)
            if self._find.match(text, start):
                return -1
            near = self._near.search(text, start + 1)
        return self.with_lead(text, 0, len(text)) if text[-1:] in self.leads else len(text)

    def with_lead(self, buf: str, pos: int, start: int) -> int:
        """Where the white space begins that may belong to a marker at `start`."""
        leads = self.leads
        if start == pos or buf[start - 1] not in leads:
            return start
        size = len(leads)
        if size == 1:
            return start - 1
        at = max(pos, start - size)
        while buf[at:start] not in leads:
            at += 1
        return at


NO_MARKERS = Scanner()


class ExpectedText:
    """The usual text between two calls or pairs, up to a name in the second."""

    def __init__(self, text: str) -> None:
        self.text = text

    def is_incomplete(self, buf: str, start: int) -> bool:
        """Whether there is no more from `start` on than a part of it, or all of it and a plain word."""
        text, size = buf[start:], len(self.text)
        return self.text.startswith(text) or (text[:size] == self.text and bool(PLAIN_WORD.fullmatch(text, size)))


def squeezed(text: str) -> str:
    """A text without white space, `_`, `-` and their like, in lower case, with `|` for `｜`."""
    return str(JOINTS.sub("", text)).translate(IN_ANY_CASE)


@lru_cache(maxsize=1024)
def truncated_core(cores: tuple[str, ...], text: str) -> str:
    """The first of these markers that the text is the beginning of; "" if there is none."""
    for core in cores:
        if is_truncated(core, text):
            return core
    return ""


def is_truncated(core: str, text: str) -> bool:
    """Whether the text is the beginning of a marker, but not all of it.  A space in `core` is any white space or none;
    at its end the marker is a word, of which the next character shows whether it goes on."""
    if core[0] == RESPELLED:
        start = squeezed(text)
        return text[:1] == core[1] and len(start) < len(core) - 1 and core.startswith(start, 1)
    at = end = 0
    for piece in core.split(" "):
        if not piece:
            return end == len(text)
        if not text.startswith(piece, at):
            return piece.startswith(text[at:])
        end = at + len(piece)
        at = len(text) - len(text[end:].lstrip())
    return False


def trailing_overlap(text: str, lead: str) -> int:
    """How many characters at the end of `text` are white space of the marker after it."""
    if text.endswith(lead):
        return len(lead)
    return next((n for n in range(min(len(text), len(lead)), 0, -1) if text.endswith(lead[-n:])), 0)
