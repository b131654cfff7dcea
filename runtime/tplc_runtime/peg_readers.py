"""Readers of what no grammar describes: values and calls that are not written as the template writes them.

    Readers(format, tools).value('{"a": [1, 2 </call>', 0)  →  20, where the value ends

The generated parsers read with the same classes (`Reader`, `CallReader`) and the same second reading (`second`); here
they read a text that is whole.  A method takes the text and a position, as rules of parsimonious do that are functions.
"""

from __future__ import annotations

import json
from typing import NamedTuple, Optional, Union

from .callobjects import CallObjects, CallReader, is_empty_object
from .machine import CLOSER_KINDS
from .objects import NOTHING_BEFORE, Objects
from .pairs import (
    BEFORE_COLLECTION,
    BEFORE_POSITIONAL,
    CLOSERS_OF_CALL,
    Pairs,
    irregular_key,
    object_and_more,
    positional_arguments,
    with_list,
)
from .pattern import NAME_LIMIT
from .peg_form import FormOfCalls
from .repairs import LEFT_OVER_BRACKET, Repairs, irregular_header
from .scanner import PLAIN_WORD, next_char
from .schema import Parameters, begins_with_tag, is_odd_key, properties_of, required_of, tool_named
from .second import (
    AFTER_OBJECT,
    ENDS_OF_CALLS,
    FIRST_KEY,
    MORE_ARGUMENTS,
    UNLIKE_OBJECT,
    Doubts,
    any_styles,
    arguments_in,
    arguments_of,
    as_json,
    calls_follow,
    calls_up_to,
    closed,
    is_closed_call,
    is_damaged,
    is_wrapper,
    may_be_calls,
    tagged,
)
from .unopened import is_object_over, unopened_calls, unopened_headers
from .values import Reader, unwrapped


class Value(NamedTuple):
    """A value as JSON, where it ends, and what closes it if the output's end cuts it."""

    text: str
    end: int
    closing: str = ""
    repair: str = ""
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


class Readers:
    """The readers of a format, for the tools of one request."""

    def __init__(self, form: FormOfCalls, tools: Parameters) -> None:
        self.form, self.tools = form, tools
        self.object_call, self.header = _object_call(form), _header(form)()
        self.header._tools = tools
        self.objects: dict[int, CallOfObject] = {}
        self.doubts = Doubts(tools)  # of the last reading
        self.text = ""

    # Values

    def value_at(self, text: str, pos: int) -> Value:
        return _read(Reader(self.form.values.styles, self.form.markers.breaks), text, pos)

    def followed_at(self, text: str, pos: int) -> Value:
        reader = Reader(self.form.values.styles, self.form.markers.breaks)
        reader.follow = self.form.values.follow
        if reader.style.is_python and text[pos : pos + 1] in BEFORE_COLLECTION:
            text = with_list(reader, text, pos, True) or text
        return _read(reader, text, pos)

    def value(self, text: str, pos: int) -> Optional[int]:
        """Return an object, or a string that may hold one."""
        style = self.form.values.styles[0]
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
        if not self.form.objects.fields:
            cut = self.value_at(text, pos) if text.startswith("{", pos) else None
            return cut.end if cut is not None and cut.closing else None
        found = self.object_at(text, pos)
        return found.end if found.expected == "end" else None

    def object_at(self, text: str, pos: int) -> CallOfObject:
        if text is not self.text:
            self.text, self.objects = text, {}
        if pos not in self.objects:
            self.objects[pos] = self.object_call(self.tools, text, pos).read()
        return self.objects[pos]

    # Second readings

    def other_calls(self, text: str, pos: int) -> Optional[int]:
        """Calls that are not written as the template does, up to a marker that is in none."""
        found, end = self.others_at(text, pos)
        return end if found else None

    def others_at(self, text: str, pos: int) -> tuple[list[tuple[str, str]], int]:
        """Return the calls that begin here, and where they end."""
        if not (self.tools and self.form.reads_again and may_be_calls(text[pos : pos + NAME_LIMIT], self.tools)):
            return [], pos
        if self.form.objects.fields and self.object_at(text, pos).expected in ("", "end"):
            return [], pos
        mark, after = self.form.markers.breaks.find(text, pos), self.form.markers.after_call
        found, end, self.doubts = calls_up_to(mark, text, pos, self.tools, after)
        return found, end

    def unopened(self, text: str, pos: int) -> Optional[int]:
        """Return the end of calls that no marker opens."""
        found = self.unopened_at(text, pos)
        return found[1] if found[0] else None

    def unopened_at(self, text: str, pos: int) -> tuple[list[tuple[str, str, Optional[str]]], int]:
        form = self.form
        self.doubts = Doubts(self.tools)
        markers = form.markers.in_content, form.markers.breaks, form.markers.after_call
        found = unopened_calls(text, pos, True, self.tools, form.objects.own_fields, markers)
        return found or ([], pos)

    def unopened_header(self, text: str, pos: int) -> Optional[int]:
        """Return where the header of a call begins whose opener is missing, or a piece of it."""
        header, after = self.form.header.unopened, self.form.markers.after_call
        for at, end in unopened_headers(text, pos, self.tools, header)[0] if header else ():
            if self.form.is_closed:
                over = is_closed_call(text, end, True, after)
            else:
                over = is_object_over(text, end, True, after, self.tools)
            if over:
                return at
        return None

    def calls_follow(self, text: str, pos: int) -> Optional[int]:
        """Return the position if a call that is closed comes next, or calls in another form than the template's."""
        start = pos - text.startswith("{", pos - 1)
        markers = self.form.markers.breaks, self.form.markers.after_call
        return pos if calls_follow(text, start, True, self.tools, *markers, self.form.header.name_is_first) else None

    def up_to_marker(self, text: str, pos: int) -> tuple[int, Doubts]:
        """Return where the next marker that is in no call begins, or the text ends, and the tools of a reading up to
        there."""
        mark = self.form.markers.breaks.find(text, pos)
        return len(text) if mark is None else mark.start, Doubts(self.tools, mark is None)

    def other_header(self, text: str, pos: int) -> tuple[str, int]:
        """Return the tool that an irregular header names, and where its arguments begin; ("", 0) if there is none."""
        self.header._buf, self.header._final = text, True
        name, end = irregular_header(self.header, text, pos, self.tools, True) or ("", 0)
        return (name, end) if not name or self.arguments_begin(name, text, end) else ("", 0)

    def arguments_begin(self, name: str, text: str, pos: int) -> Optional[tuple[str, int]]:
        """Return where the arguments of a tool begin; None where they must and don't."""
        self.header._buf, self.header._final = text, True
        return None if self.form.header.is_like_text and self.header._expected_arguments(pos, name) else ("", pos)

    def other_pair(self, name: str, text: str, pos: int) -> Optional[tuple[str, int, bool]]:
        """Return the key of a tool's pair in another form than the template's, where its value begins, and whether it
        has an opener."""
        if self.form.pairs.around_key is None or not self.form.reads_again:
            return None
        start = next_char(text, pos)
        keys = properties_of(self.tools.get(name))
        key, at, end = irregular_key(text, start, keys, (*self.form.pairs.around_key, 0), True) or ("", 0, 0)
        opener, after_key = self.form.pairs.value_opener, at + len(key)
        is_opened = text[after_key:end] != "\n" and (at > start or not self.form.pairs.have_openers)
        is_opened = is_opened and (opener is None or opener.search(text, after_key, end) is not None)
        return (key, end, is_opened) if key else None

    def odd_pair(self, name: str, key: str, text: str, pos: int) -> bool:
        """Return whether a pair of a tool has an odd key, and may be read by the schema's key instead."""
        return is_odd_key(key, self.tools.get(name)) and self.other_pair(name, text, pos) is not None

    def object_for_pairs(self, name: str, text: str, pos: int) -> Optional[tuple[str, int]]:
        """Return the arguments in a JSON object in the place of all pairs of a tool, and where it ends; None where a
        pair or the call's end begins."""
        mark = self.form.pairs.between.match_at(text, pos) if self.form.pairs.between is not None else None
        pos += 2 * text.startswith("**{", pos)
        if mark is not None or not self.form.reads_again:
            return None
        if text.startswith("<", pos):
            tag = begins_with_tag(text, pos, self.tools.get(name))
            is_pair = tag == "attribute" and not self.form.pairs.elements_first
            is_pair = is_pair and self.other_pair(name, text, pos) is not None
            return self._elements(name, text, pos) if tag and not is_pair else None
        if not self.form.pairs.have_openers and text[pos : pos + 1] in BEFORE_POSITIONAL:
            self.doubts = Doubts(self.tools)
            found = positional_arguments(text, pos, name, self.doubts, True)
            return found if found and found[0] else None
        if not text.startswith("{", pos):
            return None
        reader = Reader(any_styles(), self.form.markers.breaks)
        is_keywords = not self.form.pairs.have_openers
        has_more = is_keywords and MORE_ARGUMENTS.match(text, reader.read(text, pos, True)) is not None
        more = self._object_and_more(name, text, pos) if has_more else None
        found = more or self._in_an_object(name, Reader(any_styles(), self.form.markers.breaks), text, pos)
        self.doubts.is_guessed |= has_more and more is None
        return found

    def _object_and_more(self, name: str, text: str, pos: int) -> Optional[tuple[str, int]]:
        end, self.doubts = self.up_to_marker(text, pos)
        found = object_and_more(text[pos:end], name, self.doubts)
        return None if found is None else (found[0], pos + found[1])

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
        nothing = NOTHING_BEFORE.match(text, pos) if required_of(self.tools.get(name)) else None
        if nothing is not None and self.form.reads_again:
            return self._in_an_object(
                name, Reader(self.form.values.styles, self.form.markers.breaks), text, nothing.end()
            )
        regular = text[pos : pos + 1] in ("{", '"', "") and UNLIKE_OBJECT.match(text[pos : pos + 128]) is None
        if regular or not self.form.reads_again or self.form.markers.after_call.match_at(text, pos) is not None:
            return None
        end, self.doubts = self.up_to_marker(text, pos)
        found = arguments_in(name, text[pos:end], self.doubts)
        return None if found is None else (found, end)

    def lacks_object(self, text: str, pos: int) -> bool:
        """Return whether other text is in the place of arguments that are one object."""
        at = next_char(text, pos)
        mark = self.form.markers.after_call.match_at(text, at)
        other = at < len(text) and (mark is None or mark.kind not in CLOSER_KINDS)
        return other and self.form.pairs.between is None

    def text_follows(self, name: str, arguments: str, text: str, pos: int, end: int) -> bool:
        """Return whether text that could be the arguments that a call lacks is in the place of its closer, or follows
        the bracket at the call's end."""
        if is_empty_object(arguments) and text.startswith(")(", end - 1):
            return self.form.markers.after_call.match_at(text, end) is None
        at = next_char(text, pos)
        more = MORE_ARGUMENTS.match(text, at)
        is_more = is_empty_object(arguments) or (more and more[1] in properties_of(self.tools.get(name)))
        if not (self.form.is_closed or self.form.objects.fields) and required_of(self.tools.get(name)):
            return is_empty_object(arguments) and text.startswith("{", AFTER_OBJECT.match(text, pos).end())
        if at == len(text) or not self.form.is_closed or self.form.objects.fields or not is_more:
            return False
        if self.closes_garbled(text, at):
            return False
        mark = self.form.markers.after_call.match_at(text, at)
        if mark is not None and mark.kind == "call" and self.tools:  # an opener that opens no call
            return tool_named(PLAIN_WORD.match(text, next_char(text, mark.end))[0], self.tools) not in self.tools
        return mark is None and LEFT_OVER_BRACKET.match(text, at) is None

    def is_left_open(self, name: str, arguments: str, text: str, pos: int) -> bool:
        """Return whether no closer of a call follows its pairs, which lack a required argument."""
        mark = self.form.markers.after_call.match_at(text, next_char(text, pos))
        is_closed = not self.form.is_closed or (mark is not None and mark.kind in CLOSERS_OF_CALL)
        return not (is_closed or json.loads(arguments).keys() >= set(required_of(self.tools.get(name))))

    def closes_garbled(self, text: str, pos: int) -> bool:
        """Return whether a garbled closer is here, and then the end of the calls."""
        garbled = self.form.markers.garbled.match(text, pos)
        if garbled is None:
            return False
        at = next_char(text, garbled.end())
        mark = self.form.markers.after_call.match_at(text, at)
        return at == len(text) or (mark is not None and mark.kind in ENDS_OF_CALLS)

    def in_string(self, name: str, text: str) -> tuple[Optional[str], bool]:
        """Return an object in JSON, or the object in a JSON string, and whether it is cut, or repaired in vain."""
        reader = None if text[:1] == "{" else unwrapped(text, self.form.values.styles)
        if reader is None:
            return text if text[:1] == "{" else None, False
        is_doubtful, repair, found = reader.want != "" or reader.is_guessed, reader.repair, reader.close()
        return found, is_doubtful or (repair != "" and not self.fits(name, found))

    def fits(self, name: str, arguments: str, repair: Union[str, bool] = True) -> bool:
        """Return whether the schema of a tool allows repaired arguments."""
        breaks = self.form.markers.breaks
        return not (self.tools and is_damaged(arguments, self.tools.get(name), repair, breaks, None, ()))

    def within(self, name: str, text: str, pos: int) -> Optional[str]:
        """Return the arguments inside another object; None if there are none."""
        if not self.form.reads_again or not is_wrapper(FIRST_KEY.match(text, pos), name, self.tools):
            return None
        found = self._in_an_object(name, Reader(self.form.values.styles, self.form.markers.breaks), text, pos)
        return None if found is None else found[0]


def _read(reader: Reader, text: str, pos: int) -> Value:
    end = reader.read(text, pos, True)
    return Value(reader.take(), end, reader.close(), reader.repair, reader.is_guessed)


def _object_call(form: FormOfCalls) -> type[_ObjectCall]:
    """Return the class that reads one object as a call of this format."""
    constants = {
        "STYLES": form.values.styles,
        "BREAKS": form.markers.breaks,
        "FIELDS": form.objects.fields,
        "CLOSERS": form.markers.closers,
        "OBJECTS_HAVE_ID": "id" in form.objects.fields.values(),
        "OPENER_IS_UNAMBIGUOUS": form.markers.are_distinct,
        "CORRECTS_TOOL_NAMES": form.names_alike,
        "REREADS_CALLS": form.reads_again,
    }
    return type("ObjectCall", (_ObjectCall,), constants)


def _header(form: FormOfCalls) -> type[Repairs]:
    """Return the class of a parser that knows where the arguments of a call begin, after its header."""
    constants = {
        "STYLES": form.values.styles,
        "AFTER_CALL": form.markers.after_call,
        "HEADER_TEXTS": form.header.texts,
        "BETWEEN": form.pairs.between,
        "AROUND_KEY": (*form.pairs.around_key, 0) if form.pairs.around_key is not None else None,
        "CALL_BEGINS": form.header.is_like_text,
        "PAIR_OPENS": form.pairs.have_openers,
        "ARGUMENTS_BEGIN": form.pairs.begin,
        "REREADS_CALLS": form.reads_again,
    }
    return type("Header", (Objects if form.pairs.between is None else Pairs,), constants)


class _ObjectCall(CallObjects):
    """Reads one object as a call, in a text that is whole, as generated parsers do."""

    HAS_REASONING = OTHER_SPELLINGS = False
    expected = ""  # what did not come, so that the object is no call
    _begins = 0  # where the key of the arguments ends
    _is_over = False

    def __init__(self, tools: Parameters, text: str, start: int) -> None:
        super().__init__()
        self._tools, self._buf, self._pos, self._final = tools, text, start, True

    def read(self) -> CallOfObject:
        self._begin_object()
        while self._pos < len(self._buf) and not self._is_over and self._state(self):
            pass
        if not self._is_over:
            self._finish()
        if self.expected:
            return CallOfObject(self._pos, expected="end" if self._ends_inside else self.expected)
        self._out.flush()
        name, identity, _ = self._out.calls[-1]
        arguments, content = ("".join(self._out.texts[kind]) for kind in ("arguments", "content"))
        return CallOfObject(self._pos, name, identity, arguments, content, self._begins, self.incomplete)

    def _member(self, reader: CallReader, event: str) -> bool:
        if event == "key" and not self._begins and reader._role_here() == "arguments":
            self._begins = self._pos
        return super()._member(reader, event)

    def _no_object(self, expected: str, result: bool = True) -> bool:
        self.expected, self._is_over = expected, True
        return result

    def _close_call(self, arguments: str = "") -> bool:
        self._is_over = True
        return super()._close_call(arguments)
