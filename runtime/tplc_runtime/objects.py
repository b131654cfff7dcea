"""Read arguments that are one object.

{"a": 1}  →  {"a": 1}        "{\"a\": 1}"  →  {"a": 1}        hello  →  {}, and the text is content
"""

from __future__ import annotations

from .machine import CLOSER_KINDS
from .pattern import NAME_LIMIT, Pattern
from .repairs import AROUND_ARGUMENTS, Repairs
from .scanner import NO_MARKERS, next_char
from .schema import required_of, tool_named
from .second import (
    AFTER_OBJECT,
    FENCE_END,
    FIRST_KEY,
    PART_OF_FIRST_KEY,
    UNLIKE_OBJECT,
    Doubts,
    arguments_in,
    is_wrapper,
)
from .values import Reader, RegularReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from .scanner import Scanner


FENCE_OPEN = Pattern(r"```[\w-]*\s*")
PART_OF_FENCE = Pattern(r"`{1,3}[\w-]*\s*")
# An object without members, or nothing, before another object, and the beginning of that.
NOTHING_BEFORE = Pattern(r"(?:\{\s{0,16}\}|null|\[\s{0,16}\])\s{0,16},?\s{0,16}(?=\{)")
PART_OF_NOTHING = Pattern(r"(?:\{\s{0,16}\}|null|\[\s{0,16}\])\s{0,16},?\s{0,16}|\{\s{0,16}|nu?l?|\[\s{0,16}")
BEFORE_ARGUMENTS = ("arguments_repaired", "arguments: an object without members before them")
PART_OF_KEY = Pattern(r"""["'](?:\w{0,64}["']?|\{)\s{0,16}""")


class Objects(Repairs):
    ODD_NAMES: ClassVar[bool] = True
    ARGUMENTS_OPEN: ClassVar[bool] = True
    MAY_BE_EMPTY: ClassVar[bool] = False  # a call without arguments has none in it
    ARGUMENT_ESCAPES: ClassVar[Any] = None  # texts that stand for characters in all the text of the arguments
    ARGUMENT_ENDS: ClassVar[Scanner] = NO_MARKERS  # markers with a character that is escaped there
    _lacks_arguments = False  # of the last call, although it is closed

    def _begin_arguments(self) -> None:
        self._state = type(self)._arguments

    def _expected_arguments(self, pos: int, name: str) -> str:
        buf, start = self._buf, next_char(self._buf, pos)
        if start == len(buf):
            return "" if self._final else "more"
        if self.ARGUMENT_ESCAPES:
            return ""
        match = self.STYLES[0].token.match(buf, start)
        if match is not None and self.STYLES[0].tokens.get(match.group(), "") in ("{", '"'):
            return ""
        if buf[start] == "`" and name in self._tools:  # a fence around them
            return ""
        if self.MAY_BE_EMPTY:
            closed = self.AFTER_CALL.match_at(buf, start)
            if closed is not None and closed.kind == "call":
                return ""
        rest = buf[start : start + NAME_LIMIT]
        may_continue = match is None or (match.lastindex == 3 and rest in self.STYLES[0].prefixes)
        return self._expected_unless_closed("the arguments", start, may_continue)

    def _opens_arguments(self, pos: int) -> bool:
        match = self.STYLES[0].token.match(self._buf, pos)
        is_object = match is not None and self.STYLES[0].tokens.get(match.group(), "") == "{"
        return is_object or self._buf.startswith(FENCE_END, pos)

    def _arguments(self) -> bool:
        # arguments = object | string that contains an object
        if self.ARGUMENT_ESCAPES:
            return self._escaped_arguments()
        if self._reader is None:
            self._lacks_arguments = False
            self._skip_space()
            start = next_char(self._buf, self._pos)
            if self.REREADS_CALLS and (self._tools or self._buf[start : start + 1] in "`"):
                other = self._irregular_arguments(start)
                if other is not None:
                    return other
                start = next_char(self._buf, self._pos)
            if self.MAY_BE_EMPTY:
                closed = self.AFTER_CALL.match_at(self._buf, start)
                if closed is None and not self._final and self.AFTER_CALL.prefix_of(self._buf, start):
                    return False
                if closed is not None and closed.kind in CLOSER_KINDS:
                    return self._close_call("{}")
            match = self.STYLES[0].token.match(self._buf, start)
            rest = self._buf[start : start + NAME_LIMIT]
            begins = match is not None and match.lastindex == 3 and rest in self.STYLES[0].prefixes
            if match is None or (begins and not self._final):
                return False
            self._written = self.STYLES[0].tokens.get(match.group(), "")
            if self._written not in ("{", '"'):
                mark = self.AFTER_CALL.match_at(self._buf, start)
                is_closed = mark is not None and mark.kind in CLOSER_KINDS
                if not (is_closed and self.MAY_BE_EMPTY):
                    self._note("no_arguments", "expected the arguments")
                    self._lacks_arguments = is_closed
                    self.incomplete = self.incomplete or not is_closed
                return self._close_call("{}")
            self._reader = RegularReader(self.STYLES, self.BREAKS)
        reader = self._reader
        self._pos, self._wanted = reader.read(self._buf, self._pos, self._final), reader.wanted
        if self._written == "{":
            self._out.emit("arguments", reader.take())
        elif not reader.want:
            self._emit_arguments(reader.take())
        return self._value_has_ended(reader) and self._close_call()

    def _drop_left_over(self, kind: str) -> str:
        return self._skip_to_closer(kind, super()._drop_left_over(kind))

    def _leave_calls(self, kind: str) -> bool:
        unclosed, follows = self._unclosed, kind == "" and self._object_follows()
        if follows is None:
            return False
        if kind == "" and (self._lacks_arguments or follows):
            self._unclosed = True  # text after the closer may be the arguments that the call lacks
        left = super()._leave_calls(kind)
        self._unclosed = self._unclosed if left else unclosed  # what comes next may still be a marker
        return left

    def _object_follows(self) -> bool | None:
        """Return whether another object follows one without members, where no closer is between them; None if more
        input is needed."""
        if self.CALLS_HAVE_CLOSER or not self._tools or required_of(self._schema()) == []:
            return False
        at = AFTER_OBJECT.match(self._buf, self._pos).end()
        return None if at == len(self._buf) and not self._final else self._buf.startswith("{", at)

    def _escaped_arguments(self) -> bool:
        """Read an object with its escapes undone, up to its end or to a marker that can't be inside of it."""
        buf, pos, escapes, marks = self._buf, self._pos, self.ARGUMENT_ESCAPES, self.ARGUMENT_ENDS
        mark, end = marks.find(buf, pos), len(buf) if self._final else marks.partial_match(buf, pos)
        over = self._final or (mark is not None and mark.start < end)
        text = buf[pos : end if mark is None else min(end, mark.start)]
        if not over:
            text = text[: escapes.safe_prefix_end(text)]
        plain = escapes.unescape(text)
        if self._reader is None:
            start = next_char(plain, 0)
            if start == len(plain) and not over:
                return False
            if not plain.startswith("{", start):
                return self._no_escaped_object(text, plain, over)
            self._reader = RegularReader(self.STYLES)
        reader = self._reader
        read, self._wanted = reader.read(plain, 0, over), reader.wanted
        self._pos += escapes.written_length(text, read)
        self._out.emit("arguments", reader.take())
        if not over and (reader.want or self._may_follow_object()):
            return False
        rest = plain[read:]
        if rest.strip() and self.CALLS_HAVE_CLOSER and self._is_left_over():
            self._note_damage("arguments_not_an_object", "the arguments are not an object")
            self._out.emit("content", rest)
            self._pos = pos + len(text)
        self._reader = None
        return self._close_call(self._value_of(reader))

    def _is_left_over(self) -> bool:
        """Return whether no marker follows the object."""
        return self.AFTER_CALL.match_at(self._buf, next_char(self._buf, self._pos)) is None

    def _may_follow_object(self) -> bool:
        """Return whether more input shows if text is left over after the object, or how much of it."""
        if not (self.CALLS_HAVE_CLOSER and self._is_left_over()):
            return False
        start = next_char(self._buf, self._pos)
        if start < len(self._buf) and not self.AFTER_CALL.prefix_of(self._buf, start):
            self._wanted = (len(self._buf) - start) >> 1
        return True

    def _no_escaped_object(self, text: str, plain: str, over: bool) -> bool:
        """Close a call without arguments, or with text that is no object in their place."""
        start = next_char(self._buf, self._pos)
        closed = self.AFTER_CALL.match_at(self._buf, start)
        if closed is not None and closed.kind in CLOSER_KINDS:
            return self._close_call("{}")
        if not over:  # a long text is read again once it has grown by half
            self._wanted = (len(self._buf) - start) >> 1
            return False
        if plain.strip():
            self._note_damage("arguments_not_an_object", "the arguments are not an object")
            self._out.emit("content", plain.lstrip())
        self._pos += len(text)
        return self._close_call("{}")

    def _irregular_arguments(self, start: int) -> bool | None:
        """Read a fence around the arguments, or arguments in another form; return None if there is neither."""
        buf, name = self._buf, self._out.calls[-1][0]
        rest = buf[start : start + 128]
        parts = (PART_OF_FENCE, PART_OF_FIRST_KEY, PART_OF_KEY, *[PART_OF_NOTHING] * bool(required_of(self._schema())))
        if not self._final and any(part.fullmatch(rest) for part in parts):
            return False
        fence, mark = FENCE_OPEN.match(buf, start), self.AFTER_CALL.match_at(buf, start)
        if mark is not None and (fence is None or not buf.startswith("{", fence.end())):
            return None
        if not self._final and rest[:1] != "{" and self.AFTER_CALL.prefix_of(buf, start):
            return False
        if fence is not None:
            self._note("fence_around_arguments", "a fence around the arguments")
            self._text("trailing", fence.end())
            return True
        if name not in self._tools:
            return None
        nothing = NOTHING_BEFORE.match(rest) if required_of(self._tools[name]) else None
        if nothing is not None:
            return self._in_an_object(start + nothing.end(), Reader(self.STYLES, self.BREAKS), BEFORE_ARGUMENTS)
        if is_wrapper(FIRST_KEY.match(buf, start), name, self._tools):
            return self._in_an_object(start, Reader(self.STYLES, self.BREAKS), AROUND_ARGUMENTS)
        irregular = rest[:1] not in ("{", '"') or UNLIKE_OBJECT.match(rest) is not None
        return self._in_other_form(start, name) if irregular else None

    def _in_other_form(self, start: int, name: str) -> bool | None:
        """Read all that comes before the next marker as the arguments."""
        buf, mark = self._buf, self.BREAKS.find(self._buf, start)
        if not self._final and not self.BREAKS.is_decided(mark, buf, start):
            return False
        end, doubts = len(buf) if mark is None else mark.start, Doubts(self._tools, mark is None)
        arguments = arguments_in(name, buf[start:end], doubts)
        if arguments is None:
            return None
        self._note("arguments_repaired", "arguments: in another form")
        return self._read_whole(arguments, end, doubts)

    def _finish(self) -> None:
        super()._finish()
        if self._open and self._reader is not None:
            self._emit_arguments(self._reader.close())
        elif self._open:
            self._out.emit("arguments", "{}")


class NamedLast(Objects):
    """Reads calls whose name comes after their arguments: {"city": "Paris"} -> get_weather"""

    NAME_FOLLOWS_SPACE: ClassVar[bool] = False  # no marker is before the name

    def _call(self) -> bool:
        # call = object TAIL_START (slot SLOT_END)*
        buf, start = self._buf, next_char(self._buf, self._pos + self._skip)
        reader = Reader(self.STYLES, self.BREAKS)
        end = reader.read(buf, start, self._final) if buf.startswith("{", start) else start
        at, expected = self._end_of_object(reader, start, end)
        values: dict[str, str] = {}
        unclosed = False
        if not expected:
            values, end, expected = self._slots(at, self.TAIL)
            if self._tools and expected in ("name", "end") and len(self.TAIL) == 1:
                values["name"], end = self._name_before_marker(at)
                unclosed = values["name"] in self._tools
                expected = "" if unclosed else expected
        written = values.get("name", "")
        if self.CORRECTS_TOOL_NAMES and self._tools and not expected:
            values["name"] = tool_named(written, self._tools)
        if not expected and self.ONLY_TOOLS and not self._is_tool(values["name"]):
            expected = "the name of a tool"
        if expected == "more":
            return False
        if self.REREADS_CALLS and self._tools and expected not in ("", "end"):
            other = self._irregular_call()
            if other is not None:
                return other
        self._second_reading_failed = False
        if expected:
            return self._no_call(expected)
        if not unclosed:
            self._note_slot_diagnostics()
        if self.CORRECTS_TOOL_NAMES and values["name"] != written:
            self._note("tool_name_corrected", f"the tool {values['name']} is called as {written}")
        self._open_call(values["name"], values.get("id"))
        self._close_after_name(self._value_of(reader), end, unclosed)
        return True

    def _end_of_object(self, reader: Reader, start: int, end: int) -> tuple[int, str]:
        """Return where the slots after the arguments begin, and what was expected before them and didn't come."""
        buf = self._buf
        if end == start < len(buf):
            return start, "the arguments"
        if reader.want or end == start:
            self._wanted = (len(buf) - start) >> 1  # a long object is read again once it has grown by half
            return start, "end" if self._final else "more"
        at = next_char(buf, end)
        if self.NAME_FOLLOWS_SPACE:
            may_begin, is_named = at == len(buf), True
        else:
            tail = self.AFTER_CALL.match_at(buf, at)
            is_cut = at == len(buf) or self.AFTER_CALL.prefix_of(buf, at) != ""
            may_begin = is_cut and (tail is None or tail.ambiguous > 0)
            is_named = tail is not None and tail.kind == "tail"
            at = at if tail is None else tail.end
        if may_begin:
            return at, "end" if self._final else "more"
        return at, "" if is_named else "the name"

    def _name_before_marker(self, pos: int) -> tuple[str, int]:
        """Return the text before the next marker, a name if the text that ends it is missing, and its end."""
        mark = self.BREAKS.find(self._buf, pos)
        if mark is None and not self._final:
            return "", pos
        end = self.BREAKS.partial_match(self._buf, pos) if mark is None else mark.start
        return tool_named(self._buf[pos:end].strip(), self._tools), end

    def _close_after_name(self, arguments: str, end: int, unclosed: bool) -> None:
        """Close the call.  `unclosed`: the text that ends the name, and closes the call, has not come."""
        name = self._out.calls[-1][0]
        if self.REREADS_CALLS and self._tools and is_wrapper(FIRST_KEY.match(arguments), name, self._tools):
            self._note(*AROUND_ARGUMENTS)
            arguments = self._arguments_of(arguments) or arguments
        self._pos = end
        self._close_call(arguments)
        self._unclosed = unclosed
