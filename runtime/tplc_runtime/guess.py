"""Raw values that end with punctuation, which values hold as well: it counts only before what may follow.

f(city=Paris, France, unit=C)  →  {"city": "Paris, France", "unit": "C"}
"""

from __future__ import annotations

import re

from .markers import Mark
from .raw import RawPairs
from .schema import keys_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import ClassVar

    from .raw import End


class Guess:
    """A value ends where `end` matches; `start` matches what may turn out to be such an end.

    The group "key" of `end` is the next argument's: one of `keys`, where these are known.
    """

    def __init__(self, end: str, start: str) -> None:
        self.end, self.start = re.compile(end), re.compile(start)
        self.keys: Collection[str] | None = None

    def before(self, keys: Collection[str] | None) -> Guess:
        twin = object.__new__(Guess)
        twin.end, twin.start, twin.keys = self.end, self.start, keys
        return twin

    def find(self, buf: str, pos: int) -> Mark | None:
        for match in self.end.finditer(buf, pos):
            if self.keys is None or match["key"] is None or match["key"] in self.keys:
                return Mark("end", match.start(), match.start(), "", "")
        return None

    def plain(self, text: str) -> int:
        return -1 if self.start.search(text) or self.end.search(text) else len(text)

    def held(self, buf: str, pos: int) -> int:
        match = self.start.search(buf, max(pos, len(buf) - 180))
        return match.start() if match else len(buf)


class GuessedPairs(RawPairs):
    VALUE_END: ClassVar[Guess]

    def _begin_raw(self, types: frozenset[str] | None, end: End) -> None:
        super()._begin_raw(types, self.VALUE_END.before(keys_of(self._schema(), self._schema())))
