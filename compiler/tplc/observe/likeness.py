"""Find text that looks like a marker of a format: one of its markers out of place, or a similar text.

own "<~do~>": in "a <~do~> b" the marker itself; in "a <~doo~> b" a text of the same make; in "a <b> b" nothing

The format's own markers define what a marker looks like: the characters that they begin and end with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from tplc.ir.markers import is_distinctive, pieces_of
from tplc.ir.nodes import TemplateIR
from tplc.ir.own_markers import own_markers

_CLOSE = 0.6
_WORDS = r"\s{0,2}\w[^\n<>\[\]{}()|]{0,40}?"
_MOST = 50
_CALL = re.compile(r"\s*(?:[\w.:-]{1,64}\s{0,4})?(?:\{\s{0,16}[\"}]|\[\{)")  # an object, or a name before one
AT_START = re.compile(r"\s*([<\[][^\s<>\[\]/]{1,30}[>\]])")


@dataclass(frozen=True, slots=True)
class Alike:
    """A text that looks like a marker, and where it starts."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True)
class Likeness:
    """Finds text that looks like a marker. `pieces`: the texts of a format that are distinctive as markers."""

    pieces: tuple[str, ...]

    def find(self, text: str) -> list[Alike]:
        """Return texts that look like markers, in the order of the text, none inside another."""
        found: list[Alike] = []
        for alike in sorted(self._all(text), key=lambda each: (each.start, -each.end)):
            if not found or alike.start >= found[-1].end:
                found.append(alike)
            if len(found) == _MOST:
                break
        return found

    def _all(self, text: str) -> Iterator[Alike]:
        for piece in self.pieces:
            yield from (Alike(match.start(), piece) for match in re.finditer(re.escape(piece), text))
        for shape, plain in self._shapes:
            for match in shape.finditer(text):
                if not plain or self._is_like_a_marker(match, text):
                    yield Alike(match.start(), match.group())
        yield from _pair_at_start(text)

    def _is_like_a_marker(self, match: re.Match[str], text: str) -> bool:
        """Decide for characters that prose and code contain as well: is it like a marker, does an object follow, is
        nothing open?"""
        written = match.group()
        opens_object = _CALL.match(text, match.end()) is not None
        closes_nothing = "/" in written and text.find(written.replace("/", "", 1), 0, match.start()) < 0
        return opens_object or closes_nothing or self.closeness(written) >= _CLOSE

    def closeness(self, text: str) -> float:
        """Return the similarity to the most similar marker."""
        return max((SequenceMatcher(None, text, piece).ratio() for piece in self.pieces), default=0.0)

    @cached_property
    def _shapes(self) -> list[tuple[re.Pattern[str], bool]]:
        ends: dict[tuple[str, str], None] = {}
        for piece in self.pieces:
            match = re.fullmatch(r"([^\w\s]+)\w.*?([^\w\s]+)", piece, re.DOTALL)
            if match:
                ends[match.group(1), match.group(2)] = None
        return [
            (re.compile(re.escape(first) + _WORDS + r"\s{0,2}" + re.escape(last)), len(first.replace("/", "")) == 1)
            for first, last in ends
        ]


def likeness_of(ir: TemplateIR) -> Likeness:
    # What is in prompts alone, the end of the message before, is no marker of a turn.
    own = [marker for marker, place in own_markers(ir).items() if place != "turn.anchors"]
    texts = [piece for marker in own for piece in (marker, *pieces_of(marker))]
    pieces = sorted(
        {text for text in texts if is_distinctive(text) and not text[0].isalnum()}, key=lambda t: (-len(t), t)
    )
    return Likeness(tuple(pieces))


def _pair_at_start(text: str) -> Iterator[Alike]:
    """Return the bracketed text with which a text begins if the same with a slash comes later: both ends of a part."""
    match = AT_START.match(text)
    if match is None:
        return
    closing = match.group(1)[0] + "/" + match.group(1)[1:]
    end = text.find(closing, match.end())
    if end >= 0:
        yield Alike(match.start(1), match.group(1))
        yield Alike(end, closing)
