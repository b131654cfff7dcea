"""Arguments that are pairs of a key and a value.

    <k>city</k><v>Paris</v>  →  {"city": "Paris"}

A raw value becomes JSON by the tool's schema; without one, text that reads as a number, a boolean, null, a list or an
object of the dialect is that value, and anything else is a string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Optional, Union

from .machine import NON_SPACE, Machine, Slot
from .markers import Mark, Marks, lead_in
from .schema import Types, member_of, types_of
from .values import Reader, Style, escaped, literal_type, number

SCALAR = re.compile(r"\s*[-+.\w]*\s*")


class Closer:
    """The text after a value, where it holds the key again."""

    def __init__(self, text: str) -> None:
        self.core = text.strip()
        self.lead = text[: len(text) - len(text.lstrip())]
        self.trail = text[len(text.rstrip()) :]

    def find(self, buf: str, pos: int) -> Optional[Mark]:
        start = buf.find(self.core, pos)
        return Mark("end", start, start + len(self.core), self.lead, self.trail) if start >= 0 else None

    def held(self, buf: str, pos: int) -> int:
        hold = stop = len(buf)
        at = buf.find(self.core[0], max(pos, stop - len(self.core) + 1))
        while at >= 0:
            if self.core.startswith(buf[at:]):
                hold = at
                break
            at = buf.find(self.core[0], at + 1)
        return hold - lead_in_any(buf[pos:hold], self.lead)


class Guess:
    """A value's end where its marker is punctuation that values hold as well: it counts only before what may follow."""

    def __init__(self, end: str, start: str) -> None:
        self._end = re.compile(end)
        self._start = re.compile(start)

    def find(self, buf: str, pos: int) -> Optional[Mark]:
        found = self._end.search(buf, pos)
        return Mark("end", found.start(), found.start(), "", "") if found else None

    def held(self, buf: str, pos: int) -> int:
        found = self._start.search(buf, max(pos, len(buf) - 160))
        return found.start() if found else len(buf)


def lead_in_any(text: str, lead: str) -> int:
    """How much of the end of `text` could be white space of a marker that begins with `lead`."""
    return next((n for n in range(min(len(lead), len(text)), 0, -1) if text[-n:] in lead), 0)


class Pairs(Machine):
    STYLES: ClassVar[tuple[Style, Style, Style]]
    BETWEEN: ClassVar[Marks]
    PAIR: ClassVar[tuple[Slot, ...]]
    PAIR_OPENS: ClassVar[bool] = True  # a pair begins with a marker of its own
    VALUE_END: ClassVar[Union[Marks, Guess]] = Marks()
    VALUE_CLOSE: ClassVar[tuple[str, ...]] = ()  # around the key, where the closing marker repeats it
    QUOTED: ClassVar[bool] = False
    FOLLOW: ClassVar[str] = ""
    TYPES: ClassVar[Mapping[str, Sequence[str]]] = {}
    WRAP: ClassVar[tuple[str, str]] = ("", "")
    _count = 0
    _value_open = False
    _reader: Optional[Reader] = None
    _held: list[str]

    def _begin_pairs(self) -> None:
        self._count = 0
        self._reader = None
        self._value_open = False
        self._state = type(self)._pairs

    def _pairs(self) -> bool:
        kind = self._at(self.BETWEEN)
        if kind is None:
            return False
        if kind in ("separator", "start", "value_end"):
            self._pos = self._mark.end
            self._eat = ""
            return True
        if kind == "end":
            self._pos = self._mark.end
            return self._end_pairs()
        if kind == "next" or (self.PAIR_OPENS and kind != "pair"):
            return self._end_pairs(kind != "next")
        start = self._mark.end if self.PAIR_OPENS else self._pos
        values, end, expected = self._slots(start, self.PAIR)
        if expected == "more":
            return False
        if expected:
            return self._end_pairs(True)
        self._pos = end
        self._say("arguments", (", " if self._count else "{") + '"' + escaped(values["key"]) + '": ')
        self._count += 1
        self._begin_value(values["key"], values.get("type"))
        return True

    def _end_pairs(self, unexpected: bool = False) -> bool:
        if unexpected and self._pos < len(self._buf) and not self._buf[self._pos :].isspace():
            self._note("expected an argument or the end of the call")
        if unexpected and self._final and not self._buf[self._pos :].strip():
            return False
        self._say("arguments", "}" if self._count else "{}")
        self._close_call()
        return True

    # Values

    def _root(self) -> object:
        return self._tools.get(self._calls[-1]["function"]["name"])

    def _begin_value(self, key: str, word: Optional[str]) -> None:
        root = self._root()
        types = types_of(member_of(root, root, key), root)
        if word is not None and word in self.TYPES:
            stated = frozenset(self.TYPES[word])
            types = types & stated or stated if types else stated
        self._types: Types = types
        self._end: Union[Marks, Guess, Closer] = (
            Closer(self.VALUE_CLOSE[0] + key + self.VALUE_CLOSE[1]) if self.VALUE_CLOSE else self.VALUE_END
        )
        self._value_open = True
        self._as = "string" if types == frozenset(["string"]) else ""
        self._held = []
        self._wrapped = False
        self._unread = ""
        self._opened = False
        if self.QUOTED:
            self._reader = Reader(self.STYLES, follow=self.FOLLOW)
            self._state = type(self)._quoted
        else:
            self._state = type(self)._raw

    def _quoted(self) -> bool:
        reader = self._reader
        assert reader is not None
        self._pos = reader.read(self._buf, self._pos, self._final)
        self._say("arguments", reader.take())
        if not reader.done:
            return False
        if reader.failed and not reader.type:
            self._say("arguments", "null")
        for repair in reader.repairs:
            self._note("arguments: " + repair)
        self._reader = None
        self._value_open = False
        self._state = type(self)._pairs
        return True

    def _raw(self) -> bool:
        self._eat_space()
        buf, pos = self._buf, self._pos
        if self.WRAP[0] and not self._held and not self._opened and not self._wrapped:
            found = NON_SPACE.search(buf, pos)
            at = found.start() if found else len(buf)
            if (
                not self._final
                and self.WRAP[0].startswith(buf[at : at + len(self.WRAP[0])])
                and len(buf) - at < len(self.WRAP[0])
            ):
                return False
            if buf.startswith(self.WRAP[0], at):
                self._pos = pos = at + len(self.WRAP[0])
                self._wrapped = True
                self._as = "string"
                self._end = Closer(self.WRAP[1])
        found_end = self._end.find(buf, pos)
        hold = len(buf) if self._final else self._end.held(buf, pos)
        if found_end is None or hold <= found_end.start:
            if self._final and isinstance(self._end, Guess):
                hold = len(buf)
            self._piece(buf[pos:hold])
            self._pos = hold
            return False
        text = buf[pos : found_end.start]
        if not self._wrapped:
            text = text[: len(text) - lead_in(text, found_end.lead)]
        self._piece(text)
        self._end_value()
        self._pos = found_end.end
        self._eat = ""
        self._state = type(self)._pairs
        return True

    def _piece(self, text: str) -> None:
        """More of a raw value."""
        if self._as == "string":
            self._string(text)
            return
        self._held.append(text)
        if not self._as:
            if not text.strip() and not "".join(self._held).strip():
                return
            self._as = self._guess("".join(self._held).lstrip())
            if self._as == "trial":
                self._reader = Reader(self.STYLES, strict=True)
                text = "".join(self._held)
        if self._as == "scalar" and not SCALAR.fullmatch(text):
            self._as = "string"
        if self._as == "trial" and self._reader is not None:
            self._unread = self._unread + text if self._held[1:] else text
            at = self._reader.read(self._unread, 0, False)
            self._unread = self._unread[at:]
            if self._reader.failed or (self._reader.done and self._unread.strip()):
                self._as = "string"
        if self._as == "string":
            held, self._held = "".join(self._held), []
            self._string(held)

    def _guess(self, text: str) -> str:
        """How a value that begins with `text` is read."""
        types, first = self._types, text[0]
        if first in "[{" and (types is None or ("array" if first == "[" else "object") in types):
            return "trial"
        if types == frozenset(["string"]) or not SCALAR.fullmatch(text):
            return "string"
        if first in "+-.0123456789" and (types is None or types & {"number", "integer"}):
            return "scalar"
        words = [word for word in self.STYLES[0].words if word.startswith(text[: len(word)]) or text.startswith(word)]
        odd = text[:3].lower() in ("nan", "inf", "na", "n", "i", "in")
        return "scalar" if words or odd else "string"

    def _string(self, text: str) -> None:
        self._say("arguments", escaped(text) if self._opened else '"' + escaped(text))
        self._opened = True

    def _end_value(self) -> None:
        self._value_open = False
        held = "".join(self._held)
        literal: Optional[str] = None
        if self._as == "scalar":
            text = held.strip()
            literal = self.STYLES[0].words.get(text) or number(text)
            kind = literal_type(literal) if literal else ""
            fits = self._types is None or kind in self._types or (kind == "number" and "integer" in self._types)
            # Without a schema nothing says that 007 or 1_000 is a number: only what JSON itself calls one is.
            guessed = self._types is None and kind == "number" and literal != text
            if kind == "string" or not fits or guessed:
                literal = None
        elif self._as == "trial" and self._reader is not None:
            self._reader.read(self._unread, 0, True)
            if self._reader.done and not self._reader.failed:
                literal = self._reader.take()
        self._reader = None
        self._held = []
        if literal is not None:
            self._say("arguments", literal)
            return
        if self._as != "string" or not self._opened:
            self._string(held)
        self._say("arguments", '"')

    def _finish(self) -> None:
        super()._finish()
        if not self._open:
            return
        if self._value_open and self._reader is not None and self.QUOTED:
            self._say("arguments", self._reader.take() + (self._reader.close() if self._reader.type else "null"))
        elif self._value_open:
            if not self.incomplete or self._held or self._opened:
                self._end_value()
            else:
                self._say("arguments", "null")
        self._say("arguments", "}" if self._count else "{}")
