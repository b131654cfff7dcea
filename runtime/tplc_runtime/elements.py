"""Nested values written as elements: an object is its pairs, a list is its items.

<tags><item>a</item><item>b</item></tags>  →  "tags": ["a", "b"]
"""

from __future__ import annotations

from collections import namedtuple

from .machine import next_char
from .markers import Marks
from .pairs import Pairs
from .raw import Closer, RawPairs
from .schema import item_of, member_of, types_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

# A list or an object that is open.
Frame = namedtuple("Frame", "opened end schema")

# What an element without anything in it is: by the first of these types that the schema allows.
EMPTY = (("string", '""'), ("null", "null"), ("array", "[]"), ("object", "{}"))


class Elements(RawPairs):
    ELEMENT: ClassVar[Marks]  # what opens an item or a pair; "broken": a closing marker
    ITEM_END: ClassVar[str]

    def _begin_pairs(self) -> None:
        super()._begin_pairs()
        self._frames: list[Frame] = []
        self._comma = ""

    def _key_of(self, comma: str, key: str) -> str:
        return Pairs._key_of(self, comma, key)  # all of the arguments are elements themselves

    def _begin_value(self, key: str, word: str) -> None:
        parent = self._frames[-1].schema if self._frames else self._schema()
        self._begin_element(member_of(parent, self._schema(), key), Closer(key.join(self.VALUE_CLOSE)))

    def _begin_element(self, schema: object, end: Closer) -> None:
        self._begin_raw(types_of(schema, self._schema()), end)
        self._element_schema, self._element_end = schema, end
        self._comma = ", "
        if self._as != "string":
            self._state = type(self)._element

    def _closes(self, end: Closer) -> bool | None:
        """Does `end` come next?  None: more input is needed."""
        start = next_char(self._buf, self._pos)
        text = self._buf[start : start + len(end.core)]
        if text == end.core:
            self._pos = start + len(text)
        elif end.core.startswith(text) and not self._final:
            return None
        return text == end.core

    def _element(self) -> bool:
        # value = items | pairs | text
        closes = self._closes(self._element_end)
        kind = None if closes is None else "" if closes else self._next(self.ELEMENT)
        if kind is None:
            return False
        opened = "[" if kind == "item" else "{"
        types = self._types
        if closes:
            self._out.say("arguments", next((text for kind, text in EMPTY if types is None or kind in types), '""'))
        elif kind in ("item", "pair") and (types is None or ("array" if kind == "item" else "object") in types):
            self._out.say("arguments", opened)
            self._frames.append(Frame(opened, self._element_end, self._element_schema))
            self._comma = ""
        else:
            self._state = type(self)._value
            return True
        self._in_value = False
        self._state = type(self)._pairs
        return True

    def _pairs(self) -> bool:
        if not self._frames:
            return super()._pairs()
        frame = self._frames[-1]
        closes = self._closes(frame.end)
        if closes:
            self._frames.pop()
            self._out.say("arguments", "]" if frame.opened == "[" else "}")
            self._comma = ", "
            return True
        kind = None if closes is None else self._next(self.ELEMENT)
        if kind is None:
            return False
        if kind == "item" and frame.opened == "[":
            self._pos = self._mark.end
            self._out.say("arguments", self._comma)
            self._begin_element(item_of(frame.schema, self._schema()), Closer(self.ITEM_END))
            return True
        if kind in ("item", "pair") and frame.opened == "{":
            mark = self.BETWEEN.find(self._buf, self._mark.start, anchored=True)
            # What opens the next call may begin so, too: inside of an element it is none.
            end = mark.end if mark is not None and mark.kind == "pair" else self._mark.end
            return self._pair(end, self._comma)
        return self._end_pairs("")

    def _end_pairs(self, kind: str) -> bool:
        if kind or not self._final or self._buf[self._pos :].strip():
            self._close_frames()
        return super()._end_pairs(kind)

    def _close_frames(self) -> None:
        self._out.say("arguments", "".join("]" if frame.opened == "[" else "}" for frame in self._frames[::-1]))
        self._frames = []

    def _finish(self) -> None:
        if self._open:
            if self._in_value:
                self._end_value()
            self._close_frames()
        super()._finish()
