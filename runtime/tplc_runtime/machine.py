"""The base class of generated parsers: the buffer, and the state in which the turn is.

A state is a method.  It consumes `_buf` from `_pos` on, and returns False if it needs more input.  Its decisions depend
only on the text, never on the chunks: a state that can't decide yet consumes nothing.
"""

from __future__ import annotations

import re

from .batch import rows_of
from .heads import continued_head, known_head
from .message import Copied, Diagnostic, checked_text
from .pattern import Pattern
from .scanner import NO_MARKERS, PLAIN_WORD, RESPELLED, Match, Scanner, trailing_overlap, truncated_core
from .schema import parameters_of, properties_of, tool_named
from .second import calls_in, may_be_calls
from .transcript import Transcript
from .values import LONGEST_SIGN, unwrapped
from .whole import MORE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, ClassVar

    from .batch import Row
    from .message import Delta, Message
    from .scanner import ExpectedText
    from .values import Reader, Style

NON_SPACE = Pattern(r"\S|\Z")
ONE_WORD = Pattern(r"[\w.:/-]+")
NEVER_IN_NAMES = frozenset("<>{}\n")  # characters of markup, which stand in no name but in a tool's
NAME_LIMIT = 512  # a longer text is not a name
PENDING_LIMIT = 1024  # more pending text than this is examined again only after it has doubled
CLOSER_KINDS = ("both", "closed", "close", "separator", "end")
OPENER_KINDS = ("call", "line", "whole")
CALL_KINDS = ("tail", "both", "call", "separator", "section", "closed", "close")
AT_END_KINDS = ("last", "sign")  # what counts at the output's end, or before another marker
ENDS_OF_CALLS = ("tail", "both", "call", "separator", "section", "closed", "close", "end", "last")
CUT_KINDS = ("end", "reasoning_end", "content_end")
LEFT_SIGNS = Pattern(r"[\"']?[}\])]|`{1,3}")
MOST_ODD = 64  # the most names with unusual characters that are searched for
MOST_ENDS = 4  # so many ends of the turn in a row are one
LEAST_CUT = 3  # fewer characters of an opener at the output's end may as well be text
LATE = "text after the output was finished"
NO_MATCH = Match("", 0, 0)


def at_line_start(text: str, before: bool) -> bool:
    """Return whether only white space is on the line after `text`; `before`: the same before it."""
    _, newline, line = text.rpartition("\n")
    return (bool(newline) or before) and not line.strip()


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def next_char(buf: str, pos: int) -> int:
    """Return the position of the next character that is not white space."""
    return int(NON_SPACE.search(buf, pos).start())


class Machine(Copied):
    TRANSCRIPT: ClassVar[type[Transcript]] = Transcript
    HEADS: ClassVar[Sequence[str]] = ("",)
    ANCHORS: ClassVar[Sequence[str]] = ()
    CALLS: ClassVar[bool] = False  # the format has calls
    AT_LINES: ClassVar[bool] = False  # some markers count only at a line's start,
    WHOLE: ClassVar[Any] = None  # an ordinary text opens a call only where a whole call follows
    SHORT_OPENERS: ClassVar[Sequence[str]] = ()  # what opens only calls of tools that are known
    LONE_OPENERS: ClassVar[
        Sequence[str]
    ] = ()  # openers that count only at a line's start, because their section is missing
    AT_ENDS: ClassVar[bool] = False  # and some at the output's end, or before another marker
    REASONS: ClassVar[bool] = False  # reasoning has an opener
    PENDING_TEXT: ClassVar[bool] = False  # the kind of a text is decided by its end
    CLOSED_FIRST: ClassVar[bool] = False  # reasoning without an opener may end where the turn begins
    FIRST: ClassVar[Sequence[str]] = ()  # kinds of markers that count only before content begins
    KEEPS_PENDING: ClassVar[bool] = False  # `feed` handles pending text
    SPACE: ClassVar[str] = ""  # the white space that the template writes before the content
    AROUND_REASONING: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = ((), ())
    ODD_NAMES: ClassVar[bool] = False  # names that contain ends of names are searched for
    NAMES_ALIKE: ClassVar[bool] = False  # tools may be called with a namespace, or with other separators
    READ_AGAIN: ClassVar[bool] = False  # failed calls are read again, by the tools' names
    HEADER_PARTS: ClassVar[Sequence[str]] = ()  # the texts of which headers consist
    HEADER_TEXTS: ClassVar[Pattern] = Pattern("(?!)")
    _others: Sequence[str] = ()  # diagnostics of repeated slots
    _once = False  # the second reading of this call found none
    LEFT_OVER: ClassVar[Scanner] = NO_MARKERS  # openers that may be in the place of a closer
    REPEATED: ClassVar[bool] = False  # superfluous brackets and openers after a call are dropped
    ENDS_ALIKE: ClassVar[bool] = False  # reasoning may end with a closer in another spelling
    REPEATED_REASONING: ClassVar[bool] = False  # and what opens reasoning twice
    CUT_MARKERS: ClassVar[bool] = False  # a truncated marker at the output's end is not text
    COUNTED: ClassVar[bool] = False  # calls are written with an index
    OPENERS: ClassVar[tuple[str, ...]] = ()  # of calls: the beginning of one at the output's end is not text
    # The markers that count in each state.
    AT_START: ClassVar[Scanner] = NO_MARKERS
    IN_REASONING: ClassVar[Scanner] = NO_MARKERS
    REASONING_AGAIN: ClassVar[Scanner] = NO_MARKERS  # what opens it, where it has just been opened
    BEFORE_CONTENT: ClassVar[Scanner] = NO_MARKERS
    IN_CONTENT: ClassVar[Scanner] = NO_MARKERS
    AFTER_CALL: ClassVar[Scanner] = NO_MARKERS
    AFTER_TURN: ClassVar[Scanner] = NO_MARKERS  # a call directly after the end of the turn is one of its calls
    HEADERS_ALIKE: ClassVar[bool] = False  # the end of a call's name may also open a message
    DISTINCT: ClassVar[bool] = True  # the opener of calls is distinctive, so a call follows
    BREAKS: ClassVar[Scanner] = NO_MARKERS  # markers that never occur in names, or in values outside of a string
    USUAL_NEXT: ClassVar[Sequence[ExpectedText]] = ()  # the usual text after a call,
    USUAL_PAIR: ClassVar[Sequence[ExpectedText]] = ()  # and after an argument
    HEADER: ClassVar[Sequence[Any]] = ()  # slots of a call: the kind, what ends it, and characters that do
    NAME_SIGNS: ClassVar[Any] = None  # texts that stand for characters in names
    CALL_ID: ClassVar[str] = ""  # an id that consists of slots: "{name}:{index}"
    ARGUMENTS_OPEN: ClassVar[bool] = False  # with a character or a marker: other text makes no call
    ONLY_TOOLS: ClassVar[bool] = False  # calls look like text, so that only a tool's name makes one,
    FAINT: ClassVar[bool] = True  # even their openers look like text
    SEPARATED: ClassVar[bool] = False  # a separator opens the next call
    UNMARKED: ClassVar[bool] = False  # no marker opens it
    BOTH: ClassVar[bool] = False  # the closer of a call opens the next as well
    TAIL: ClassVar[Sequence[Any]] = ()  # slots after a call
    TURN_CLOSED: ClassVar[bool] = False  # the closer of a call ends the turn
    CLOSED: ClassVar[bool] = False  # calls have a closer
    STYLES: ClassVar[tuple[Style, Style, Style]]  # of values in a dialect with quotes,
    _reader: Reader | None = None  # and the reader of one
    _written = ""  # the beginning of the arguments
    _in_word = False  # the text before ends with a word
    _reasoning_to = 0  # where the reasoning that is open is closed, as far as that was looked for
    _alone = False  # the section of the last call is missing
    _kept = False  # the header of a call that stays text is being read
    ENDS_TURN: ClassVar[bool] = False  # a call's closer may also end the turn, so it may be missing
    _odd: dict[tuple[str, str], list[str]] | None = None  # names and keys that contain ends of names

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
        self.diagnostics: list[Diagnostic] = []
        self.incomplete = False
        self._tools = parameters_of(tools)
        self._reasoning_on, self._calls_on, self._echo = parse_reasoning, parse_tool_calls, echo
        self._out = self.TRANSCRIPT(json_content)
        # Input: _buf from _pos on is not consumed; _base is its offset, negative for the text of the prompt.
        self._buf, self._pos, self._base = "", 0, 0
        self._parts: list[str] = []  # text that isn't examined before _wanted characters of it have arrived
        self._wanted = 0
        # Whether the buffer, from there on, is still undecided: while it is, no state has to examine it.
        self._undecided: Callable[[str, int], object] | None = None
        self._undecided_from = 0
        self._through: Callable[[Any, str], list[Delta]] | None = None  # reads JSON that is emitted as it arrives
        self._final = False
        # The state of the turn.
        self._state: Callable[[Any], bool] = type(self)._content
        if self.PENDING_TEXT and parse_reasoning:
            self._state = type(self)._pending_text
        if self.CLOSED_FIRST and parse_reasoning:
            self._state = type(self)._start
        self._mark = NO_MATCH
        self._skip = 0  # its length, and that of the white space before it
        self._open = False  # the last call is not complete
        if self.CALLS:
            self._closed = False  # its closing marker was read
            self._unclosed = False  # its arguments have ended, the last of its closers was not read
            # The state to return to if a call turns out to be text.
            self._back: Callable[[Any], bool] = self._state
            self._back_kind = "content"
            self._long_names = "\n" in "".join(self._tools)
        self._space = self.SPACE  # white space of the template that may still come
        self._fresh = True  # only white space was read in this part so far
        self._line_start = True
        self._literal = False  # after a failed call: its closers are text
        self._opener = ""  # of the reasoning that is open
        # The kind of text that is open, and how to find its possible end: the end of the safe prefix, -1 if a state
        # must decide. If nothing is pending, most chunks of a value or another text can be passed on as they are;
        # _passed are those that were.
        self._within = ""
        self._plain_value = self._plain_text = False
        self._plain_to: Callable[[str], int] = len
        self._passed: list[str] = []
        self._consume_head(None if prompt is None else checked_text("prompt", prompt), continue_final_message)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        tools: object = None,
        prompt: str | None = None,
        parse_reasoning: bool = True,
        parse_tool_calls: bool = True,
        echo: bool = False,
        json_content: bool = False,
        continue_final_message: bool = False,
        special: Sequence[Sequence[int]] | None = None,
    ) -> Message:
        """Returns the message of a model's output.

        `json_content` drops a Markdown fence around the content.  `continue_final_message`: the prompt ends with the
        beginning of this answer.  `special`: the (start, end) ranges of the text that came from special tokens."""
        parser = cls(
            tools=tools,
            prompt=prompt,
            parse_reasoning=parse_reasoning,
            parse_tool_calls=parse_tool_calls,
            echo=echo,
            json_content=json_content,
            continue_final_message=continue_final_message,
        )
        parser.feed(checked_text("text", text), special=special)
        parser.finish()
        return parser.message

    @classmethod
    def parse_many(
        cls,
        texts: Iterable[str | None],
        *,
        prompts: str | Sequence[str | None] | None = None,
        tools: object = None,
    ) -> list[Row | None]:
        """Returns a row for each text: content, reasoning_content, tool_calls (id, name, arguments), incomplete,
        diagnostics.

        `prompts` and `tools` (also as JSON text): one for all, or a list with one for each text.  None gives None.
        """
        return rows_of(cls, texts, prompts, tools)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        raise TypeError("a parser cannot be pickled: keep the text that it was fed, and feed that to a new one")

    # The prompt

    def _consume_head(self, prompt: str | None, continued: bool) -> None:
        head = self.HEADS[0]
        if prompt is not None and continued:
            head = continued_head(prompt, self.ANCHORS, self.AROUND_REASONING)
        elif prompt is not None:
            head = known_head(prompt, self.HEADS, self.ANCHORS)
        if not head:
            return
        self._base = -len(head)
        self._out.waiting = self._advance(head)
        if not self._echo:
            self._out.forget(self._open)
            self.diagnostics.clear()
            if self.CALLS and self._open:
                self._out.announce()
            if self.REASONS and not self._reasoning_on:
                self._out.emit("content", self._opener)
                self._out.flush()
        if self._out.waiting:
            self._goes_on("")  # they are returned by the first feed
            self._wanted = 0

    # Input and output

    def feed(self, chunk: str, *, special: Sequence[Sequence[int]] | None = None) -> list[Delta]:
        raise NotImplementedError

    def finish(self) -> list[Delta]:
        """Ends the output; returns the remaining deltas."""
        if self._final:
            return []
        self._final = True
        deltas = self._advance("") if self._pos < len(self._buf) or self._parts or self._passed else []
        self._finish()
        if self._buf[self._pos :].strip():
            self._end_of_cut()
        self._out.end_content()
        self._goes_on("")
        return deltas + self._out.deltas()

    def _settle(self) -> None:
        """Account for the chunks that were passed on unchanged."""
        text, kind = "".join(self._passed), self._within
        self._passed.clear()
        if text:
            self._base += len(text)
            if self.AT_LINES and kind not in ("arguments", "value"):
                self._line_start = at_line_start(text, self._line_start)
            if self.WHOLE:
                self._in_word = is_word(text[-1])
            self._out.texts[kind].append(self._json(text) if kind == "arguments" else text)

    def _more(self, chunk: str) -> list[Delta]:
        """Handle a chunk that may contain more than plain text; if it only continues the text, no state is needed."""
        if self._final:
            return self._late(chunk)
        if self.CALLS and self._through is not None:
            return self._through(self, chunk)
        if self._undecided is not None:
            self._buf += chunk
            return [] if self._undecided(self._buf, self._undecided_from) else self._advance("")
        if self._wanted > len(chunk):
            self._wanted -= len(chunk)
            self._parts.append(chunk)
            return []
        kind = self._within
        if not kind:
            return self._advance(chunk)
        text = self._buf + chunk  # inside of text, little is pending
        stop = self._plain_to(text)
        if stop < 0:
            return self._advance(chunk)
        self._buf, text = text[stop:], text[:stop]
        self._plain_value = kind == "arguments" and self._buf == ""
        self._plain_text = kind not in ("arguments", "value") and (self.KEEPS_PENDING or self._buf == "")
        self._passed.append(text)
        if text == "" or kind == "value":
            return []
        if self.CALLS and kind == "arguments":
            return [{"tool_calls": [{"index": self._out.index, "function": {"arguments": self._json(text)}}]}]
        return [{kind: text}]

    def _late(self, chunk: str) -> list[Delta]:
        """Add text that is fed after `finish` to the trailing text; nothing of it is lost."""
        if chunk and (not self.diagnostics or self.diagnostics[-1].text != LATE):
            self._note(LATE)
        self._out.texts["trailing"].append(chunk)
        return []

    def _regular(self, chunk: str) -> list[Delta]:
        """Read more of arguments in regular JSON, without a state."""
        reader = self._reader
        if reader is None:
            return self._advance(chunk)
        buf = self._buf + chunk if self._buf != "" else chunk
        end = reader.regular(buf, 0, len(buf))
        if not reader.waits or len(buf) - end > LONGEST_SIGN:
            reader.out.append(buf[:end])
            self._buf, self._pos = buf, end
            return self._advance("")
        text, self._buf = buf[:end], buf[end:]
        self._plain_value = self._buf == "" and reader.string is not None
        if text == "":
            return []
        self._passed.append(text)
        return [{"tool_calls": [{"index": self._out.index, "function": {"arguments": text}}]}]

    def _json(self, text: str) -> str:
        """Return the plain text of a value, escaped for the string that it becomes."""
        return text

    def _goes_on(self, kind: str, plain_to: Callable[[str], int] = len) -> None:
        """Declare that the next chunk may continue text of this kind, "" for none."""
        self._within, self._plain_to, self._undecided, self._through = kind, plain_to, None, None
        self._plain_value = kind == "arguments"
        self._plain_text = kind not in ("", "arguments", "value")

    def _in_string(self, reader: Reader) -> None:
        """Prepare to pass on the next chunks of a value that is written as the template does."""
        string = reader.string
        if string is not None and string.close == reader.style.usual and not reader.out:
            self._goes_on("arguments", string.plain)
        elif self._within:
            self._goes_on("")
        if len(reader.stack) > reader.floor and reader.style.is_json and not (reader.comma or reader.out):
            self._within, self._through = "arguments", type(self)._regular

    def _value_is_over(self, reader: Reader) -> bool:
        """Return whether the value has ended; if it hasn't, the next chunk may continue a string of it."""
        if reader.want:
            self._in_string(reader)
            return False
        if reader.repair:
            self._note("arguments: " + reader.repair)
        self._reader = None
        return True

    def _emit_arguments(self, text: str) -> None:
        """Emit arguments that are a string with an object in it; any other string is content."""
        inside = text if self._written == "{" else unwrapped(text, self.STYLES)
        if inside is None and text not in ("null", '""'):
            self._lost("the arguments are not an object")
            self._out.emit("content", text)
        self._out.emit("arguments", "{}" if inside is None else inside)

    def _advance(self, chunk: str) -> list[Delta]:
        if self._passed:
            self._settle()
        self._within, self._undecided, self._through = "", None, None
        self._plain_value = self._plain_text = False
        if self._parts:
            chunk = "".join(self._parts) + chunk
            self._parts.clear()
        self._buf += chunk
        self._wanted = 0
        while self._pos < len(self._buf) and self._state(self):
            pass
        self._base += self._pos
        self._undecided_from -= self._pos
        self._buf, self._pos = self._buf[self._pos :], 0
        pending = len(self._buf)
        if pending > PENDING_LIMIT and not self._final:
            self._wanted = max(self._wanted, pending)
        if self._space or self._wanted or self._base < 0:
            self._goes_on("")
        elif pending:
            self._plain_value = False
            self._plain_text = self._plain_text and self.KEEPS_PENDING
        return self._out.deltas()

    @property
    def message(self) -> Message:
        """The message so far, as chat servers write it."""
        self._settle()
        return self._out.to_message()

    @property
    def trailing(self) -> str:
        """Text that is no part of the message, such as a call that was truncated before its name."""
        return "".join(self._out.texts["trailing"])

    def _text(self, kind: str, end: int) -> None:
        """Emit the text up to `end`, without the part that is prefilled."""
        text = self._buf[self._pos : end]
        if self.AT_LINES:
            self._line_start = at_line_start(text, self._line_start)
        if self.WHOLE and text:
            self._in_word = is_word(text[-1])
        self._out.emit(kind, text if self._echo else text[max(0, -self._base - self._pos) :])
        self._pos = end

    def _note(self, text: str) -> None:
        if len(self.diagnostics) < 1000:
            self.diagnostics.append(Diagnostic(self._base + self._pos, text))

    # The states

    def _start(self) -> bool:
        # turn = REASONING_END* content
        kind = self._next(self.AT_START)
        if kind is None:
            return False
        if kind == "reasoning_end":
            self._note("reasoning ends that was not open")
            self._drop()
        else:
            self._state = type(self)._content
        return True

    def _pending_text(self) -> bool:
        # turn = text REASONING_END content | content
        kind = self._text_to(self.IN_REASONING, "pending")
        if self.CALLS and kind in OPENER_KINDS and self._calls_on:
            return self._try_call("pending")
        if kind == "reasoning_end":
            self._out.release("reasoning_content")
            self._drop()
            self._state = type(self)._content
        elif kind:
            self._turn_marker("pending")
        if kind in ("end", "content"):
            self._out.release("content")
            self._state = type(self)._over if kind == "end" else type(self)._content
        return kind != ""

    def _reasoning(self) -> bool:
        # reasoning = text (REASONING_END content | CALL_START call)
        text = "reasoning_content" if self._reasoning_on else "content"
        if self.REPEATED_REASONING and self._fresh and self._reasoning_on:
            again = self._next(self.REASONING_AGAIN)
            if again is None:
                return False
            at = next_char(self._buf, self._mark.end)
            behind = self.IN_REASONING.match(self._buf, at) if again else None
            begun = at == len(self._buf) or self.IN_REASONING.prefix_of(self._buf, at) != ""
            if again and behind is None and begun and not self._final:
                return False
            # An opener that its closer follows is all that the reasoning holds.
            if again and (behind is None or behind.kind != "reasoning_end"):
                self._note("reasoning is opened twice")
                self._pos, self._space = self._mark.end, self._mark.trail
                return True
        kind = self._until(self.IN_REASONING, text)
        if self.AT_LINES and kind == "line":
            return self._try_call(text) if self._calls_on else self._keep_call()
        if kind:
            self._state = type(self)._content
            self._reasoning_marker()
        return kind != ""

    def _content(self) -> bool:
        # content = (text | CONTENT_START | CONTENT_END | TURN_END)* (REASONING_START reasoning | CALL_START call)?
        kind = self._text_to(self.IN_CONTENT, "content")
        if self.REASONS and kind == "reasoning":
            self._reasoning_marker()
            self._state = type(self)._reasoning
            return True
        if self.CALLS and kind in OPENER_KINDS and self._calls_on:
            return self._try_call("content")
        if kind:
            self._turn_marker("content")
        return kind != ""

    def _call(self) -> bool:
        # call = (slot SLOT_END)* arguments
        values, end, expected = self._slots(self._pos + self._skip, self.HEADER)
        if self.NAME_SIGNS and not expected:
            values["name"] = self.NAME_SIGNS.plain(values["name"])
        written = values.get("name", "")
        if self.NAMES_ALIKE and self._tools and not expected:
            values["name"] = tool_named(written, self._tools)
        if self.ONLY_TOOLS and not expected and (self.FAINT or not self._skip) and not self._is_tool(values["name"]):
            expected = "the name of a tool"
        if (
            self._tools
            and not expected
            and values["name"] not in self._tools
            and not NEVER_IN_NAMES.isdisjoint(values["name"])
        ):
            expected = "the name of a tool"
        short = self.SHORT_OPENERS and expected not in ("more", "end") and values.get("name") not in self._tools
        if short and self._is_short():
            # What is short may be complete in another spelling.
            at = next_char(self._buf, self._mark.end)
            inner = self.AFTER_CALL.match(self._buf, at)
            if inner is not None and inner.kind == "call" and inner.end > self._mark.end:
                self._mark, self._skip = inner, inner.end - self._pos
                return True
            if inner is None and not self._final and self.AFTER_CALL.prefix_of(self._buf, at):
                return False
            expected = "the name of a tool"
        if self.ARGUMENTS_OPEN and not expected and values["name"] not in self._tools:
            expected = self._lack_of_arguments(end)
        if self.READ_AGAIN and self._tools and (expected or values["name"] not in self._tools):
            other = self._call_otherwise() if expected not in ("more", "end") else None
            if other is not None:
                return other
        self._once = self._once and expected == "more"
        if expected:
            return expected != "more" and self._no_call(expected)
        if self._others:
            self._note_others()
        if self.NAMES_ALIKE and values["name"] != written:
            self._note(f"the tool {values['name']} is called as {written}")
        self._pos = end
        self._open_call(values["name"], self.CALL_ID.format_map({**values, "name": written}) if self.CALL_ID else None)
        self._begin_arguments()
        return True

    def _is_short(self) -> bool:
        """Does the opener lack its last words, so that only a tool's name makes a call?"""
        return "".join(self._buf[self._mark.start : self._mark.end].split()) in self.SHORT_OPENERS

    # A second reading

    def _call_otherwise(self) -> bool | None:
        """Read a call whose header differs from the template's; None if it is no call."""
        other = self._header_otherwise()
        if other is None:
            return False
        if other[0]:
            self._note(f"the header of a call of {other[0]} is not as the template writes it")
            self._pos, self._space = other[1], ""
            self._open_call(other[0])
            self._begin_arguments()
            return True
        if self._once:
            return None
        self._state = type(self)._second_reading
        return True

    def _header_otherwise(self) -> tuple[str, int] | None:
        """Return the tool that an irregular header names, and where its arguments begin.

        ("", 0) if it names none; None if more input is needed.
        """
        buf, name, start = self._buf, "", self._pos + self._skip
        pos = next_char(buf, start)
        while pos - start < NAME_LIMIT:
            part, word = self.HEADER_TEXTS.match(buf, pos), ONE_WORD.match(buf, pos)
            sure = part is not None and part.end() > pos + 1
            if pos < len(buf) and name and not sure and self._arguments_begin(pos):
                return name, pos
            end = word.end() if word is not None and (part is None or word.end() > part.end()) else 0
            end = end or (part.end() if part is not None else pos)
            if not self._final and (end == len(buf) or self._may_go_on(pos)):
                return None
            if end == pos:
                break
            text = buf[pos:end]
            if part is None or part.end() < end:
                tool = tool_named(text, self._tools)
                if tool not in self._tools:  # an index may follow it
                    tool = tool_named(text.rpartition(":")[0], self._tools)
                if not tool or tool not in self._tools or name not in ("", tool):
                    break
                name = tool
            pos = next_char(buf, end)
        return (name, len(buf)) if name and self._final and pos == len(buf) else ("", 0)

    def _may_go_on(self, pos: int) -> bool:
        """Return whether the following text begins one of the texts of a header."""
        rest = self._buf[pos : pos + NAME_LIMIT]
        begun = any(len(text) > len(rest) and text.startswith(rest) for text in self.HEADER_PARTS)
        return begun or self.AFTER_CALL.prefix_of(self._buf, pos) != ""

    def _arguments_begin(self, pos: int) -> bool:
        """Return whether the arguments of a call begin here, or the call ends."""
        mark = self.AFTER_CALL.match(self._buf, pos)
        return (mark is not None and mark.kind in CLOSER_KINDS) or self._opens_arguments(pos)

    def _opens_arguments(self, pos: int) -> bool:
        raise NotImplementedError

    def _second_reading(self) -> bool:
        """Read a text that opens like a call up to the end of that call, as a whole."""
        buf, start = self._buf, self._pos + self._skip
        if not may_be_calls(buf[start : start + NAME_LIMIT], self._tools, ()):
            return self._read_once()
        mark = self.BREAKS.find(buf, start)
        if not self._final and (mark is None or self.BREAKS.partial_match(buf, start) <= mark.start):
            return False
        end = len(buf) if mark is None else mark.start
        found = calls_in(buf[start:end], self._tools)
        if not found:
            return self._read_once()
        self._note("calls that are not written as the template does")
        self._pos = end
        for name, arguments in found:
            self._open_call(name, None)
            self._out.emit("arguments", arguments)
            self._close_call()
        return True

    def _read_once(self) -> bool:
        """Return to the result of the first reading: the second found no call."""
        self._once, self._state = True, type(self)._call
        return True

    def _lack_of_arguments(self, pos: int) -> str:
        """Return what was expected after a name that is no tool's and has no arguments; "more": more input is
        needed."""
        raise NotImplementedError

    def _lack_of(self, what: str, start: int, begun: bool) -> str:
        """Return what was expected if no arguments begin; the end of the call, of all calls or of the turn may replace
        them."""
        mark = self.AFTER_CALL.match(self._buf, start)
        if mark is not None and mark.kind in CLOSER_KINDS:
            return ""
        if begun or self.AFTER_CALL.prefix_of(self._buf, start):
            return "" if self._final else "more"
        return what

    def _after_call(self) -> bool:
        # after_call = (CALL_END | CALL_SEPARATOR)* ((NEXT_CALL_START | CALL_START) call | content)
        kind = self._next_of_calls(self.AFTER_CALL)
        if kind is None:
            return False
        if self.LONE_OPENERS and self._alone and kind == "call":
            mark = self._mark
            # Without its section, this call doesn't count where the last one didn't.
            kind = "" if self._buf[mark.start : mark.end] in self.LONE_OPENERS else kind
        if self.REPEATED and (kind == "" or (kind == "call" and self._unclosed)):
            more = self._left_over(kind)
            if more != "no":
                return more == "dropped"
        if kind == "call":
            return self._try_call("content")
        if kind in ("close", "closed", "separator"):
            self._pos, self._space = self._mark.end, self._mark.trail
            self._unclosed = kind == "separator" or (self._unclosed and kind != "closed")
            if self.SEPARATED and kind == "separator":
                return self._try_unopened()
            return True
        if self.UNMARKED and kind == "section":
            self._pos, self._space, self._closed, self._unclosed = self._mark.end, self._mark.trail, True, False
            return True
        if self.UNMARKED and not kind and not self._closed:
            return self._try_unopened()
        if self.BOTH and kind == "both":
            if self._closed:
                return self._try_call("content")
            self._pos, self._closed, self._unclosed = self._mark.end, True, False
            return True
        if self.TAIL and kind == "tail":
            return self._tail()
        if self.TURN_CLOSED and kind == "" and not self._unclosed:
            self._state = type(self)._over
            return True
        # Something else than more of the calls follows, or nothing.
        self._unclosed = self._unclosed and next_char(self._buf, self._pos) == len(self._buf)
        self._state = type(self)._content
        return True

    def _left_over(self, kind: str) -> str:
        """Skip a superfluous bracket after a call, or an opener in the place of a closer, at the end of the calls.

        "no": there is none; "more": more input is needed; "dropped": it was skipped.
        """
        buf, start = self._buf, next_char(self._buf, self._pos)
        opener = self.LEFT_OVER.match(buf, start) if self._unclosed else None
        if opener is not None:
            kind, end = "call", opener.end
        elif kind == "" and start < len(buf) and (left := LEFT_SIGNS.match(buf, start)) is not None:
            end = left.end()
        else:
            return "no"
        at = next_char(buf, end)
        mark = self.AFTER_CALL.match(buf, at)
        if mark is None and not self._final and (at == len(buf) or self.AFTER_CALL.prefix_of(buf, at)):
            return "more"
        ends = mark is not None and mark.kind in ENDS_OF_CALLS and not (mark.kind == kind == "call")
        if not ends and (at < len(buf) or kind == "call"):
            return "no"
        self._note(f"{buf[start:end].strip()} is left over after a call")
        if kind == "call":
            self._pos = end
        else:
            self._text("trailing", end)
        self._space = ""
        self._unclosed = self._unclosed and kind != "call"
        return "dropped"

    def _tail(self) -> bool:
        # tail = TAIL_START (slot SLOT_END)*
        name = self._out.calls[-1][0] if self._out.calls else None
        values, end, expected = self._slots(self._mark.end, self.TAIL, name)
        if expected == "more":
            return False
        if expected == "end":
            return self._cut_off()
        if self._others and not expected:
            self._note_others()
        self._pos, self._unclosed = (self._mark.end if expected else end), False
        if not expected and "id" in values:
            self._out.set_id(values["id"])
        return True

    # Text and markers

    def _text_to(self, marks: Scanner, kind: str) -> str:
        """Emit text as `_until` does, for openers of reasoning or content that count only before any text."""
        if self.FIRST and self._fresh:
            first = self._next(self.BEFORE_CONTENT)
            if first is None or first in self.FIRST:
                return first or ""
        return self._until(marks, kind)

    def _until(self, marks: Scanner, kind: str) -> str:
        """Emit the text before the next marker as `kind`; return the marker's kind, "" if more input is needed."""
        if self._space:
            self._skip_space()
        buf, pos, stop = self._buf, self._pos, len(self._buf)
        mark = marks.find(buf, pos)
        if self.HEADERS_ALIKE and self._kept and mark is not None and mark.kind in ("reasoning", "content"):
            mark = mark.of_kind("name_end")
        if self.AT_LINES or self.AT_ENDS or self.ENDS_ALIKE:
            mark = self._counting(marks, mark)
        clear = mark is not None and not mark.ambiguous  # nothing before its end can be undecided
        partial = stop if clear else marks.partial_match(buf, pos) if mark is None or not self._final else stop
        if (self.AT_LINES or self.ENDS_ALIKE) and mark is not None and mark.kind == "plain" and not self._final:
            partial = min(partial, marks.with_lead(buf, pos, mark.start))
        if self.AT_ENDS and mark is not None and mark.kind in AT_END_KINDS and not self._final:
            partial = min(partial, marks.with_lead(buf, pos, mark.start))
        if self._final and not self._is_cut(marks, partial):
            partial = stop
        found = mark is not None and mark.start < partial
        end = mark.start if mark is not None and found else partial
        blank = self._fresh and (end == pos or buf[pos:end].isspace())
        if not blank:
            self._fresh = False
        if mark is None or not found:
            # White space before the first text waits, because it is dropped if a marker follows it.
            if not blank:
                self._text(kind, end)
                passed = kind != "pending" and self._out.fence is None and (self._reasoning_on or not self._opener)
                self._goes_on(kind if passed else "", marks.safe_prefix_end)
            elif self._final and self._out.is_silent():
                self._text(kind, end)
            elif self._final:
                self._pos = end
            return ""
        # If the whole turn is white space, that white space is the content.
        alone = mark.kind == "end" and kind == "content" and self._out.is_silent()
        literal = self._is_text(mark)
        lead = 0 if literal else end - pos if blank and not alone else trailing_overlap(buf[pos:end], mark.lead)
        if not blank or literal or alone:
            self._text(kind, end - lead)
        # A call may turn out to be text, and then the white space before it is text too.
        self._pos = end - lead if mark.kind in OPENER_KINDS else end
        self._mark = mark
        self._skip = mark.end - self._pos
        return str(mark.kind)

    def _counting(self, marks: Scanner, mark: Match | None) -> Match | None:
        """Return the mark, or the first after it, that counts at its place: `line` at a line's start, `last` at the
        end, `sign` before the end or before another mark.

        A marker whose later pieces are at a line's start counts as a whole.
        """
        buf, line_start, seen, outer = self._buf, self._line_start, self._pos, mark
        while mark is not None and mark.kind in ("line", "plain", "alike", *AT_END_KINDS):
            if self.ENDS_ALIKE and mark.kind == "alike":
                counting = self._without_closer(marks, mark)
                if counting is not None:
                    return counting
            elif self.AT_ENDS and mark.kind != "line" and mark.kind != "plain":
                counting = self._at_end(marks, mark)
                if counting is not None:
                    return counting
            if self.AT_LINES and mark.kind in ("line", "plain"):
                line_start, seen = at_line_start(buf[seen : mark.start], line_start), mark.start
                if self.WHOLE and (mark.kind == "plain") == line_start:
                    counting = self._as_whole_call(mark)
                    if counting is not None:
                        return counting
                if line_start and mark.kind == "line":
                    return outer if outer is not None and outer.kind == "line" and mark.start < outer.end else mark
                if self.DISTINCT and self._tools and mark.kind == "line":
                    counting = self._without_closer(marks, mark)
                    if counting is not None:
                        return counting
                outer = mark if outer is None or mark.start >= outer.end else outer
            mark = marks.find(buf, mark.start + 1)  # another marker may begin inside of one that doesn't count here
        return mark

    def _without_closer(self, marks: Scanner, mark: Match) -> Match | None:
        """The mark as one that ends reasoning which nothing closes any more: a closer in another spelling, or what
        opens a call inside of a line, if a tool is named.  "plain" as long as that is not decided."""
        buf, undecided = self._buf, None if self._final else mark.of_kind("plain")
        if self._base + mark.start < self._reasoning_to:
            return None
        alike = mark.kind == "alike"
        if not alike and not any(name in buf[mark.end : mark.end + NAME_LIMIT] for name in self._tools):
            return undecided if len(buf) - mark.end < NAME_LIMIT else None
        found = mark.of_kind("reasoning_end") if alike else mark
        end = marks.find(buf, mark.end)
        while end is not None and end.kind not in ("reasoning_end", "end"):
            end = marks.find(buf, end.start + 1)
        if end is not None and end.ambiguous and undecided is not None and marks.prefix_of(buf, end.start):
            return undecided
        if end is None or end.kind == "end":
            return found if end is not None else undecided or found
        self._reasoning_to = self._base + end.start
        return None

    def _as_whole_call(self, mark: Match) -> Match | None:
        """Return the mark as the opener of a call if a whole call follows; "plain" while that is undecided."""
        before = is_word(self._buf[mark.start - 1]) if mark.start > self._pos else self._in_word
        named = self._tools or mark.kind == "plain"
        if not (self._calls_on and named) or (before and is_word(self._buf[mark.start])):
            return None
        end = self.WHOLE.end(self._buf, mark.start, self._final, self._tools)
        return mark.of_kind("plain" if end == MORE else "whole") if end >= 0 or end == MORE else None

    def _at_end(self, marks: Scanner, mark: Match) -> Match | None:
        """Return the mark with its meaning at the end, or before another marker; unchanged while that is undecided."""
        buf, at, behind = self._buf, next_char(self._buf, mark.end), None
        for _ in range(MOST_ENDS):
            if at == len(buf):
                return mark.of_kind(self._counted(mark)) if self._final else mark
            behind = marks.match(buf, at)
            if mark.kind != "last" or behind is None or behind.kind != "last":
                break
            at = next_char(buf, behind.end)
        if not self._final and marks.prefix_of(buf, at):
            return mark
        if mark.kind == "last":
            return None
        apart = behind is not None and (behind.kind != "line" or "\n" in buf[mark.end : at])
        if behind is not None and apart and behind.kind not in ("last", "sign"):
            return mark.of_kind(self._counted(mark))
        if behind is not None and behind.kind == "last" and next_char(buf, behind.end) == len(buf):
            return mark.of_kind(self._counted(mark)) if self._final else mark
        return None

    def _counted(self, mark: Match) -> str:
        return {"last": "end", "sign": "content_end"}.get(mark.kind, "reasoning_end")

    def _next(self, marks: Scanner, usual: Sequence[ExpectedText] = ()) -> str | None:
        """Return the kind of the next marker after white space, "" for other text; None if more input is needed.
        `usual`: the usual text, which may contain several of the markers."""
        if self._space:
            self._skip_space()
        buf, start = self._buf, NON_SPACE.search(self._buf, self._pos).start()
        mark = marks.match(buf, start)
        if not self._final and (mark is None or mark.ambiguous):
            if self.USUAL_NEXT or self.USUAL_PAIR:
                if mark is None and self._is_usual(usual, start):
                    return None
            if start == len(buf):
                return None
            core = marks.prefix_of(buf, start)
            if core:
                self._leave_open(start, core)
                return None
        if mark is None:
            return ""
        self._mark = mark
        self._skip = mark.end - self._pos
        return str(mark.kind)

    def _is_usual(self, usual: Sequence[ExpectedText], start: int) -> bool:
        """Return whether the text from `start` on is the usual text, or its beginning."""
        for text in usual:
            if text.is_incomplete(self._buf, start):
                self._undecided, self._undecided_from = text.is_incomplete, start
                return True
        return False

    def _leave_open(self, start: int, core: str) -> None:
        """Note that the text from `start` on is the beginning of this marker, so nothing is decided before all of it
        has arrived."""
        if " " in core or core[0] == RESPELLED:
            self._undecided, self._undecided_from = lambda buf, at: truncated_core((core,), buf[at:]), start
        else:
            self._undecided, self._undecided_from = (self._buf[self._pos : start] + core[:-1]).startswith, self._pos

    def _skip_space(self) -> None:
        while self._space and self._pos < len(self._buf):
            comes = self._buf[self._pos] == self._space[0]
            self._pos, self._space = self._pos + comes, self._space[1:] if comes else ""

    def _drop(self, fresh: bool = True) -> None:
        """Consume a marker that only structures the turn."""
        self._pos += self._skip
        self._space = self._mark.trail
        self._fresh, self._literal = fresh, False
        if self.HEADERS_ALIKE:
            self._kept = False
        if self.AT_LINES:
            self._line_start = self._line_start or fresh or self._mark.kind == "content"
        if self.WHOLE:
            self._in_word = False

    def _keep(self, kind: str) -> None:
        """Emit the marker as text."""
        self._text(kind, self._pos + self._skip)
        self._fresh = False
        if self.HEADERS_ALIKE:
            self._kept = self._mark.kind in ("call", "line")

    def _keep_call(self) -> bool:
        """Keep a call in the content unchanged, because calls aren't wanted; it still ends reasoning."""
        if self._reasoning_on:
            self._opener, self._state = "", type(self)._content
        self._keep("content")
        return True

    def _is_text(self, mark: Match) -> bool:
        """Return whether the marker belongs to a part that stays in the content."""
        if mark.kind == "stray":
            return self._literal or not self._reasoning_on
        if mark.kind == "empty":
            return not self._calls_on
        if self.HEADERS_ALIKE and mark.kind == "name_end":
            return True
        return not self._reasoning_on and bool(mark.kind.startswith("reasoning"))

    def _turn_marker(self, text: str) -> None:
        kind = self._mark.kind
        if self._is_text(self._mark) or kind in ("call", "line"):  # calls are text here, because they aren't wanted
            return self._keep(text)
        if kind in ("stray", "empty"):
            self._note("reasoning ends that was not open" if kind == "stray" else "an empty call")
        elif kind == "header" and not self._fresh:
            self._note("another turn begins")
        self._drop(self._fresh if kind in ("stray", "empty") else kind != "content")
        if kind == "end":
            self._state = type(self)._over
        return None

    def _over(self) -> bool:
        # over = (TURN_START? CALL_START call) | text after the turn
        if self._fresh:
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
                self._fresh = False
                self._note("text after the end of the turn")
        self._text("trailing", len(self._buf))
        return False

    def _reasoning_marker(self) -> None:
        mark = self._mark
        self._opener = self._buf[mark.start : mark.end] + mark.trail if mark.kind == "reasoning" else ""
        if mark.kind == "end":
            return self._turn_marker("content")
        return self._drop() if self._reasoning_on else self._keep("content")

    # The end of the output

    def _begins_call(self, pos: int) -> bool:
        """Return whether the remaining text begins the opener of a call."""
        rest = "".join(self._buf[pos:].split())
        if len(rest) < LEAST_CUT or rest.isalnum() or self._literal or not (self._calls_on and self.DISTINCT):
            return False
        return truncated_core(self.OPENERS, self._buf[next_char(self._buf, pos) :]) != ""

    def _is_cut(self, marks: Scanner, pos: int) -> bool:
        """Return whether the remaining text at the output's end is a truncated opener of a call, or a truncated end."""
        if self.CALLS and self._begins_call(pos):
            return True
        if not self.CUT_MARKERS:
            return False
        rest = "".join(self._buf[pos:].split())
        if len(rest) < LEAST_CUT or rest.isalnum() or not any(map(str.isalnum, rest)):
            return False
        return marks.is_truncated(self._buf, next_char(self._buf, pos), CUT_KINDS, LEAST_CUT) and not self._literal

    def _end_of_cut(self) -> None:
        """Drop a truncated marker at the end."""
        if self.CALLS and self._begins_call(self._pos):
            self._cut_off()
            return
        self._note("the output ends inside a marker")
        self._text("trailing", len(self._buf))

    def _cut_off(self) -> bool:
        """Drop the remaining markup of a call in which the output ends."""
        self._cut("a call")
        self._text("trailing", len(self._buf))
        return False

    def _lost(self, text: str) -> None:
        """Text of a call was not read as its arguments: no caller should run it."""
        self._note(text)
        self.incomplete = True

    def _cut(self, what: str) -> None:
        if not self.incomplete:
            self._note("the output ends inside " + what)
        self.incomplete = True

    # Calls

    def _slots(self, pos: int, slots: Sequence[Any], name: str | None = None) -> tuple[dict[str, str], int, str]:
        """Read slots with the markers that end them; return values, the end, and what was expected instead.

        The third result is a text, or "more" (more input is needed) or "end" (it was needed, but the output has
        ended). A marker of the kind "next" belongs to the text after the slot, as "bare" does after one word; white
        space in place of the markers' own is accepted.  A repeated name (if `name` is known) must be equal, or a
        diagnostic is added.
        """
        values: dict[str, str] = {} if name is None else {"name": name}
        buf, others, earlier = self._buf, [], ("", pos, "")  # the previous slot, its start, and the text that ends it
        for slot, ends, stops in slots:
            pos = next_char(buf, pos)
            known = 0
            if self.ODD_NAMES and self._tools:
                known = self._known(slot, pos, ends)
                if known < 0:
                    return values, pos, "more"
            word = ends.word.match(buf, pos) if not (known or self._final) else None
            if word is not None and word.lastindex is None:
                self._undecided, self._undecided_from = PLAIN_WORD.fullmatch, pos
                return values, pos, "more"
            if word is not None and values.setdefault(slot, word[1]) == word[1] and slot != "index":
                earlier = (slot, pos, buf[word.end(1) : word.end()])
                trail = ends.trails[word.lastindex - 2]
                pos, self._space = word.end(1 if trail is None else 0), trail or ""
                continue
            mark, expected = self._end_of_slot(slot, pos, known, ends, stops, earlier[2])
            if mark is None:
                return values, pos, expected
            text = buf[pos : mark.start].strip()
            if self.COUNTED and slot == "index" and earlier[2] and not text.isdigit():
                # A name may contain the text before the index, too.
                last, start, joint = earlier
                longer, _, count = buf[start : mark.start].rpartition(joint)
                if "\n" not in longer.strip() and count.strip().isdigit() and self.BREAKS.find(longer, 0) is None:
                    values[last], text = longer.strip(), count.strip()
            if values.setdefault(slot, text) != text:
                others.append(f"the {slot} comes again as {text}")
            earlier = (slot, pos, buf[mark.start : mark.end])
            expected = self._is_no_slot(slot, text, pos, known, ends, mark)
            if expected:
                return values, pos, expected
            kept = mark.kind in ("next", "bare")
            pos = mark.start if kept else mark.end
            self._space = "" if kept else mark.trail
        self._others = others
        return values, pos, ""

    def _note_others(self) -> None:
        """Note repeated slots with different values."""
        for other in self._others:
            self._note(other)

    def _end_of_slot(
        self, slot: str, pos: int, known: int, ends: Scanner, stops: str, joint: str
    ) -> tuple[Match | None, str]:
        """Return the marker that ends a slot, or what was expected instead."""
        buf = self._buf
        mark = ends.find(buf, pos + known, stop=pos + NAME_LIMIT)
        partial = ends.partial_match(buf, pos)
        pending_from = len(buf) if self._final else partial
        end = pending_from if mark is None else min(pending_from, mark.start)
        until = min(end, pos + NAME_LIMIT)
        stop = min((at for ch in stops if (at := buf.find(ch, pos + known, until)) >= 0), default=-1)
        end = stop if stop >= 0 else end
        if slot != "key" and not (self.BREAKS.wordless and buf[pos:end].isalnum()):
            broken = self.BREAKS.find(buf, pos, stop=min(pos + NAME_LIMIT, end + self.BREAKS.width))
            if broken is not None and broken.start < end:
                return None, slot
            if not self._final and self.BREAKS.partial_match(buf, pos) < end:
                return None, "more"
        if stop >= 0:
            # White space that ends a key is no part of its value.
            return (Match("end", stop, stop + 1) if slot == "key" else Match("next", stop, stop)), ""
        if mark is not None and pending_from > mark.start:
            return mark, ""
        of_slot = ends.is_truncated(buf, next_char(buf, partial), ("suffix",))
        if self._final and partial < len(buf) and not of_slot and buf[pos:partial].strip() in self._tools:
            return Match("next", partial, partial), ""  # a truncated marker comes after the whole name
        text = buf[pos : min(partial, pos + NAME_LIMIT)].strip()
        parts = text.split(joint) if slot == "index" and joint else [text]
        wait = end - pos < NAME_LIMIT and (self._long_names or not any("\n" in part.strip() for part in parts))
        if self._final and len(text.split()) > 1:  # several words are probably the words of an answer
            wait = any(name.startswith(text) for name in self._tools)
        return None, slot if not wait else "end" if self._final else "more"

    def _is_no_slot(self, slot: str, text: str, pos: int, known: int, ends: Scanner, mark: Match) -> str:
        """Return what was expected instead of a slot with this text before this marker; "" if the slot is valid."""
        lacks = not text and (slot != "key" or mark.kind in ("next", "bare"))
        if lacks or ("\n" in text and text not in self._tools and not known):
            return slot
        if mark.kind == "bare" and self._final and ends.partial_match(self._buf, pos) <= mark.start:
            return "end"  # the output ends in the text between two slots
        return slot if mark.kind == "bare" and ONE_WORD.fullmatch(text) is None else ""

    def _known(self, slot: str, pos: int, ends: Scanner) -> int:
        """Return the length of a tool's name here that contains an end of names; -1 if more input is needed."""
        buf, names = self._buf, self._odd_names(slot, ends)
        for name in names:
            at = next_char(buf, pos + len(name)) if buf.startswith(name, pos) else -1
            if at >= 0 and ends.match(buf, at) is not None:
                return len(name)
            left = at == len(buf) or ends.prefix_of(buf, at) != "" if at >= 0 else name.startswith(buf[pos:])
            if left and not self._final:
                return -1
        return 0

    def _odd_names(self, slot: str, ends: Scanner) -> list[str]:
        """Return the names of tools, or of the called tool's parameters, that contain ends of names; the longest
        first."""
        of = self._out.calls[-1][0] if slot == "key" and self._out.calls else ""
        self._odd = {} if self._odd is None else self._odd
        if (slot, of) not in self._odd:
            names = self._tools if slot == "name" else properties_of(self._tools.get(of)) if slot == "key" else ()
            odd = [name for name in names if "\n" in name or ends.find(name, 0) is not None]
            fit = (name for name in odd if name == name.strip() and 0 < len(name) < NAME_LIMIT)
            self._odd[slot, of] = sorted(fit, key=len, reverse=True)[:MOST_ODD]
        return self._odd[slot, of]

    def _try_call(self, kind: str) -> bool:
        """Try to read the text after _skip characters of opener as a call; if it isn't one, it is text of this kind."""
        self._back = type(self)._content if self._state == type(self)._after_call else self._state
        self._back_kind = kind
        if self.WHOLE:
            self._alone = self._mark.kind == "whole"
        self._state = type(self)._call
        return True

    def _try_unopened(self) -> bool:
        """Do the same as `_try_call` for calls without an opener."""
        self._skip = 0
        return self._try_call("content")

    def _begin_arguments(self) -> None:
        raise NotImplementedError

    def _no_call(self, expected: str) -> bool:
        if expected == "end" and (self._skip or self._mark.kind == "separator"):
            if self.DISTINCT:
                return self._cut_off()
            self._cut("a call")
        self._note("not a call: expected " + expected)
        self._literal, self._unclosed, self._space = True, False, ""
        self._state = self._back
        if self._skip:
            self._keep(self._back_kind)
        return True

    def _is_tool(self, name: str) -> bool:
        # If calls look like text, only a tool's name (or at least an identifier) makes a call.
        return name in self._tools if self._tools else re.fullmatch(r"[^\W\d][\w.:-]*", name) is not None

    def _open_call(self, name: str, call_id: str | None = None) -> None:
        if self.PENDING_TEXT:
            self._out.release("content")
        self._out.open_call(name, call_id)
        self._open, self._literal, self._opener = True, False, ""  # a call ends the reasoning
        if self._tools and name not in self._tools:
            self._note("unknown tool " + name)

    def _close_call(self) -> bool:
        self._open, self._closed, self._fresh, self._line_start, self._space = False, False, True, True, ""
        if self.WHOLE:
            self._in_word = False
        self._unclosed = self.CLOSED
        self._state = type(self)._after_call
        return True

    def _next_of_calls(self, marks: Scanner) -> str | None:
        """Do the same as `_next`, but drop a truncated marker of the calls at the output's end."""
        kind, buf = self._next(marks, self.USUAL_NEXT), self._buf
        # The text after a piece of a closer may be all that the output has of the rest.
        part = kind == "" or (kind in ("close", "closed") and next_char(buf, self._mark.end) < len(buf))
        least = 1 if self._unclosed and kind == "" else LEAST_CUT
        if part and self._final and marks.is_truncated(buf, next_char(buf, self._pos), CALL_KINDS, least):
            self._cut_off()
            return None
        return kind

    def _finish(self) -> None:
        """Close everything that is open at the end of the output."""
        if self.PENDING_TEXT:
            self._out.release("content")
        if self.REASONS and self._opener and self._reasoning_on:
            self._cut("the reasoning")
        if self.CALLS and (self._open or (self._unclosed and not self.ENDS_TURN)):
            self._cut("a call")
