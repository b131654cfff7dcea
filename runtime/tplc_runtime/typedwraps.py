"""Read raw values between texts that depend on their type.

<p=k><str>a</str></p><p=n><lit>1</lit></p>  →  {"k": "a", "n": 1}
"""

from __future__ import annotations

from .raw import KeyCloser, RawPairs
from .scanner import next_char
from .schema import typed_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from .raw import End


class TypedWraps(RawPairs):
    # The text before a value, the types that it stands for, and what ends the value: markers, or the texts before and
    # after the key if the marker repeats it.  With the text "": the types of values that are bare.
    # If they open pairs, the end is there again with the openers of the next pair.
    WRAPS: ClassVar[Sequence[tuple[Any, ...]]]
    TYPES_OPEN_PAIRS: ClassVar[bool] = False  # the texts open pairs, so they are before the key
    _key = ""
    _pair_opener = ""  # the marker that opened the pair, without white space
    _wrap_state = ""  # "": nothing of the value was read

    def _begin_value(self, key: str, word: str) -> None:
        self._key = key
        if self.TYPES_OPEN_PAIRS:
            self._pair_opener = "".join(self._buf[self._mark.start : self._mark.end].split())
        super()._begin_value(key, word)

    def _begin_raw(self, types: frozenset[str] | None, end: End) -> None:
        super()._begin_raw(types, end)
        self._wrap_state = ""

    def _value(self) -> bool:
        # value = WRAP text WRAP_END | text VALUE_END
        if not self._wrap_state:
            start = next_char(self._buf, self._pos)
            found = self._wrap_of_pair() if self.TYPES_OPEN_PAIRS else self._wrap_at(start)
            if found is None:
                return False
            self._wrap_state = "none"
            self._open_wrap(start, *found)
        return super()._value()

    def _wrap_at(self, start: int) -> tuple[Any, ...] | None:
        """Return the wrapper that begins here, or what stands for none; None if more input is needed."""
        buf, last = self._buf, ("", (), None)
        for wrap in self.WRAPS:
            opened: str = wrap[0]
            if buf.startswith(opened, start):
                return wrap
            if not self._final and opened.startswith(buf[start : start + len(opened)]):
                return None
        return last

    def _wrap_of_pair(self) -> tuple[Any, ...]:
        opener = self._pair_opener
        return next((wrap for wrap in self.WRAPS if "".join(wrap[0].split()) == opener), ("", (), None))

    def _open_wrap(self, start: int, opened: str, types: Sequence[str], ends: Any, or_pair: Any = None) -> None:
        if types:
            self._types = typed_as(self._types, frozenset(types))
            self._by_schema = self._by_schema if "boolean" in self._types else None
            self._as = "all" if self._all else "string" if self._types == frozenset(["string"]) else ""
        if not opened:
            return
        if not self.TYPES_OPEN_PAIRS:
            self._pos, self._space = start + len(opened), ""
        self._wrap_state = opened
        end: End = KeyCloser(self._key.join(ends)) if isinstance(ends, tuple) else ends
        self._closer = end if self.LAST_CLOSER else None
        self._end = self._or_call_end(end if or_pair is None else self._end_of_value(end, or_pair), self._key)
