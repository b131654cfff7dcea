"""Calls: what opens and closes one, and what comes after it.  How arguments are read is a matter of other files."""

from __future__ import annotations

import re

from .arguments import CallArguments
from .pattern import IDENTIFIER, LEAST_CUT
from .scanner import NO_MARKERS, PLAIN_WORD, SPELLED_OTHERWISE, next_char, squeezed
from .schema import tool_named
from .second import FENCE_END, PART_OF_MORE
from .slots import NEVER_IN_NAMES, ODD_IN_NAMES
from .turn import CALL_KINDS, ENDS_IN_CALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    from .scanner import Scanner

# Those of Stream that are not in a dictionary: objects of a class share the keys of at most 30 attributes there.
ATTRIBUTES = (
    "incomplete _after_failed_call _ambiguous_from _base _buf _calls_on _diagnostics _echo _final "
    "_find_safe_end _is_still_ambiguous _kind_before_call _line_start _mark _only_space_so_far _open "
    "_open_kind _opener _out _parts _pos _reasoning_on _regular_fast_path _skip _space _state _state_before_call "
    "_text_fast_path _tools _unaccounted _unchecked _unclosed _value_fast_path _wanted"
)
CLOSER_KINDS = ("both", "closed", "close", "separator", "end")
ENDS_AFTER_CALLS = ("end", "final_end", "content_end")


class Machine(CallArguments):
    __slots__ = ATTRIBUTES.split()
    CALLS: ClassVar[bool] = True
    UNOPENED_CALLS: ClassVar[bool] = True
    HAS_OPENERS: ClassVar[bool] = True
    CORRECTS_TOOL_NAMES: ClassVar[bool] = True  # tools may be called with a namespace, or with other separators
    OBJECTS_HAVE_ID: ClassVar[bool] = False  # a field of those that are calls is the call's id
    AFTER_CALL: ClassVar[Scanner] = NO_MARKERS
    LONE_OPENERS: ClassVar[Sequence[str]] = ()  # openers whose section is missing: they count at a line's start only
    UNWRAPPED: ClassVar[Sequence[str]] = ()  # an opener without its outer piece, and the closer of such a call
    SHORT_OPENERS: ClassVar[Sequence[str]] = ()  # what opens only calls of tools that are known
    OPENED_TWICE: ClassVar[Sequence[Any]] = ()  # openers of which a part comes twice, after the length of the shortest
    CLOSERS_COME_ONCE: ClassVar[bool] = True  # what closes calls does not end the turn as well
    LAST_CLOSERS: ClassVar[tuple[str, ...]] = ()  # what closes a call, and nothing else
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
    REASONING_IS_CLOSED: ClassVar[bool] = True  # the template writes no calls in open reasoning
    SECTION_DECIDES: ClassVar[bool] = True  # what may follow a call depends on whether all calls were closed
    DROPS_LEFT_OVER: ClassVar[bool] = True  # superfluous brackets, fences and openers after a call are dropped
    SEPARATOR_OPENS: ClassVar[bool] = False  # the next call begins directly after a separator,
    CALLS_ARE_JUXTAPOSED: ClassVar[bool] = False  # or directly after a call, without one
    TEXT_ENDS_TURN: ClassVar[bool] = False  # no text follows calls that are closed
    _closed = False  # they were
    _is_unwrapped = False  # the outer piece of the call's opener is missing
    _is_opened_twice = False  # another opener follows the opener of this call
    _closed_with = ""  # what was dropped last after a call that is closed
    _ends_in_bracket = False  # the last closer was one: another opening bracket may begin the arguments
    _second_reading_failed = False  # the second reading of this call found none
    # What was expected in the place of the arguments of a tool, "" if they begin; "more": more input is needed.
    _expected_arguments: ClassVar[Callable[[Any, int, str], str]]
    _begin_arguments: ClassVar[Callable[[Any], None]]
    _irregular_call: ClassVar[Callable[[Any], bool | None]]
    _drop_left_over: ClassVar[Callable[[Any, str], str]]

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
            expected = self._expected_arguments(end, values["name"])
        if self.CALL_BEGINS and not unknown and not expected:
            expected = self._expected_arguments(end, values["name"])
        if self.REREADS_CALLS and self._tools and (expected or unknown):
            other = self._irregular_call() if expected not in ("more", "end") else None
            if other is not None:
                return other
        self._second_reading_failed = self._second_reading_failed and expected == "more"
        if expected:
            return expected != "more" and self._no_call(expected)
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
        if self._is_opened_twice:
            return False
        at = next_char(self._buf, self._pos + self._skip)
        inner = self.AFTER_CALL.match_at(self._buf, at)
        if (inner is None or inner.ambiguous) and not self._final and self.AFTER_CALL.prefix_of(self._buf, at):
            return None
        if inner is None or inner.kind != "call":
            return False
        self._mark, self._skip, self._is_opened_twice = inner, inner.end - self._pos, True
        return True

    def _expected_unless_closed(self, what: str, start: int, may_continue: bool) -> str:
        """Return what was expected where no arguments begin; "" where a call, all calls or the turn end instead."""
        mark = self.AFTER_CALL.match_at(self._buf, start)
        if mark is not None and mark.kind in CLOSER_KINDS:
            return "more" if self._may_be_longer(self.AFTER_CALL, start, mark.end) else ""
        if may_continue or self.AFTER_CALL.prefix_of(self._buf, start):
            return "" if self._final else "more"
        return what

    def _may_be_longer(self, markers: Scanner, start: int, end: int) -> bool:
        """Return whether only the next character shows that this is a marker: `<p` may be the beginning of `<px`."""
        return not self._final and end == len(self._buf) and markers.prefix_of(self._buf, start) != ""

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
        if self.CLOSERS_COME_ONCE and kind in ("section", "closed") and not self._unclosed:
            self._note_second_closer()
        if kind == "section" or (kind == "both" and not self._closed):
            if self.SECTION_DECIDES:
                self._closed = True
            return self._drop_closer(False)
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
        if self.OTHER_SPELLINGS and self._mark.ambiguous:
            self._note_spelling()
        if self.UNWRAPPED and self._is_unwrapped:
            unclosed = unclosed and not self._buf.startswith(self.UNWRAPPED[1], self._mark.start)
        self._pos, self._space, self._unclosed = self._mark.end, self._mark.trail, unclosed
        self._ends_in_bracket = self._buf[self._pos - 1 : self._pos] == ")"
        if self.USUAL_NEXT and self._pos == len(self._buf) and not self._final:  # all of the usual text is awaited
            self._is_usual(self.USUAL_NEXT, self._pos)
        return True

    def _note_second_closer(self) -> None:
        """Report a closer of a call that is closed, and one that comes twice."""
        closer = "".join(self._buf[self._mark.start : self._mark.end].split())
        if closer == self._closed_with or (self.LAST_CLOSERS and closer.endswith(self.LAST_CLOSERS)):
            self._note("left_over", f"{self._buf[self._mark.start : self._mark.end]} is left over after a call")
        self._closed_with = closer

    def _leave_calls(self, kind: str) -> bool:
        """Go on with content: something else than more of the calls follows, or nothing."""
        at = next_char(self._buf, self._pos)
        if kind == "" and self._unclosed and not self._final and PART_OF_MORE.fullmatch(self._buf, at):
            return False  # more of the arguments may follow
        if kind == "" and (self._unclosed or (self._ends_in_bracket and self._buf.startswith("(", self._pos))):
            self._note_following_text()
        self._unclosed = self._unclosed and at == len(self._buf)
        self._state = type(self)._content
        return True

    def _tail(self) -> bool:
        # tail = TAIL_START (slot SLOT_END)*
        name = self._out.calls[-1][0] if self._out.calls else None
        values, end, expected = self._slots(self._mark.end, self.TAIL, name)
        if expected in ("more", "end"):
            return expected == "end" and self._drop_truncated_call()
        if self.OTHER_SPELLINGS:
            self._note_spelling()
        if not expected:
            self._note_slot_diagnostics()
        else:  # a word before the next marker is the name: only its end is missing
            word = PLAIN_WORD.match(self._buf, next_char(self._buf, self._mark.end))
            is_name = word[0] and self.BREAKS.match_at(self._buf, next_char(self._buf, word.end())) is not None
            end = word.end() if is_name else self._mark.end
            self._note("left_over", f"{self._buf[self._pos : end].strip()} is left over after a call")
            if is_name:
                self._text("trailing", end)
        self._pos, self._unclosed = end, False
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
        if self.OPENED_TWICE or self.SHORT_OPENERS:
            self._is_opened_twice = False
        if self.OPENED_TWICE and self._skip >= self.OPENED_TWICE[0]:  # it is 0 where no marker opens this call
            opener = self._buf[self._mark.start : self._mark.end]
            self._is_opened_twice = "".join(opener.split()) in self.OPENED_TWICE
        self._state = type(self)._call
        return True

    def _no_call(self, expected: str) -> bool:
        if self.SHORT_OPENERS and self.OPENER_IS_UNAMBIGUOUS and self._is_truncated_opener(self._pos):
            return self._final and self._drop_truncated_call()  # the whole opener, without its end
        if expected == "end" and (self._skip or self._mark.kind == "separator"):
            if not self.OPENER_IS_UNAMBIGUOUS:
                self._note_truncation(*ENDS_IN_CALL)
            else:
                return self._drop_truncated_call()
        if self._tools and self._unclosed and self._mark.kind != "separator":
            self._note_following_text()
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
        if self.OTHER_SPELLINGS and self._mark.ambiguous:
            self._note_spelling()
        if (self.OPENED_TWICE or self.SHORT_OPENERS) and self._is_opened_twice:
            self._note("calls_opened_twice", "the calls are opened twice")
            self._is_opened_twice = False
        if self.HAS_REASONING and self.REASONING_IS_CLOSED and self._opener and self._reasoning_on:
            self._out.flush()
            if "".join(self._out.texts["reasoning_content"]).strip():
                self._note("reasoning_not_closed", "a call begins before the reasoning is closed")
        self._out.open_call(name, call_id)
        self._open, self._after_failed_call, self._opener = True, False, ""  # a call ends the reasoning
        if self._tools and name not in self._tools:
            self._note("unknown_tool", "unknown tool " + name)
        elif not self._tools and not ODD_IN_NAMES.isdisjoint(name):
            self._note_damage("markup_in_name", "the name of a tool contains markup, quotes or white space")

    def _close_call(self, arguments: str = "") -> bool:
        """Close the call after this rest of its arguments."""
        if arguments:
            self._out.emit("arguments", arguments)
        if self._tools:
            self._check_arguments()
        self._repaired, self._closed_with = False, ""
        self._open, self._only_space_so_far, self._line_start, self._space = False, True, True, ""
        if self.SECTION_DECIDES:
            self._closed = False
        if self.WHOLE_CALL or self.CALL_BEGINS:
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
        if part and self._final and len(buf) - (at := next_char(buf, self._pos)) <= marks.width:
            least = 1 if self._unclosed and kind == "" else LEAST_CUT
            rest = "".join(buf[at:].split())
            end = None if kind == "" else marks.match_at(buf, next_char(buf, self._mark.end))
            is_over = rest == FENCE_END or (end is not None and end.kind in ENDS_AFTER_CALLS)  # opens no other fence
            if len(rest) >= least and not is_over and marks.prefix_of(buf, at, CALL_KINDS):
                self._drop_truncated_call()
                return None
            is_text = self._unclosed or len(rest) < LEAST_CUT - (not rest.isalnum())
            if self.DROPS_TRUNCATED_MARKERS and not is_text and marks.prefix_of(buf, at, ENDS_AFTER_CALLS):
                return None
        if self.LONE_OPENERS and self._lacks_section and kind == "call":
            # Without its section, this call doesn't count where the last one didn't.
            return "" if buf[self._mark.start : self._mark.end] in self.LONE_OPENERS else kind
        return kind

    def _is_short(self) -> bool:
        """Return whether the opener lacks its last words, so that only a tool's name makes a call."""
        opener = self._buf[self._pos : self._pos + self._skip][self._mark.start - self._mark.end :]  # the last of two
        if self.OTHER_SPELLINGS and self._mark.ambiguous >= SPELLED_OTHERWISE:
            return squeezed(opener).replace("s", "") in [squeezed(text).replace("s", "") for text in self.SHORT_OPENERS]
        return "".join(opener.split()) in self.SHORT_OPENERS

    def _note_following_text(self) -> None:
        """Report text in the place of a call's closer, if it could be the arguments that the call lacks."""
