"""Readers of what no grammar describes: values and calls that are not written as the template writes them.

    Readers(format, tools).value('{"a": [1, 2 </call>', 0)  →  20, where the value ends

The generated parsers read with the same classes (`Reader`, `CallReader`) and the same second reading (`second`); here
they read a text that is whole.  A method takes the text and a position, as rules of parsimonious do that are functions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Optional

from .callobjects import IRREGULAR_ARGUMENTS, NO_NAME, CallReader
from .machine import CLOSER_KINDS
from .pairs import ENDS_OF_HEADERS
from .pattern import NAME_LIMIT, Pattern
from .repairs import ENDS_OF_CALLS, LEFT_OVER_BRACKET, irregular_header, is_empty_object
from .scanner import NO_MARKERS, Scanner, next_char
from .schema import Parameters, begins_with_tag, is_odd_key, keys_of, properties_of, tool_named
from .second import (
    FIRST_KEY,
    NO_BRACE,
    Doubts,
    any_styles,
    arguments_after,
    arguments_at,
    arguments_in,
    arguments_of,
    as_json,
    calls_up_to,
    closed,
    is_wrapper,
    loaded,
    may_be_calls,
    misfit_in,
    tagged,
)
from .unopened import unopened_calls
from .values import Reader, Style, escaped, text_of, unwrapped

if TYPE_CHECKING:
    from collections.abc import Mapping

Styles = tuple[Style, Style, Style]
NEVER, NO_TEXTS = Pattern(r"\Z"), Pattern("(?!)")


class Value(NamedTuple):
    """A value as JSON, where it ends, and what closes it if the output's end cuts it."""

    text: str
    end: int
    closing: str = ""
    repaired: bool = False
    guessed: bool = False


class CallOfObject(NamedTuple):
    """What an object says as a call.  `expected`: it is none, for this did not come before `end`; "end": the output
    ends before the name."""

    end: int
    name: str = ""
    identity: Optional[str] = None
    arguments: str = "{}"
    content: str = ""
    begins: int = 0
    incomplete: bool = False
    expected: str = ""


@dataclass
class OtherSpelling:
    """How a format writes calls: what its readers need to know."""

    styles: Styles
    breaks: Scanner = NO_MARKERS
    follow: tuple[Pattern, Pattern] = (NEVER, NEVER)
    fields: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    closers: tuple[str, ...] = ()
    after_call: Scanner = NO_MARKERS
    in_content: Scanner = NO_MARKERS
    between: Optional[Scanner] = None
    header_texts: Pattern = NO_TEXTS
    id_prefix: str = ""
    around_key: Optional[tuple[Pattern, Pattern]] = None
    damaged: Optional[Pattern] = None
    pairs_open: bool = True
    is_distinct: bool = True
    names_alike: bool = True
    reads_again: bool = True
    garbled: Pattern = NO_TEXTS  # closers with the right letters and other brackets
    is_closed: bool = False  # a call that is no object has a closer


class Readers:
    """The readers of a format, for the tools of one request."""

    def __init__(self, spelled: OtherSpelling, tools: Parameters) -> None:
        self.spelled, self.tools = spelled, tools
        self.objects: dict[int, CallOfObject] = {}
        self.doubts = Doubts(tools)  # of the last reading
        self.text = ""

    # Values

    def value_at(self, text: str, pos: int) -> Value:
        return _read(Reader(self.spelled.styles, self.spelled.breaks), text, pos)

    def followed_at(self, text: str, pos: int) -> Value:
        reader = Reader(self.spelled.styles, self.spelled.breaks)
        reader.follow = self.spelled.follow
        return _read(reader, text, pos)

    def value(self, text: str, pos: int) -> Optional[int]:
        """Return an object, or a string that may hold one."""
        style = self.spelled.styles[0]
        match = style.token.match(text, pos) if pos < len(text) else None
        is_value = match is not None and style.tokens.get(match.group(), "") in ("{", '"')
        return self.value_at(text, pos).end if is_value else None

    def followed(self, text: str, pos: int) -> Optional[int]:
        return self.followed_at(text, pos).end

    # Calls that are objects

    def named_object(self, text: str, pos: int) -> Optional[int]:
        found = self.object_at(text, pos)
        return None if found.expected else found.end

    def nameless_object(self, text: str, pos: int) -> Optional[int]:
        """Return the end of an object that is not a call, up to the place where that becomes certain."""
        found = self.object_at(text, pos)
        return found.end if found.expected not in ("", "end") else None

    def cut_object(self, text: str, pos: int) -> Optional[int]:
        if not self.spelled.fields:
            cut = self.value_at(text, pos) if text.startswith("{", pos) else None
            return cut.end if cut is not None and cut.closing else None
        found = self.object_at(text, pos)
        return found.end if found.expected == "end" else None

    def object_at(self, text: str, pos: int) -> CallOfObject:
        if text is not self.text:
            self.text, self.objects = text, {}
        if pos not in self.objects:
            self.objects[pos] = _ObjectCall(self, text, pos).read()
        return self.objects[pos]

    # Second readings

    def other_calls(self, text: str, pos: int) -> Optional[int]:
        """Calls that are not written as the template does, up to a marker that is in none."""
        found, end = self.others_at(text, pos)
        return end if found else None

    def others_at(self, text: str, pos: int) -> tuple[list[tuple[str, str]], int]:
        """Return the calls that begin here, and where they end."""
        if not (self.tools and self.spelled.reads_again and may_be_calls(text[pos : pos + NAME_LIMIT], self.tools)):
            return [], pos
        if self.spelled.fields and self.object_at(text, pos).expected in ("", "end"):
            return [], pos
        found, end, self.doubts = calls_up_to(self.spelled.breaks.find(text, pos), text, pos, self.tools)
        return found, end

    def unopened(self, text: str, pos: int) -> Optional[int]:
        """Return the end of calls that no marker opens."""
        found = self.unopened_at(text, pos)
        return found[1] if found[0] else None

    def unopened_at(self, text: str, pos: int) -> tuple[list[tuple[str, str, Optional[str]]], int]:
        self.doubts = Doubts(self.tools)
        found = unopened_calls(text, pos, True, self.tools, self.spelled.in_content, self.spelled.breaks)
        return found or ([], pos)

    def up_to_marker(self, text: str, pos: int) -> tuple[int, Doubts]:
        """Return where the next marker that is in no call begins, or the text ends, and the tools of a reading up to
        there."""
        mark = self.spelled.breaks.find(text, pos)
        return len(text) if mark is None else mark.start, Doubts(self.tools, mark is None)

    def other_header(self, text: str, pos: int) -> tuple[str, int]:
        """Return the tool that an irregular header names, and where its arguments begin; ("", 0) if there is none."""
        return irregular_header(_Header(self.spelled, text), text, pos, self.tools, True) or ("", 0)

    def other_pair(self, name: str, text: str, pos: int) -> Optional[tuple[str, int, bool]]:
        """Return the key of a tool's pair in another form than the template's, where its value begins, and whether it
        has an opener."""
        if self.spelled.around_key is None or not self.spelled.reads_again:
            return None
        (before, after), start = self.spelled.around_key, next_char(text, pos)
        for at in dict.fromkeys([start, next_char(text, before.match(text, start).end())]):
            keys = [key for key in properties_of(self.tools.get(name)) if key and text.startswith(key, at)]
            key = max(keys, key=len, default="")
            end = after.match(text, at + len(key)).end()
            if key and end > at + len(key):
                return key, end, at > start or not self.spelled.pairs_open
            if key and at > start and text.startswith("\n", end):
                return key, end + 1, False
        return None

    def odd_pair(self, name: str, key: str, text: str, pos: int) -> bool:
        """Return whether a pair of a tool has an odd key, and may be read by the schema's key instead."""
        return is_odd_key(key, self.tools.get(name)) and self.other_pair(name, text, pos) is not None

    def object_for_pairs(self, name: str, text: str, pos: int) -> Optional[tuple[str, int]]:
        """Return the arguments in a JSON object in the place of all pairs of a tool, and where it ends; None where a
        pair or the call's end begins."""
        mark = self.spelled.between.match_at(text, pos) if self.spelled.between is not None else None
        pos += 2 * text.startswith("**{", pos)
        if mark is not None or not self.spelled.reads_again:
            return None
        if text.startswith("<", pos):
            return self._elements(name, text, pos) if begins_with_tag(text, pos, self.tools.get(name)) else None
        return self._in_an_object(name, Reader(any_styles()), text, pos) if text.startswith("{", pos) else None

    def _elements(self, name: str, text: str, pos: int) -> Optional[tuple[str, int]]:
        end, self.doubts = self.up_to_marker(text, pos)
        found, size = tagged(text[pos:end], name, self.doubts)
        return (as_json(found), end) if pos + size == end else None

    def _in_an_object(self, name: str, reader: Reader, text: str, pos: int) -> Optional[tuple[str, int]]:
        end = reader.read(text, pos, True)
        self.doubts = Doubts(self.tools, end == len(text))
        found = arguments_of(name, closed(reader, self.doubts), self.doubts)
        return None if found is None else (found, end)

    def other_arguments(self, name: str, text: str, pos: int) -> Optional[tuple[str, int]]:
        """Return the arguments of a tool in another form, and the next marker, before which they end."""
        pos = next_char(text, pos)
        regular = text[pos : pos + 1] in ("{", '"', "") and NO_BRACE.match(text[pos : pos + 128]) is None
        if regular or not self.spelled.reads_again or self.spelled.after_call.match_at(text, pos) is not None:
            return None
        end, self.doubts = self.up_to_marker(text, pos)
        found = arguments_in(name, text[pos:end], self.doubts)
        return None if found is None else (found, end)

    def lacks_object(self, text: str, pos: int) -> bool:
        """Return whether other text is in the place of arguments that are one object."""
        at = next_char(text, pos)
        mark = self.spelled.after_call.match_at(text, at)
        other = at < len(text) and (mark is None or mark.kind not in CLOSER_KINDS)
        return other and self.spelled.between is None

    def text_follows(self, arguments: str, text: str, pos: int, end: int) -> bool:
        """Return whether text that could be the arguments that a call lacks is in the place of its closer, or follows
        the bracket at the call's end."""
        if is_empty_object(arguments) and text.startswith(")(", end - 1):
            return self.spelled.after_call.match_at(text, end) is None
        at = next_char(text, pos)
        if at == len(text) or not self.spelled.is_closed or not is_empty_object(arguments):
            return False
        if self.closes_garbled(text, at):
            return False
        return self.spelled.after_call.match_at(text, at) is None and LEFT_OVER_BRACKET.match(text, at) is None

    def closes_garbled(self, text: str, pos: int) -> bool:
        """Return whether a garbled closer is here, and then the end of the calls."""
        garbled = self.spelled.garbled.match(text, pos)
        if garbled is None:
            return False
        at = next_char(text, garbled.end())
        mark = self.spelled.after_call.match_at(text, at)
        return at == len(text) or (mark is not None and mark.kind in ENDS_OF_CALLS)

    def in_string(self, name: str, text: str) -> tuple[Optional[str], bool]:
        """Return an object in JSON, or the object in a JSON string, and whether it is cut, or repaired in vain."""
        reader = None if text[:1] == "{" else unwrapped(text, self.spelled.styles)
        if reader is None:
            return text if text[:1] == "{" else None, False
        is_doubtful, repair, found = reader.want != "" or reader.is_guessed, reader.repair, reader.close()
        return found, is_doubtful or (repair != "" and not self.fits(name, found))

    def fits(self, name: str, arguments: str) -> bool:
        """Return whether the schema of a tool allows repaired arguments."""
        return not self.tools or misfit_in(arguments, self.tools.get(name)) is None

    def call_within(self, name: str, text: str, doubts: Doubts) -> Optional[str]:
        """Return the arguments inside another object before the name; "" if they are another tool's, None if there are
        none."""
        keys = keys_of(self.tools.get(name), self.tools.get(name))
        if not self.spelled.reads_again or text[:1] != "{" or keys is None:
            return None
        found = json.loads(text)
        return None if keys.intersection(found) or not found else arguments_of(name, loaded(text), doubts) or ""

    def is_wrapped(self, name: str, text: str, pos: int = 0) -> bool:
        """Return whether the first key of an object shows that it may be around the arguments."""
        return self.spelled.reads_again and is_wrapper(FIRST_KEY.match(text, pos), name, self.tools)

    def within(self, name: str, text: str, pos: int) -> Optional[str]:
        """Return the arguments inside another object; None if there are none."""
        if not self.is_wrapped(name, text, pos):
            return None
        found = self._in_an_object(name, Reader(self.spelled.styles, self.spelled.breaks), text, pos)
        return None if found is None else found[0]


def _read(reader: Reader, text: str, pos: int) -> Value:
    end = reader.read(text, pos, True)
    repaired = bool(reader.repair)
    return Value(reader.take(), end, reader.close(), repaired, reader.is_guessed)


class _Header:
    """What `irregular_header` asks a parser, of a text that is whole."""

    def __init__(self, spelled: OtherSpelling, text: str) -> None:
        self.spelled, self.text = spelled, text
        self.HEADER_TEXTS, self.AFTER_CALL = spelled.header_texts, spelled.after_call

    def _arguments_begin(self, pos: int) -> bool:
        mark = self.AFTER_CALL.match_at(self.text, pos)
        if mark is not None and mark.kind in CLOSER_KINDS:
            return True
        between, around = self.spelled.between, self.spelled.around_key
        if between is not None:
            before = around[0].match(self.text, pos).end() if around is not None else pos
            is_irregular = before > pos and self.text[pos] not in ENDS_OF_HEADERS
            return is_irregular or between.match_at(self.text, pos) is not None or self.text.startswith("{", pos)
        match = self.spelled.styles[0].token.match(self.text, pos)
        return match is not None and self.spelled.styles[0].tokens.get(match.group(), "") == "{"


class _ObjectCall:
    """The reading of one object as a call: as `CallObjects` reads one, of a text that is whole."""

    def __init__(self, readers: Readers, text: str, start: int) -> None:
        self.readers, self.spelled, self.tools = readers, readers.spelled, readers.tools
        self.early = self.has_unknown = self.repaired = self.loses_call = False
        self.text, self.pos, self.start = text, start, start
        self.reader = CallReader(self.spelled.styles, self.spelled.breaks)
        self.reader.fields = self.spelled.fields
        self.doubts = Doubts(self.tools)
        self.name: Optional[str] = None
        self.identity: Optional[str] = None
        self.arguments: Optional[str] = None
        self.flat_members: list[str] = []
        self.content: list[str] = []
        self.others: list[str] = []
        self.begins = 0
        self.expected = ""

    def read(self) -> CallOfObject:
        reader, more = self.reader, True
        while more and not self.expected:
            self._irregular_arguments()
            self.pos = reader.read(self.text, self.pos, True)
            more, reader.pause, event, reader.event = reader.pause, False, reader.event, ""
            if self.name is None and reader.repair and not self.spelled.is_distinct:
                self.expected = "the object of a call"
                break
            if reader.role == "arguments" and not self.begins:
                self.begins = self.pos
            if event:
                self._member(event)
        if self.expected:
            return CallOfObject(self.pos, expected=self.expected)
        incomplete = bool(reader.want)
        if self.name is None:
            return self._without_name()
        if incomplete:
            self._end_truncated_object()
        return self._call(incomplete)

    def _irregular_arguments(self) -> None:
        reader, readers = self.reader, self.readers
        waits = self.name is not None and reader.want == "colon" and self.arguments is None and bool(self.tools)
        if not waits or not self.spelled.reads_again or reader._role_here() != "arguments":
            return
        found = IRREGULAR_ARGUMENTS.match(self.text, self.pos)
        if found is None or found[1] is None:
            return
        end, doubts = readers.up_to_marker(self.text, found.start(1))
        arguments = arguments_at(self.name or "", self.text[found.start(1) : end], doubts)
        if arguments is not None:
            self.doubts = doubts
            self.arguments, self.begins, self.repaired = arguments[0], found.start(1), True
            self.pos, reader.want = found.start(1) + arguments[1], "comma"

    def _member(self, event: str) -> None:
        reader, fields = self.reader, self.spelled.fields
        text = "" if event == "key" else reader.take().removeprefix('"": ')
        is_text = text[:1] == '"'
        if event == "key" and fields.get(("*",)) and len(reader.stack) == 1 and self.name is None:
            return self._accept_name(reader.path[0])
        if event == "key" and self.name is None and not self.spelled.is_distinct:
            path = tuple(reader.path)
            if not any(one[: len(path)] == path for one in fields):
                self.expected = "a known field"
            return None
        usual = len(reader.path) == len(next(iter(fields)))
        if event == "name" and self.name is None and (is_text or usual):
            return self._accept_name(text_of(text) if is_text else "")
        if event == "id" and self.identity is None:
            self.identity = text_of(text) if is_text else text
        elif event == "other" and self.spelled.reads_again and self._is_argument():
            self.flat_members.append(f'"{escaped(reader.path[0])}": {text}')
        elif event == "arguments" and self.arguments is None and not self.flat_members:
            self.arguments = text
            self.early = self.name is None
        elif event != "key":
            self.has_unknown = self.has_unknown or text not in ("null", '""')
            self.loses_call |= event == "arguments" and ("*",) in fields
            self.others += [text] * (event == "other" and text[:1] in ("{", "[", '"'))
        return None

    def _accept_name(self, name: str) -> None:
        if not name.strip() or ("\n" in name and name not in self.tools):
            self.expected = "a name"
            return
        if self.spelled.names_alike:
            name = tool_named(name, self.tools)
        unknown = bool(self.tools) and name not in self.tools
        odd = self.spelled.reads_again and unknown and not NO_NAME.isdisjoint(name)
        if odd or (unknown and not self.spelled.is_distinct):
            self.expected = "the name of a tool"
        else:
            self.name = name

    def _is_argument(self) -> bool:
        if self.name is None or self.arguments is not None or len(self.reader.path) != 1:
            return False
        schema = self.tools.get(self.name)
        return self.reader.path[0] in (keys_of(schema, schema) or ())

    def _without_name(self) -> CallOfObject:
        if not self.reader.want:
            return CallOfObject(self.pos, expected="a name")
        text = self.text[self.start :]
        closed = any(closer.strip() in text for closer in self.spelled.closers)
        return CallOfObject(len(self.text), expected="the rest of the call" if closed else "end")

    def _end_truncated_object(self) -> None:
        """Handle an output that ends inside the object."""
        reader = self.reader
        role = reader.role
        if role == "arguments" and self.arguments is None:
            reader.stack, reader.depth = reader.stack[reader.depth :], 0
            reader.out = [reader.close()]
        if role in ("arguments", "other"):
            self._member(role)

    def _call(self, incomplete: bool) -> CallOfObject:
        arguments = "{" + ", ".join(self.flat_members) + "}"
        content = ""
        name, again, doubts = self.name or "", self.spelled.reads_again, self.doubts
        doubts.is_guessed |= incomplete
        if self.arguments is None and not self.flat_members and again and len(self.others) == 1 and not incomplete:
            self.arguments = arguments_of(name, loaded(self.others[0]), doubts)
            self.early = False
        incomplete = incomplete or (self.arguments is None and self.has_unknown and not self.flat_members)
        alone = self.arguments is None and not (
            self.flat_members or self.has_unknown or incomplete or self.reader.repair
        )
        if alone and again and self.tools:
            following, self.pos = arguments_after(name, self.text, self.pos, self.tools, True) or ("", self.pos)
            self.arguments = following or None
        if self.early and self.arguments is not None:
            inner = self.readers.call_within(name, self.arguments, doubts)
            incomplete = incomplete or inner == ""
            self.arguments = inner or self.arguments
        elif self.arguments is not None and self.readers.is_wrapped(name, self.arguments):
            self.arguments = arguments_of(name, loaded(self.arguments), doubts) or self.arguments
        if self.arguments is not None:
            inside, doubtful = self.readers.in_string(name, self.arguments)
            incomplete = incomplete or doubtful
            if inside is None and again and self.arguments[:1] in ("[", '"'):
                inside = arguments_of(name, loaded(self.arguments), doubts)
            if inside is None and self.arguments not in ("null", '""'):
                content, incomplete = self.arguments, True
            arguments = "{}" if inside is None else inside
        repaired = self.repaired or bool(self.reader.repair)
        incomplete = incomplete or doubts.is_guessed or self.reader.is_guessed or self.loses_call
        incomplete = incomplete or (repaired and not self.readers.fits(name, arguments))
        return CallOfObject(self.pos, self.name or "", self.identity, arguments, content, self.begins, incomplete)
