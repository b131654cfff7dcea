"""The parts of a turn: the text between markers, what a marker does to it, and where the output ends."""

from __future__ import annotations

from .pattern import LEAST_CUT, LEAST_PUNCTUATION
from .places import UNDECIDED_KINDS, PlacedMarkers
from .scanner import (
    NO_MARKERS,
    NON_SPACE,
    PART_OF_LONGER,
    SPELLED_OTHERWISE,
    Match,
    Scanner,
    next_char,
    trailing_overlap,
    truncated_core,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from .message import Delta

SPACE_SEPARATOR = "\0"  # between white space that may come and other white space that may come instead
LONGEST_CUT = 1000  # longer than a truncated opener and the white space around it
OPENER_KINDS = ("call", "line", "whole")
REASONING_KINDS = ("reasoning", "reasoning_end")
CALL_KINDS = ("tail", "both", "call", "separator", "section", "closed", "close")
CUT_KINDS = ("end", "reasoning_end", "content_end")
# Diagnostics that the interpreter of states gives as well: the code, and the text.
SPELLING = ("marker_spelled_otherwise", "a marker is not spelled as the template does")
REASONING_TWICE = ("reasoning_opened_twice", "reasoning is opened twice")
REASONING_NOT_OPEN = ("reasoning_not_open", "reasoning ends that was not open")
REASONING_NOT_CLOSED = ("reasoning_not_closed", "content begins before the reasoning is closed")
EMPTY_CALL = ("empty_call", "an empty call")
ANOTHER_TURN = ("another_turn", "another turn begins")
ENDS_IN_REASONING = ("ends_in_reasoning", "the output ends inside the reasoning")
ENDS_IN_CALL = ("ends_in_call", "the output ends inside a call")
TEXT_AFTER_TURN = ("text_after_turn", "text after the end of the turn")


class TurnStates(PlacedMarkers):
    TEXT_MARKERS: ClassVar[bool] = True  # some are text where they are, or where the caller wants them so
    CONTENT_OPENS: ClassVar[bool] = True  # with a marker
    NAME_OPENS_MESSAGE: ClassVar[bool] = False  # the end of a call's name may also open a message
    OTHER_SPELLINGS: ClassVar[bool] = True  # markers may be in other case, or have other separators
    DROPS_TRUNCATED_MARKERS: ClassVar[bool] = True  # a truncated marker at the output's end is not text
    ENDS_TURN: ClassVar[bool] = False  # a call's closer may also end the turn, so it may be missing
    OPENERS: ClassVar[tuple[str, ...]] = ()  # of calls: the beginning of one at the output's end is not text
    # What the states look for, each in its text.
    AT_START: ClassVar[Scanner] = NO_MARKERS
    OPENS_FIRST: ClassVar[tuple[str, ...]] = ()  # kinds of openers that are text once content has begun, and
    BEFORE_CONTENT: ClassVar[Scanner] = NO_MARKERS  # what counts before that
    AFTER_TURN: ClassVar[Scanner] = NO_MARKERS  # a call directly after the end of the turn is one of its calls
    CLOSER_OPENS_CONTENT: ClassVar[bool] = False  # what closes reasoning opens content, too
    REASONING_AGAIN: ClassVar[Any] = None  # what opens it, where it has just been opened
    IN_REASONING: ClassVar[Scanner] = NO_MARKERS
    IN_CONTENT: ClassVar[Scanner] = NO_MARKERS
    _ends_inside = False  # the output was found to end inside a part
    _lacks_section = False  # the section of the last call is missing
    _kept = False  # the header of a call that stays text is being read
    _try_call: ClassVar[Callable[[Any, str], bool]]
    _unopened_calls: ClassVar[Callable[[Any], bool | None]]

    def finish(self) -> list[Delta]:
        """Ends the output; returns the remaining deltas."""
        if self._final:
            return []
        self._final = True
        deltas = self._advance("") if self._pos < len(self._buf) or self._parts or self._unaccounted else []
        if self.CALLS or self.HAS_REASONING or self.PENDING_TEXT:
            self._finish()
        if self._buf[self._pos :].strip():
            if self.CALLS and self.OPENER_IS_UNAMBIGUOUS and self._is_truncated_opener(self._pos):
                self._note_truncation(*ENDS_IN_CALL)
            else:
                self._note("ends_in_marker", "the output ends inside a marker")
            self._text("trailing", len(self._buf))
        self._out.end_content()
        self._enter_fast_path("")
        return deltas + self._out.deltas()

    # States

    def _start(self) -> bool:
        # turn = REASONING_END* content
        kind = self._next(self.AT_START)
        if kind == "reasoning_end":
            self._note(*REASONING_NOT_OPEN)
            return self._drop()
        if kind is not None:
            self._state = type(self)._content
        return kind is not None

    def _pending_text(self) -> bool:
        # turn = text REASONING_END content | content
        kind = self._until(self.IN_REASONING, "pending")
        if kind == "reasoning_end":
            if self.REASONING_AGAIN:
                self._drop_pending_opener()
            self._out.release("reasoning_content")
            self._state = type(self)._content
            return self._drop(not self.CLOSER_OPENS_CONTENT)
        if kind in ("end", "content"):
            self._out.release("content")
            self._state = type(self)._content
        return kind != "" and self._at_marker(kind, "pending")

    def _reasoning(self) -> bool:
        # reasoning = text (REASONING_END content | CALL_START call)
        if self.REASONING_AGAIN:
            again = self._reasoning_again()
            if again is not False:
                return again is True
        text = "reasoning_content" if self._reasoning_on else "content"
        kind = self._until(self.IN_REASONING, text)
        if kind == "reasoning_end":
            self._opener, self._state = "", type(self)._content
            return self._drop(not self.CLOSER_OPENS_CONTENT) if self._reasoning_on else self._keep_as_text("content")
        if kind == "unclosed":
            self._opener, self._state = "", type(self)._content
            return self._drop_noted(*REASONING_NOT_CLOSED) if self._reasoning_on else self._keep_as_text(text)
        return kind != "" and self._at_marker(kind, text)

    def _content(self) -> bool:
        # content = (text | marker)*
        if self.UNOPENED_CALLS:
            unopened = self._unopened_calls()
            if unopened is not None:
                return unopened
        if self.OPENS_FIRST and self._only_space_so_far:
            first = self._next(self.BEFORE_CONTENT)
            if first is None or first in self.OPENS_FIRST:
                return first is not None and self._at_marker(first, "content")
        kind = self._until(self.IN_CONTENT, "content")
        return kind != "" and self._at_marker(kind, "content")

    def _at_marker(self, kind: str, text: str) -> bool:
        """Do what a marker of this kind does in text of this kind; one of another kind was text itself."""
        if kind == "reasoning":
            mark, self._state = self._mark, type(self)._reasoning
            self._opener = self._buf[mark.start : mark.end] + mark.trail
            return self._drop() if self._reasoning_on else self._keep_as_text("content")  # not parsed, it is text
        if self.CONTENT_OPENS and kind == "content":
            self._opened_to = self._base + self._pos + self._skip
            return self._drop(False)
        if kind == "content_end":
            return self._drop()
        if kind in ("call", "line", "whole"):
            return self._try_call(text)
        if kind == "end":
            self._state = type(self)._over
            if self.HAS_REASONING:
                self._opener = ""
            return self._drop()
        if kind == "header":
            if not self._only_space_so_far:
                self._note(*ANOTHER_TURN)
            return self._drop()
        if kind == "stray":
            return self._drop_noted(*REASONING_NOT_OPEN)
        if kind == "empty":
            return self._drop_noted(*EMPTY_CALL)
        return True

    # Text and markers

    def _until(self, marks: Scanner, kind: str) -> str:
        """Emit the text before the next marker as `kind`.  Return the marker's kind, "text" if the marker is text
        itself and was emitted too, "" if more input is needed."""
        if self._space:
            self._skip_space()
        buf, pos, stop = self._buf, self._pos, len(self._buf)
        mark = marks.find(buf, pos)
        if self.NAME_OPENS_MESSAGE and self._kept and mark is not None and mark.kind in ("reasoning", "content"):
            mark = mark.of_kind("name_end")
        if self.PLACE_DECIDES or self.FENCED_CALLS or self.ESCAPE_OF_ENDS:
            mark = self._in_its_place(marks, mark, kind)
        clear = mark is not None and (self._final or not mark.ambiguous)  # nothing before its end can be undecided
        partial = stop if clear else marks.partial_match(buf, pos, stop if mark is None else mark.start)
        if self.PLACE_DECIDES and mark is not None and mark.kind in UNDECIDED_KINDS and not self._final:
            partial = min(partial, marks.with_lead(buf, pos, mark.start))
        while self._final and partial < stop and not self._is_truncated_marker(marks, partial, kind):
            partial = marks.partial_match(buf, partial + 1)
        if mark is not None and mark.start >= partial:
            mark = None  # a longer one may begin there
        end = partial if mark is None else mark.start
        blank = self._only_space_so_far and (end == pos or buf[pos:end].isspace())
        self._only_space_so_far = blank
        if mark is None:
            if not blank:
                self._text(kind, end)
                passed = self._out.fence is None and (not self.HAS_REASONING or self._reasoning_on or not self._opener)
                if self.PENDING_TEXT or self.ESCAPES:
                    passed = passed and kind != "pending" and kind not in (self.ESCAPES or ())
                self._enter_fast_path(kind if passed else "", marks.safe_prefix_end)
            elif self._final:  # no marker follows this white space, so it may be text
                if self._out.is_empty():
                    self._text(kind, end)
                self._pos = end
            return ""
        # If the whole turn is white space, that white space is the content.
        alone = mark.kind == "end" and kind in ("content", "pending") and self._out.is_empty()
        lead = end - pos if blank and not alone else trailing_overlap(buf[pos:end], mark.lead)
        if self.TEXT_MARKERS and (is_text := self._is_text(mark)):
            lead = 0
        if not blank or alone or (self.TEXT_MARKERS and is_text):
            self._text(kind, end - lead)
        # A call may turn out to be text, and then the white space before it is text too.
        self._mark, self._pos = mark, end - lead if self.CALLS and mark.kind in OPENER_KINDS else end
        self._skip = mark.end - self._pos
        if self.TEXT_MARKERS and is_text and mark.kind not in REASONING_KINDS:
            self._keep_as_text(kind)
            return "text"
        return str(mark.kind)

    def _next(self, marks: Scanner, usual: Any = None) -> str | None:
        """Return the kind of the next marker after white space, "" for other text; None if more input is needed.
        `usual`: the usual text, which may contain several of the markers."""
        if self._space:
            self._skip_space()
        buf, start = self._buf, NON_SPACE.search(self._buf, self._pos).start()
        mark = marks.match_at(buf, start)
        if not self._final and (mark is None or mark.ambiguous):
            if (self.USUAL_NEXT or self.USUAL_PAIR) and mark is None and self._is_usual(usual, start):
                return None
            if start == len(buf):
                return None
            core = marks.prefix_of(buf, start)
            if core:  # nothing is decided before all of it has arrived
                if " " in core or not core.isprintable():  # white space may differ, or words, or the spelling
                    self._is_still_ambiguous = lambda text: len(text) <= marks.width and truncated_core((core,), text)
                else:
                    self._is_still_ambiguous = core[:-1].startswith
                self._ambiguous_from = start
                return None
        if mark is None:
            return ""
        self._mark = mark
        self._skip = mark.end - self._pos
        return str(mark.kind)

    def _skip_space(self) -> None:
        while self._space and self._pos < len(self._buf):
            char, spaces = self._buf[self._pos], self._space.split(SPACE_SEPARATOR)
            rests = [space[1:] for space in spaces if space[:1] == char]
            self._pos, self._space = self._pos + bool(rests), SPACE_SEPARATOR.join(rests)

    def _drop(self, only_space: bool = True) -> bool:
        """Consume a marker that only structures the turn."""
        if self.OTHER_SPELLINGS:
            self._note_spelling()
        self._pos += self._skip
        self._space = self._mark.trail
        self._only_space_so_far = only_space
        if self.CALLS:
            self._after_failed_call = False
        if self.NAME_OPENS_MESSAGE:
            self._kept = False
        if self.HAS_LINE_MARKERS:
            self._line_start = True  # what counts at the start of a line counts after a marker, too
        if self.WHOLE_CALL or self.CALL_BEGINS:
            self._last_char = ""
        return True

    def _note_spelling(self) -> None:
        """Report, once, that the marker is in other case, or has other separators, if it does."""
        if self._mark.ambiguous >= SPELLED_OTHERWISE:
            self._note(*SPELLING)
            self._mark.ambiguous = PART_OF_LONGER

    def _drop_noted(self, code: str, text: str) -> bool:
        """Drop the marker and report it, unless it is the prompt's; the part that it is in continues."""
        if self._echo or self._here() >= 0:
            self._note(code, text)
        return self._drop(self._only_space_so_far)

    def _reasoning_again(self) -> bool | None:
        """Drop a repeated opener of reasoning before its text; return whether there was one, None if undecided."""
        again = self._next(self.REASONING_AGAIN) if self._only_space_so_far and self._reasoning_on else ""
        if again:
            at = next_char(self._buf, self._mark.end)
            after = self.IN_REASONING.match_at(self._buf, at)
            may_continue = at == len(self._buf) or self.IN_REASONING.prefix_of(self._buf, at) != ""
            if after is None and may_continue and not self._final:
                return None
            if after is not None and after.kind.startswith("reasoning_"):
                return False  # all that the reasoning holds
            self._note(*REASONING_TWICE)
            self._pos, self._space = self._mark.end, self._mark.trail
        return None if again is None else again != ""

    def _drop_pending_opener(self) -> None:
        """Drop an opener of reasoning before the pending text, though the template writes none."""
        self._out.flush()
        text = "".join(self._out.texts["pending"])
        again = self.REASONING_AGAIN.match_at(text, next_char(text, 0))
        if again is not None:
            self._note(*REASONING_TWICE)
            self._out.texts["pending"] = [text[again.end :]]

    def _keep_as_text(self, kind: str) -> bool:
        self._text(kind, self._pos + self._skip)
        self._only_space_so_far = False
        if self.NAME_OPENS_MESSAGE:
            self._kept = self._mark.kind in ("call", "line")
        return True

    def _is_text(self, mark: Match) -> bool:
        """Return whether the marker belongs to a part that stays in the content."""
        if mark.kind == "stray":
            return (self.CALLS and self._after_failed_call) or not self._reasoning_on
        if mark.kind == "empty":
            return not self._calls_on
        if self.NAME_OPENS_MESSAGE and mark.kind == "name_end":
            return True
        return not self._reasoning_on and bool(mark.kind.startswith("reasoning"))

    def _over(self) -> bool:
        # over = (TURN_START? CALL_START call) | text after the turn
        if self._only_space_so_far:
            if self.CALLS:
                kind = self._next(self.AFTER_TURN)
                if kind is None:
                    return False
                if kind and self._calls_on:
                    self._state = type(self)._content
                    return True
            self._space = ""
            self._pos = next_char(self._buf, self._pos)
            if self._pos < len(self._buf):
                self._only_space_so_far = False
                self._note(*TEXT_AFTER_TURN)
        self._text("trailing", len(self._buf))
        return False

    def _is_truncated_opener(self, pos: int) -> bool:
        """Return whether the remaining text begins the opener of a call."""
        if len(self._buf) - pos > LONGEST_CUT:
            return False  # without a copy of all that follows, for each place that is asked about
        rest = "".join(self._buf[pos:].split())
        if len(rest) < LEAST_CUT or rest.isalnum() or self._after_failed_call or not self._calls_on:
            return False
        return truncated_core(self.OPENERS, self._buf[next_char(self._buf, pos) :]) != ""

    def _drop_truncated_call(self) -> bool:
        """Drop the remaining markup of a call in which the output ends."""
        self._note_truncation(*ENDS_IN_CALL)
        self._text("trailing", len(self._buf))
        return False

    def _is_truncated_marker(self, marks: Scanner, pos: int, kind: str) -> bool:
        """Return whether the remaining text at the output's end is a truncated opener of a call, or a truncated end."""
        if self.FENCED_CALLS and self._is_text_of(kind, next_char(self._buf, pos)):
            return False
        if self.CALLS and self.OPENER_IS_UNAMBIGUOUS and self._is_truncated_opener(pos):
            return True
        if not self.DROPS_TRUNCATED_MARKERS:
            return False
        rest = "".join(self._buf[pos:].split())
        if len(rest) < LEAST_CUT or rest.isalnum() or (self.CALLS and self._after_failed_call):
            return False
        if not any(map(str.isalnum, rest)) and (len(rest) < LEAST_PUNCTUATION or len({*rest[:LEAST_PUNCTUATION]}) == 1):
            return False
        return marks.prefix_of(self._buf, next_char(self._buf, pos), CUT_KINDS) != ""

    def _note_damage(self, code: str, text: str) -> None:
        """Report damage to a call, such as lost text.  The message is incomplete, so no caller runs the call."""
        self._note(code, text)
        self.incomplete = True

    def _note_truncation(self, code: str, text: str) -> None:
        if not self._ends_inside:
            self._note(code, text)
        self.incomplete = self._ends_inside = True

    def _finish(self) -> None:
        """Close everything that is open at the end of the output."""
        if self.PENDING_TEXT:
            self._out.release("content")
        if self.HAS_REASONING and self._opener and self._reasoning_on:
            self._note_truncation(*ENDS_IN_REASONING)
        if (self.WHOLE_CALL or self.UNOPENED_CALLS) and self._lacks_section:
            self._unclosed = False
        if self.CALLS and (self._open or (self._unclosed and not self.ENDS_TURN)):
            self._note_truncation(*ENDS_IN_CALL)
