"""What every parser is built on: the buffer, the offsets, and the way of text from chunks to the message.

A state is a method.  It consumes `_buf` from `_pos` on, and returns False when it needs more input.  What a state
decides depends on the text only, never on how it was cut: a state that can't decide yet consumes nothing.
"""

from __future__ import annotations

from .batch import rows_of
from .heads import continued_head, known_head
from .message import Copied, Diagnostic, checked_text
from .scanner import Match
from .schema import parameters_of
from .transcript import Transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, ClassVar

    from .batch import Row
    from .message import Delta, Message

PENDING_LIMIT = 1024  # more than this much pending text is looked at again only when it has doubled
LATE = "text after the output was finished"
NO_MATCH = Match("", 0, 0)


def at_line_start(text: str, before: bool) -> bool:
    """Is there nothing but white space on the line after `text`?  `before`: was there, before it?"""
    _, newline, line = text.rpartition("\n")
    return (bool(newline) or before) and not line.strip()


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


class Stream(Copied):
    TRANSCRIPT: ClassVar[type[Transcript]] = Transcript
    HEADS: ClassVar[Sequence[str]] = ("",)
    ANCHORS: ClassVar[Sequence[str]] = ()
    CALLS: ClassVar[bool] = False  # there are some
    AT_LINES: ClassVar[bool] = False  # some markers count at a line's start alone
    WHOLE: ClassVar[Any] = None  # what is like any text opens a call where one comes as the template writes it
    REASONS: ClassVar[bool] = False  # something opens reasoning
    KEEPS_PENDING: ClassVar[bool] = False  # `feed` looks after what is pending inside of text
    SPACE: ClassVar[str] = ""  # what the template writes before the content
    AROUND_REASONING: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = ((), ())
    _in_word = False  # the text before ends with a word

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
        # Input: _buf from _pos on is not consumed; _base is its offset, negative for what the prompt holds.
        self._buf, self._pos, self._base = "", 0, 0
        self._parts: list[str] = []  # text that is not looked at before _wanted characters of it have come
        self._wanted = 0
        # Whether the buffer, from there on, still leaves open what comes: while it does, no state has to look at it.
        self._undecided: Callable[[str, int], object] | None = None
        self._undecided_from = 0
        self._through: Callable[[Any, str], list[Delta]] | None = None  # reads JSON that is emitted as it comes
        self._final = False
        # Where in the turn the machine is.
        self._state: Callable[[Any], bool] = self._first_state()
        self._mark = NO_MATCH
        self._skip = 0  # its length, and that of the white space before it
        self._open = False  # the last call is not complete
        if self.CALLS:
            self._closed = False  # its closing marker has come
            self._unclosed = False  # its arguments have ended, the last of its closers has not come
            # Where to go on when a call turns out to be none.
            self._back: Callable[[Any], bool] = self._state
            self._back_kind = "content"
            self._long_names = "\n" in "".join(self._tools)
        self._space = self.SPACE  # white space of the template that may still come
        self._fresh = True  # nothing but white space has come in this part
        self._line_start = True
        self._literal = False  # after a call that was none: its closers are text
        self._opener = ""  # of the reasoning that the text is in
        # The kind of text that the output is in the middle of, and how to find what could end it: up to where a text
        # is plain, -1 where that takes a closer look.  Where nothing is pending, most chunks can be passed on as they
        # come, in a value or in other text; _passed are those that were.
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
        """The message that the model's output means.

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
        """A row for each text: content, reasoning_content, tool_calls (id, name, arguments), incomplete, diagnostics.

        `prompts` and `tools` (also as JSON text): one for all, or a list with one for each text.  None gives None.
        """
        return rows_of(cls, texts, prompts, tools)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        raise TypeError("a parser cannot be pickled: keep the text that it was fed, and feed that to a new one")

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
            self._goes_on("")  # they go out with the first feed
            self._wanted = 0

    def feed(self, chunk: str, *, special: Sequence[Sequence[int]] | None = None) -> list[Delta]:
        raise NotImplementedError

    def finish(self) -> list[Delta]:
        raise NotImplementedError

    def _settle(self) -> None:
        """Account for the chunks that were passed on as they came."""
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
        """A chunk that is not plain: where it only goes on with the text, that is passed on without any state."""
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
        text = self._buf + chunk  # little is pending inside of text
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
        """What is fed after `finish` is no part of the answer; nothing of it is lost."""
        if chunk and (not self.diagnostics or self.diagnostics[-1].text != LATE):
            self._note(LATE)
        self._out.texts["trailing"].append(chunk)
        return []

    def _json(self, text: str) -> str:
        """Plain text of a value, inside of the string that it becomes."""
        return text

    def _goes_on(self, kind: str, plain_to: Callable[[str], int] = len) -> None:
        """The next chunk may go on with the text of this kind, none for ""."""
        self._within, self._plain_to, self._undecided, self._through = kind, plain_to, None, None
        self._plain_value = kind == "arguments"
        self._plain_text = kind not in ("", "arguments", "value")

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
        """All that has come, as chat servers write a message."""
        self._settle()
        return self._out.to_message()

    @property
    def trailing(self) -> str:
        """What is no part of the message: a call that was cut before it had a name."""
        return "".join(self._out.texts["trailing"])

    def _text(self, kind: str, end: int) -> None:
        """Emit the text up to `end`, but for what of it is prefilled."""
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

    # The states, which a format prints

    def _first_state(self) -> Callable[[Any], bool]:
        return type(self)._content

    def _content(self) -> bool:
        raise NotImplementedError
