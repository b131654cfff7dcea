"""Arguments that are pairs of a key and a value.

<k>city</k><v>Paris</v>  →  {"city": "Paris"}
"""

from __future__ import annotations

from .machine import Machine
from .markers import Marks
from .values import Reader, Style, escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class Pairs(Machine):
    BETWEEN: ClassVar[Marks]  # pair, end (consumed), next (not consumed), and others (skipped)
    PAIR: ClassVar[tuple[tuple[str, Marks, str], ...]]
    PAIR_OPENS: ClassVar[bool] = True  # a pair begins with a marker of its own
    _count = 0

    def _begin_pairs(self) -> None:
        self._count = 0
        self._state = type(self)._pairs

    def _begin_value(self, key: str, word: str) -> None:
        raise NotImplementedError

    def _pairs(self) -> bool:
        # arguments = (pair | separator)* end
        kind = self._next(self.BETWEEN)
        if kind is None:
            return False
        if kind == "skip":
            self._pos, self._eat = self._mark.end, ""
            return True
        if kind == "end":
            self._pos = self._mark.end
        if not kind and self._final and self.BETWEEN.begun(self._buf, self._pos):
            return self._cut_off()
        if kind in ("end", "next") or (self.PAIR_OPENS and kind != "pair"):
            return self._end_pairs(kind)
        return self._pair(self._mark.end if self.PAIR_OPENS else self._pos, ", " if self._count else "{")

    def _pair(self, start: int, comma: str) -> bool:
        # pair = PAIR_START key KEY_END (value)
        values, end, expected = self._slots(start, self.PAIR)
        if expected in ("more", "end"):
            return expected == "end" and self._cut_off()
        if expected:
            return self._end_pairs("")
        self._pos = end
        self._count += 1
        self._say("arguments", self._key_of(comma, values["key"]))
        self._begin_value(values["key"], values.get("type", ""))
        return True

    def _key_of(self, comma: str, key: str) -> str:
        return comma + '"' + escaped(key) + '": '

    def _end_pairs(self, kind: str) -> bool:
        if not kind and self._final and not self._buf[self._pos :].strip():
            return False
        if not kind:
            self._note("expected an argument or the end of the call")
        self._say("arguments", "}" if self._count else "{}")
        return self._close_call()

    def _finish(self) -> None:
        super()._finish()
        if self._open:
            self._say("arguments", "}" if self._count else "{}")


class QuotedPairs(Pairs):
    """Pairs whose values are written in a dialect with quotes: city='Paris'."""

    STYLES: ClassVar[tuple[Style, Style, Style]]
    FOLLOW: ClassVar[tuple[str, str]]
    _reader: Reader | None = None

    def _begin_value(self, key: str, word: str) -> None:
        self._reader = Reader(self.STYLES, self.FOLLOW, self.BREAKS)
        self._state = type(self)._value

    def _value(self) -> bool:
        reader = self._reader
        if reader is None:
            return False
        self._pos = reader.read(self._buf, self._pos, self._final)
        self._say("arguments", reader.take())
        if reader.want:
            self._in_string(reader)
            return False
        if reader.repair:
            self._note("arguments: " + reader.repair)
        self._reader = None
        self._state = type(self)._pairs
        return True

    def _finish(self) -> None:
        if self._open and self._reader is not None:
            self._say("arguments", self._reader.take() + self._reader.close())
        super()._finish()
