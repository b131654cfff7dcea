"""What every parser is built on: the buffer, the offsets, and the way of text from chunks to the message.

A state is a method.  It consumes `_buf` from `_pos` on, and returns False when it needs more input.  What a state
decides depends on the text only, never on how it was cut: a state that can't decide yet consumes nothing.
"""

from __future__ import annotations

from .heads import after_last_anchor, continued_head, filled_heads, known_head
from .markerlike import LIKE_A_MARKER, call_like, marker_like
from .message import Copyable, Diagnostic, checked_text
from .scanner import Match
from .schema import parameters_of
from .transcript import Transcript
from .values import escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    from .message import Delta, Message

PENDING_LIMIT = 1024  # more pending text than this is examined again only after it has doubled
MOST_DIAGNOSTICS = 1000  # of one answer
TEXT_AFTER_FINISH = "text_after_finish"
NO_MATCH = Match("", 0, 0)


def at_line_start(text: str, before: bool) -> bool:
    """Return whether only white space is on the line after `text`; `before`: the same before it."""
    _, newline, line = text.rpartition("\n")
    return (bool(newline) or before) and not line.strip()


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


class Stream(Copyable):
    GUARDED: ClassVar[bool] = False  # special tokens may be known
    VALUES_WAIT: ClassVar[bool] = False  # for text that shows whether they are items of a list
    HEADS: ClassVar[Sequence[str]] = ("",)
    ANCHORS: ClassVar[Sequence[str]] = ()
    CALLS: ClassVar[bool] = False  # the format has calls,
    RAW_VALUES: ClassVar[bool] = False  # whose values are texts, which become strings of JSON
    PLACE_DECIDES: ClassVar[bool] = True  # whether some markers count depends on their place:
    HAS_LINE_MARKERS: ClassVar[bool] = True  # some count only at a line's start,
    HAS_LINE_CLOSERS: ClassVar[bool] = True  # such as closers of reasoning,
    HAS_FINAL_MARKERS: ClassVar[bool] = True  # and some at the output's end, or before another marker,
    HAS_RESPELLED_ENDS: ClassVar[bool] = True  # and respelled closers of reasoning, if nothing else closes it
    WHOLE_CALL: ClassVar[Any] = None  # an ordinary text opens a call only where a whole call follows
    CALL_BEGINS: ClassVar[Any] = None  # and what comes after one that opens calls at lines, where no tools are known
    UNOPENED_CALLS: ClassVar[bool] = False  # calls without an opener count before content, as a whole
    HAS_OPENERS: ClassVar[bool] = False  # calls have an opener
    REASONING: ClassVar[bool] = True  # the format has reasoning,
    HAS_REASONING: ClassVar[bool] = True  # and an opener of it,
    PENDING_TEXT: ClassVar[bool] = False  # or none: it is the text before its closer
    CLOSERS_COME_FIRST: ClassVar[bool] = False  # closers of reasoning that nothing opened may begin the turn
    HEADED: ClassVar[bool] = True  # generation prompts contain a part of the answer
    WAITS: ClassVar[bool] = True  # states wait for the rest of a marker
    WORD_SLOTS: ClassVar[bool] = True  # some markers have a word that differs from turn to turn
    FEED_HOLDS_PENDING: ClassVar[bool] = False  # `feed` handles pending text
    ESCAPES: ClassVar[Any] = None  # texts that stand for characters, by kind of text
    MARKER_LIKE: ClassVar[Any] = None  # what is like a marker
    SPACE: ClassVar[str] = ""  # alternatives of the white space before the content, with SPACE_SEPARATOR between
    AROUND_REASONING: ClassVar[Any] = None  # the texts that open reasoning, and those that close it
    _last_char = ""  # of the text before
    _opened_to = -1  # the offset at which an opener of content ends
    # The usual texts in some places, which are awaited as a whole: after a call, after an argument, where a value ends.
    USUAL_NEXT: ClassVar[Any] = None
    USUAL_PAIR: ClassVar[Any] = None
    USUAL_ENDS: ClassVar[Any] = None
    _usual: Any = None  # those of which one is awaited
    _is_searched = False  # for a text like a marker
    feed: ClassVar[Callable[..., list[Delta]]]
    finish: ClassVar[Callable[[Any], list[Delta]]]
    _note_misfits: ClassVar[Callable[[Any], None]]
    _start: ClassVar[Callable[[Any], bool]]
    _pending_text: ClassVar[Callable[[Any], bool]]
    _content: ClassVar[Callable[[Any], bool]]

    def __init__(
        self,
        *,
        tools: object = None,
        prompt: str | None = None,
        parse_reasoning: bool = True,
        parse_tool_calls: bool = True,
        echo: bool = False,
        json_content: bool = False,
        continue_final_message: bool = False,
    ) -> None:
        self._diagnostics: list[Any] = []
        self.incomplete = False
        self._reasoning_on, self._calls_on, self._echo = parse_reasoning, parse_tool_calls, echo
        self._out = Transcript(json_content)
        if self.ESCAPES:
            self._out.ESCAPES = self.ESCAPES
        # Input: _buf from _pos on is not consumed; _base is its offset, negative for the text of the prompt.
        self._buf, self._pos, self._base = "", 0, 0
        self._parts: list[str] = []  # text that isn't examined before _wanted characters of it have arrived
        self._wanted = 0
        self._final = False
        # The state of the turn.
        self._state: Callable[[Any], bool] = type(self)._content
        self._mark = NO_MATCH
        self._skip = 0  # its length, and that of the white space before it
        if self.PLACE_DECIDES or self.CALLS:
            self._line_start = True
        if self.HAS_REASONING or self.CALLS:
            self._opener = ""  # of the reasoning that is open
        if self.WAITS:
            # Whether the buffer, from there on, is still undecided: while it is, no state has to examine it.
            self._is_still_ambiguous: Callable[[str], object] | None = None
            self._ambiguous_from = 0
        if self.CALLS:
            self._tools = parameters_of(tools)
            self._regular_fast_path: Callable[[Any, str], list[Delta]] | None = None  # reads values that are emitted
            self._value_fast_path = False  # as _text_fast_path, for an argument
            self._after_failed_call = False  # after a failed call: its closers are text
            self._open = False  # the last call is not complete
            self._unclosed = False  # its arguments have ended, the last of its closers was not read
            # The state to return to if a call turns out to be text.
            self._state_before_call: Callable[[Any], bool] = self._state
            self._kind_before_call = "content"
            self._unchecked: list[tuple[int, int, int, bool]] = []  # see _check_arguments
        self._space = self.SPACE or ""  # white space of the template that may still come
        self._only_space_so_far = True  # only white space was read in this part so far
        # The kind of text that is open, and how to find its possible end: -1 if a state must decide. If nothing is
        # pending, most chunks of a text can be passed on as they are; _unaccounted are those that were.
        self._open_kind = ""
        self._text_fast_path = False
        self._find_safe_end: Callable[[str], int] = len
        self._unaccounted: list[str] = []
        self._consume_head(None if prompt is None else checked_text("prompt", prompt), continue_final_message)
        if self.CALLS and self._tools.problem:
            self._diagnostics.append(Diagnostic(0, self._tools.problem, "tools_not_read"))

    def _consume_head(self, prompt: str | None, continued: bool) -> None:
        if self.PENDING_TEXT and self._reasoning_on:
            self._state = type(self)._pending_text
        if self.CLOSERS_COME_FIRST and self._reasoning_on:
            self._state = type(self)._start
        head = self.HEADS[0] if self.HEADED else ""
        if prompt is not None and continued:
            if self.AROUND_REASONING:
                head = continued_head(prompt, self.ANCHORS, self.AROUND_REASONING)
            else:
                head = after_last_anchor(prompt, self.ANCHORS)
        elif self.HEADED and prompt is not None:
            head = known_head(prompt, filled_heads(prompt, self.HEADS) if self.WORD_SLOTS else self.HEADS, self.ANCHORS)
        if not head:
            return
        self._base = -len(head)
        self._out.waiting = self._advance(head)
        if not self._echo:
            self._out.forget(self._open if self.CALLS else 0)
            self._diagnostics.clear()
            if self.CALLS:
                self._unchecked.clear()
            if self.CALLS and self._open:
                self._out.announce()
            if self.HAS_REASONING and not self._reasoning_on:
                self._out.emit("content", self._opener)
                self._out.flush()
        if self._out.waiting:
            self._enter_fast_path("")  # they are returned by the first feed
            self._wanted = 0

    def _flush_fast_path(self) -> None:
        """Account for the chunks that were passed on unchanged."""
        text, kind = "".join(self._unaccounted), self._open_kind
        self._unaccounted.clear()
        if text:
            self._base += len(text)
            if self.HAS_LINE_MARKERS and (not self.CALLS or kind not in ("arguments", "value")):
                self._line_start = at_line_start(text, self._line_start)
            if self.WHOLE_CALL or self.CALL_BEGINS:
                self._last_char = text[-1]
            if self.RAW_VALUES and kind == "arguments":
                text = escaped(text)
            self._out.texts[kind].append(text)

    def _feed_slowly(self, chunk: str) -> list[Delta]:
        """Handle a chunk that may contain more than plain text; if it only continues the text, no state is needed."""
        if self._final:
            # Nothing of a text that is fed after `finish` is lost.
            if chunk and (not self.diagnostics or self._diagnostics[-1].code != TEXT_AFTER_FINISH):
                self._note(TEXT_AFTER_FINISH, "text after the output was finished")
            self._out.texts["trailing"].append(chunk)
            return []
        if self.WAITS and self._is_still_ambiguous is not None:
            self._buf += chunk
            if self._is_still_ambiguous(self._buf[self._ambiguous_from :]):
                return []
            if (
                (self.USUAL_NEXT or self.USUAL_PAIR or self.USUAL_ENDS)
                and self._usual is not None
                and self._is_usual(self._usual, self._ambiguous_from)
            ):
                return []
            return self._advance("")
        if self._wanted > len(chunk):
            self._wanted -= len(chunk)
            self._parts.append(chunk)
            return []
        text = self._buf + chunk if (kind := self._open_kind) else ""  # inside of text, little is pending
        stop = self._find_safe_end(text) if kind else -1
        if stop < 0:
            return self._advance(chunk)
        self._buf, text = text[stop:], text[:stop]
        if self.CALLS:
            self._value_fast_path = kind == "arguments" and self._buf == ""
            self._text_fast_path = kind not in ("arguments", "value") and (self.FEED_HOLDS_PENDING or self._buf == "")
        else:
            self._text_fast_path = self.FEED_HOLDS_PENDING or self._buf == ""
        self._unaccounted.append(text)
        if text == "" or (self.CALLS and kind == "value"):
            return []
        if self.CALLS and kind == "arguments":
            if self.RAW_VALUES:
                text = escaped(text)
            return [{"tool_calls": [{"index": self._out.index, "function": {"arguments": text}}]}]
        return [{kind: text}]

    def _is_usual(self, usual: Any, start: int) -> bool:
        """Return whether the text from `start` on is the usual text, or its beginning; then all of it is awaited."""
        if usual is None or len(self._buf) - start > usual.width:
            return False
        incomplete = usual.continues(self._buf[start:])
        if incomplete is None:
            return False
        self._usual, self._is_still_ambiguous, self._ambiguous_from = usual, incomplete, start
        return True

    def _enter_fast_path(self, kind: str, find_safe_end: Callable[[str], int] = len) -> None:
        """Declare that the next chunk may continue text of this kind, "" for none."""
        self._open_kind, self._find_safe_end = kind, find_safe_end
        if self.WAITS:
            self._is_still_ambiguous = None
        if self.CALLS:
            self._regular_fast_path, self._value_fast_path = None, kind == "arguments"
        self._text_fast_path = kind not in ("", "arguments", "value") if self.CALLS else kind != ""

    def _advance(self, chunk: str) -> list[Delta]:
        if self._unaccounted:
            self._flush_fast_path()
        self._open_kind, self._text_fast_path = "", False
        if self.WAITS:
            self._is_still_ambiguous = None
        if self.USUAL_NEXT or self.USUAL_PAIR or self.USUAL_ENDS:
            self._usual = None
        if self.CALLS:
            self._regular_fast_path, self._value_fast_path = None, False
        if self._parts:
            chunk = "".join(self._parts) + chunk
            self._parts.clear()
        self._buf += chunk
        self._wanted = 0
        while self._pos < len(self._buf) and self._state(self):
            pass
        self._base += self._pos
        if self.WAITS:
            self._ambiguous_from -= self._pos
        self._buf, self._pos = self._buf[self._pos :], 0
        pending = len(self._buf)
        if pending > PENDING_LIMIT and not self._final:
            self._wanted = max(self._wanted, pending)
        if self._space or self._wanted or self._base < 0:
            self._enter_fast_path("")
        elif pending:
            if self.CALLS:
                self._value_fast_path = False
            self._text_fast_path = self.FEED_HOLDS_PENDING and self._text_fast_path
        return self._out.deltas()

    @property
    def message(self) -> Message:
        """The message so far, as chat servers write it."""
        self._flush_fast_path()
        return self._out.to_message()

    @property
    def diagnostics(self) -> list[Any]:
        """What was dropped, repaired or not read so far."""
        if self.CALLS and self._unchecked:
            self._note_misfits()
        if self.MARKER_LIKE and self._final and not (self._is_searched or self._diagnostics):
            self._is_searched = True
            message = self._out.to_message()
            found = "" if self._out.guarded else marker_like(message, self.MARKER_LIKE)
            if found:
                self._note("like_a_marker", found + LIKE_A_MARKER)
            if self.CALLS and not self._diagnostics and self._calls_on:
                kind = "content" if message["content"] or message["tool_calls"] else "reasoning_content"
                found = call_like("".join(self._out.texts[kind]), self._tools)
                if found:
                    self._note("like_a_call", f"a call of {found} may remain in the {kind.split('_')[0]}")
        return self._diagnostics

    @property
    def trailing(self) -> str:
        """Text that isn't part of the message, such as a call that was truncated before its name."""
        return "".join(self._out.texts["trailing"])

    def _text(self, kind: str, end: int) -> None:
        """Emit the text up to `end`, without the part that is prefilled."""
        text = self._buf[self._pos : end]
        if self.HAS_LINE_MARKERS:
            self._line_start = at_line_start(text, self._line_start)
        if (self.WHOLE_CALL or self.CALL_BEGINS) and text:
            self._last_char = text[-1]
        self._out.emit(kind, text if self._echo else text[max(0, -self._base - self._pos) :])
        self._pos = end

    def _note(self, code: str, text: str) -> None:
        if len(self._diagnostics) < MOST_DIAGNOSTICS:
            self._diagnostics.append(Diagnostic(self._here(), text, code))

    def _here(self) -> int:
        """Return the offset of what is read, for diagnostics."""
        return self._base + self._pos
