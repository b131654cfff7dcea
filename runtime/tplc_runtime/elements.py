"""Read nested values that are written as elements: an object as its pairs, a list as its items.

<tags><item>a</item><item>b</item></tags>  →  "tags": ["a", "b"]
<tags><tag>a</tag><tag>b</tag></tags>      →  "tags": {"tag": ["a", "b"]}, where the schema allows a list
"""

from __future__ import annotations

from collections import namedtuple

from .pairs import Pairs
from .raw import Closer, RawPairs
from .scanner import Scanner, next_char
from .schema import item_of, member_of, types_by_items, types_of
from .values import escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar

# An open list or object.  `key` belongs to its last member.  `member` is the text before the member's value, which is
# "pending" ("items" if its schema wants a list), or in a "list" if the key was repeated.
Frame = namedtuple("Frame", "opened end schema key state member", defaults=("", "", ""))

# The value of an element without content: the first of these types that the schema allows.
EMPTY = (("string", '""'), ("null", "null"), ("array", "[]"), ("object", "{}"))

BRACKETS = frozenset("[{")
LIST = frozenset(["array"])


def in_list(text: str) -> str:
    """Return a value, as JSON, as a list if the schema wants one, because its items may come one by one."""
    return text if text[:1] == "[" or text == "null" else f"[{text}]"


class ElementPairs(RawPairs):
    ELEMENT: ClassVar[Scanner]  # opens an item or a pair; "broken": a closing marker
    AFTER_ITEM: ClassVar[str]
    VALUES_WAIT: ClassVar[bool] = True

    def _begin_arguments(self) -> None:
        super()._begin_arguments()
        self._frames: list[Frame] = []
        self._comma, self._markup_to = "", -1

    def _enter_fast_path(self, kind: str, find_safe_end: Callable[[str], int] = len) -> None:
        super()._enter_fast_path("" if kind == "arguments" and self._out.pending else kind, find_safe_end)

    def _key_of(self, comma: str, key: str) -> str:
        if not self._frames:
            return Pairs._key_of(self, comma, key)  # all arguments are elements themselves
        member = comma + '"' + escaped(key) + '": '
        frame = self._frames[-1]
        if frame.state and frame.key == key:
            self._frames[-1] = frame._replace(state="list")
            return ", " if frame.state == "list" else f"{frame.member}[{self._out.take_pending()}, "
        self._end_member()
        types = types_of(member_of(frame.schema, self._schema(), key), self._schema())
        if types is not None and "array" not in types:
            return member
        self._frames[-1] = frame._replace(key=key, state="items" if types == LIST else "pending", member=member)
        self._out.pending.append([])
        return ""

    def _end_member(self) -> None:
        """Finish the last member of the open list or object: its key isn't repeated."""
        frame = self._frames[-1]
        if not frame.state:
            return
        text = "]" if frame.state == "list" else self._out.take_pending()
        if frame.state == "items":
            text = in_list(text)
        self._out.emit("arguments", frame.member * (frame.state != "list") + text)
        self._frames[-1] = frame._replace(state="")

    def _begin_value(self, key: str, word: str) -> None:
        root, inner = self._schema(), bool(self._frames)
        schema = member_of(self._frames[-1].schema if inner else root, root, key)
        types = types_by_items(schema, root) if inner else types_of(schema, root)
        self._begin_element(schema, types, Closer(key.join(self.VALUE_CLOSE)))

    def _begin_element(self, schema: object, types: frozenset[str] | None, end: Closer) -> None:
        self._by_schema = types if self.RETYPES_VALUES else None
        self._begin_raw(types, end)
        self._element_schema, self._element_end, self._awaited = schema, end, 0
        self._comma = ", "
        if self._as != "string":
            self._state = type(self)._element

    def _closes(self, end: Closer) -> bool | None:
        """Return whether `end` comes next; None if more input is needed."""
        start = next_char(self._buf, self._pos)
        text = self._buf[start : start + len(end.core)]
        if text == end.core:
            self._pos = start + len(text)
        elif end.core.startswith(text) and not self._final:
            return None
        return text == end.core

    def _read_as(self, text: str) -> str:
        # Where the template writes lists as elements, JSON is text, without a schema.
        is_text = self.AFTER_ITEM != "" and self._types is None and text[:1] in BRACKETS
        return "string" if is_text else super()._read_as(text)

    def _is_markup(self) -> bool | None:
        """Return whether elements alone come up to the end of the value here, each closed; None if undecided.

        Without a schema, `<a><b>x</b></a>` is an object and `<a><b>x</a>` is text."""
        buf, pos, space, top = self._buf, self._pos, self._space, self._element_end.core
        left = len(buf) - pos
        if self._base + pos < self._markup_to or (not self._final and left < self._awaited):
            return True if self._base + pos < self._markup_to else None
        self._awaited = 2 * left  # each character is looked at a few times, in any chunking
        open_elements, is_after, limit = [top], False, -1
        while open_elements:
            close, at = open_elements[-1], next_char(buf, pos)
            if len(buf) - at < max(len(close), self.ELEMENT.width):
                if not self._final:
                    return None
                if at == len(buf):
                    break  # the output ends in the value
            mark = None if buf.startswith(close, at) else self.ELEMENT.match_at(buf, at)
            if buf.startswith(close, at):
                open_elements.pop()
                pos, is_after = at + len(close), True
            elif mark is not None and mark.kind in ("item", "pair"):
                is_pair = mark.kind == "pair"
                values, pos, expected = self._slots(mark.end, self.PAIR) if is_pair else ({}, mark.end, "")
                self._space = space
                if expected:
                    is_text = expected != "more" and buf.find(top, at) >= 0
                    return False if is_text else self._in_open_markup()
                if any(buf.find(closer, at, pos) >= 0 for closer in (top, close)):
                    return False
                ended = values["key"].join(self.VALUE_CLOSE) if values else self.AFTER_ITEM
                open_elements.append(ended.strip())
                is_after = False
            elif is_after:
                return False
            else:
                limit = buf.find(top, pos) if limit < pos else limit
                pos = buf.find(close, pos, limit + len(top) if limit >= 0 else len(buf))
                if pos < 0:
                    return False if limit >= 0 else self._in_open_markup()
        self._markup_to = self._base + pos
        return True

    def _in_open_markup(self) -> bool | None:
        """Return whether elements that are still open are markup: they are at the output's end, and all in them."""
        if self._final:
            self._markup_to = self._base + len(self._buf)
        return True if self._final else None

    def _element(self) -> bool:
        # value = items | pairs | text
        end, start = self._element_end, self._pos
        closes = self._closes(end)
        if closes and self._types is None and self._buf[start : self._pos - len(end.core)].strip(end.lead):
            self._pos, self._state = start, type(self)._value  # white space is text
            return True
        kind = None if closes is None else "" if closes else self._next(self.ELEMENT)
        if kind in ("item", "pair") and self._types is None:
            markup = self._is_markup()
            kind = kind if markup else "" if markup is False else None
        if kind is None:
            return False
        schema, types, root = self._element_schema, self._types, self._schema()
        own = types_of(schema, root)
        if closes:
            self._out.emit("arguments", next((text for kind, text in EMPTY if own is None or kind in own), '""'))
        elif kind in ("item", "pair") and (types is None or ("array" if kind == "item" else "object") in types):
            opened, of_items = (
                "[" if kind == "item" else "{",
                kind == "pair" and own is not None and "object" not in own,
            )
            self._out.emit("arguments", opened)
            self._frames.append(Frame(opened, self._element_end, item_of(schema, root) if of_items else schema))
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
            self._end_member()
            self._frames.pop()
            self._out.emit("arguments", "]" if frame.opened == "[" else "}")
            self._comma = ", "
            return True
        kind = None if closes is None else self._next(self.ELEMENT)
        if kind is None:
            return False
        if kind == "item" and frame.opened == "[":
            self._pos = self._mark.end
            self._out.emit("arguments", self._comma)
            schema = item_of(frame.schema, self._schema())
            self._begin_element(schema, types_of(schema, self._schema()), Closer(self.AFTER_ITEM))
            return True
        if kind in ("item", "pair") and frame.opened == "{":
            mark = self.BETWEEN.match_at(self._buf, self._mark.start)
            # The opener of the next call may begin in the same way; inside of an element it doesn't count.
            end = mark.end if mark is not None and mark.kind == "pair" else self._mark.end
            return self._pair(end, self._comma)
        return self._end_pairs("")

    def _end_pairs(self, kind: str) -> bool:
        if kind or not self._final or next_char(self._buf, self._pos) < len(self._buf):
            self._close_frames()
        return super()._end_pairs(kind)

    def _close_frames(self) -> None:
        while self._frames:
            self._end_member()
            self._out.emit("arguments", "]" if self._frames.pop().opened == "[" else "}")

    def _finish(self) -> None:
        if self._open:
            if self._in_value:
                self._end_value()
            self._close_frames()
        super()._finish()
