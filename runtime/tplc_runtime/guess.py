"""Read raw values that end with punctuation.  Values contain it too, so it counts only before a text that may follow.

f(city=Paris, France, unit=C)  →  {"city": "Paris, France", "unit": "C"}

If the format writes no quotes, a value that is one string in quotes is that string: f(city='Paris').  The same holds
for a keyword call's value without the quotes that the format puts around every value.  A list or an object ends with
its last bracket.
"""

from __future__ import annotations

import re

from .pairs import MOST_KEYS
from .pattern import LONGEST_KEY, LOOK_BACK, Pattern
from .raw import LITERAL, RawPairs, coerced, nested_json, string_in
from .scanner import Match, next_char
from .schema import keys_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, ClassVar

    from .raw import End

QUOTES = "'\"‘“"
KEY_GROUP = "(?P<key>"
# A key with characters that keys normally don't contain.
ODD_KEY = Pattern(rf"(?=.*[^\w.-])\S(?:[^\n]{{0,{LONGEST_KEY - 2}}}\S)?|")


class LookaheadEnd:
    """Finds the end of a value.  `end` matches its closer; `start` matches text that may turn out to be such an end.
    The group "key" of `end` is the next argument's: one of `keys`, where these are known.  The groups "name" and
    "bare" are the next call's name: one of `names`; "known" is the same where only a known name shows a call."""

    def __init__(self, end: str, start: str) -> None:
        self.end, self.start = re.compile(end), re.compile(start)
        self.keys: Collection[str] | None = None
        self.names: Collection[str] | None = None
        self._joins_calls = "known" in self.end.groupindex
        self._called = [group for group in ("name", "bare") if group in self.end.groupindex]

    def before(self, keys: Collection[str] | None, names: Collection[str] | None = None) -> LookaheadEnd:
        # A key or a name that isn't a word is searched for literally; `re` caches what it has compiled.
        end = self.end.pattern
        for group, texts in ((KEY_GROUP, keys), *(("(?P<" + called + ">", names) for called in self._called)):
            odd = [text for text in sorted(texts or (), key=len, reverse=True) if ODD_KEY.fullmatch(text) is not None]
            end = end.replace(group, group + "".join(re.escape(text) + "|" for text in odd[:MOST_KEYS]))
        twin = LookaheadEnd(end, self.start.pattern)
        twin.keys, twin.names = keys, names
        return twin

    def find(self, buf: str, pos: int) -> Match | None:
        for match in self.end.finditer(buf, pos):
            known = self.keys is None or match["key"] is None or match["key"] in self.keys
            tool = match["known"] if self._joins_calls else None
            known = known and (tool is None or tool in (self.names or ()))
            if known and (not self.names or all((match[group] or "") in ("", *self.names) for group in self._called)):
                return Match("end", match.start(), match.end())
        return None

    def safe_prefix_end(self, text: str) -> int:
        return -1 if self.start.search(text) or self.find(text, 0) is not None else len(text)

    def partial_match(self, buf: str, pos: int) -> int:
        match = self.start.search(buf, max(pos, len(buf) - LOOK_BACK))
        return match.start() if match else len(buf)


BRACKET_OR_STRING = Pattern(r"[\[{]|([\]}])|([\"'])")
IN_QUOTES = {'"': Pattern(r'[^"\\]*(?:\\.[^"\\]*){0,99}'), "'": Pattern(r"[^'\\]*(?:\\.[^'\\]*){0,99}")}


class Nested:
    """Finds the end of a list or an object: where all brackets are closed, apart from those in strings."""

    def __init__(self, pos: int, quotes: str) -> None:
        self.start, self.pos, self.depth, self.quote, self.quotes = pos, pos, 0, "", quotes
        self.end = 0  # if it was found

    def find(self, buf: str) -> int:
        """Return the end, 0 if more input is needed, or -1 if the text is neither a list nor an object."""
        while self.pos < len(buf):
            if self.quote:
                end = IN_QUOTES[self.quote].match(buf, self.pos).end()
                if end == self.pos and buf[end] == "\\":  # the rest of the escape is missing
                    return 0
                self.quote = "" if buf.startswith(self.quote, end) else self.quote
                self.pos = end + (self.quote == "" and end < len(buf))
                continue
            match = BRACKET_OR_STRING.search(buf, self.pos)
            if match is None:
                self.pos = len(buf)
                return 0
            self.pos, self.quote = match.end(), match[2] or ""
            if self.quote not in self.quotes:
                return -1
            self.depth += 0 if self.quote else -1 if match[1] else 1
            if not self.depth:
                self.end = self.pos
                return self.end
        return 0


class GuessedPairs(RawPairs):
    AFTER_VALUE: ClassVar[LookaheadEnd]
    LITERALS: ClassVar[str] = ""  # the quotes of strings that are recognised
    NESTED_QUOTES: ClassVar[str] = '"'  # of the strings inside lists and objects
    BARE_END: ClassVar[Any] = None  # the end of a value without the quote that the template writes before each
    SPACE_AROUND_KEY_END: ClassVar[bool] = False  # white space may be around the end of a key,
    CALL_END: ClassVar[str] = ""  # the call's closer, if it alone ends values: another one shows that a value was cut
    _before_calls = -1  # the number of texts of content before the first call
    _ends_itself = False  # the text that ends all pairs has come
    _spaced = False  # here it precedes that end: white space after it is no part of the value
    _nested: Nested | None = None  # of a value that may be a list or an object

    def _begin_raw(self, types: frozenset[str] | None, end: End) -> None:
        opened = self.BARE_END is None or self._buf[self._pos - 1] in QUOTES
        ends = self.AFTER_VALUE if opened else self.BARE_END
        super()._begin_raw(types, ends.before(keys_of(self._schema(), self._schema()), self._tools))
        self._quotes = self.LITERALS if opened else QUOTES
        self._nested = Nested(-1, self.NESTED_QUOTES)
        if self.SPACE_AROUND_KEY_END:
            before = self._pos - len(self.PAIR[-1][1].markers[0][1]) - 1
            self._spaced = before >= 0 and self._buf[before].isspace()
        if self._quotes:
            self._as = ""

    def _end_pairs(self, kind: str) -> bool:
        self._ends_itself = kind == "end"
        if self.CALL_END and self._before_calls < 0:
            self._before_calls = len(self._out.texts["content"])
        return super()._end_pairs(kind)

    def _note_second_closer(self) -> None:
        before = len(self._diagnostics)
        super()._note_second_closer()
        self.incomplete = self.incomplete or (self.CALL_END != "" and len(self._diagnostics) > before)

    def _finish(self) -> None:
        super()._finish()
        if self.CALL_END and self._before_calls >= 0:
            self._out.flush()
            after = "".join(self._out.texts["content"][self._before_calls :])
            self.incomplete = self.incomplete or self.CALL_END in after

    def _leave_calls(self, kind: str) -> bool:
        if self._unclosed and kind and not (self._ends_itself or self._lacks_section):
            # Only the closer that is missing would have shown where the last value ends.
            self._note_damage("argument_not_closed", "an argument is not closed")
        return super()._leave_calls(kind)

    def _read_as(self, text: str) -> str:
        return "quoted" if text[:1] and text[0] in self._quotes else super()._read_as(text)

    def _value(self) -> bool:
        if self._spaced:
            self._skip_space()
            self._pos = next_char(self._buf, self._pos)
            if self._pos == len(self._buf) and not self._final:
                return False
            self._spaced = False
        if self._nested is not None:
            ended = self._nested_value()
            if ended is not None:
                return ended
        # A string in quotes ends by itself before anything that may follow a value, even a key that no schema has.
        if self._quotes and not self._quoted and not self._out.texts["value"]:
            self._skip_space()
            buf, pos = self._buf, self._pos
            start = next_char(buf, pos)
            literal = LITERAL.match(buf, start) if buf[start : start + 1] in tuple(self._quotes) else None
            end = len(buf) if literal is None or literal[1] is None else literal.end()
            if not self._final and (start == len(buf) or (literal and self._end.partial_match(buf, end) == end)):
                return False
            closer = self._end.end.match(buf, end) if literal is not None and literal[1] else None
            if literal is not None and closer is not None:
                self._as, self._pos = "quoted", closer.end()
                self._out.texts["value"].append(literal[1])
                self._end_value()
                self._state = type(self)._pairs
                return True
        return super()._value()

    def _nested_value(self) -> bool | None:
        """Read a list or an object up to its last bracket, if the value ends there; return None if it does not."""
        self._skip_space()
        buf, nested = self._buf, self._nested
        start = next_char(buf, self._pos)
        if start == len(buf) and not self._final:
            return False
        self._nested = None
        if nested is None or buf[start : start + 1] not in ("[", "{") or self._read_as(buf[start]) != "json":
            return None
        if nested.start != start:
            nested = Nested(start, self.NESTED_QUOTES)
        end = nested.end or nested.find(buf)
        if end < 0 or (end == 0 and self._final):
            return None
        after = next_char(buf, end)
        if end == 0 or (not self._final and self._end.partial_match(buf, end) <= after):
            self._nested = nested
            return False
        mark = self._end.find(buf, end)
        text = buf[start:end]
        if self.VALUE_ESCAPES and not self.ESCAPES_STRINGS:
            text = self.VALUE_ESCAPES.unescape(text)
        if mark is None or mark.start > after or nested_json(text) is None:
            return None
        self._as, self._pos = "json", mark.end if mark.end > mark.start else end
        self._out.texts["value"].append(text)
        self._end_value()
        self._state = type(self)._pairs
        return True

    def _end_value(self) -> None:
        literal = LITERAL.fullmatch("".join(self._out.texts["value"]).strip()) if self._as == "quoted" else None
        if literal is None or (literal[1] or " ")[0] not in self._quotes:
            return super()._end_value()
        self._in_value = False
        typed = coerced(literal[1], self._by_schema) if self.RETYPES_VALUES else None
        if self.RETYPES_VALUES and self._by_schema is not None and "string" not in self._by_schema:
            self._note("argument_of_other_type", "an argument is not written as its type is")
        self._out.emit("arguments", string_in(literal[1]) if typed is None else typed)
        return None
