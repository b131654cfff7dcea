"""Read raw values in optional delimiters, so that they can contain anything.

<v><![</v>]]></v>  →  "</v>"
"""

from __future__ import annotations

from .raw import Closer, RawPairs
from .scanner import next_char

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from .raw import End


class WrappedValues(RawPairs):
    WRAP: ClassVar[tuple[str, str]]

    def _begin_raw(self, types: frozenset[str] | None, end: End) -> None:
        super()._begin_raw(types, end)
        self._wrap_state = ""  # open, or none; "": nothing of the value was read

    def _value(self) -> bool:
        # value = WRAP[0] text WRAP[1] VALUE_END | text VALUE_END
        if not self._wrap_state:
            self._skip_space()
            start = next_char(self._buf, self._pos)
            opened = self._buf[start : start + len(self.WRAP[0])]
            if opened != self.WRAP[0] and self.WRAP[0].startswith(opened) and not self._final:
                return False
            self._wrap_state = "none"
            if opened == self.WRAP[0]:
                self._pos = start + len(opened)
                self._wrap_state, self._as, self._end, self._outer = "open", "string", Closer(self.WRAP[1]), self._end
                self._closer = None
        ended = super()._value()
        if ended and self._wrap_state == "open":
            self._state = type(self)._after_wrap
        return ended

    def _after_wrap(self) -> bool:
        # VALUE_END
        start = next_char(self._buf, self._pos)
        if not self._final and (start == len(self._buf) or self._outer.partial_match(self._buf, start) == start):
            return False
        mark = self._outer.find(self._buf, start)
        if mark is not None and mark.start == start:
            self._pos = mark.end
        self._state = type(self)._pairs
        return True
