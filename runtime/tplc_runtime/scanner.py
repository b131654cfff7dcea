r"""Find markers in text that arrives in pieces.

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
    from collections.abc import Callable, Sequence
    from typing import ClassVar

    Marker = tuple[str, str, str, str, int]

WORD_SEPARATORS = Pattern(r"[\s_▁Ġ|｜-]+")
IN_ANY_CASE = {**{upper: upper + 32 for upper in range(65, 91)}, ord("\\"): ord("/")}
ANY_WORD = "\ufdd1"  # in a core: the language that a fence names, or none.  It is no character of any text.
LONGEST_LANGUAGE = 16
LANGUAGE = Pattern(rf"[\w-]{{0,{LONGEST_LANGUAGE}}}")
WORD_SLOT = "\ufdd2"  # in a core: any word, in a place where the template writes one that differs
RESPELLED = "\0"  # before the core of a marker in other case or with other separators
NON_SPACE = Pattern(r"\S|\Z")
PART_OF_LONGER, BEGINS_LONGER, SPELLED_OTHERWISE = 1, 2, 4  # what is known about a marker, added up
LONGEST_WORD = 64
PLAIN_WORD = Pattern(rf"[\w.-]{{0,{LONGEST_WORD}}}")
NOTHING = "(?!)"
# What stands in a scanner's pattern for white space inside of a marker, and, in another spelling, around its words.
SHORTENED = ((" ", r"\s{0,64}"), ("{}", r"[\s|｜]{0,4}"), ("{-}", r"[\s_▁Ġ|｜-]{0,64}"), ("{s}", "(?:s|ing)?"))


class Match:
    """A marker in a text.  `lead` and `trail` are the white space that the template writes around it; `ambiguous`: 0,
    or how it may be part of a longer marker, and whether it is spelled as the template does."""

    # Not a named tuple: that takes as long to define as a fifth of a parser, and its attributes take longer to get.
    __slots__ = ("ambiguous", "end", "kind", "lead", "start", "trail")

    def __init__(
        self, kind: str, start: int, end: int, lead: str = "", trail: str = "", ambiguous: int = PART_OF_LONGER
    ) -> None:
        self.kind, self.start, self.end = kind, start, end
        self.lead, self.trail, self.ambiguous = lead, trail, ambiguous

    def of_kind(self, kind: str) -> Match:
        return Match(kind, self.start, self.end, self.lead, self.trail, self.ambiguous)


class Scanner:
    """The markers that count in one place.  Each has its kind, its core (with a space for optional white space), the
    white space before and after it, and what is known about it (PART_OF_LONGER, …).

    `find` has a group for each marker; `near` matches at their possible beginnings.  `width`: the length of the longest
    truncated marker at the end.  `leads` is their leading white space.  `first`: the first characters of markers that
    occur in no name, and in values only inside a string; `wordless`: none of these is a character of words.
    """

    OTHER_SPELLINGS: ClassVar[bool] = True  # some may be in other case, or have other separators
    WORD_SLOTS: ClassVar[bool] = True  # some have a word that differs from turn to turn
    CALLS: ClassVar[bool] = True  # some are openers of calls, in which a fence may name a language

    def __init__(self, *markers: Marker, find: str, near: str, width: int, leads: str = "", first: str = "") -> None:
        self.markers, self.width, self.leads, self.reach = markers, width, leads, width + len(leads)
        if self.CALLS:
            self.first, self.wordless = first, not any(char.isalnum() or char in "_.+-" for char in first)
        self._cores = tuple([marker[1] for marker in markers])
        for short, pattern in SHORTENED:
            find = find.replace(short, pattern)
        self._find, self._near = Pattern(find), Pattern(near)

    def find(self, buf: str, pos: int, stop: int = sys.maxsize) -> Match | None:
        """Return the leftmost and longest marker from `pos` on."""
        match = self._find.search(buf, pos, stop)
        if match is None:
            return None
        kind, _, lead, trail, ambiguous = self.markers[match.lastindex - 1]
        return Match(kind, match.start(), match.end(), lead, trail, ambiguous)

    def match_at(self, buf: str, pos: int) -> Match | None:
        """Return the longest marker at `pos`."""
        match = self._find.match(buf, pos)
        if match is None:
            return None
        kind, _, lead, trail, ambiguous = self.markers[match.lastindex - 1]
        return Match(kind, pos, match.end(), lead, trail, ambiguous & ~PART_OF_LONGER)

    def prefix_of(self, buf: str, pos: int, kinds: Sequence[str] = ()) -> str:
        """Return a marker (of these kinds, if any) that the text from `pos` to the end could become, or ""."""
        if len(buf) - pos > self.width or self._near.match(buf, pos) is None:
            return ""
        cores = tuple([marker[1] for marker in self.markers if marker[0] in kinds]) if kinds else self._cores
        return truncated_core(cores, buf[pos:])

    def partial_match(self, buf: str, pos: int, until: int = sys.maxsize) -> int:
        """Return where text begins that could still become a marker, or white space of one; no place after `until`."""
        near = self._near.search(buf, max(pos, len(buf) - self.width)) if len(buf) - until <= self.reach else None
        while near is not None:
            start = near.start()
            if self.prefix_of(buf, start):
                return self.with_lead(buf, pos, start)
            near = self._near.search(buf, start + 1)
        return self.with_lead(buf, pos, len(buf))

    def is_decided(self, mark: Match | None, buf: str, pos: int) -> bool:
        """Return whether no further text can change that `mark` is the first marker from `pos` on."""
        return mark is not None and mark.start < self.partial_match(buf, pos, mark.start)

    def safe_prefix_end(self, text: str) -> int:
        """Return the same as `partial_match`; -1 if the text may contain a whole marker."""
        near = self._near.search(text)
        if near is None:
            return self.with_lead(text, 0, len(text)) if text[-1:] in self.leads else len(text)
        return -1 if self._find.search(text, near.start()) else self.partial_match(text, 0)

    def with_lead(self, buf: str, pos: int, start: int) -> int:
        """Return where the white space begins that may belong to a marker at `start`."""
        at = start
        while at > pos and buf[at - 1 : start] in self.leads:
            at -= 1
        return at


NO_MARKERS = Scanner(find=NOTHING, near=NOTHING, width=1)
NO_WORD = Pattern(NOTHING)


class ExpectedText:
    """The usual texts in one place, such as between two calls or pairs, up to a name in the second."""

    def __init__(self, *texts: str) -> None:
        self.texts, self.width = texts, max(map(len, texts)) + LONGEST_WORD

    def continues(self, text: str) -> Callable[[str], object] | None:
        """Return a function that checks whether a longer text may still begin one of them; None if this one doesn't."""
        for usual in self.texts:
            if usual.startswith(text):
                return usual.startswith
            if text.startswith(usual) and PLAIN_WORD.fullmatch(text, len(usual)):
                return self.continues
        return None


def squeezed(text: str) -> str:
    """Return a text in lower case, without white space, bars, `_`, `-` and similar separators, with `/` for `\\`."""
    return str(WORD_SEPARATORS.sub("", text)).translate(IN_ANY_CASE)


@lru_cache(maxsize=1024)
def truncated_core(cores: tuple[str, ...], text: str) -> str:
    """Return the first of these markers of which the text is the beginning; "" if there is none."""
    return next((core for core in cores if text[:1] in core[:2] and is_truncated(core, text)), "")  # most differ here


def is_truncated(core: str, text: str) -> bool:
    """Return whether the text is the beginning of a marker, but not all of it.  A space in `core` is any white space or
    none; at its end, the marker is a word whose end only the next character shows."""
    if Scanner.OTHER_SPELLINGS and core[0] == RESPELLED:
        # Words may be in the singular or the plural, or end in "ing", and nothing may separate them.
        start, marker = (squeezed(one).replace("ing", "").replace("s", "") for one in (text, core[1:]))
        start = start if marker.startswith(start) else start.removesuffix("i").removesuffix("in")
        stem, any_word, _ = marker.partition(ANY_WORD)
        if any_word and start.startswith(stem):  # the language that a fence names
            start = stem + ANY_WORD + LANGUAGE.sub("", start[len(stem) :], count=1)
        return text[:1] == core[1] and len(start) < len(marker) and marker.startswith(start)
    at = end = 0
    for part in core.split(" "):
        piece = part.rstrip(ANY_WORD) if Scanner.CALLS else part
        if not piece:
            return end == len(text)
        if Scanner.WORD_SLOTS and WORD_SLOT in piece:
            piece = with_word(piece, text, at)
        if not text.startswith(piece, at):
            return piece.startswith(text[at:])
        end = at + len(piece)
        if Scanner.CALLS and piece != part:
            end = LANGUAGE.match(text, end).end()
        at = len(text) - len(text[end:].lstrip())
    return False


def with_word(marker: str, text: str, pos: int) -> str:
    """Return a marker with the word that the text has in the place of its slot; `pos`: where the marker begins."""
    before, _, after = marker.partition(WORD_SLOT)
    return before + str(PLAIN_WORD.match(text, pos + len(before)).group()) + after


def trailing_overlap(text: str, lead: str) -> int:
    """Return how many characters at the end of `text` are white space of the marker after it."""
    size = len(lead)
    return size if text.endswith(lead) else next((n for n in range(size, 0, -1) if text.endswith(lead[-n:])), 0)


def next_char(buf: str, pos: int) -> int:
    """Return the position of the next character that is not white space."""
    return int(NON_SPACE.search(buf, pos).start())
