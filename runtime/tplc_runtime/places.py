"""Markers that count in some places only: at a line's start, at the output's end, where a whole call follows."""

from __future__ import annotations

from .pattern import NAME_LIMIT, Pattern
from .scanner import next_char
from .stream import at_line_start, is_word
from .texts import TextParser
from .transcript import is_in_code
from .whole import LONGEST_TEXT, MORE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from .scanner import Match, Scanner

UNDECIDED_KINDS = ("ordinary", "final_end", "weak_content_end", "respelled")  # what follows shows whether they count
UNCLOSED_KINDS = ("respelled", "unclosed")  # they count in reasoning that nothing else closes
# And those that count at the start of a line, or in reasoning that nothing else closes.
DECIDED_LATER = ("line", "reasoning_line", "unclosed", *UNDECIDED_KINDS)
CODE_END = Pattern(r"```(?![\w-])")
MOST_ENDS = 4  # so many ends of the turn in a row are one


def begins_line(buf: str, pos: int) -> bool:
    """Return whether only white space is before `pos` on its line, which does not begin the text."""
    while buf[pos - 1 : pos].isspace() and buf[pos - 1] != "\n":
        pos -= 1
    return buf[pos - 1 : pos] == "\n"


class PlacedMarkers(TextParser):
    FENCED_CALLS: ClassVar[bool] = True  # a fence around calls is dropped
    ESCAPE_OF_ENDS: ClassVar[str] = ""  # how content has the first character of its end: after another one
    REREADS_CALLS: ClassVar[bool] = True  # failed calls are read again, by the tools' names
    OPENER_IS_UNAMBIGUOUS: ClassVar[bool] = True  # the opener of calls is distinctive, so a call follows
    IN_CONTENT: ClassVar[Scanner]
    _as_other_calls: ClassVar[Callable[[Any, Match], Match | None]]
    _reasoning_to = (0, False)  # where the reasoning that is open ends, and whether a closer is there

    def _in_its_place(self, marks: Scanner, mark: Match | None, kind: str) -> Match | None:
        """Return the mark, or the first after it, that counts in its place in text of this kind."""
        mark = self._counting(marks, mark) if self.PLACE_DECIDES else mark
        while mark is not None and self._is_text_of(kind, mark.start):
            mark = marks.find(self._buf, mark.start + 1)
            mark = self._counting(marks, mark) if self.PLACE_DECIDES else mark
        return mark

    def _is_text_of(self, kind: str, pos: int) -> bool:
        """Return whether a mark at `pos` is text of this kind: the end of an escape, or a fence that closes code."""
        if self.ESCAPE_OF_ENDS and kind == "content" and self._is_escaped(pos):
            return True
        if self.FENCED_CALLS and CODE_END.match(self._buf, pos) is not None:
            line, opened = self._out.code_before(kind)
            before = line + self._buf[self._pos : pos]
            return is_in_code(before, opened) and not before.rpartition("\n")[2].strip()
        return False

    def _counting(self, marks: Scanner, mark: Match | None) -> Match | None:
        """Return the mark, or the first after it, that counts in its place: `line` and `reasoning_line` at a line's
        start (as a whole if only later pieces are there), `final_end` at the end, `weak_content_end` before the end or
        another mark."""
        buf, line_start, seen, outer = self._buf, self._line_start, self._pos, mark
        while mark is not None and mark.kind in DECIDED_LATER:
            counting: Match | None = None
            if self.HAS_RESPELLED_ENDS and mark.kind in UNCLOSED_KINDS:
                counting = self._without_closer(marks, mark)
            elif self.HAS_LINE_CLOSERS and mark.kind == "reasoning_line":
                line_start, seen = at_line_start(buf[seen : mark.start], line_start), mark.start
                if line_start:
                    return mark.of_kind("reasoning_end")
            elif self.HAS_FINAL_MARKERS and mark.kind != "line" and mark.kind != "ordinary":
                counting = self._at_end(marks, mark)
            if self.HAS_LINE_MARKERS and mark.kind in ("line", "ordinary"):
                line_start, seen = at_line_start(buf[seen : mark.start], line_start), mark.start
                if self.WHOLE_CALL and (mark.kind == "ordinary") == line_start:
                    counting = self._as_whole_call(mark, marks is self.IN_CONTENT)
                if line_start and mark.kind == "line":
                    whole = outer if outer is not None and outer.kind == "line" and mark.start < outer.end else mark
                    if self.CALL_BEGINS and not self._tools:
                        counting = self._as_begun_call(whole)
                    else:
                        return whole
                if self.CALLS and self.OPENER_IS_UNAMBIGUOUS and self._tools and mark.kind == "line":
                    counting = counting or self._without_closer(marks, mark)
                outer = mark if outer is None or mark.start >= outer.end else outer
            if counting is not None:
                return counting
            mark = marks.find(buf, mark.start + 1)  # another marker may begin inside of one that doesn't count here
        return mark

    def _as_whole_call(self, mark: Match, in_content: bool) -> Match | None:
        """Return the mark as the opener of a call if a whole call follows, in content also one in another form than the
        template's; "ordinary" while that is undecided."""
        before = self._before(mark)
        counts = self._tools or (mark.kind == "ordinary" and not self._is_indented_otherwise(mark))
        if not (self._calls_on and counts) or (is_word(before) and is_word(self._buf[mark.start])):
            return None
        end = self.WHOLE_CALL.end_of_call(self._buf, mark.start, self._final, self._tools)
        if end == MORE:  # a long one is read again only after it has grown by half
            self._wanted = max(0, len(self._buf) - mark.start - LONGEST_TEXT) >> 1
        elif end < 0:
            # One that opens calls in a section, and stands in none, needs a call as the template writes it.
            rereads = self.REREADS_CALLS and self._tools and in_content and mark.kind == "line"
            return self._as_other_calls(mark) if rereads else None
        return mark.of_kind("ordinary" if end == MORE else "whole")

    def _as_begun_call(self, mark: Match) -> Match | None:
        """Return the mark if what follows begins like a call of the template; "ordinary" while that is undecided."""
        is_first = not (self._last_char or self._buf[max(self._pos, mark.start - NAME_LIMIT) : mark.start].strip())
        if not is_first and self._is_indented_otherwise(mark):
            return None
        begun = self.CALL_BEGINS.match(self._buf, mark.end)
        return None if begun is None else mark if self._final or begun.lastindex else mark.of_kind("ordinary")

    def _before(self, mark: Match) -> str:
        return self._buf[mark.start - 1] if mark.start > self._pos else self._last_char

    def _is_indented_otherwise(self, mark: Match) -> bool:
        """Return whether a line is indented differently from the template: without tools, it is code or prose."""
        return self._before(mark) in (" ", "\t") and self._before(mark) != mark.lead[-1:]

    def _without_closer(self, marks: Scanner, mark: Match) -> Match | None:
        """Return the mark as the end of reasoning that is never closed: a closer in another spelling, an opener of
        content, or one of calls inside a line if a tool is named.  Its kind is "ordinary" while that is undecided."""
        buf, undecided = self._buf, None if self._final else mark.of_kind("ordinary")
        alike = mark.kind in UNCLOSED_KINDS
        if not alike and not any(name in buf[mark.end : mark.end + NAME_LIMIT] for name in self._tools):
            return undecided if len(buf) - mark.end < NAME_LIMIT else None
        found = mark.of_kind("reasoning_end") if mark.kind == "respelled" else mark
        if self._base + mark.start < self._reasoning_to[0]:
            return None if self._reasoning_to[1] else found
        end = marks.find(buf, mark.end)
        while end is not None and end.kind not in ("reasoning_end", "end"):
            if self.HAS_LINE_CLOSERS and end.kind == "reasoning_line" and begins_line(buf, end.start):
                break
            end = marks.find(buf, end.start + 1)
        if end is not None and end.ambiguous and undecided is not None and marks.prefix_of(buf, end.start):
            return undecided
        if end is None or end.kind == "end":
            self._reasoning_to = self._base + (end.start if end is not None else len(buf) if self._final else 0), False
            return found if end is not None else undecided or found
        self._reasoning_to = self._base + end.start, True
        return None

    def _at_end(self, marks: Scanner, mark: Match) -> Match | None:
        """Return the mark with its meaning at the end, or before another marker; unchanged while that is undecided."""
        buf, at, after = self._buf, next_char(self._buf, mark.end), None
        for _ in range(MOST_ENDS):
            if at == len(buf):
                return mark.of_kind(self._counted(mark)) if self._final else mark
            after = marks.match_at(buf, at)
            if mark.kind != "final_end" or after is None or after.kind != "final_end":
                break
            at = next_char(buf, after.end)
        if not self._final and marks.prefix_of(buf, at):
            return mark
        if mark.kind == "final_end":
            return None
        apart = after is not None and (after.kind != "line" or "\n" in buf[mark.end : at])
        if after is not None and apart and after.kind not in ("final_end", "weak_content_end"):
            return mark.of_kind(self._counted(mark))
        if after is not None and after.kind == "final_end" and next_char(buf, after.end) == len(buf):
            return mark.of_kind(self._counted(mark)) if self._final else mark
        return None

    def _is_escaped(self, pos: int) -> bool:
        """Return whether what precedes makes the character at `pos` a part of an escape in content."""
        at, escape = pos, self.ESCAPE_OF_ENDS
        if not self._buf.startswith(escape[1], pos):
            return False
        while at > self._pos and self._buf[at - 1] == escape[0]:
            at -= 1
        return (pos - at + (at == self._pos and self._out.cut_escape != "")) % 2 == 1

    def _counted(self, mark: Match) -> str:
        return {"final_end": "end", "weak_content_end": "content_end"}.get(mark.kind, "reasoning_end")
