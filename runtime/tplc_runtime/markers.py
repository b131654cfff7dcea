r"""Find markers in text that comes in pieces.

    Marks(("call", ["\n<call>\n"]), ("end", ["<stop>"])).find("a\n<call>\nb", 0)  →  the place of <call>, kind "call"

A marker's core is the marker without its outer white space; only cores are searched for.  White space inside a core
matches any run of white space (none, beside brackets).  `held` says where text begins that could still become a marker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Optional

GAP = 64  # the most white space that is looked for at one place inside a marker


class Mark(NamedTuple):
    kind: str
    start: int
    end: int
    lead: str  # white space of the template before the core, which belongs to the marker
    trail: str


class Marks:
    def __init__(self, *kinds: tuple[str, Sequence[str]], anchored: bool = False) -> None:
        entries: dict[str, tuple[str, str, str]] = {}
        for kind, texts in kinds:
            for text in texts:
                core = text.strip()
                if core and core not in entries:
                    at = text.index(core)
                    entries[core] = (kind, text[:at], text[at + len(core) :])
        cores = sorted(entries, key=len, reverse=True)
        self._entries = [entries[core] for core in cores]
        # A core that ends like a word, with white space after it, is not the beginning of a longer word.
        guarded = [core for core in cores if core[-1].isalnum() and entries[core][2]]
        patterns = ["(" + _pattern(core) + (r"(?!\w)" if core in guarded else "") + ")" for core in cores]
        self._search = re.compile("|".join(patterns) or "(?!)")
        self._first = re.compile("|".join(sorted({re.escape(core[0]) for core in cores})) or "(?!)")
        self._cores = [
            (core + " " * (core in guarded), "".join(core.split()) * (len(core.split()) > 1)) for core in cores
        ]
        self._width = max([len(core) + GAP * (len(core.split()) - 1) for core in cores], default=0) + 1
        spaces = [lead for _, lead, _ in self._entries]
        self._leads = {lead[i:j] for lead in spaces for i in range(len(lead)) for j in range(i + 1, len(lead) + 1)}
        self._lead = max(map(len, spaces), default=0)

    def find(self, buf: str, pos: int) -> Optional[Mark]:
        found = self._search.search(buf, pos)
        return (
            Mark(self._entries[found.lastindex - 1][0], *found.span(), *self._entries[found.lastindex - 1][1:])
            if found and found.lastindex
            else None
        )

    def match(self, buf: str, pos: int) -> Optional[Mark]:
        found = self._search.match(buf, pos)
        return (
            Mark(self._entries[found.lastindex - 1][0], *found.span(), *self._entries[found.lastindex - 1][1:])
            if found and found.lastindex
            else None
        )

    def begins(self, tail: str) -> bool:
        """Could `tail`, the last of the text so far, become a (longer) marker?"""
        bare = "".join(tail.split())
        return any(
            (len(tail) < len(core) and core.startswith(tail)) or (len(bare) < len(flat) and flat.startswith(bare))
            for core, flat in self._cores
        )

    def held(self, buf: str, pos: int) -> int:
        """Where text begins that could still become a marker, or be white space that belongs to one."""
        hold = stop = len(buf)
        for first in self._first.finditer(buf, max(pos, stop - self._width)):
            if self.begins(buf[first.start() :]):
                hold = first.start()
                break
        for n in range(min(self._lead, hold - pos), 0, -1):
            if buf[hold - n : hold] in self._leads:
                return hold - n
        return hold


def _pattern(core: str) -> str:
    pieces = core.split()
    pattern = re.escape(pieces[0])
    for before, after in zip(pieces, pieces[1:]):
        apart = "1" if before[-1].isalnum() and after[0].isalnum() else "0"
        pattern += rf"\s{{{apart},{GAP}}}" + re.escape(after)
    return pattern


def lead_in(text: str, lead: str) -> int:
    """How much of the end of `text` is white space of the marker after it."""
    n = 0
    while n < min(len(text), len(lead)) and text[-1 - n] == lead[-1 - n]:
        n += 1
    return n
