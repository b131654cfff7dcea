"""Arguments that are pairs of a key and a value.

<k>city</k><v>Paris</v>  →  {"city": "Paris"}
"""

from __future__ import annotations

from .machine import Machine, next_char
from .pattern import Pattern
from .scanner import NO_MARKERS, Match, Scanner
from .values import FollowedReader, escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar


NO_PAIR = "expected an argument or the end of the call"
PAIR_KINDS = ("pair", "end", "skip", "next", "broken")


class Pairs(Machine):
    CALLS: ClassVar[bool] = True
    BETWEEN: ClassVar[Scanner]  # pair, end (consumed), next (not consumed), and others (skipped)
    PAIR: ClassVar[tuple[tuple[str, Scanner, str], ...]]
    USUAL_PAIR: ClassVar[Sequence[Any]] = ()
    PAIR_OPENS: ClassVar[bool] = True  # a pair begins with a marker of its own
    RESUMES: ClassVar[bool] = False  # and that says by itself, after text that is no pair, that one begins
    RESUMING: ClassVar[Scanner] = NO_MARKERS  # what may come after such text
    KEY_SIGNS: ClassVar[Any] = None  # what is written in keys for other signs
    ODD_NAMES: ClassVar[bool] = True
    _count = 0

    def _begin_value(self, key: str, word: str) -> None:
        raise NotImplementedError

    def _begin_arguments(self) -> None:
        self._count = 0
        self._state = type(self)._pairs

    def _lack_of_arguments(self, pos: int) -> str:
        buf, start = self._buf, next_char(self._buf, pos)
        if self.BETWEEN.match(buf, start) is not None:
            return ""
        if start == len(buf):
            return "" if self._final else "more"
        return self._lack_of("an argument", start, self.BETWEEN.prefix_of(buf, start) != "")

    def _pairs(self) -> bool:
        # arguments = (pair | separator)* end
        kind = self._next(self.BETWEEN, self.USUAL_PAIR)
        if kind is None:
            return False
        if kind == "skip":
            self._pos, self._space = self._mark.end, ""
            return True
        if kind == "end":
            self._pos = self._mark.end
        if (
            not kind
            and self._final
            and self.BETWEEN.is_truncated(self._buf, next_char(self._buf, self._pos), PAIR_KINDS)
        ):
            return self._cut_off()
        if kind in ("end", "next"):
            return self._end_pairs(kind)
        if self.PAIR_OPENS and kind != "pair":
            return self._no_pair()
        return self._pair(self._mark.end if self.PAIR_OPENS else self._pos, ", " if self._count else "{")

    def _pair(self, start: int, comma: str) -> bool:
        # pair = PAIR_START key KEY_END (value)
        values, end, expected = self._slots(start, self.PAIR)
        if expected == "more":
            return False
        if self.RESUMES and expected == "end" and self._after_no_pair():
            return self._no_pair()
        if expected == "end":
            return self._cut_off()
        if expected:
            return self._no_pair()
        key = values["key"]
        if self.KEY_SIGNS:
            key = self.KEY_SIGNS.plain(key)
        self._pos = end
        self._count += 1
        self._out.emit("arguments", self._key_of(comma, key))
        self._begin_value(key, values.get("type", ""))
        return True

    def _no_pair(self) -> bool:
        if self.RESUMES:
            return self._skip_text()
        return self._end_pairs("")

    def _skip_text(self) -> bool:
        # What is no pair is content, up to the next pair or the end of the call; where there is none, the call is over.
        start, mark = next_char(self._buf, self._pos), self._after_no_pair()
        if mark is None:
            return self._final and self._end_pairs("")
        self._note(NO_PAIR)
        self._pos, self._space = start, ""
        self._text("content", start + len(self._buf[start : mark.start].rstrip()))
        return True

    def _after_no_pair(self) -> Match | None:
        """The next pair, or the end of the call, behind what is no pair."""
        buf, marks, start = self._buf, self.RESUMING, next_char(self._buf, self._pos) + 1
        mark = marks.find(buf, start)
        decided = mark is not None and (self._final or mark.start < marks.partial_match(buf, start))
        return mark if decided else None

    def _key_of(self, comma: str, key: str) -> str:
        return comma + '"' + escaped(key) + '": '

    def _end_pairs(self, kind: str) -> bool:
        if not kind and self._final and not self._buf[self._pos :].strip():
            return False
        if not kind:
            self._note(NO_PAIR)
        self._out.emit("arguments", "}" if self._count else "{}")
        return self._close_call()

    def _finish(self) -> None:
        super()._finish()
        if self._open:
            self._out.emit("arguments", "}" if self._count else "{}")


class QuotedPairs(Pairs):
    """Pairs whose values are written in a dialect with quotes: city='Paris'."""

    FOLLOW: ClassVar[tuple[Pattern, Pattern]]

    def _begin_value(self, key: str, word: str) -> None:
        self._reader = FollowedReader(self.STYLES, self.BREAKS)
        self._reader.follow = self.FOLLOW
        self._state = type(self)._value

    def _value(self) -> bool:
        reader = self._reader
        if reader is None:
            return False
        self._pos, self._wanted = reader.read(self._buf, self._pos, self._final), reader.wanted
        self._out.emit("arguments", reader.take())
        if not self._value_is_over(reader):
            return False
        self._state = type(self)._pairs
        return True

    def _finish(self) -> None:
        if self._open and self._reader is not None:
            self._out.emit("arguments", self._reader.close())
        super()._finish()
