"""Nested values written as elements: an object is its pairs, a list is its items.

<tags><item>a</item><item>b</item></tags>  →  "tags": ["a", "b"]
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Optional

from .machine import NON_SPACE
from .markers import Marks
from .pairs import Closer, Pairs
from .schema import item_of, member_of, types_of
from .values import escaped

# What an element without anything in it is, by the first of these types that the schema allows.
EMPTY = (("string", '""'), ("null", "null"), ("array", "[]"), ("object", "{}"))


class Frame(NamedTuple):
    """A list or an object that is open."""

    opened: str
    end: Closer
    schema: object


class Elements(Pairs):
    ITEM: ClassVar[tuple[str, str]]
    ELEMENT: ClassVar[Marks]  # what opens a list item ("item") or a pair ("pair")
    _frames: list[Frame]
    _first: bool = True

    def _begin_pairs(self) -> None:
        super()._begin_pairs()
        self._frames = []

    def _begin_value(self, key: str, word: Optional[str]) -> None:
        super()._begin_value(key, word)
        parent = self._frames[-1].schema if self._frames else self._root()
        self._begin_element(
            member_of(parent, self._root(), key), Closer(self.VALUE_CLOSE[0] + key + self.VALUE_CLOSE[1])
        )

    def _begin_element(self, schema: object, end: Closer) -> None:
        self._types = types_of(schema, self._root())
        self._schema = schema
        self._end = end
        self._as = "string" if self._types == frozenset(["string"]) else ""
        self._held = []
        self._unread = ""
        self._opened = False
        self._value_open = True
        self._state = type(self)._element

    def _guess(self, text: str) -> str:
        # Lists and objects are elements here: brackets are text, unless a schema asks for what they would be.
        return "string" if self._types is None and text[0] in "[{" else super()._guess(text)

    def _closes(self, end: Closer) -> Optional[bool]:
        """Does `end` come next, white space apart?  None: more input is needed."""
        found = NON_SPACE.search(self._buf, self._pos)
        start = found.start() if found else len(self._buf)
        rest = self._buf[start : start + len(end.core)]
        if rest != end.core and end.core.startswith(rest) and not self._final:
            return None
        if rest == end.core:
            self._pos = start + len(end.core)
            return True
        return False

    def _element(self) -> bool:
        assert isinstance(self._end, Closer)
        types = self._types
        if self._as != "string":
            closes = self._closes(self._end)
            kind = None if closes is None else "" if closes else self._at(self.ELEMENT)
            if kind is None:
                return False
            if closes:
                self._value_open = False
                self._say("arguments", next((v for k, v in EMPTY if types is None or k in types), '""'))
                self._state = type(self)._pairs
                return True
            for opener, opened, wanted in (("item", "[", "array"), ("pair", "{", "object")):
                if kind == opener and (types is None or wanted in types):
                    self._say("arguments", opened)
                    self._frames.append(Frame(opened, self._end, self._schema))
                    self._first = True
                    self._value_open = False
                    self._state = type(self)._pairs
                    return True
        self._state = type(self)._raw
        return True

    def _pairs(self) -> bool:
        if not self._frames:
            return super()._pairs()
        frame = self._frames[-1]
        closes = self._closes(frame.end)
        if closes is None:
            return False
        if closes:
            self._frames.pop()
            self._first = False
            self._say("arguments", "]" if frame.opened == "[" else "}")
            return True
        kind = self._at(self.ELEMENT)
        if kind is None:
            return False
        comma = "" if self._first else ", "
        if kind == "item" and frame.opened == "[":
            self._say("arguments", comma)
            self._first = False
            self._pos = self._mark.end
            self._begin_element(item_of(frame.schema, self._root()), Closer(self.ITEM[1]))
            return True
        if kind and frame.opened == "{":
            start = self._mark.start + self._pair_open
            values, end, expected = self._slots(start, self.PAIR)
            if expected == "more":
                return False
            if not expected:
                self._say("arguments", comma + '"' + escaped(values["key"]) + '": ')
                self._first = False
                self._pos = end
                self._begin_value(values["key"], values.get("type"))
                return True
        return self._end_pairs(True)

    @property
    def _pair_open(self) -> int:
        return len(self.PAIR_OPEN.strip())

    PAIR_OPEN: ClassVar[str] = ""

    def _end_pairs(self, unexpected: bool = False) -> bool:
        if unexpected and self._final and not self._buf[self._pos :].strip():
            return False
        self._say("arguments", self._frames_closed())
        return super()._end_pairs(unexpected)

    def _frames_closed(self) -> str:
        text = "".join("]" if frame.opened == "[" else "}" for frame in reversed(self._frames))
        self._frames = []
        return text

    def _end_value(self) -> None:
        super()._end_value()
        self._first = False

    def _finish(self) -> None:
        if self._open and getattr(self, "_frames", None):
            if self._value_open:
                self._end_value()
                self._value_open = False
            self._say("arguments", self._frames_closed())
        super()._finish()
