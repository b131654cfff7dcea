"""Read arguments that are pairs with raw values, which become JSON according to the tool's schema.

    <k>count</k><v>3</v>  →  {"count": 3}, or {"count": "3"} where the schema says string

Without a schema, text that reads as a number, a boolean, null, a list or an object is that value.
"""

from __future__ import annotations

import re

from .pairs import MOST_KEYS, WHOLE_ARGUMENTS, Pairs
from .pattern import LOOK_BACK, Pattern
from .scanner import NO_MARKERS, SPELLED_OTHERWISE, Match, Scanner, next_char, trailing_overlap
from .schema import keys_of, typed_as, types_of_member
from .second import any_styles, without_fence
from .turn import SPELLING
from .values import Reader, escaped, is_usual_number, json_end, literal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, ClassVar

    End = Any  # the end of a value, with `find`, `partial_match` and `safe_prefix_end` like scanners

MORE_THAN_VALUE = Pattern(r"\n|[^\w\s.+-]")
NUMBER_PART = Pattern(r"[\s\w.+-]*")
# The group is empty if a quote is never closed: nothing after it is examined again.
PYTHON = Pattern(r"""('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|\b(?:True|False|None)\b)|['"].*""")
# The same at the start of a value that is one string, also in typographic quotes.
LITERAL = Pattern(r"""('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|“[^“”]*”|‘[^‘’]*’)|['"“‘].*""")
SOME_SPACE = Pattern(r"\s{0,64}")
BEGINS_VALUE = "\"'[{"
TO_ESCAPE = Pattern(r'\\(.)|["\x00-\x1f]')


class ValueWords(dict):  # type: ignore[type-arg]
    """The words for true, false and null, and all their beginnings.  `others`: text unless a schema says otherwise."""

    def __init__(self, words: dict[str, str], others: dict[str, str]) -> None:
        super().__init__({**words, **others})
        self.others, self.prefix = others, {word[:end] for word in self for end in range(1, len(word) + 1)}


class Closer:
    """The marker after one value."""

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


class KeyCloser(Closer):
    """A marker of which the key is part, so that a later one may count."""

    def match_at(self, buf: str, pos: int) -> Match | None:
        return Match("end", pos, pos + len(self.core), self.lead) if buf.startswith(self.core, pos) else None

    def prefix_of(self, buf: str, pos: int) -> str:
        return self.core if self.core.startswith(buf[pos : pos + len(self.core)]) else ""


def begins_with_key(buf: str, pos: int, keys: Iterable[str], end: Scanner) -> bool:
    """Return whether the text from `pos` on begins with one of the keys and what ends a key."""
    return any(buf.startswith(key, pos) and end.match_at(buf, pos + len(key)) is not None for key in keys)


def may_begin_with_key(buf: str, pos: int, keys: Iterable[str], end: Scanner) -> bool:
    """Return whether the text from `pos` to the end is the beginning of one of the keys and what ends a key."""
    rest = buf[pos:]
    return any(key.startswith(rest) or (rest.startswith(key) and end.prefix_of(buf, pos + len(key))) for key in keys)


def key_at(buf: str, opener: Match) -> int:
    """Return where the key after a pair's opener begins, after the white space that an opener ends with."""
    return opener.end if not opener.trail else int(SOME_SPACE.match(buf, opener.end).end())


class KnownPairs:
    """The end of a value: its closer, or the next pair with one of these keys; after a marker ("breaks"), no pair."""

    UNOPENED_LINES: ClassVar[bool] = False  # a pair may lack its opener at the start of a line

    def __init__(self, ends: Scanner, key_end: Scanner, keys: tuple[str, ...], unopened: str) -> None:
        self.ends, self.key_end, self.keys = ends, key_end, keys
        self.width = ends.width + LOOK_BACK + max(map(len, keys)) + key_end.width
        if self.UNOPENED_LINES:
            self.lines = tuple(["\n" + key + unopened for key in keys])
            self.joined = "\0" + "\0".join(self.lines)

    def find(self, buf: str, pos: int) -> Match | None:
        match = self.ends.find(buf, pos)
        while match and match.kind == "next" and not begins_with_key(buf, key_at(buf, match), self.keys, self.key_end):
            match = self.ends.find(buf, match.start + 1)
        if self.UNOPENED_LINES:
            stop = len(buf) if match is None else match.start
            for line in self.lines if buf.find("\n", pos, stop) >= 0 else ():
                if (at := buf.find(line, pos, stop)) >= 0:
                    match, stop = Match("next", at, at), at
        return match

    def safe_prefix_end(self, text: str) -> int:
        end = self.ends.safe_prefix_end(text)
        if self.UNOPENED_LINES and end >= 0 and "\n" in text:
            return -1 if any(line in text for line in self.lines) else self._before_line(text, 0, end)
        return end

    def _before_line(self, buf: str, pos: int, end: int) -> int:
        """Return where the line end before an unopened pair may be, if that is before `end`."""
        at = buf.find("\n", max(pos, len(buf) - self.width))
        while 0 <= at < end:
            if "\0" + buf[at:] in self.joined:
                return at
            at = buf.find("\n", at + 1)
        return end

    def partial_match(self, buf: str, pos: int) -> int:
        end = self.ends.partial_match(buf, pos)
        match = self.ends.find(buf, max(pos, len(buf) - self.width))
        keys, key_end = self.keys, self.key_end
        while match and not (match.kind == "next" and may_begin_with_key(buf, key_at(buf, match), keys, key_end)):
            match = self.ends.find(buf, match.start + 1)
        if match is not None and match.start < end:
            end = self.ends.with_lead(buf, pos, match.start)
        return self._before_line(buf, pos, end) if self.UNOPENED_LINES else end


class UnopenedPairs(KnownPairs):
    UNOPENED_LINES: ClassVar[bool] = True


def _to_escape(match: re.Match[str]) -> str:
    char = match.group(1)
    if char is None or char not in "\"\\/bfnrtux'":
        return ("\\\\" if char else "") + escaped(match.group()[-1])
    return {"x": "\\u00", "'": "'"}.get(char, match.group())


def _to_json(match: re.Match[str]) -> str:
    text = match.group()
    return text if text[0] == '"' or match[1] is None else any_styles()[0].words.get(text) or string_in(text)


def string_in(literal: str) -> str:
    """Return a string in Python's quotes as JSON."""
    return '"' + str(TO_ESCAPE.sub(_to_escape, literal[1:-1])) + '"'


def nested_json(text: str) -> str | None:
    """Return a list or an object, in JSON or Python syntax, as JSON."""
    forms = (text, PYTHON.sub(_to_json, text))
    return next((form for form in forms if json_end(form, 0, len(form)) == len(form)), None)


def nested_or_repaired(text: str) -> str | None:
    """Return a list or an object as JSON, with a comma or a quote too many or too few."""
    found, reader = nested_json(text), Reader(any_styles())
    if found is None and reader.read(text, 0, True) == len(text) and not (reader.want or reader.is_guessed):
        found = reader.take()
    return found


class ValueOrCallEnd:
    """Finds the end of a raw value; if it is missing, text like it (`garbled`, with the value's `key` or none), or the
    end of the call (`close`).  `begun` and `prefix` match beginnings of these; all begin with one of `first_chars`."""

    def __init__(self, end: End, key: str, first_chars: frozenset[str], *patterns: Pattern) -> None:
        self.end, self.key, self.first_chars = end, key, first_chars
        self.close, self.prefix, self.garbled, self.begun = patterns

    def find(self, buf: str, pos: int) -> Match | None:
        mark: Match | None = self.end.find(buf, pos)
        stop = len(buf) if mark is None or mark.kind == "breaks" else mark.start
        match = self.close.search(buf, pos, stop)
        if match is not None and match.end() == stop < len(buf):  # what ends there is not the output
            match = self.close.match(buf, match.start())
        if match is not None and (mark is None or mark.start >= match.start()):
            mark = Match("lost", match.start(), match.start(), "\n" * (buf[match.start() - 1 : match.start()] == "\n"))
        if mark is None or mark.kind not in ("next", "lost"):
            return mark
        match = self.garbled.search(buf, max(pos, mark.start - LOOK_BACK), mark.start)
        if match is None or match[1] not in (None, self.key):
            return mark
        lead = "\n" * (buf[match.start() - 1 : match.start()] == "\n")
        return Match("respelled", match.start(), mark.start, lead, ambiguous=SPELLED_OTHERWISE)

    def partial_match(self, buf: str, pos: int) -> int:
        match = self.prefix.search(buf, max(pos, len(buf) - LOOK_BACK))
        start: int = self.end.partial_match(buf, pos)
        start = start if match is None else min(start, match.start())
        match = self.begun.search(buf, max(pos, start - 2 * LOOK_BACK), start)
        start = start if match is None else match.start()
        return start - (start > pos and buf[start - 1] == "\n")

    def safe_prefix_end(self, text: str) -> int:
        end: int = self.end.safe_prefix_end(text)
        is_odd = end >= 0 and not self.first_chars.isdisjoint(text)
        if is_odd and (self.begun.search(text, 0, end) or self.prefix.search(text) or self.close.search(text)):
            return -1
        return end - (end > 0 and text[end - 1] == "\n")


def begun_json(text: str) -> str | None:
    """Return a value as JSON, with what it lacks at its end; None if it begins with neither a quote nor a bracket, and
    is no literal."""
    literal, reader = nested_or_repaired(text), Reader(any_styles())
    if literal is None and text[0] in BEGINS_VALUE:
        reader.read(text, 0, True)
        return reader.take() + reader.close()
    return literal


def coerced(text: str, types: frozenset[str] | None) -> str | None:
    """Return a value in an unusual form (in quotes, escaped, 1 for true) as JSON of its schema's types."""
    if types is None or "string" in types or not text.strip():
        return None
    bare = without_fence(text.strip())
    quoted = len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\""
    for inside in ([bare[1:-1]] if quoted else []) + [bare]:
        plain = inside.replace('\\"', '"').strip()
        word = OTHER_WORDS.get(plain.lower())
        if word == "null" or (word is not None and "boolean" in types and not NUMBER_TYPES & types):
            return word
        literal = nested_or_repaired(plain) if plain[:1] and plain[0] in "[{" else literal_of(plain, {})
        kind = "" if literal is None or literal[0] == '"' else KINDS.get(literal[0], "number")
        if literal is not None and (kind in types or (kind == "number" and "integer" in types)):
            return literal
    return None


def in_type(literal: str, types: frozenset[str] | None) -> str:
    """Return a number as the boolean or the integer that the schema wants in its place."""
    if types == BOOLEAN:
        return BITS.get(literal, literal)
    is_whole = types and "." in literal and "integer" in types and "number" not in types and INTEGRAL.fullmatch(literal)
    return literal[: literal.index(".")] if is_whole else literal


KINDS = {"t": "boolean", "f": "boolean", "n": "null", "[": "array", "{": "object"}
INTEGRAL, NUMBER_TYPES = Pattern(r"-?[0-9]+\.0+"), frozenset(["number", "integer"])
BITS, BOOLEAN = {"1": "true", "0": "false"}, frozenset(["boolean"])
OTHER_WORDS = {"true": "true", "false": "false", "1": "true", "0": "false", "null": "null", "none": "null"}


class RawPairs(Pairs):
    RAW_VALUES: ClassVar[bool] = True
    CALL_CLOSES: ClassVar[Any] = None  # the end of a value without a closer of its own: see `ValueOrCallEnd`
    _types_are_checked = True
    RETYPES_VALUES: ClassVar[bool] = True  # a value in another form is converted by the schema
    WORDS: ClassVar[ValueWords]
    AFTER_VALUE: ClassVar[End]
    TYPE_WORDS: ClassVar[Mapping[str, Sequence[str]]] = {}
    NEXT_PAIR: ClassVar[tuple[Scanner, ...]] = ()  # a value's end or the text before a key, and the text after a key
    NEXT_PAIR_OPENER: ClassVar[Any] = ""  # the text that such a pair begins with, or several
    NEXT_PAIR_LEAD: ClassVar[str] = "\n"  # the line end and the white space before it, if it starts a line
    NEXT_UNOPENED: ClassVar[str] = ""  # the text after a key that begins a line, where a pair may lack its opener
    VALUE_ESCAPES: ClassVar[Any] = None  # what is written in values for other characters
    ESCAPES_STRINGS: ClassVar[bool] = False  # only in values that are strings
    LITERAL_ESCAPES: ClassVar[Any] = None  # the same for values that aren't strings only
    JSON_VALUES: ClassVar[bool] = False  # values are JSON, strings in quotes, once their escapes are undone
    _pending_end = ""  # the end of a value that may be the beginning of such a text
    _end: End
    _closer: End = None  # of which a later one may count; None if the first does
    _own_end: End = None  # the closer alone, if the next pair may end the value as well
    _next_lines = ""  # the beginnings of lines in which a pair may lack its opener
    _in_value = False
    _by_schema: frozenset[str] | None = None
    _all = ""  # the text not yet emitted of a pair that may contain all arguments

    def _begin_arguments(self) -> None:
        super()._begin_arguments()
        if self.TYPE_WORDS:
            self._types_are_checked = True
        schema = self._schema()
        keys = keys_of(schema, schema) or set() if schema else set()
        self._keys = keys if len(keys) <= MOST_KEYS else set()  # keys of the schema that were not read yet

    def _end_of_value(self, own: End, ends: Any = None) -> End:
        """Return the possible ends of a value: its own, or a pair with a key not read yet, after one of `ends`."""
        self._own_end, self._next_lines = own, ""
        if not (self.NEXT_PAIR and self._keys):
            return own
        before, after = self.NEXT_PAIR
        keys = tuple(sorted(self._keys))
        if self.NEXT_UNOPENED:
            unopened = UnopenedPairs(ends or before, after, keys, self.NEXT_UNOPENED)
            self._next_lines = unopened.joined
            return unopened
        else:  # left out of the parsers in which the branch before it is always taken
            return KnownPairs(ends or before, after, keys, "")

    def _may_begin_pair(self, chunk: str) -> bool:
        """Return whether a pair without its opener may begin in a line of the chunk."""
        line = chunk.rfind("\n")
        return line >= 0 and (self.NEXT_UNOPENED[0] in chunk or chunk[line:] in self._next_lines)

    def _key_of(self, comma: str, key: str) -> str:
        member = super()._key_of(comma, key)
        holds_all = comma == "{" and key in WHOLE_ARGUMENTS and self._keys and key not in self._keys
        self._all = member if holds_all else ""
        self._keys = self._keys - {key}
        return "" if holds_all else member

    def _begin_value(self, key: str, word: str) -> None:
        schema = self._schema()
        types = types_of_member(schema, key) if schema else None
        self._by_schema = types if self.RETYPES_VALUES else None  # by the schema alone
        if self.TYPE_WORDS and word in self.TYPE_WORDS:
            by_schema, types = types, typed_as(types, frozenset(self.TYPE_WORDS[word]))
            self._types_are_checked = self._types_are_checked and by_schema in (None, types)
            # 1 is no boolean, and 5.0 no integer, if it is a number.
            self._by_schema = self._by_schema if "boolean" in types or types == self._by_schema else None
        end: End = KeyCloser(key.join(self.VALUE_CLOSE)) if self.VALUE_CLOSE else self._end_of_value(self.AFTER_VALUE)
        if self.LAST_CLOSER:
            self._closer = end if self.VALUE_CLOSE else self.AFTER_VALUE
        return self._begin_raw(types, self._or_call_end(end, key))

    def _or_call_end(self, end: End, key: str) -> End:
        """Return the end of the value of a key, with what counts if it is missing."""
        return ValueOrCallEnd(end, key, *self.CALL_CLOSES) if self.CALL_CLOSES else end

    def _begin_raw(self, types: frozenset[str] | None, end: End) -> None:
        self._types, self._end = types, end
        # The type as which the text is read: number, json, word, or all of the arguments.
        self._as = "all" if self._all else "string" if types == frozenset(["string"]) else ""
        if self.JSON_VALUES:
            self._as = "json"
        self._out.texts["value"] = []
        self._quoted, self._in_value = False, True
        self._state = type(self)._value

    def _value(self) -> bool:
        # value = text VALUE_END
        if self._space:
            self._skip_space()
        buf, pos = self._buf, self._pos
        first, undecided = self._next_end(buf, pos)
        mark = first
        if self.LAST_CLOSER and mark is not None and mark.kind == "end" and self._closer is not None:
            mark = self._last_closer(mark)
        if mark is None and first is not None:
            mark = undecided = first
        certain = self._final or (mark is not None and not mark.ambiguous)
        end = len(buf) if certain else self._end.partial_match(buf, pos)
        over = mark is not None and mark is not undecided and end > mark.start
        if mark is not None and (over or mark is undecided):
            end = mark.start - trailing_overlap(buf[pos : mark.start], mark.lead)
        # What a prompt ends with is not awaited: its arguments are no deltas.
        awaited = self.USUAL_ENDS and mark is first and not self._final and end < len(buf) and self._base >= 0
        if awaited and self._is_usual(self.USUAL_ENDS, end):
            self._wanted, over = 0, False
        text = buf[pos:end]
        self._piece(self._unescape(text, over=over) if self.VALUE_ESCAPES and not self.ESCAPES_STRINGS else text)
        self._pos = end  # the rest of the value is emitted here, in any chunking
        if mark is None or not over:
            if (self._quoted or self._as == "json") and not self.VALUE_ESCAPES and self._is_still_ambiguous is None:
                self._enter_fast_path("arguments" if self._quoted else "value", self._end.safe_prefix_end)
            return False
        if self.LAST_CLOSER and mark is not first:
            self._note("closer_in_argument", "an argument contains its own closing marker")
        self._end_value()
        over = mark.kind in ("end", "respelled")
        if self.OTHER_SPELLINGS and mark.ambiguous >= SPELLED_OTHERWISE:
            self._note(*SPELLING)
        self._pos = mark.end if over else mark.start
        if not over and (self.NEXT_PAIR or self.CALL_CLOSES):
            self._note_damage("argument_not_closed", "an argument is not closed")
        self._state = type(self)._pairs
        return True

    def _next_end(self, buf: str, pos: int) -> tuple[Match | None, Match | None]:
        """Return the first marker that may end the value, and the same marker again if what follows decides that."""
        mark = self._end.find(buf, pos)
        undecided: Match | None = None
        while mark is not None and mark.kind in ("next", "respelled", "breaks"):
            if self.NEXT_PAIR and mark.kind == "breaks":
                if mark.ambiguous and not self._final and self._end.partial_match(buf, pos) <= mark.start:
                    break
                self._next_lines = ""
                self._end = self._or_call_end(self._own_end, getattr(self._end, "key", ""))
                mark = self._end.find(buf, pos)
                continue
            if mark.kind == "respelled":
                ends = self._followed(mark)
                undecided = None if ends else mark
                if ends is not False:
                    break
            elif not self.NEXT_PAIR or self._ends_here(mark.start):
                break
            mark = self._end.find(buf, mark.start + 1)
        return mark, undecided

    def _last_closer(self, mark: Match) -> Match | None:
        """Return the first closer from `mark` that a marker of the call or a known key follows; before the next marker
        of those else `mark`, or the last one if pairs begin with their key.  None if undecided."""
        buf, ends, found = self._buf, self.LAST_CLOSER or NO_MARKERS, mark
        while True:
            follows = self._marker_or_key_follows(next_char(buf, found.end))
            if follows is not False:
                return found if follows else None
            after = ends.find(buf, found.end)
            while after is not None and after.kind == "end" and self._closer.match_at(buf, after.start) is None:
                after = ends.find(buf, after.start + 1)  # of another key
            if not self._final and not ends.is_decided(after, buf, mark.end):
                return None
            if after is None or after.kind != "end":
                return mark if self.PAIR_OPENS else found
            found = self._closer.match_at(buf, after.start)

    def _marker_or_key_follows(self, at: int) -> bool | None:
        """Return whether a marker of the call or a known key comes next; None: more input is needed."""
        buf, mark = self._buf, self.BETWEEN.match_at(self._buf, at)
        if self.VALUE_CLOSE and self._closer.prefix_of(buf, at):
            mark = None  # the call's end may repeat the name as this closer does the key
        if mark is not None and not mark.ambiguous and mark.kind not in ("skip", "broken"):
            return True
        if self.USUAL_PAIR and not self._final and self._is_usual(self.USUAL_PAIR, at):
            return None
        if at == len(buf):
            return True if self._final else None
        again = self._closer.match_at(buf, at)
        if again is not None and again.kind == "end":
            return False
        if not self._final and self._closer.prefix_of(buf, at):
            return None
        if mark is not None:
            return True
        if not self._final and self.BETWEEN.prefix_of(buf, at):
            return None
        if not (self.NEXT_PAIR and self.AROUND_KEY and self._tools):
            return False
        key, start, _ = self._irregular_key(at) or (None, at, at)
        if not key:
            return None if key is None else False
        return start > at or self.NEXT_PAIR[1].match_at(buf, start + len(key)) is not None

    def _followed(self, mark: Match) -> bool | None:
        """Does a closer in another spelling come before a pair or the end of the call?  None: more input is needed."""
        at = next_char(self._buf, mark.end)
        if self.BETWEEN.match_at(self._buf, at) is not None:
            return True
        may_continue = at == len(self._buf) or self.BETWEEN.prefix_of(self._buf, at) != ""
        if self.NEXT_PAIR and self.AROUND_KEY:  # a pair may lack its opener
            keys, end = self._keys if self._tools else (), self.NEXT_PAIR[1]
            if begins_with_key(self._buf, at, keys, end):
                return True
            may_continue = may_continue or may_begin_with_key(self._buf, at, keys, end)
        return None if may_continue and not self._final else False

    def _unescape(self, text: str, *, over: bool = False) -> str:
        """Return more text of a value, with escapes decoded.  `over`: the value ends with it."""
        text = self._pending_end + text
        end = len(text) if over else self.VALUE_ESCAPES.safe_prefix_end(text)
        self._pending_end = text[end:]
        return str(self.VALUE_ESCAPES.unescape(text[:end]))

    def _ends_here(self, start: int) -> bool:
        """Return whether the opener of a pair of the schema ends an unclosed value."""
        buf, line = self._buf, start - len(self.NEXT_PAIR_LEAD)
        if not buf.startswith(self.NEXT_PAIR_OPENER, start):  # the closer of the call, or a line
            return True
        return line >= self._pos and buf.startswith(self.NEXT_PAIR_LEAD, line)

    def _piece(self, text: str) -> None:
        """Add text to a value.  It is pending only while it could be something other than a string."""
        if self._as != "string":
            self._out.texts["value"].append(text)
            undecided = self._as in ("", "word") or (self._as == "number" and not NUMBER_PART.fullmatch(text))
            if undecided and text.strip():
                self._as = self._read_as("".join(self._out.texts["value"]).strip())
            if self._as != "string":
                return
            text = "".join(self._out.texts["value"])
            self._out.texts["value"].clear()
        if self.ESCAPES_STRINGS:
            text = self._unescape(text)
        if text or not self._quoted:
            self._out.emit("arguments", self._all + '"' * (not self._quoted) + escaped(text))
            self._quoted, self._all = True, ""

    def _read_as(self, text: str) -> str:
        fits = {"array", "object", "number", "integer", "boolean", "null"} & (self._types or frozenset(JSON_TYPES))
        if self.LITERAL_ESCAPES:
            if self.LITERAL_ESCAPES.safe_prefix_end(text) < len(text):
                return ""
            text = self.LITERAL_ESCAPES.unescape(text)
        if not text or text in self.WORDS.prefix:
            return "word" if text else ""
        # A value that can't be a string waits for its end.
        other = "json" if self.RETYPES_VALUES and self._types is not None and "string" not in self._types else "string"
        if text[0] in "[{":
            return "json" if ("array" if text[0] == "[" else "object") in fits else other
        number = text[0] in "+-.0123456789" and NUMBER_PART.fullmatch(text) and fits & NUMBER_TYPES
        return "number" if number else other

    def _end_value(self) -> None:
        self._in_value = False
        text = other = "".join(self._out.texts["value"])
        if self.JSON_VALUES and not self._all and self._is_json(text.strip()):
            return None
        if self.LITERAL_ESCAPES:
            other = self.LITERAL_ESCAPES.unescape(text)
        if self._all:
            whole = nested_json(other.strip()) or ""
            inside, member, self._all = whole[1:-1].strip(), self._all, ""
            if whole[:1] == "{":
                self._read = {inside} if inside else set()  # what counts is whether there are any
                self._note("arguments_in_one", "one argument holds all of them")
                return self._out.emit("arguments", "{" * bool(inside) + inside)
            self._out.emit("arguments", member)
            self._as = self._read_as(text.strip())
        literal, whole, other = None, other, other.strip()
        if self._as not in ("", "string"):
            literal = nested_json(other) if self._as == "json" else literal_of(other, self.WORDS)
        kind, types = KINDS.get((literal or '"')[0], "number"), self._types or JSON_TYPES
        fits = (literal or '"')[0] != '"' and (kind in types or (kind == "number" and "integer" in types))
        odd = kind == "number" and not (literal == other and (other.isdigit() or is_usual_number(other)))
        if self._types is None and (odd or other in self.WORDS.others or other != whole):
            fits = False  # 007 and ` 2` are numbers, and None is null, only if the schema says so
        if self.RETYPES_VALUES and not fits and text.strip():
            fits = (literal := coerced(other, self._types)) is not None
            if fits or (self._types is not None and "string" not in self._types):
                self._note("argument_of_other_type", "an argument is not written as its type is")
                # What has lines or punctuation may contain more of the call than this value.
                self.incomplete = self.incomplete or (not fits and bool(MORE_THAN_VALUE.search(text.strip())))
        if fits and self._by_schema and literal and literal != (literal := in_type(literal, self._by_schema)):
            self._note("argument_of_other_type", "an argument is not written as its type is")
        if literal is None or not fits:
            self._as = "string"
            self._piece(text)
            if self.ESCAPES_STRINGS:
                self._out.emit("arguments", escaped(self._unescape("", over=True)))
            literal = '"'
        return self._out.emit("arguments", literal)

    def _is_json(self, text: str) -> bool:
        """Put out a value that is JSON; return whether it is."""
        literal = begun_json(text) if text else None
        if literal:
            self._out.emit("arguments", literal)
        elif text:
            self._note("arguments_repaired", "arguments: missing quotes")
            self._repaired = True
        return bool(literal)

    def _finish(self) -> None:
        if self._open and self._in_value:
            if self.VALUE_ESCAPES and self._pending_end and not self.ESCAPES_STRINGS:
                self._piece(self._unescape("", over=True))
            if self._out.texts["value"] or self._quoted:
                self._end_value()
            else:
                self._out.emit("arguments", self._all + "null")
        super()._finish()


JSON_TYPES = frozenset(["array", "object", "number", "integer", "boolean", "null", "string"])
