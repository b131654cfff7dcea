"""Read calls that are one object.

    {"name": "f", "arguments": {"a": 1}}  →  a call of f with the arguments {"a": 1}

The members come in any order.  Until the name is known, the object may still turn out to be text.
"""

from __future__ import annotations

import json
import sys

from .pattern import Pattern
from .repairs import AROUND_ARGUMENTS, Repairs
from .scanner import NO_MARKERS, next_char
from .schema import keys_of, tool_named
from .second import (
    FIRST_KEY,
    KNOWN_KEYS,
    NOTHING_GIVEN,
    PART_OF_FIRST_KEY,
    Doubts,
    arguments_after,
    arguments_at,
    is_wrapper,
)
from .turn import ENDS_IN_CALL
from .values import Reader, RegularReader, Style, escaped, json_end, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from .scanner import Scanner


NO_FLOOR = sys.maxsize
NO_NAME = frozenset('"{},:“”')  # characters that show that a quote or a bracket is missing
COMMAS = (",", ";")
# What no argument object of a template begins with, after its key; or all that has come of it.
IRREGULAR_ARGUMENTS = Pattern(r'\s*(?::\s*(?:([`(<:=*>]|"\{\s{0,16}")|(?:"\{?\s{0,16})?\Z)|\Z)')
LONGEST_OBJECT = 1 << 18  # a longer one isn't read at once
OBJECT_END = Pattern(r"\s*\}")


def is_empty_object(arguments: str) -> bool:
    return arguments[:1] == "{" and not arguments[1:-1].strip()


class CallReader(RegularReader):
    """Reads a call object, and pauses at every key and after every value that has a role in a call."""

    def __init__(self, styles: tuple[Style, Style, Style], breaks: Scanner = NO_MARKERS) -> None:
        super().__init__(styles, breaks)
        self.fields: Mapping[tuple[str, ...], str] = {}
        self.path: list[str] = []
        self.role = ""  # of the value that is read, which starts at this depth
        self.depth = 0
        self.floor = NO_FLOOR
        self.event = ""
        self.is_call = False  # its name and its arguments were read

    def go_to(self, key: str, opened: str = "") -> None:
        """Continue as if the object's opening and its members up to this one had been read, or `opened` of this one."""
        self.style, self.stack, self.path, self.want = self.styles[2], ["{"], [key], "comma"
        if opened:
            self.role, self.depth, self.floor = "arguments", 1, 1
            self._open(opened)

    def may_close(self, key: str) -> bool:
        """Return whether the arguments and the object may end here: only if they are under this key, and nothing had to
        be repaired."""
        inside = self.role == "arguments" and len(self.stack) == 2 and self.stack[1] == "{" and self.string is None
        irregular = self.repair or self.unlike_json or self.comma or "}" in self.first or self.path != [key]
        return inside and self.style.is_json and not irregular and self.want in ("comma", "key")

    def at_argument(self, schema: Any) -> bool:
        """Return whether the member of the outer object has the key of an argument."""
        return len(self.path) == 1 and self.path[0] in (keys_of(schema, schema) or ())

    def _token(self, buf: str, pos: int, final: bool) -> int:
        is_outside = self.want in ("member", "comma") and not (self.role or self.lists)
        at_next = self.is_call and is_outside and buf[pos] == "{"
        key = FIRST_KEY.match(buf, pos) if at_next else None
        if at_next and key is None and not final and PART_OF_FIRST_KEY.fullmatch(buf, pos):
            return -1
        if key is None or not any(field[0] in (key[1], "*") for field in self.fields):
            return super()._token(buf, pos, final)
        self._repaired("missing closing bracket")  # the object of the next call begins
        self.comma.clear()
        while self.stack:
            self._pop()
        return pos

    def _begin(self) -> None:
        super()._begin()
        if not self.role and not self.lists and self.stack:
            self.out = []
            if self.want == "value":
                self.role, self.depth = self._role_here(), len(self.stack)
                self.floor = self.depth if self.role else NO_FLOOR

    def _at_top(self) -> bool:
        return self._role_here() == "arguments"

    def _role_here(self) -> str:
        """Return the role of a value that begins here; "" for one that contains values with roles."""
        if self.role or self.lists or len(self.path) != len(self.stack):
            return ""
        path = tuple(self.path)
        if path in self.fields:
            return self.fields[path]
        inner = any(field[: len(path)] == path and len(field) > len(path) for field in self.fields)
        return self.fields.get(("*",) * len(path), "" if inner else "other")

    def _end(self) -> None:
        is_key = self.want in ("key", "member")
        super()._end()
        if is_key and not self.role and not self.lists:
            self.path[len(self.stack) - 1 :] = [text_of("".join(self.out))]
            self.event, self.pause = "key", True
        elif self.role and len(self.stack) == self.depth:
            self.event, self.role, self.pause = self.role, "", True
            self.floor = NO_FLOOR
        elif not (is_key or self.role or self.lists) and 0 < len(self.stack) == len(self.path):
            self.event, self.pause = "other", True  # not an object, where one with fields is expected

    def _repaired(self, what: str, *, guessed: bool = False) -> None:
        super()._repaired(what, guessed=guessed)
        if what == "missing key" and not self.role and not self.lists:
            self.path[len(self.stack) - 1 :] = [""]
            self.role, self.depth = "other", len(self.stack)
        self.pause = True


class CallObjects(Repairs):
    FIELDS: ClassVar[Mapping[tuple[str, ...], str]]  # ("*",) is a name that is the key
    OBJECT_OPENER: ClassVar[str] = ""  # the text that the object opens with
    CLOSERS: ClassVar[Sequence[str]] = ()
    # If the name comes before the arguments, the usual beginning of the object is read at once: up to the name, and
    # from there to the inside of the arguments.
    HEAD: ClassVar[Any] = None
    TO_ARGUMENTS: ClassVar[str] = ""
    USUAL_KEYS: ClassVar[tuple[str, str]]  # the keys of both
    _failed = ("", 0)  # what was expected of an object, and how much of it was read
    _object_at = 0  # where it began, after its opener

    def _call(self) -> bool:
        # call = (slot SLOT_END)* object
        if self.HEADER:
            _, end, expected = self._slots(self._pos + self._skip, self.HEADER)
            if expected:
                return expected != "more" and self._no_call(expected)
            self._note_slot_diagnostics()
            self._skip = end - self._pos
        self._begin_object()
        return True

    def _drop_left_over(self, kind: str) -> str:
        if self.REREADS_CALLS and kind == "" and self._unclosed:
            # Another object in the same pair of markers.
            start = next_char(self._buf, self._pos)
            start = next_char(self._buf, start + (self._buf[start : start + 1] in COMMAS))
            if start == len(self._buf) and not self._final:
                return "more"
            if self._buf.startswith(self.OBJECT_OPENER, start):
                self._note("call_not_opened", "another call without its opener")
                self._pos, self._skip = start, 0
                self._try_call("content")
                return "dropped"
        return self._skip_to_closer(kind, super()._drop_left_over(kind))

    def _note_following_text(self) -> None:
        """Ignore text after the object of a call: it can't be arguments."""

    def _begin_object(self) -> None:
        """Start a call after its opener, which may include the opening of its object."""
        self._state = type(self)._object
        end = self._pos + self._skip
        # The opening of the object stays in the buffer if the opener ends with it.
        end -= len(self.OBJECT_OPENER) * self._buf.endswith(self.OBJECT_OPENER, self._pos, end)
        self._raw, self._raw_base = [self._buf[self._pos : end]], self._base + self._pos  # while it may still be text
        self._object_at = end - self._pos
        self._pos, self._space, self._written = end, "", ""
        self._has_name = self._arguments_next_to_name = False
        self._unknown = False  # fields may contain the arguments
        self._others_found: list[str] = []  # the values of unknown fields
        # Whether another object is around the arguments, so that they are read as a whole; None: their first key shows.
        self._wrapped = None if self.REREADS_CALLS and self._tools else False
        self._arguments_before_name: str | None = None
        if self.OBJECTS_HAVE_ID:
            self._call_id: str | None = None
        self._reader = reader = CallReader(self.STYLES, self.BREAKS)
        reader.fields = self.FIELDS
        if self.HEAD:
            self._read_head(reader)

    def _read_head(self, reader: CallReader) -> None:
        head = self.HEAD.match(self._buf, self._pos)
        if head is not None and head["name"]:
            self._pos = head.end()
            if self.OBJECTS_HAVE_ID:
                self._call_id = head.groupdict().get("id")
            self._raw.append(head[0])
            reader.go_to(self.USUAL_KEYS[0])
            if self._accept_name(head["name"]):
                self._state = type(self)._to_arguments

    def _to_arguments(self) -> bool:
        # to_arguments = "," key ":" "{"
        buf, text, end, reader = self._buf, self.TO_ARGUMENTS, self._pos + len(self.TO_ARGUMENTS), self._reader
        if not buf.startswith(text, self._pos) and text.startswith(buf[self._pos : end]) and not self._final:
            # Nothing can be decided before all of it has arrived.
            self._is_still_ambiguous, self._ambiguous_from = text[:-1].startswith, self._pos
            return False
        if self._wrapped is None and buf.startswith(text, self._pos):
            key = FIRST_KEY.match(buf, end - 1)
            if key is None and not self._final and PART_OF_FIRST_KEY.fullmatch(buf, end - 1):
                self._is_still_ambiguous, self._ambiguous_from = PART_OF_FIRST_KEY.fullmatch, end - 1
                return False
            if key is not None or buf.startswith(('{"', "{}"), end - 1):  # other text is repaired first
                self._wrapped = is_wrapper(key, self._out.calls[-1][0], self._tools)
        self._state = type(self)._object
        usual = buf.startswith(text, self._pos) and self._wrapped is False
        # No marker that ends the call begins at the arguments, or could.
        usual = usual and not self.BREAKS.prefix_of(buf, end - 1) and self.BREAKS.match_at(buf, end - 1) is None
        if isinstance(reader, CallReader) and usual:
            may_be_whole = reader.style.is_json and buf.find("}", end, end + LONGEST_OBJECT) >= 0
            stop = json_end(buf, end - 1, LONGEST_OBJECT) if may_be_whole else 0
            closing = OBJECT_END.match(buf, stop) if stop else None
            if closing is not None:  # the standard library's scanner has read all of it
                self._pos = closing.end()
                self._reader = None
                return self._close_call(buf[end - 1 : stop])
            self._pos, self._written = end, "{"
            self._out.emit("arguments", "{")
            reader.go_to(self.USUAL_KEYS[1], "{")
        return True

    def _object(self) -> bool:
        # call = "{" (key ":" value ",")* "}"
        reader, more = self._reader, True
        both = self.HEAD and self._has_name and not (self._wrapped or self._arguments_next_to_name)
        both = both and self._arguments_before_name is None and self._buf.startswith("}}", self._pos)
        if both and isinstance(reader, CallReader) and reader.may_close(self.USUAL_KEYS[1]):
            self._pos += 2
            self._reader = None
            return self._close_call(reader.take() + "}")
        while more and isinstance(reader, CallReader) and self._reader is reader:
            if self.REREADS_CALLS and reader.want == "colon" and self._tools and not self._irregular_arguments(reader):
                return False
            start, reader.is_call = self._pos, self._has_name and self._arguments_before_name is not None
            self._pos = reader.read(self._buf, start, self._final)
            more, reader.pause, event, reader.event = reader.pause, False, reader.event, ""
            if not self._has_name:
                self._raw.append(self._buf[start : self._pos])
                if reader.repair and not self.OPENER_IS_UNAMBIGUOUS:
                    return self._no_object("the object of a call")
            is_first = self._written != "done" and not self._arguments_next_to_name
            if "arguments" in (event, reader.role) and is_first:
                self._written = self._written or "".join(reader.out)[:1]
                passed = self._wrapped is False or not self._waits_for_key(reader, event)
                if self._has_name and self._written == "{" and passed:
                    self._out.emit("arguments", reader.take())
                    self._in_string(reader)
            if event and not self._member(reader, event):
                return True
        if reader is not None and not reader.want and self._reader is reader:
            return self._end_object(reader)
        return self._reader is None

    def _irregular_arguments(self, reader: CallReader) -> bool:
        """Read arguments in another form, up to where they end; return False if more input is needed."""
        if not self._has_name or self._written or reader._role_here() != "arguments":
            return True
        buf, irregular = self._buf, IRREGULAR_ARGUMENTS.match(self._buf, self._pos)
        if irregular is None or irregular[1] is None:
            return irregular is None or self._final
        start, mark = irregular.start(1), self.BREAKS.find(buf, irregular.start(1))
        if not self._final and not self.BREAKS.is_decided(mark, buf, start):
            return False
        text = buf[start : len(buf) if mark is None else mark.start]
        doubts = Doubts(self._tools, mark is None)
        found = arguments_at(self._out.calls[-1][0], text, doubts)
        if found is not None:
            self.incomplete |= doubts.is_guessed
            self._note("arguments_repaired", "arguments: in another form")
            self._out.emit("arguments", found[0])
            self._written, self._arguments_before_name, self._repaired = "done", found[0], True
            self._pos, reader.want = start + found[1], "comma"
        return True

    def _waits_for_key(self, reader: CallReader, event: str) -> bool:
        """Return whether the arguments are not passed on yet, as another object is, or may be, around them."""
        if self._wrapped is None and self._has_name:
            text = "".join(reader.out)
            if not event and PART_OF_FIRST_KEY.fullmatch(text):
                return True
            self._wrapped = is_wrapper(FIRST_KEY.match(text), self._out.calls[-1][0], self._tools)
        return bool(self._wrapped)

    def _member(self, reader: CallReader, event: str) -> bool:
        """Handle a key or the value of a field; return False if this is no call after all."""
        text = "" if event == "key" else reader.take().removeprefix('"": ')
        is_text = text[:1] == '"'
        if event == "key" and self.FIELDS.get(("*",)) and len(reader.stack) == 1 and not self._has_name:
            return self._accept_name(reader.path[0])
        if event == "key" and not self._has_name and not self.OPENER_IS_UNAMBIGUOUS:
            known = any([*field[: len(reader.path)]] == reader.path for field in self.FIELDS)
            return known or self._no_object("a known field", False)
        usual = len(reader.path) == len(next(iter(self.FIELDS)))  # elsewhere, a value that is no name means nothing
        if event == "name" and not self._has_name and (is_text or usual):
            return self._accept_name(text_of(text) if is_text else "")
        if self.OBJECTS_HAVE_ID and event == "id" and self._call_id is None:
            self._call_id = text_of(text) if is_text else text
            if self._has_name:
                self._out.set_id(self._call_id or "")
        elif event == "other" and self.REREADS_CALLS and self._is_argument(reader):
            self._out.emit(
                "arguments", f'{", " if self._arguments_next_to_name else "{"}"{escaped(reader.path[0])}": {text}'
            )
            self._arguments_next_to_name = True
        elif event == "arguments" and self._written != "done" and not self._arguments_next_to_name:
            self._note_other_key(tuple(reader.path))
            if self._has_name:
                self._emit_arguments(self._without_wrapper(text) if self._wrapped else text)
            self._arguments_before_name, self._written = text, "done"
        elif event not in ("key", "constant"):
            other = event == "other"
            what = ("unknown" if other else "repeated") + " field " + reader.path[-1]
            self._note("unknown_field" if other else "repeated_field", what)
            self._unknown = self._unknown or text not in ("null", '""')
            is_empty = is_empty_object(text) or text in NOTHING_GIVEN
            lost = event == "arguments" and (("*",) in self.FIELDS or not is_empty)
            known = other and self._has_name and reader.at_argument(self._schema())
            self.incomplete |= lost or known
            self._others_found += [text] * (other and text[:1] in ("{", "[", '"'))
        return True

    def _note_other_key(self, path: tuple[str, ...]) -> None:
        """Report the arguments of a call under another key than the template's, the first for them."""
        if self.FIELDS.get(path) and path != next(one for one, role in self.FIELDS.items() if role == "arguments"):
            self._note("other_form_of_calls", "the arguments are under the key " + path[-1])

    def _is_argument(self, reader: CallReader) -> bool:
        """Return whether a member next to the name is one of the arguments."""
        if not self._has_name or self._arguments_before_name is not None:
            return False
        found = reader.at_argument(self._schema())
        if found and not self._arguments_next_to_name:
            self._note("arguments_next_to_name", "the arguments are next to the name")
        return found

    def _no_arguments(self) -> str:
        """Return the text that ends arguments without an object."""
        return "}" if self._arguments_next_to_name else "{}"

    def _accept_name(self, name: str) -> bool:
        if not name.strip() or ("\n" in name and name not in self._tools):
            return self._no_object("a name", False)
        written = name
        if self.CORRECTS_TOOL_NAMES:
            name = tool_named(name, self._tools)
        is_odd = not NO_NAME.isdisjoint(name) or (name in KNOWN_KEYS and ("*",) in self.FIELDS)
        odd = self.REREADS_CALLS and self._tools and name not in self._tools and is_odd
        if odd or (not self.OPENER_IS_UNAMBIGUOUS and self._tools and name not in self._tools):
            return self._no_object("the name of a tool", False)
        self._has_name = True
        self._raw = []
        if self.CORRECTS_TOOL_NAMES and name != written:
            self._note("tool_name_corrected", f"the tool {name} is called as {written}")
        self._open_call(name, self._call_id if self.OBJECTS_HAVE_ID else None)
        if self._arguments_before_name:
            self._written = self._arguments_before_name[0]
            self._emit_arguments(self._without_call(name, self._arguments_before_name))
            self._written = "done"
        return True

    def _without_call(self, name: str, text: str) -> str:
        """Return the arguments of a tool; if a whole call is in their place, that call's."""
        keys = keys_of(self._tools.get(name), self._tools.get(name)) if self.REREADS_CALLS and text[:1] == "{" else None
        if keys is None or keys.intersection(found := json.loads(text)) or not found:
            return text
        inside = self._without_wrapper(text)
        if inside == text:
            self._note_damage("arguments_of_other_tool", "the arguments are not those of " + name)
        return inside

    def _without_wrapper(self, text: str) -> str:
        """Return the arguments that another object is around; the object itself if it contains none."""
        inside = self._arguments_of(text, is_guessed=self._reader is None)  # then the output ends inside of it
        if inside is None:
            return text
        self._note(*AROUND_ARGUMENTS)
        return inside

    def _start_second_reading(self, expected: str) -> None:
        """Go back to the beginning of the object, for a second reading."""
        raw = "".join(self._raw)
        if self._raw_base < self._base:
            self._buf, self._base, self._pos = raw + self._buf[self._pos :], self._raw_base, 0
        else:  # all of it is in the buffer, which is long if it came at once
            self._pos = self._raw_base - self._base
        self._skip = self._object_at
        self._failed = (expected, len(raw))
        self._reader, self._state = None, type(self)._second_reading

    def _restore_first_reading(self) -> bool:
        expected, size = self._failed
        self._second_reading_failed, self._raw = True, [self._buf[self._pos : self._pos + size]]
        self._pos += size
        self._keep_object_as_text(expected)
        self._second_reading_failed = False
        return True

    def _no_object(self, expected: str, result: bool = True) -> bool:
        if self.REREADS_CALLS and self._tools and not self._second_reading_failed:
            self._start_second_reading(expected)
        else:
            self._keep_object_as_text(expected)
        return result

    def _keep_object_as_text(self, expected: str) -> None:
        self._note("not_a_call", "not a call: expected " + expected)
        text = "".join(self._raw)
        self._out.emit(self._kind_before_call, text if self._echo else text[max(0, -self._raw_base) :])
        self._raw, self._reader = [], None
        self._after_failed_call, self._only_space_so_far, self._line_start, self._unclosed = True, False, False, False
        self._state = self._state_before_call

    def _end_truncated_object(self) -> None:
        """Handle an output that ends before the call has a name: the rest is dropped unless it could be text."""
        text = "".join(self._raw) + self._buf[self._pos :]
        if not any(closer.strip() in text for closer in self.CLOSERS):
            if self.OPENER_IS_UNAMBIGUOUS:
                self._raw, self._pos, self._kind_before_call = [text], len(self._buf), "trailing"
            self._note_truncation(*ENDS_IN_CALL)
        self._no_object("the rest of the call")

    def _end_object(self, reader: Reader) -> bool:
        if not self._has_name:
            return self._no_object("a name")
        rest = ""
        if self._arguments_before_name is None:
            found = None if self._arguments_next_to_name or len(self._others_found) != 1 else self._others_found[0]
            inside = self._arguments_of(found) if found and self.REREADS_CALLS else None
            alone = not (inside or self._arguments_next_to_name or self._unknown or reader.repair)
            if alone and self.REREADS_CALLS and self._tools:
                self._reader, self._state = None, type(self)._arguments_after
                return True
            rest = inside or self._no_arguments()
            self.incomplete = self.incomplete or (self._unknown and not (self._arguments_next_to_name or inside))
        if reader.repair or reader.unlike_json:
            self._note_repair("call_repaired", "call: ", reader)
        self._reader = None
        return self._close_call(rest)

    def _arguments_after(self) -> bool:
        """Read the arguments in an object of their own, after the object with the name."""
        found = arguments_after(self._out.calls[-1][0], self._buf, self._pos, self._tools, self._final)
        if found is None:
            return False
        if found[0]:
            self._note("arguments_next_to_name", "the arguments follow the object with the name")
        self._pos = found[1]
        return self._close_call(found[0] or "{}")

    def _finish(self) -> None:
        if self._state == type(self)._arguments_after:
            self._close_call("{}")
        reader, self._reader = self._reader, None
        self._second_reading_failed = True  # there is nothing more to read
        if reader is not None and not self._has_name:
            self._end_truncated_object()
        elif isinstance(reader, CallReader):
            role = reader.role
            if role == "other" or (role == "arguments" and self._written != "done"):
                reader.stack, reader.depth = reader.stack[reader.depth :], 0
                reader.out = [reader.close()]
            if role in ("arguments", "other"):
                self._member(reader, role)
            if self._arguments_before_name is None:
                self._out.emit("arguments", self._no_arguments())
        super()._finish()
