"""Arguments that are pairs with raw values, which become JSON by the tool's schema.

    <k>count</k><v>3</v>  →  {"count": 3}, or {"count": "3"} where the schema says string

Without a schema, text that reads as a number, a boolean, null, a list or an object is that value.
"""

from __future__ import annotations

import re

from .pairs import Pairs
from .pattern import Pattern
from .scanner import Match, Scanner, trailing_overlap
from .schema import keys_of, member_of, typed_as, types_of
from .values import escaped, json_end, literal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    End = Any  # what ends a value: it has `find`, `partial_match` and `safe_prefix_end`, as scanners have

NUMBER_PART = Pattern(r"[\s\w.+-]*")
WHOLE_ARGUMENTS = ("arguments", "parameters")  # a pair so called holds all of them, where the schema has none
MOST_KEYS = 64  # the keys of a schema with more are not looked for
# The group is empty where a quote is never closed: nothing after it is looked at again.
PYTHON = Pattern(r"""('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|\b(?:True|False|None)\b)|['"].*""")
TO_ESCAPE = Pattern(r'\\(.)|["\x00-\x1f]')


class ValueWords(dict):  # type: ignore[type-arg]
    """What is written for true, false and null, and all that begins such a word."""

    def __init__(self, words: dict[str, str]) -> None:
        super().__init__(words)
        self.begun = {word[:end] for word in words for end in range(1, len(word) + 1)}


class Closer:
    """The marker after one value, where the key is part of it."""

    def __init__(self, text: str) -> None:
        self.core = text.strip()
        self.lead = text[: text.index(self.core)]

    def find(self, buf: str, pos: int) -> Match | None:
        start = buf.find(self.core, pos)
        return None if start < 0 else Match("end", start, start + len(self.core), self.lead)

    def partial_match(self, buf: str, pos: int) -> int:
        at = buf.find(self.core[0], max(pos, len(buf) - len(self.core) + 1))
        while at >= 0 and not self.core.startswith(buf[at:]):
            at = buf.find(self.core[0], at + 1)
        partial = at if at >= 0 else len(buf)
        spaces = range(min(len(self.lead), partial - pos), 0, -1)
        return next((partial - n for n in spaces if buf[partial - n : partial] in self.lead), partial)

    def safe_prefix_end(self, text: str) -> int:
        return -1 if self.core in text else self.partial_match(text, 0)


class KnownPairs:
    """What ends a value: its own end, or the next pair, with one of these keys."""

    def __init__(self, ends: Scanner, key_end: Scanner, keys: tuple[str, ...]) -> None:
        self.ends, self.key_end, self.keys = ends, key_end, keys
        self.width = ends.width + max(map(len, keys)) + key_end.width

    def find(self, buf: str, pos: int) -> Match | None:
        match = self.ends.find(buf, pos)
        while match is not None and match.kind == "next" and not self._is_pair(buf, match.end):
            match = self.ends.find(buf, match.start + 1)
        return match

    def _is_pair(self, buf: str, pos: int) -> bool:
        return any(
            buf.startswith(key, pos) and self.key_end.match(buf, pos + len(key)) is not None for key in self.keys
        )

    def _is_prefix(self, buf: str, pos: int) -> bool:
        rest = buf[pos:]
        return any(
            key.startswith(rest) or (rest.startswith(key) and self.key_end.prefix_of(buf, pos + len(key)) != "")
            for key in self.keys
        )

    def partial_match(self, buf: str, pos: int) -> int:
        end = self.ends.partial_match(buf, pos)
        match = self.ends.find(buf, max(pos, len(buf) - self.width))
        while match is not None and match.start < end:
            if match.kind == "next" and self._is_prefix(buf, match.end):
                return self.ends.with_lead(buf, pos, match.start)
            match = self.ends.find(buf, match.start + 1)
        return end

    def safe_prefix_end(self, text: str) -> int:
        return self.ends.safe_prefix_end(text)


def _to_escape(match: re.Match[str]) -> str:
    char = match.group(1)
    if char is None or char not in "\"\\/bfnrtux'":
        return ("\\\\" if char else "") + escaped(match.group()[-1])
    return {"x": "\\u00", "'": "'"}.get(char, match.group())


def _to_json(match: re.Match[str]) -> str:
    text = match.group()
    words = {"True": "true", "False": "false", "None": "null"}
    return text if text[0] == '"' or match[1] is None else words.get(text) or string_in(text)


def string_in(literal: str) -> str:
    """A string in quotes of Python, as JSON writes it."""
    inside: str = TO_ESCAPE.sub(_to_escape, literal[1:-1])
    return f'"{inside}"'


def nested_json(text: str) -> str | None:
    """A list or an object, in JSON or as Python writes it, as JSON."""
    for candidate in (text, PYTHON.sub(_to_json, text)):
        if json_end(candidate, 0) == len(candidate):
            return candidate
    return None


class RawPairs(Pairs):
    WORDS: ClassVar[ValueWords]
    AFTER_VALUE: ClassVar[End]
    VALUE_CLOSE: ClassVar[tuple[str, ...]] = ()  # before and after the key, where the closing marker repeats it
    TYPE_WORDS: ClassVar[Mapping[str, Sequence[str]]] = {}
    # The end of a value, or the text before the key of a pair that begins a line, and the text after that key: a pair
    # that the schema knows ends a value whose own end is missing.
    NEXT_PAIR: ClassVar[tuple[Scanner, ...]] = ()
    _end: End
    _in_value = False
    _ends: KnownPairs | None = None
    _all = ""  # what is not yet emitted of a pair that may hold all arguments

    def _schema(self) -> object:
        return self._tools.get(self._out.calls[-1][0])

    def _begin_arguments(self) -> None:
        super()._begin_arguments()
        schema = self._schema()
        keys = keys_of(schema, schema) or set() if schema else set()
        self._keys = keys if len(keys) <= MOST_KEYS else set()  # of the schema, those that have not come
        if self.NEXT_PAIR:
            self._look_for_keys()

    def _look_for_keys(self) -> None:
        """What ends a value: its closer, or a pair of the schema that has not come."""
        self._ends = KnownPairs(self.NEXT_PAIR[0], self.NEXT_PAIR[1], tuple(sorted(self._keys))) if self._keys else None

    def _key_of(self, comma: str, key: str) -> str:
        member = super()._key_of(comma, key)
        holds_all = comma == "{" and key in WHOLE_ARGUMENTS and self._keys and key not in self._keys
        self._all = member if holds_all else ""
        if key in self._keys:
            self._keys = self._keys - {key}
            if self.NEXT_PAIR:
                self._look_for_keys()
        return "" if holds_all else member

    def _begin_value(self, key: str, word: str) -> None:
        schema = self._schema()
        types = types_of(member_of(schema, schema, key), schema) if schema else None
        if self.TYPE_WORDS and word in self.TYPE_WORDS:
            types = typed_as(types, frozenset(self.TYPE_WORDS[word]))
        if self.VALUE_CLOSE:
            return self._begin_raw(types, Closer(key.join(self.VALUE_CLOSE)))
        return self._begin_raw(types, self._ends or self.AFTER_VALUE)

    def _begin_raw(self, types: frozenset[str] | None, end: End) -> None:
        self._types, self._end = types, end
        # As which the text is read: or number, json, word; all of the arguments.
        self._as = "all" if self._all else "string" if types == frozenset(["string"]) else ""
        self._out.texts["value"] = []
        self._quoted, self._in_value = False, True
        self._state = type(self)._value

    def _json(self, text: str) -> str:
        return escaped(text)

    def _value(self) -> bool:
        # value = text VALUE_END
        if self._space:
            self._skip_space()
        buf, pos = self._buf, self._pos
        mark = self._end.find(buf, pos)
        if self.NEXT_PAIR:
            while mark is not None and mark.kind == "next" and (mark.start == pos or buf[mark.start - 1] != "\n"):
                mark = self._end.find(buf, mark.start + 1)
        partial = (
            len(buf) if self._final or (mark is not None and not mark.ambiguous) else self._end.partial_match(buf, pos)
        )
        if mark is None or partial <= mark.start:
            self._piece(buf[pos:partial])
            self._pos = partial
            if self._quoted or self._as == "json":
                self._goes_on("arguments" if self._quoted else "value", self._end.safe_prefix_end)
            return False
        end = mark.start - trailing_overlap(buf[pos : mark.start], mark.lead)
        self._piece(buf[pos:end])
        self._pos = end  # wherever the chunks ended, what is emitted of the value is emitted here
        self._end_value()
        self._pos = mark.start if mark.kind == "next" else mark.end
        if self.NEXT_PAIR and mark.kind == "next":
            self._note("an argument is not closed")
        self._state = type(self)._pairs
        return True

    def _piece(self, text: str) -> None:
        """More of a value.  It is pending only while it could be something else than a string."""
        if self._as != "string":
            self._out.texts["value"].append(text)
            if self._as in ("", "word") or (self._as == "number" and not NUMBER_PART.fullmatch(text)):
                self._as = self._read_as("".join(self._out.texts["value"]).strip())
            if self._as != "string":
                return
            text = "".join(self._out.texts["value"])
            self._out.texts["value"].clear()
        if text or not self._quoted:
            self._out.emit("arguments", self._all + '"' * (not self._quoted) + escaped(text))
            self._quoted, self._all = True, ""

    def _read_as(self, text: str) -> str:
        fits = {"array", "object", "number", "integer", "boolean", "null"} & (self._types or frozenset(JSON_TYPES))
        if not text or text in self.WORDS.begun:
            return "word" if text else ""
        if text[0] in "[{":
            return "json" if ("array" if text[0] == "[" else "object") in fits else "string"
        number = text[0] in "+-.0123456789" and NUMBER_PART.fullmatch(text) and fits & {"number", "integer"}
        return "number" if number else "string"

    def _end_value(self) -> None:
        self._in_value = False
        text = "".join(self._out.texts["value"])
        if self._all:
            whole = nested_json(text.strip()) or ""
            inside = whole[1:-1].strip()
            member, self._all = self._all, ""
            if whole[:1] == "{":
                self._count = int(bool(inside))
                self._note("one argument holds all of them")
                return self._out.emit("arguments", "{" * self._count + inside)
            self._out.emit("arguments", member)
            self._as = self._read_as(text.strip())
        literal = None
        if self._as not in ("", "string"):
            literal = nested_json(text.strip()) if self._as == "json" else literal_of(text.strip(), self.WORDS)
        kind = {"t": "boolean", "f": "boolean", "n": "null", "[": "array", "{": "object"}.get(
            (literal or '"')[0], "number"
        )
        types = self._types or JSON_TYPES
        fits = kind in types or (kind == "number" and "integer" in types)
        if self._types is None and kind == "number" and literal != text.strip():
            fits = False  # 007 is a number only where the schema says so
        if literal is None or literal[0] == '"' or not fits:
            self._as = "string"
            self._piece(text)
            literal = '"'
        self._out.emit("arguments", literal)
        return None

    def _finish(self) -> None:
        if self._open and self._in_value:
            if self._out.texts["value"] or self._quoted:
                self._end_value()
            else:
                self._out.emit("arguments", self._all + "null")
        super()._finish()


JSON_TYPES = frozenset(["array", "object", "number", "integer", "boolean", "null", "string"])
