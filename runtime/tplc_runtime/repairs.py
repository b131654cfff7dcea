"""Calls that are not as the template writes them: odd headers, a second reading, what is left over after them."""

from __future__ import annotations

from .machine import CLOSER_KINDS, Machine
from .pattern import LEAST_CUT, NAME_LIMIT, ONE_WORD, Pattern
from .scanner import NO_MARKERS, Match, next_char, squeezed
from .schema import KEY_IN_TEXT, begins_with_tag, properties_of, tool_named
from .second import (
    ENDS_OF_CALLS,
    MORE_ARGUMENTS,
    NEAR,
    NOTE,
    Doubts,
    arguments_of,
    calls_follow,
    calls_up_to,
    closed,
    is_closed_call,
    may_be_calls,
)
from .unopened import is_object_over, unopened_calls, unopened_headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    from .scanner import Scanner
    from .schema import Parameters
    from .values import Reader

AROUND_ARGUMENTS = ("call_as_arguments", "a whole call, or another object, around the arguments")
MOST_READINGS = 8  # of texts that end at the same marker
PART_OF_NAME = Pattern(r"(?:[=:][\"']?)?\Z")  # after a garbled closer
PART_OF_ATTRIBUTE = Pattern(r"\w{1,32}\s?=\s?")  # before the quote that shows what it is
LEFT_OVER_BRACKET = Pattern(r"[\"']?[}\])]{1,4}|`{1,3}|\|?>")
LEFT_OVER = Pattern(rf"[\"']?[}}\])]{{0,4}}[.,;]|{LEFT_OVER_BRACKET.pattern}|[\"']")
LEFT_NOTE = Pattern(rf"(?://|#)[^\n]*|{NOTE}")
PART_OF_CLOSING_TAG = Pattern(r"<(?:/[\w:.=▁|｜-]{0,64})?\Z")


def irregular_header(parser: Any, buf: str, start: int, tools: Parameters, final: bool) -> tuple[str, int] | None:
    """Return the tool that an irregular header names, and where its arguments begin; ("", 0) if it names none, None if
    undecided.  `parser` has the texts of headers, and knows where arguments begin, and headers continue."""
    name, pos, other = "", next_char(buf, start), 0
    while pos - start < NAME_LIMIT:
        part, word = parser.HEADER_TEXTS.match(buf, pos), ONE_WORD.match(buf, pos)
        may_end = name and (part is None or part.end() <= pos + 1) and pos < len(buf)
        if may_end and (parser._arguments_begin(pos) or begins_with_tag(buf, pos, tools.get(name))):
            return None if not final and parser._header_may_continue(pos) else (name, pos)
        end = max(pos if part is None else part.end(), pos if word is None else word.end())
        is_cut = end == len(buf) or PART_OF_ATTRIBUTE.fullmatch(buf, pos) is not None
        if not final and (is_cut or parser._header_may_continue(pos)):
            return None
        # After a word or a number that names no tool, a further opener is that of the call.
        mark = parser.AFTER_CALL.match_at(buf, pos) if not name and ONE_WORD.search(buf, start, pos) else None
        if end == pos or (mark is not None and mark.kind == "call"):
            break
        if part is None or part.end() < end:
            tool = tool_named(buf[pos:end], tools)
            if tool not in tools:  # an index may follow it, or texts of headers may be next to it
                parts = buf[pos:end].rpartition(":")[0], parser.HEADER_TEXTS.sub("", buf[pos:end])
                tool = max((tool_named(part, tools) for part in parts), key=lambda name: name in tools)
            other += 5 if tool not in tools else tool == name  # one word counts as the name again, five times
            if (tool in tools and name not in ("", tool)) or other >= 10:
                break
            name = name or tool
        pos = next_char(buf, end)
    return (name, len(buf)) if name and final and pos == len(buf) else ("", 0)


def has_argument(header: str, name: str, tools: Parameters) -> bool:
    """Return whether a header contains an argument of its tool after the tool's name: `f city="Oslo">`."""
    words = KEY_IN_TEXT.findall(header.partition(name)[2] or header)
    return not set(words).isdisjoint(properties_of(tools.get(name)))


class Repairs(Machine):
    HEADER_PARTS: ClassVar[Sequence[str]] = ()  # the texts of which headers consist
    HEADER_TEXTS: ClassVar[Pattern] = Pattern("(?!)")
    # Closers with the right letters and other brackets: a pattern, whose first group has those after which nothing is
    # missing, the characters that they begin with, their letters.
    GARBLED: ClassVar[Any] = None
    NAME_IS_FIRST: ClassVar[bool] = True  # in headers
    OWN_HEADER: ClassVar[Any] = None  # how calls begin, if their opener is like text
    OWN_FIELDS: ClassVar[dict[str, str]] = {}  # the fields of call objects that are usually named otherwise
    LEFT_OVER: ClassVar[Scanner] = NO_MARKERS  # openers that may be in the place of a closer
    _reread = (0, 0)  # where the text ends that was read again, and was no call, and how often that was done
    _opens_arguments: ClassVar[Callable[[Any, int], bool]]

    def _irregular_call(self) -> bool | None:
        """Read a call whose header differs from the template's; None if it is no call."""
        other = irregular_header(self, self._buf, self._pos + self._skip, self._tools, self._final)
        if other is None:
            return False
        if self.CALL_BEGINS and other[0]:
            expected = self._expected_arguments(other[1], other[0])
            if expected == "more":
                return False
            other = ("", 0) if expected else other
        if other[0] and other[0] in self._tools:
            self._note("other_header", f"the header of a call of {other[0]} is not as the template writes it")
            self.incomplete |= has_argument(self._buf[self._pos + self._skip : other[1]], other[0], self._tools)
            self._pos, self._space = other[1], ""
            self._open_call(other[0])
            self._begin_arguments()
            return True
        if self._second_reading_failed:
            return None
        self._state = type(self)._second_reading
        return True

    def _as_other_calls(self, mark: Match) -> Match | None:
        """Return the mark if it opens a call that is closed, or calls in another form than the template's, and nothing
        else; "ordinary" while that is undecided."""
        buf, start = self._buf, mark.end - (self._buf[mark.end - 1] == "{")
        markers = self.BREAKS, self.AFTER_CALL
        follow = calls_follow(buf, start, self._final, self._tools, *markers, self.NAME_IS_FIRST)
        if follow is None:
            self._wanted = max(0, len(buf) - start - NEAR) >> 1
            return mark.of_kind("ordinary")
        return mark if follow else None

    def _header_may_continue(self, pos: int) -> bool:
        """Return whether the following text begins one of the texts of a header."""
        rest = self._buf[pos : pos + NAME_LIMIT]
        may_continue = any(len(text) > len(rest) and text.startswith(rest) for text in self.HEADER_PARTS)
        return may_continue or self.AFTER_CALL.prefix_of(self._buf, pos) != ""

    def _arguments_begin(self, pos: int) -> bool:
        """Return whether the arguments of a call begin here, or the call ends."""
        mark = self.AFTER_CALL.match_at(self._buf, pos)
        if mark is not None and mark.kind in CLOSER_KINDS:
            return not self.CALL_BEGINS  # without arguments, a word after an opener that is like text is no call
        return self._opens_arguments(pos)

    def _second_reading(self) -> bool:
        """Read a text that opens like a call up to the end of that call, as a whole."""
        buf, start = self._buf, self._pos + self._skip
        times = self._reread[1] if self._base + start < self._reread[0] else 0
        if times == MOST_READINGS or not may_be_calls(buf[start : start + NAME_LIMIT], self._tools):
            return self._restore_first_reading()
        mark = self.BREAKS.find(buf, start)
        if not self._final and not self.BREAKS.is_decided(mark, buf, start):
            return False
        found, end, doubts = calls_up_to(mark, buf, start, self._tools, self.AFTER_CALL)
        if not found:
            self._reread = self._base + (len(buf) if mark is None else mark.start), times + 1
            return self._restore_first_reading()
        self.incomplete |= doubts.is_guessed
        self._note("other_form_of_calls", "calls that are not written as the template does")
        self._pos, self._repaired = end, True
        for name, arguments in found:
            self._open_call(name, None)
            self._close_call(arguments)
        return True

    def _unopened_calls(self) -> bool | None:
        """Read calls before any content that no marker opens; None if there are none, False if undecided."""
        buf, begins = self._buf, self._only_space_so_far or self._opened_to == self._base + self._pos
        if not (begins and self._tools and self._calls_on):
            return None
        if self.OWN_HEADER and not self._after_failed_call:
            at = self._unopened_header()
            if at is None:
                self._wanted = max(0, len(buf) - self._pos - NAME_LIMIT) >> 1
                return False
            if at >= 0:
                self._pos = next_char(buf, self._pos)
                self._note("call_not_opened", "a call without its opener")
                self._mark, self._skip = Match("call", self._pos, at), at - self._pos
                return self._try_call("content")
        markers = self.IN_CONTENT, self.BREAKS, self.AFTER_CALL
        found = unopened_calls(buf, self._pos, self._final, self._tools, self.OWN_FIELDS, markers)
        if found is None:
            self._wanted = max(0, len(buf) - self._pos - NAME_LIMIT) >> 1  # a long text is read again once it has grown
            return False
        if not found[0]:
            return None
        self._pos = next_char(buf, self._pos)  # the diagnostic is about the call, in any chunking
        if self.HAS_OPENERS:
            self._note("call_not_opened", "a call without its opener")
        self._lacks_section, self._pos = True, found[1]
        for name, arguments, call_id in found[0]:
            self._open_call(name, call_id if self.OBJECTS_HAVE_ID else None)
            self._repaired = True  # what the schema doesn't allow makes the message incomplete
            self._close_call(arguments)
        return True

    def _unopened_header(self) -> int | None:
        """Return where the name of a call is whose opener is not whole; -1 if there is none, None if undecided."""
        found, undecided = unopened_headers(self._buf, self._pos, self._tools, self.OWN_HEADER)
        if self.CALLS_HAVE_CLOSER:
            over = [is_closed_call(self._buf, end, self._final, self.AFTER_CALL) for _, end in found]
        else:
            over = [is_object_over(self._buf, end, self._final, self.AFTER_CALL, self._tools) for _, end in found]
        if True in over:
            return found[over.index(True)][0]
        return None if (undecided or None in over) and not self._final else -1

    def _in_an_object(self, start: int, reader: Reader, note: tuple[str, str]) -> bool | None:
        """Read an object that is, or contains, the arguments of the call; None if they are not in it."""
        times = self._reread[1] if self._base + start < self._reread[0] else 0
        if times == MOST_READINGS:
            return None
        end = reader.read(self._buf, start, self._final)
        if reader.want and not self._final:
            return False
        doubts = Doubts(self._tools, end == len(self._buf))
        arguments = arguments_of(self._out.calls[-1][0], closed(reader, doubts), doubts)
        if arguments is None:
            self._reread = self._base + end, times + 1
            return None
        self._note(*note)
        return self._read_whole(arguments, end, doubts)

    def _read_whole(self, arguments: str, end: int, doubts: Doubts) -> bool:
        self._pos, self._space, self._repaired = end, "", True
        self.incomplete |= doubts.is_guessed
        return self._close_call(arguments)

    def _schema(self) -> object:
        return self._tools.get(self._out.calls[-1][0]) if self._out.calls else None  # the prompt may have the call

    def _restore_first_reading(self) -> bool:
        """Return to the result of the first reading: the second found no call."""
        self._second_reading_failed, self._state = True, type(self)._call
        return True

    def _note_following_text(self) -> None:
        at, texts = next_char(self._buf, self._pos), self._out.texts["arguments"]
        if at < len(self._buf) and LEFT_OVER_BRACKET.match(self._buf, at) is None:
            self._out.flush()
            more = MORE_ARGUMENTS.match(self._buf, at)
            if (more and more[1] in properties_of(self._schema())) or "".join(texts).strip("{} \t\n\r") == "":
                self._note_damage("no_argument", "text follows the arguments of a call")

    def _skip_to_closer(self, kind: str, dropped: str) -> str:
        """Skip text between the arguments of a call and its closer, if nothing was dropped: a comment is dropped, other
        text is content, and the message incomplete.  Return the same as `_drop_left_over`."""
        if dropped != "no" or kind != "" or not self._unclosed:
            return dropped
        buf, start = self._buf, next_char(self._buf, self._pos)
        mark = self.AFTER_CALL.find(buf, start, start + NAME_LIMIT)
        if not self._final and len(buf) - start < NAME_LIMIT and not self.AFTER_CALL.is_decided(mark, buf, start):
            return "more"
        if mark is None or mark.kind not in ("close", "closed") or mark.end - mark.start < LEAST_CUT:
            return "no"
        end = start + len(buf[start : mark.start].rstrip())
        if LEFT_NOTE.fullmatch(buf, start, end):
            self._note("left_over", f"{buf[start:end]} is left over after a call")
            self._text("trailing", end)
        else:
            self._note_damage("no_argument", "text follows the arguments of a call")
            self._pos = start
            self._text("content", end)
        return "dropped"

    def _left_over_ends(self, start: int) -> list[int]:
        """Return where a bracket, a fence or punctuation too many ends, and a garbled closer; -1 if undecided."""
        left = LEFT_OVER.match(self._buf, start)
        longest = start if left is None else int(left.end())
        # A closer, garbled or not, may begin like what is left over before it: first the longest such text.
        ends = [end for end in range(longest, start, -1) if LEFT_OVER.fullmatch(self._buf, start, end)]
        ends.append(self._garbled_closer(start) if self.GARBLED and start < len(self._buf) else 0)
        return [end for end in ends if end != 0]

    def _garbled_closer(self, start: int) -> int:
        pattern, first_chars, words = self.GARBLED
        buf, rest = self._buf, self._buf[start : start + NAME_LIMIT]
        match = pattern.match(buf, start)
        if match is not None:
            return -1 if not self._final and PART_OF_NAME.match(buf, match.end()) else int(match.end())
        if self._final or rest[0] not in first_chars or len(rest) == NAME_LIMIT:
            return 0
        letters = squeezed("".join(filter(str.isalnum, rest)))
        is_begun = PART_OF_CLOSING_TAG.match(rest) or any(word.startswith(letters) for word in words)
        return -1 if is_begun else 0

    def _drop_left_over(self, kind: str) -> str:
        """Drop a superfluous bracket, or an opener in a closer's place, at the end of the calls.  Return "dropped", or
        "no" if there is none, or "more" if more input is needed."""
        buf, start = self._buf, next_char(self._buf, self._pos)
        opener = self.LEFT_OVER.match_at(buf, start) if self._unclosed else None
        kind = kind if opener is None else "call"
        for end in [opener.end] if opener is not None else self._left_over_ends(start) if kind == "" else []:
            over = self._calls_end_after(end, kind)
            if over is None:
                return "more"
            if over:
                self._note("left_over", f"{buf[start:end].strip()} is left over after a call")
                if kind == "call":
                    self._pos = end
                else:
                    self._text("trailing", end)
                self._space = ""
                self._unclosed = self._unclosed and kind != "call"
                if self.GARBLED and (garbled := self.GARBLED[0].match(buf, start)) and garbled.end(1) == end:
                    self._unclosed = False  # nothing of the call is missing after it
                return "dropped"
        return "more" if kind == "" and not self._final and buf[start : start + 2] in ('"', "'", "|") else "no"

    def _calls_end_after(self, end: int, kind: str = "") -> bool | None:
        """Return whether the calls end after a text of this kind, or a further one follows; None if undecided."""
        buf, at = self._buf, next_char(self._buf, end)
        mark = self.AFTER_CALL.match_at(buf, at)
        is_open = not self._final and (mark is None or mark.ambiguous)
        if end < 0 or (is_open and (at == len(buf) or self.AFTER_CALL.prefix_of(buf, at) != "")):
            return None
        ends = mark is not None and mark.kind in ENDS_OF_CALLS and not (mark.kind == kind == "call")
        return ends or (at == len(buf) and kind != "call")

    def _closes_garbled(self) -> bool | None:
        """Return whether a garbled closer comes next, and then the end of the calls; None if more input is needed."""
        start = next_char(self._buf, self._pos)
        end = self._garbled_closer(start) if self.GARBLED and start < len(self._buf) else 0
        return self._calls_end_after(end) if end != 0 else False
