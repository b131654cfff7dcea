"""Calls: what opens and closes one, and what comes after it.  How arguments are read is a matter of other files."""

from __future__ import annotations

import re

from .message import Diagnostic
from .pattern import IDENTIFIER, LEAST_CUT
from .scanner import NO_MARKERS, SPELLED_OTHERWISE
from .schema import tool_named
from .second import FENCE_END, Doubts, arguments_of, holds_other_call, loaded, misfit_in
from .slots import NEVER_IN_NAMES, Slots
from .stream import MOST_DIAGNOSTICS
from .turn import CALL_KINDS, ENDS_IN_CALL, next_char
from .values import LONGEST_SEPARATOR, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from .message import Delta
    from .scanner import Scanner
    from .values import Reader, Style

# Those of Stream that are not in a dictionary: objects of a class share the keys of at most 30 attributes there.
ATTRIBUTES = (
    "incomplete _after_failed_call _ambiguous_from _base _buf _calls_on _diagnostics _echo _final "
    "_find_safe_end _is_still_ambiguous _kind_before_call _line_start _mark _only_space_so_far _open "
    "_open_kind _opener _out _parts _pos _reasoning_on _regular_fast_path _skip _space _state _state_before_call "
    "_text_fast_path _tools _unaccounted _unchecked _unclosed _value_fast_path _wanted"
)
MISFITS = {
    "inside": ("argument_not_closed", "the argument {key} is in the value of another"),
    "type": ("argument_of_other_type", "the argument {key} is not of the type in the schema"),
    "key": ("unknown_argument", "the tool {tool} has no argument {key}"),
    "repeated": ("repeated_argument", "the argument {key} comes again"),
}
CLOSER_KINDS = ("both", "closed", "close", "separator", "end")


class Machine(Slots):
    __slots__ = ATTRIBUTES.split()
    CALLS: ClassVar[bool] = True
    UNOPENED_CALLS: ClassVar[bool] = True
    HAS_OPENERS: ClassVar[bool] = True
    CORRECTS_TOOL_NAMES: ClassVar[bool] = True  # tools may be called with a namespace, or with other separators
    OBJECTS_HAVE_ID: ClassVar[bool] = False  # a field of those that are calls is the call's id
    REREADS_CALLS: ClassVar[bool] = True  # failed calls are read again, by the tools' names
    AFTER_CALL: ClassVar[Scanner] = NO_MARKERS
    LONE_OPENERS: ClassVar[Sequence[str]] = ()  # openers whose section is missing: they count at a line's start only
    UNWRAPPED: ClassVar[Sequence[str]] = ()  # an opener without its outer piece, and the closer of such a call
    SHORT_OPENERS: ClassVar[Sequence[str]] = ()  # what opens only calls of tools that are known
    # Slots of a call: the kind, what ends it, and characters that do; a plain word up to the text's end or to an
    # unambiguous marker, and the white space after each of these (None for markers that don't belong to the slot).
    HEADER: ClassVar[Sequence[Any]] = ()
    NAME_ESCAPES: ClassVar[Any] = None  # texts that stand for characters in names
    CALL_ID: ClassVar[str] = ""  # an id that consists of slots: "{name}:{index}"
    ARGUMENTS_OPEN: ClassVar[bool] = False  # with a character or a marker: other text makes no call
    ONLY_TOOLS: ClassVar[bool] = False  # calls look like text, so that only a tool's name makes one,
    OPENER_IS_ONE_CHARACTER: ClassVar[bool] = True  # even their openers look like text
    TAIL: ClassVar[Sequence[Any]] = ()  # slots after a call
    CALLS_HAVE_CLOSER: ClassVar[bool] = True  # calls have a closer
    SECTION_DECIDES: ClassVar[bool] = True  # what may follow a call depends on whether all calls were closed
    DROPS_LEFT_OVER: ClassVar[bool] = True  # superfluous brackets, fences and openers after a call are dropped
    SEPARATOR_OPENS: ClassVar[bool] = False  # the next call begins directly after a separator,
    CALLS_ARE_JUXTAPOSED: ClassVar[bool] = False  # or directly after a call, without one
    TEXT_ENDS_TURN: ClassVar[bool] = False  # no text follows calls that are closed
    _closed = False  # they were
    STYLES: ClassVar[tuple[Style, Style, Style]]  # of values in a dialect with quotes,
    _reader: Reader | None = None  # and the reader of one
    _written = ""  # the beginning of the arguments
    _is_unwrapped = False  # the outer piece of the call's opener is missing
    _is_opened_twice = False  # another opener follows the opener of this call
    _repaired = False  # the arguments of the last call were repaired
    _types_are_checked = False  # the types of values are reported where these are read
    _ends_in_bracket = False  # the last closer was one: another opening bracket may begin the arguments
    _second_reading_failed = False  # the second reading of this call found none

    def _feed_regular_text(self, chunk: str) -> list[Delta]:
        """Read more of arguments that are regular text, without a state."""
        reader = self._reader
        if reader is None:
            return self._advance(chunk)
        buf = self._buf + chunk
        stop = len(buf)
        end = reader.regular(buf, 0, stop)
        text = reader.take() if reader.style.HAS_WORDS else buf[:end]
        if end == stop:
            self._buf, self._value_fast_path = "", reader.string is not None
        elif reader.needs_more and stop - end <= LONGEST_SEPARATOR:
            self._buf, self._value_fast_path = buf[end:], False
            if text == "":
                return []
        else:
            reader.out.append(text)
            self._buf, self._pos = buf, end
            return self._advance("")
        self._unaccounted.append(text)
        if reader.style.HAS_WORDS:
            self._base += end - len(text)  # the rest is accounted for with the text
        return [{"tool_calls": [{"index": self._out.index, "function": {"arguments": text}}]}]

    def _in_string(self, reader: Reader) -> None:
        """Prepare to pass on the next chunks of a value that is written as the template does."""
        string = reader.string
        if string is not None and string.close == reader.style.usual and not reader.out:
            self._enter_fast_path("arguments", string.plain_end)
        elif self._open_kind:
            self._enter_fast_path("")
        if not reader.out and reader.is_regular():
            self._open_kind, self._regular_fast_path = "arguments", type(self)._feed_regular_text

    def _value_has_ended(self, reader: Reader) -> bool:
        """Return whether the value has ended; if it hasn't, the next chunk may continue a string of it."""
        if reader.want:
            self._in_string(reader)
            return False
        if reader.repair:
            self._note_repair("arguments_repaired", "arguments: ", reader)
        self._reader = None
        return True

    def _note_repair(self, code: str, what: str, reader: Reader) -> None:
        self._note(code, what + reader.repair)
        self._repaired, self.incomplete = True, self.incomplete or reader.is_guessed

    def _value_of(self, reader: Reader) -> str:
        """Return the value of a text that is read as a whole; report if it was repaired or is cut."""
        if reader.want:
            self._note_truncation(*ENDS_IN_CALL)
        elif reader.repair:
            self._note_repair("arguments_repaired", "arguments: ", reader)
        return reader.close()

    def _check_arguments(self) -> None:
        """Examine the arguments of the last call when somebody asks for diagnostics; those of a repaired call at once:
        repairs that invent a key, or a value of another type than the schema's, have failed."""
        if not self.incomplete:  # what was lost is reported
            types = not (self.RAW_VALUES and self._types_are_checked) or self._repaired
            offset, before = self._here(), len(self._diagnostics)
            while before and self._diagnostics[before - 1].offset == offset:
                before -= 1
            # The call, where it is, how many diagnostics there come before its own, and whether types are examined.
            self._unchecked.append((self._out.index, offset, len(self._diagnostics) - before, types))
        name = self._out.calls[-1][0]
        if self._repaired or (self._tools and name not in self._tools):
            self._out.flush()
            arguments = "".join(self._out.texts["arguments"])
            misfits = self._repaired and misfit_in(arguments, self._tools.get(name)) is not None
            self.incomplete |= misfits or holds_other_call(name, arguments, self._tools)

    def _note_misfits(self) -> None:
        """Report, for each call, the first argument that the tool's schema doesn't allow."""
        self._out.flush()
        unchecked, self._unchecked, notes = self._unchecked, [], self._diagnostics
        for index, offset, earlier, types in unchecked:
            name, _, text = self._out.calls[index]
            text = "".join(self._out.texts["arguments"]) if index == self._out.index else text
            found = misfit_in(text, self._tools.get(name), types=types)
            if found is not None:
                # Where it would be if it had been added at once, whenever somebody asks.
                at = next((at for at, note in enumerate(notes) if note.offset >= offset), len(notes))
                code, text = MISFITS[found[0]]
                notes.insert(at + earlier, Diagnostic(offset, text.format(tool=name, key=found[1]), code))
                del notes[MOST_DIAGNOSTICS:]

    def _emit_arguments(self, text: str) -> None:
        """Emit arguments that are a string with an object in it; any other string is content."""
        inside: str | None = text
        if self._written != "{":
            reader = unwrapped(text, self.STYLES)
            inside = None if reader is None else self._value_of(reader)
        if inside is None and self.REREADS_CALLS and text[:1] in ("[", '"') and self._tools:
            inside = self._arguments_of(text)
            if inside is not None:
                self._note("arguments_repaired", "arguments: brackets around them")
        if inside is None and text not in ("null", '""'):
            self._note_lost_text("arguments_not_an_object", "the arguments are not an object")
            self._out.emit("content", text)
        self._out.emit("arguments", "{}" if inside is None else inside)

    def _arguments_of(self, text: str, *, is_guessed: bool = False) -> str | None:
        """Return the arguments that a value in JSON, whose end may be guessed, is or contains; None if none are."""
        doubts = Doubts(self._tools)
        doubts.is_guessed = is_guessed
        found = arguments_of(self._out.calls[-1][0], loaded(text), doubts)
        self.incomplete |= doubts.is_guessed and found is not None
        return found

    def _call(self) -> bool:
        # call = (slot SLOT_END)* arguments
        values, end, expected = self._slots(self._pos + self._skip, self.HEADER)
        if self.NAME_ESCAPES and not expected:
            values["name"] = self.NAME_ESCAPES.unescape(values["name"])
        written = values.get("name", "")
        if self.CORRECTS_TOOL_NAMES and self._tools and not expected:
            values["name"] = tool_named(written, self._tools)
        unknown = values.get("name") not in self._tools
        if (
            self.ONLY_TOOLS
            and not expected
            and (self.OPENER_IS_ONE_CHARACTER or not self._skip)
            and not self._is_tool(values["name"])
        ):
            expected = "the name of a tool"
        if self._tools and unknown and not (expected or NEVER_IN_NAMES.isdisjoint(values["name"])):
            expected = "the name of a tool"
        if self.SHORT_OPENERS and unknown and expected not in ("more", "end") and self._is_short():
            inner = self._complete_short_opener()
            if inner is not False:
                return inner is True
            expected = "the name of a tool"
        if self.ARGUMENTS_OPEN and unknown and not expected:
            expected = self._expected_arguments(end)
        if self.REREADS_CALLS and self._tools and (expected or unknown):
            other = self._irregular_call() if expected not in ("more", "end") else None
            if other is not None:
                return other
        self._second_reading_failed = self._second_reading_failed and expected == "more"
        if expected:
            return expected != "more" and self._no_call(expected)
        if self.SHORT_OPENERS and self._is_opened_twice:
            self._note("calls_opened_twice", "the calls are opened twice")
        if self._slot_diagnostics:
            self._note_slot_diagnostics()
        if self.CORRECTS_TOOL_NAMES and values["name"] != written:
            self._note("tool_name_corrected", f"the tool {values['name']} is called as {written}")
        self._pos = end
        self._open_call(values["name"], self.CALL_ID.format_map({**values, "name": written}) if self.CALL_ID else None)
        self._begin_arguments()
        return True

    def _complete_short_opener(self) -> bool | None:
        """Go on after another opener, which may complete a short one; False if there is none, None if undecided."""
        at = next_char(self._buf, self._pos + self._skip)
        inner = self.AFTER_CALL.match_at(self._buf, at)
        is_open = inner is None or inner.ambiguous
        if is_open and not self._final and self.AFTER_CALL.prefix_of(self._buf, at):
            return None
        if inner is None or inner.kind != "call":
            return False
        self._mark, self._skip, self._is_opened_twice = inner, inner.end - self._pos, True
        return True

    def _expected_arguments(self, pos: int) -> str:
        """Return what was expected after a name that is no tool's and has no arguments; "more": more input is
        needed."""
        raise NotImplementedError

    def _expected_unless_closed(self, what: str, start: int, may_continue: bool) -> str:
        """Return what was expected if no arguments begin; the end of the call, of all calls or of the turn may replace
        them."""
        mark = self.AFTER_CALL.match_at(self._buf, start)
        if mark is not None and mark.kind in CLOSER_KINDS:
            return ""
        if may_continue or self.AFTER_CALL.prefix_of(self._buf, start):
            return "" if self._final else "more"
        return what

    def _after_call(self) -> bool:
        # after_call = CALL_END* (CALL_SEPARATOR? CALL_START call | content)
        kind = self._next_of_calls()
        if kind is None:
            return False
        if self.DROPS_LEFT_OVER:
            more = self._drop_left_over(kind) if kind == "" or (kind == "call" and self._unclosed) else "no"
            if more != "no":
                return more == "dropped"
        if kind == "tail":
            return self._tail()
        if kind == "section" or (kind == "both" and not self._closed):
            return self._close_calls()
        if kind in ("call", "both"):
            return self._try_call("content")
        if kind == "separator":
            if self.SEPARATOR_OPENS:
                self._skip = 0
            return self._drop_closer(True) and (not self.SEPARATOR_OPENS or self._try_call("content"))
        if kind == "closed":
            return self._drop_closer(False)
        if kind == "close":
            return self._drop_closer(self._unclosed)
        if self.CALLS_ARE_JUXTAPOSED and kind == "" and not self._closed:
            self._skip = 0
            return self._try_call("content")
        if self.TEXT_ENDS_TURN and kind == "" and not self._unclosed:
            self._state = type(self)._over
            return True
        return self._leave_calls(kind)

    def _drop_closer(self, unclosed: bool) -> bool:
        """Drop a closer or a separator after a call; `unclosed`: something is missing of the call, or of the next."""
        if self.OTHER_SPELLINGS and self._mark.ambiguous >= SPELLED_OTHERWISE:
            self._note_spelling()
        if self.UNWRAPPED and self._is_unwrapped:
            unclosed = unclosed and not self._buf.startswith(self.UNWRAPPED[1], self._mark.start)
        self._pos, self._space, self._unclosed = self._mark.end, self._mark.trail, unclosed
        self._ends_in_bracket = self._buf[self._pos - 1 : self._pos] == ")"
        if self.USUAL_NEXT and self._pos == len(self._buf) and not self._final:  # all of the usual text is awaited
            self._is_usual(self.USUAL_NEXT, self._pos)
        return True

    def _close_calls(self) -> bool:
        if self.SECTION_DECIDES:
            self._closed = True
        return self._drop_closer(False)

    def _leave_calls(self, kind: str) -> bool:
        """Go on with content: something else than more of the calls follows, or nothing."""
        if kind == "" and (self._unclosed or (self._ends_in_bracket and self._buf.startswith("(", self._pos))):
            self._note_following_text()
        self._unclosed = self._unclosed and next_char(self._buf, self._pos) == len(self._buf)
        self._state = type(self)._content
        return True

    def _tail(self) -> bool:
        # tail = TAIL_START (slot SLOT_END)*
        name = self._out.calls[-1][0] if self._out.calls else None
        values, end, expected = self._slots(self._mark.end, self.TAIL, name)
        if expected == "more":
            return False
        if expected == "end":
            return self._drop_truncated_call()
        if self.OTHER_SPELLINGS and self._mark.ambiguous >= SPELLED_OTHERWISE:
            self._note_spelling()
        if not expected:
            self._note_slot_diagnostics()
        self._pos, self._unclosed = (self._mark.end if expected else end), False
        if not expected and "id" in values:
            self._out.set_id(values["id"])
        return True

    def _try_call(self, kind: str) -> bool:
        """Try to read the text after _skip characters of opener as a call; if it isn't one, it is text of this kind.
        If calls aren't wanted, the opener is text, but it still ends reasoning."""
        if not self._calls_on:
            if self.HAS_REASONING and kind == "reasoning_content":
                self._opener, self._state, kind = "", type(self)._content, "content"
            return self._keep_as_text(kind)
        self._state_before_call = type(self)._content if self._state == type(self)._after_call else self._state
        self._kind_before_call = kind
        if self.WHOLE_CALL or self.UNOPENED_CALLS:
            self._lacks_section = self._mark.kind == "whole"
        if self.UNWRAPPED:
            self._is_unwrapped = self._buf[self._mark.start : self._mark.end] == self.UNWRAPPED[0]
        if self.SHORT_OPENERS:
            self._is_opened_twice = False
        self._state = type(self)._call
        return True

    def _begin_arguments(self) -> None:
        raise NotImplementedError

    def _no_call(self, expected: str) -> bool:
        if self.SHORT_OPENERS and self.OPENER_IS_UNAMBIGUOUS and self._is_truncated_opener(self._pos):
            return self._final and self._drop_truncated_call()  # the whole opener, without its end
        if expected == "end" and (self._skip or self._mark.kind == "separator"):
            if not self.OPENER_IS_UNAMBIGUOUS:
                self._note_truncation(*ENDS_IN_CALL)
            else:
                return self._drop_truncated_call()
        self._note("not_a_call", "not a call: expected " + expected)
        self._after_failed_call, self._unclosed, self._space = True, False, ""
        self._state = self._state_before_call
        if self._skip:
            self._keep_as_text(self._kind_before_call)
        return True

    def _is_tool(self, name: str) -> bool:
        # If calls look like text, only a tool's name (or at least an identifier) makes a call.
        return name in self._tools if self._tools else re.fullmatch(IDENTIFIER, name) is not None

    def _open_call(self, name: str, call_id: str | None = None) -> None:
        if self.PENDING_TEXT:
            self._out.release("content")
        if self.OTHER_SPELLINGS and self._mark.ambiguous >= SPELLED_OTHERWISE:
            self._note_spelling()
        if self.HAS_REASONING and self._opener and self._reasoning_on:
            self._out.flush()
            if "".join(self._out.texts["reasoning_content"]).strip():
                self._note("reasoning_not_closed", "a call begins before the reasoning is closed")
        self._out.open_call(name, call_id)
        self._open, self._after_failed_call, self._opener = True, False, ""  # a call ends the reasoning
        if self._tools and name not in self._tools:
            self._note("unknown_tool", "unknown tool " + name)

    def _close_call(self, arguments: str = "") -> bool:
        """Close the call after this rest of its arguments."""
        if arguments:
            self._out.emit("arguments", arguments)
        if self._tools:
            self._check_arguments()
        self._repaired = False
        self._open, self._only_space_so_far, self._line_start, self._space = False, True, True, ""
        if self.SECTION_DECIDES:
            self._closed = False
        if self.WHOLE_CALL:
            self._last_char = ""
        self._unclosed = self.CALLS_HAVE_CLOSER
        self._state = type(self)._after_call
        return True

    def _next_of_calls(self) -> str | None:
        """Return the kind of the next marker after a call, as `_next` does; drop a truncated one at the end."""
        marks, buf = self.AFTER_CALL, self._buf
        kind = self._next(marks, self.USUAL_NEXT)
        # The text after a piece of a closer may be all that the output has of the rest.
        part = kind == "" or (kind in ("close", "closed") and next_char(buf, self._mark.end) < len(buf))
        if part and self._final:
            least, at = 1 if self._unclosed and kind == "" else LEAST_CUT, next_char(buf, self._pos)
            # A fence around the calls is closed there, rather than another one opened.
            cut = marks.prefix_of(buf, at, CALL_KINDS) if len("".join(buf[at:].split())) >= least else ""
            if cut and buf[at:].rstrip() != FENCE_END:
                self._drop_truncated_call()
                return None
        if self.LONE_OPENERS and self._lacks_section and kind == "call":
            # Without its section, this call doesn't count where the last one didn't.
            return "" if buf[self._mark.start : self._mark.end] in self.LONE_OPENERS else kind
        return kind

    def _is_short(self) -> bool:
        """Return whether the opener lacks its last words, so that only a tool's name makes a call."""
        return "".join(self._buf[self._pos : self._pos + self._skip].split()) in self.SHORT_OPENERS

    def _irregular_call(self) -> bool | None:
        raise NotImplementedError

    def _drop_left_over(self, kind: str) -> str:
        raise NotImplementedError

    def _note_following_text(self) -> None:
        """Report text in the place of a call's closer, if it could be the arguments that the call lacks."""
