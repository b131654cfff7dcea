"""Read arguments that are pairs of a key and a value.

<k>city</k><v>Paris</v>  →  {"city": "Paris"}
"""

from __future__ import annotations

from .pattern import NAME_LIMIT, ONE_WORD, Pattern
from .repairs import Repairs
from .scanner import SPELLED_OTHERWISE, Match, Scanner, next_char
from .schema import (
    MARKUP_IN_KEYS,
    begins_with_tag,
    is_odd_key,
    keys_of,
    misfit,
    properties_of,
    required_of,
    without_quotes,
)
from .second import (
    MORE_ARGUMENTS,
    PART_OF_MORE,
    Doubts,
    any_styles,
    arguments_of,
    as_json,
    call_in_text,
    json_value,
    tagged,
)
from .values import Reader, RegularReader, escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar


# A pair with this key contains all arguments, if the schema has no such key.
WHOLE_ARGUMENTS = ("arguments", "parameters")
MOST_KEYS = 64  # keys of schemas with more than these aren't searched for
NO_PAIR = "expected an argument or the end of the call"
ENDS_OF_HEADERS = "'\"“”>"  # characters after a name that may be before a key as well
OBJECT = ("object_as_arguments", "an object in the place of arguments")
PAIR_KINDS = ("pair", "end", "skip", "next", "broken")
CLOSERS_OF_CALL = ("tail", "both", "closed", "close")
# A set or a tuple of strings and scalars in Python, and the beginning of one.  Both are bounded.
BEFORE_COLLECTION = frozenset("({ \t\n\r")  # its first character, or white space before it
PYTHON_ITEM = r"""(?:'(?:[^'\\\n]|\\.){0,128}'|"(?:[^"\\\n]|\\.){0,128}"|-?[0-9][\w.]{0,32}|True|False|None)"""
PART_OF_ITEM = r"""(?:'(?:[^'\\\n]|\\.){0,128}(?:'|\\)?|"(?:[^"\\\n]|\\.){0,128}(?:"|\\)?|-?[\w.]{0,32})"""
COMMA = r"\s{0,16},\s{0,16}"
COLLECTION = Pattern(
    rf"\{{\s{{0,16}}{PYTHON_ITEM}(?:{COMMA}{PYTHON_ITEM}){{0,31}}\s{{0,16}},?\s{{0,16}}\}}"
    rf"|\(\s{{0,16}}{PYTHON_ITEM}\s{{0,16}},(?:\s{{0,16}}{PYTHON_ITEM}\s{{0,16}},){{0,31}}\s{{0,16}}{PYTHON_ITEM}?\s{{0,16}}\)"
)
PART_OF_COLLECTION = Pattern(rf"[({{]\s{{0,16}}(?:{PYTHON_ITEM}{COMMA}){{0,32}}(?:{PART_OF_ITEM}\s{{0,16}})?")
# Arguments as in Python of which the first have no keys, up to the bracket after them; each; and the beginning of such.
NO_KEYS = ("positional_arguments", "arguments are written without their keys")
BEFORE_POSITIONAL = frozenset("'\"-0123456789")
KEY_OF_ARGUMENT = r"\w{1,64}\s{0,16}=\s{0,16}"
POSITIONAL = Pattern(
    rf"{PYTHON_ITEM}(?:{COMMA}{PYTHON_ITEM}){{0,31}}(?:{COMMA}{KEY_OF_ARGUMENT}{PYTHON_ITEM}){{0,31}}(?=(\s{{0,16}},?\s{{0,16}})\))"
)
PART_OF_POSITIONAL = Pattern(
    rf"(?:{PYTHON_ITEM}{COMMA}){{0,32}}(?:{KEY_OF_ARGUMENT}{PYTHON_ITEM}{COMMA}){{0,32}}(?:{KEY_OF_ARGUMENT})?{PART_OF_ITEM}\s{{0,16}}[=,]?\s{{0,16}}"
)
ONE_ARGUMENT = Pattern(rf"(?:\s*,\s*)?(?:(\w+)\s*=\s*)?({PYTHON_ITEM})")


def irregular_key(buf: str, start: int, keys: Any, around: Any, final: bool) -> tuple[str, int, int] | None:
    """Return the key of an irregular pair ("" if there is none), its place and its value's; None if undecided.
    `around`: patterns of the text before a key and of the text after it, and the length of the longest such text."""
    head, after, width = around
    for pos in dict.fromkeys([start, next_char(buf, head.match(buf, start).end())]):
        if not final and len(buf) - pos < width + max(map(len, keys), default=0):
            return None
        key = max((key for key in keys if key and buf.startswith(key, pos)), key=len, default="")
        end = after.match(buf, pos + len(key)).end()
        end += buf.startswith(": ", end - 1)  # people write a space after a colon
        if key and not final and len(buf) - end < width:
            return None
        is_bare = end == pos + len(key)
        if key and (not is_bare or (pos > start and buf.startswith("\n", end))):
            return key, pos, end + is_bare
    return "", start, start


def with_list(reader: Reader, buf: str, pos: int, final: bool) -> str | None:
    """Return the text with a list in the place of a set or a tuple in Python, if one begins here; None if more input is
    needed."""
    start = next_char(buf, pos)
    found = COLLECTION.match(buf, start)
    if found is None:
        return None if not final and PART_OF_COLLECTION.fullmatch(buf, start) is not None else buf
    reader._repaired("a set or a tuple as in Python")
    return f"{buf[:start]}[{buf[start + 1 : found.end() - 1]}]{buf[found.end() :]}"


def positional_arguments(buf: str, start: int, name: str, tools: Doubts, final: bool) -> tuple[str, int] | None:
    """Return arguments of which the first have no keys, by the order of the schema, and where they end; "" if there are
    none, None if undecided."""
    found = POSITIONAL.match(buf, start)
    if found is None:
        return None if not final and PART_OF_POSITIONAL.fullmatch(buf, start) is not None else ("", start)
    keys, pos = properties_of(tools[name]), start
    members: dict[str, Any] = {}
    while pos < found.end():
        each = ONE_ARGUMENT.match(buf, pos)
        key = each[1] or "".join(keys[len(members) : len(members) + 1])
        value, size = json_value(each[2], 0, tools)
        if not key or key in members or size < len(each[2]):
            return "", start
        members[key], pos = value, each.end()
    tools.is_guessed = True
    fits = (misfit(members, tools[name]) or ("inside",))[0] == "inside"  # quotes show that a key in a text is none
    return (as_json(members), found.end(1)) if fits else ("", start)


def object_and_more(text: str, name: str, tools: Doubts) -> tuple[str, int] | None:
    """Return the arguments in an object and in the keywords after it, and where they end, before a bracket; None if
    there is anything else."""
    call, size = call_in_text(f"{name}({text}", 0, tools)
    given = None if call is None else arguments_of(name, call["arguments"], tools)
    end = size - len(name) - 1
    return None if given is None or MORE_ARGUMENTS.match(text, end) else (given, end - (text[end - 1] == ")"))


class Pairs(Repairs):
    BETWEEN: ClassVar[Scanner]  # pair, end (consumed), next (not consumed), and others (skipped)
    PAIR: ClassVar[Sequence[Any]]
    PAIR_OPENS: ClassVar[bool] = True  # a pair begins with a marker of its own
    ARGUMENTS_BEGIN: ClassVar[Any] = None  # as CALL_BEGINS, for the arguments alone
    RESUMES: ClassVar[bool] = False  # and that marker alone shows, after text that is no pair, that a pair begins
    KEY_ESCAPES: ClassVar[Any] = None  # texts that stand for characters in keys
    ODD_NAMES: ClassVar[bool] = True
    AROUND_KEY: ClassVar[Any] = ()  # the texts before a key and after it, of which some may be missing
    VALUE_OPENER: ClassVar[Any] = None  # the marker between a key's own end and its value
    ELEMENTS_FIRST: ClassVar[bool] = False  # tags may lack the word with which the template's own begin
    VALUE_CLOSE: ClassVar[tuple[str, ...]] = ()  # of values, before and after the key, if the closing marker repeats it
    DAMAGED: ClassVar[Any] = None  # matches arguments with what a slip in a marker leaves at the edges of a value
    _read: set[str]  # the keys of the call
    _nothing_follows = False  # no pair and no end of a call, up to the output's end
    _ends_in_text = False  # text that is no pair ends the pairs, and was reported
    _begin_value: ClassVar[Callable[[Any, str, str], None]]

    def _begin_arguments(self) -> None:
        self._ends_in_text, self._read = False, set()
        self._state = type(self)._pairs

    def _expected_arguments(self, pos: int, name: str) -> str:
        buf, start = self._buf, next_char(self._buf, pos)
        mark = self.BETWEEN.match_at(buf, start)
        if mark is not None:
            return "more" if self._may_be_longer(self.BETWEEN, start, mark.end) else ""
        if start == len(buf):
            return "" if self._final else "more"
        if self.CALL_BEGINS and name in self._tools:
            expected = self._expected_pair(start, properties_of(self._tools[name]))
            if expected is not None:
                return expected
        return self._expected_unless_closed("an argument", start, self.BETWEEN.prefix_of(buf, start) != "")

    def _expected_pair(self, start: int, keys: Sequence[str]) -> str | None:
        """Return what was expected where no pair begins, in any form; None if only a call's end may follow."""
        if self.AROUND_KEY:
            found = irregular_key(self._buf, start, keys, self.AROUND_KEY, self._final)
            if found is None or found[0]:
                return "more" if found is None else ""
        if not self.PAIR_OPENS:
            return self._expected_key(start, keys)
        return "" if self._buf[start] in "{<" else None

    def _expected_key(self, start: int, keys: Sequence[str]) -> str:
        """Return what was expected where a word is no key as the template writes it, and no known one either."""
        buf, begun = self._buf, self.ARGUMENTS_BEGIN.match(self._buf, start)
        if begun is not None:
            return "" if self._final or begun.lastindex else "more"
        key = max((key for key in keys if buf.startswith(key, start)), key=len, default="")
        at = next_char(buf, start + len(key))
        if at == len(buf) or (not key and any(key.startswith(buf[start : start + len(key) + 1]) for key in keys)):
            return "" if self._final else "more"
        if key:
            return "" if self.BETWEEN.match_at(buf, at) is None else "an argument"
        return "" if ONE_WORD.match(buf, start) is None or buf[start] in BEFORE_POSITIONAL else "an argument"

    def _header_may_continue(self, pos: int) -> bool:
        return super()._header_may_continue(pos) or self.BETWEEN.prefix_of(self._buf, pos) != ""

    def _opens_arguments(self, pos: int) -> bool:
        before = self.AROUND_KEY[0].match(self._buf, pos, pos + NAME_LIMIT).end() if self.AROUND_KEY else pos
        is_irregular = before > pos and self._buf[pos] not in ENDS_OF_HEADERS
        return is_irregular or self.BETWEEN.match_at(self._buf, pos) is not None or self._buf.startswith("{", pos)

    def _pairs(self) -> bool:
        # arguments = (pair | separator)* end
        kind = self._next(self.BETWEEN, self.USUAL_PAIR)
        if kind is None:
            return False
        if kind in ("skip", "end"):
            if self.OTHER_SPELLINGS and self._mark.ambiguous:  # most are spelled as the template does
                self._note_spelling()
            self._pos = self._mark.end
        if kind == "skip":
            self._space = ""
            return True
        if not kind and self._final and self.BETWEEN.prefix_of(self._buf, next_char(self._buf, self._pos), PAIR_KINDS):
            return self._drop_truncated_call()
        # Most keys begin with a letter: a pair without an opener costs no more then.
        if kind == "" and self.GARBLED and not self._buf[self._pos : self._pos + 2].strip()[:1].isalnum():
            garbled = self._closes_garbled()
            if garbled is None:
                return False
            kind = "next" if garbled else kind
        is_first = self.REREADS_CALLS and not self._read and self._tools and kind == ""
        if is_first and (other := self._object_for_pairs()) is not None:
            return other
        if kind in ("end", "next"):
            return self._end_pairs(kind)
        if self.PAIR_OPENS and kind != "pair":
            if self.AROUND_KEY and self._tools and (other := self._irregular_pair()) is not None:
                return other
            return self._no_pair()
        return self._pair(self._mark.end if self.PAIR_OPENS else self._pos, ", " if self._read else "{")

    def _object_for_pairs(self) -> bool | None:
        """Read a JSON object, or elements named by keys, in the place of all pairs; return None if there is neither."""
        buf, start, name = self._buf, next_char(self._buf, self._pos), self._out.calls[-1][0]
        if not self._final and buf[start : start + 3] in ("*", "**"):
            return False
        start += 2 * buf.startswith("**{", start)
        if not self.PAIR_OPENS and buf[start : start + 1] in BEFORE_POSITIONAL and name in self._tools:
            doubts = Doubts(self._tools)
            found = positional_arguments(buf, start, name, doubts, self._final)
            if found is None or not found[0]:
                return None if found else False
            self._note(*NO_KEYS)
            return self._read_whole(*found, doubts)
        if buf[start : start + 1] not in ("{", "<") or name not in self._tools:
            return None
        if buf[start] == "{":
            if not self.PAIR_OPENS and (more := self._object_and_more(start, name)) is not None:
                return more
            return self._in_an_object(start, Reader(any_styles(), self.BREAKS), OBJECT)
        tag = begins_with_tag(buf, start, self._schema())
        if tag:
            is_pair = self.AROUND_KEY and tag == "attribute" and not self.ELEMENTS_FIRST
            other = self._irregular_key(start) if is_pair else ("", 0, 0)
            return False if other is None else None if other[0] else self._elements(start, name)
        return False if not self._final and len(buf) - start < NAME_LIMIT and ">" not in buf[start:] else None

    def _object_and_more(self, start: int, name: str) -> bool | None:
        """Read an object with keywords after it; return None if there are none."""
        buf, reader = self._buf, Reader(any_styles(), self.BREAKS)
        end = reader.read(buf, start, self._final)
        if not self._final and (reader.want or PART_OF_MORE.fullmatch(buf, end)):
            return False
        if MORE_ARGUMENTS.match(buf, end) is None:
            return None
        mark = self.BREAKS.find(buf, start)
        if not self._final and not self.BREAKS.is_decided(mark, buf, start):
            return False
        doubts = Doubts(self._tools, mark is None)
        found = object_and_more(buf[start : None if mark is None else mark.start], name, doubts)
        if found is None:
            self.incomplete = True
            return None
        self._note(*OBJECT)
        return self._read_whole(found[0], start + found[1], doubts)

    def _elements(self, start: int, name: str) -> bool | None:
        buf, mark = self._buf, self.BREAKS.find(self._buf, start)
        if not self._final and not self.BREAKS.is_decided(mark, buf, start):
            return False
        end, doubts = len(buf) if mark is None else mark.start, Doubts(self._tools, mark is None)
        found, size = tagged(buf[start:end], name, doubts)
        if start + size < end:
            return None
        self._note(*OBJECT)
        return self._read_whole(as_json(found), end, doubts)

    def _pair(self, start: int, comma: str) -> bool:
        # pair = PAIR_START key KEY_END (value)
        values, end, expected = self._slots(start, self.PAIR)
        if expected == "more":
            return False
        if self.KEY_ESCAPES and not expected:
            values["key"] = self.KEY_ESCAPES.unescape(values["key"])
        schema = self._schema() if self._tools else None
        odd = self._tools and (expected or is_odd_key(values["key"], schema))
        if self.AROUND_KEY and odd and (other := self._irregular_pair()) is not None:
            return other
        if expected == "end" and not (self.RESUMES and self._after_no_pair()):
            return self._drop_truncated_call()
        if expected:
            return self._no_pair()
        key = values["key"]
        odd = odd or not (self._tools or MARKUP_IN_KEYS.isdisjoint(key))
        bare = without_quotes(key, schema) if schema and self.REREADS_CALLS else key
        if self._slot_diagnostics or odd or self._mark.ambiguous >= SPELLED_OTHERWISE or key != bare:
            self._pos = next_char(self._buf, self._pos)  # diagnostics are about the pair, in any chunking
            if self.OTHER_SPELLINGS and self.PAIR_OPENS:
                self._note_spelling()
            self._note_slot_diagnostics()
        if odd:
            self._note_damage("markup_in_key", "an argument has a name that holds markup")
        if key != bare:
            self._note("key_in_quotes", f"the argument {bare} is written as {key}")
            key, self._repaired = bare, True
        self._pos = end
        self._out.emit("arguments", self._key_of(comma, key))
        self._begin_value(key, values.get("type", ""))
        return True

    def _irregular_pair(self) -> bool | None:
        """Read a pair with another opener or key end, or without one, if the schema knows the key; None otherwise."""
        start = next_char(self._buf, self._pos)
        found = self._irregular_key(start)
        if found is None:
            return False
        key, at, end = found
        if not key:
            return None
        self._pos = start  # diagnostics are about the pair, in any chunking
        if self.PAIR_OPENS and at == start:
            self._note_damage("argument_not_opened", f"the argument {key} is not opened")
        else:
            self._note("other_form_of_argument", f"the argument {key} is not written as the template does")
            # A line end in the place of the key's end.
            self.incomplete = self.incomplete or self._buf[at + len(key) : end] == "\n"
        if self.VALUE_OPENER is not None and self.VALUE_OPENER.search(self._buf, at + len(key), end) is None:
            self.incomplete = True
        self._repaired = True
        ends = self.PAIR[-1][1].markers
        self._pos, self._space = end, ends[0][3] if ends else ""
        self._out.emit("arguments", self._key_of(", " if self._read else "{", key))
        self._begin_value(key, "")
        return True

    def _irregular_key(self, start: int) -> tuple[str, int, int] | None:
        return irregular_key(self._buf, start, properties_of(self._schema()), self.AROUND_KEY, self._final)

    def _no_pair(self) -> bool:
        return self._skip_text() if self.RESUMES else self._end_pairs("")

    def _skip_text(self) -> bool:
        # Text that is no pair is content, up to the next pair or the end of the call; if there is none, the call ends.
        start, mark = next_char(self._buf, self._pos), self._after_no_pair()
        if mark is None:
            return self._final and self._end_pairs("")
        self._note_damage("no_argument", NO_PAIR)
        self._pos, self._space = start, ""
        self._text("content", start + len(self._buf[start : mark.start].rstrip()))
        return True

    def _after_no_pair(self) -> Match | None:
        """Return the next pair, or the end of the call, after text that is no pair."""
        buf, marks, start = self._buf, self.BETWEEN, next_char(self._buf, self._pos) + 1
        mark = None if self._nothing_follows else marks.find(buf, start)
        while mark is not None and mark.kind == "skip":
            mark = marks.find(buf, mark.end)
        self._nothing_follows = self._final and mark is None
        return mark if self._final or marks.is_decided(mark, buf, start) else None

    def _key_of(self, comma: str, key: str) -> str:
        """Return the beginning of a member, and report a key that was read before."""
        if key in self._read:
            self._note_damage("repeated_argument", f"the argument {key} comes again")
        self._read.add(key)
        return comma + '"' + escaped(key) + '": '

    def _note_following_text(self) -> None:
        if not self._ends_in_text:
            super()._note_following_text()

    def _end_pairs(self, kind: str) -> bool:
        if not kind and self._final and next_char(self._buf, self._pos) == len(self._buf):
            return False
        if self.CALLS_ARE_JUXTAPOSED and not kind and "\n" in self._buf[self._pos : next_char(self._buf, self._pos)]:
            kind = "next"  # another call may begin in the next line
        end = self._buf[self._mark.start : self._mark.end] if self._mark.kind == "next" else ""
        may_be_open = self.CALLS_HAVE_CLOSER and kind == "next" and self._tools and not end.endswith(self.LAST_CLOSERS)
        if may_be_open and not self._read.issuperset(required_of(self._schema())):
            start = next_char(self._buf, self._pos)
            mark = self.AFTER_CALL.match_at(self._buf, start)
            if not self._final and (self.AFTER_CALL.prefix_of(self._buf, start) if mark is None else mark.ambiguous):
                return False
            if mark is None or mark.kind not in CLOSERS_OF_CALL:
                self._note_damage("no_arguments", "a call ends without its closer and a required argument")
        if not kind:
            self._note_damage("no_argument", NO_PAIR)
        self._ends_in_text = not kind
        self._close_call("}" if self._read else "{}")
        if self.DAMAGED and not self.incomplete:
            arguments = "".join([*self._out.texts["arguments"], *self._out._pieces])
            self.incomplete = self.DAMAGED.match(arguments) is not None
        return True

    def _finish(self) -> None:
        super()._finish()
        if self._open:
            self._out.emit("arguments", "}" if self._read else "{}")


class QuotedPairs(Pairs):
    """Reads pairs whose values are written in a dialect with quotes: city='Paris'."""

    FOLLOW: ClassVar[tuple[Pattern, Pattern]]
    _closer = ""
    _all = ""  # the text not yet emitted of a pair that may contain all arguments

    def _key_of(self, comma: str, key: str) -> str:
        member = super()._key_of(comma, key)
        if comma != "{" or key not in WHOLE_ARGUMENTS:
            return member
        known = keys_of(self._schema(), self._schema())
        self._all = member if known and key not in known and len(known) <= MOST_KEYS else ""
        return "" if self._all else member

    def _begin_value(self, key: str, word: str) -> None:
        self._reader = RegularReader(self.STYLES, self.BREAKS)
        self._reader.follow = self.FOLLOW
        if self.VALUE_CLOSE:
            self._closer = key.join(self.VALUE_CLOSE).strip()
        self._state = type(self)._value

    def _value(self) -> bool:
        reader = self._reader
        if reader is None:
            return False
        first = self._buf[self._pos : self._pos + 1]
        is_first = reader.want == "value" and reader.string is None and not reader.stack
        if is_first and reader.style.is_python and first in BEFORE_COLLECTION:
            text = with_list(reader, self._buf, self._pos, self._final)
            if text is None:
                return False
            self._buf = text
        self._pos, self._wanted = reader.read(self._buf, self._pos, self._final), reader.wanted
        if self._all and reader.want:
            return False
        if self._all:
            self._emit_whole(reader.take())
        else:
            self._out.emit("arguments", reader.take())
        if not self._value_has_ended(reader):
            return False
        self._state = type(self)._closed_value if self.VALUE_CLOSE else type(self)._pairs
        return True

    def _closed_value(self) -> bool:
        start = next_char(self._buf, self._pos)
        rest = self._buf[start : start + len(self._closer)]
        if not self._final and self._closer != rest and self._closer.startswith(rest):
            return False
        self._pos = start + len(self._closer) if self._closer == rest else self._pos
        self._state = type(self)._pairs
        return True

    def _emit_whole(self, text: str) -> None:
        member, self._all = self._all, ""
        if text[:1] == "{" and member:
            inside, member = text[1:-1].strip(), ""
            text = "{" * (inside != "") + inside
            self._read = {inside} if inside else set()  # what counts is whether there are any
            self._note("arguments_in_one", "one argument holds all of them")
        self._out.emit("arguments", member + text)

    def _finish(self) -> None:
        if self._open and self._reader is not None:
            self._emit_whole(self._reader.close())
        super()._finish()
