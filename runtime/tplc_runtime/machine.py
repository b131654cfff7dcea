"""The machine that a generated parser is built on: the buffer, the message so far, and the deltas of one feed.

A state is a method.  It consumes `_buf` from `_pos`, and returns False when it needs more input.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Callable, ClassVar, NamedTuple, Optional, TypeVar

from .markers import Mark, Marks, lead_in
from .message import Delta, Diagnostic, Message, ToolCall
from .schema import parameters_of

NAME_LIMIT = 512  # a longer name is no name
NON_SPACE = re.compile(r"\S")
MAYBE_TEXT = ("call", "bare", "line")
AROUND_REASONING = ("reasoning", "reasoning_end")
HELD_LIMIT = 4096  # more than this much undecided text is looked at again only when it has doubled
M = TypeVar("M", bound="Machine")


class Slot(NamedTuple):
    """A value in a header, the markers that end it, and whether the end of the line does."""

    kind: str
    end: Marks
    line: bool = False


class Machine:
    HEADS: ClassVar[tuple[str, ...]] = ("",)
    ANCHORS: ClassVar[tuple[str, ...]] = ()
    REASONING_START: ClassVar[tuple[str, ...]] = ()
    REASONING_END: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        *,
        tools: object = None,
        prompt: Optional[str] = None,
        parse_reasoning: bool = True,
        parse_tool_calls: bool = True,
        echo: bool = False,
    ) -> None:
        self._tools = parameters_of(tools)
        self._parse_reasoning = parse_reasoning
        self._parse_tool_calls = parse_tool_calls
        self.diagnostics: list[Diagnostic] = []
        self.incomplete = False
        self._buf = ""
        self._pos = 0
        self._base = 0  # the offset of _buf in the output; what the prompt holds has negative offsets
        self._parts: list[str] = []  # text that came while waiting for _wait
        self._wait: Optional[re.Pattern[str]] = None
        self._undecided = 0  # how much must come before held text is looked at again
        self._final = False
        self._state: Callable[[Any], bool] = type(self)._content
        self._mark = Mark("", 0, 0, "", "")
        self._eat = ""  # white space of the last marker that may still come
        self._fresh = True  # nothing but white space has come in this part
        self._line_start = True
        self._ended = False
        self._opener = ""  # what opened the reasoning that the text is in
        self._skip = 0  # the length of the opener of the call that is tried
        self._back: Callable[[Any], bool] = self._state  # the state to go on with when it is none
        self._back_kind = "content"
        self._literal = False  # closers are text: the call they close was none
        # "held" is text that may still be reasoning or content.
        self._texts: dict[str, list[str]] = {"content": [], "reasoning_content": [], "held": []}
        self._calls: list[ToolCall] = []
        self._arguments: list[str] = []  # of the last call
        self._open = False  # the last call is not complete
        self._kind = ""
        self._run: list[str] = []
        self._out: list[Delta] = []
        self._echo = echo
        self._start(prompt)

    def copy(self: M) -> M:
        twin = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            if isinstance(value, list):
                value = value[:]
            elif hasattr(value, "copy") and name not in ("_tools",):
                value = value.copy()
            setattr(twin, name, value)
        twin._texts = {kind: texts[:] for kind, texts in self._texts.items()}
        twin._calls = [{**call, "function": {**call["function"]}} for call in self._calls]  # type: ignore[typeddict-item]
        return twin

    def _start(self, prompt: Optional[str]) -> None:
        """Consume what the prompt already holds of the turn."""
        head = self.HEADS[0]
        if prompt is not None:
            at = self._turn_start(prompt, len(prompt))
            if at >= 0:
                head = prompt[at:]
            else:
                head = max((head for head in self.HEADS if prompt.endswith(head)), key=len, default="")
        self._base = -len(head)
        self._begin()
        deltas = self._advance(head)
        self._out = deltas if self._echo else []
        if not self._echo:
            self._texts["content"].clear()
            self._texts["reasoning_content"].clear()
            del self._calls[: len(self._calls) - self._open]
            self._arguments.clear()
            self.diagnostics.clear()
            for call in self._calls:
                self._announce(call)
            if self._opener and not self._parse_reasoning:
                self._say("content", self._opener)
                self._flush()

    def _turn_start(self, prompt: str, stop: int) -> int:
        """Where the turn starts in the prompt: after the last anchor, or an earlier one when all that stands between
        them is reasoning."""
        found = [(at + len(anchor), at) for anchor in self.ANCHORS if (at := prompt.rfind(anchor, 0, stop)) >= 0]
        if not found:
            return -1
        start, at = max(found)
        earlier = self._turn_start(prompt, at) if self.REASONING_START else -1
        between = prompt[earlier:at].strip() if earlier >= 0 else ""
        whole = between.startswith(self.REASONING_START) and between.endswith(self.REASONING_END)
        return earlier if between and whole else start

    def _begin(self) -> None:
        """Set the first state."""

    # Input and output

    def feed(self, chunk: str) -> list[Delta]:
        return self._advance(chunk)

    def finish(self) -> list[Delta]:
        if self._final:
            return []
        self._final = True
        self._wait = None
        deltas = self._advance("")
        self._finish()
        self._flush()
        deltas += self._out
        self._out = []
        return deltas

    def _advance(self, chunk: str) -> list[Delta]:
        self._undecided -= len(chunk)
        if not self._final and (self._undecided > 0 or (self._wait is not None and not self._wait.search(chunk))):
            self._parts.append(chunk)
        else:
            self._wait = None
            if self._parts:
                chunk = "".join(self._parts) + chunk
                self._parts.clear()
            self._base += self._pos
            self._buf = self._buf[self._pos :] + chunk if self._pos < len(self._buf) else chunk
            self._pos = 0
            while self._state(self):
                pass
            held = len(self._buf) - self._pos
            self._undecided = held if held > HELD_LIMIT and self._wait is None else 0
        self._flush()
        deltas, self._out = self._out, []
        return deltas

    @property
    def message(self) -> Message:
        content = "".join(self._texts["content"])
        reasoning = "".join(self._texts["reasoning_content"])
        if self._calls:
            self._calls[-1]["function"]["arguments"] = "".join(self._arguments)
        calls: list[ToolCall] = [
            {"id": call["id"], "type": "function", "function": {**call["function"]}}  # type: ignore[typeddict-item]
            for call in self._calls
        ]
        return {
            "role": "assistant",
            "content": content if content or not (reasoning or calls) else None,
            "reasoning_content": reasoning or None,
            "tool_calls": calls,
        }

    def _say(self, kind: str, text: str) -> None:
        if text:
            if kind != self._kind:
                self._flush()
                self._kind = kind
            self._run.append(text)

    def _flush(self) -> None:
        if self._run:
            text = "".join(self._run)
            self._run.clear()
            if self._kind == "held":
                self._texts["held"].append(text)
                return
            if self._kind == "arguments":
                self._arguments.append(text)
                delta: Delta = {"tool_calls": [{"index": len(self._calls) - 1, "function": {"arguments": text}}]}
            else:
                self._texts[self._kind].append(text)
                delta = {self._kind: text}
            self._out.append(delta)

    def _text(self, kind: str, start: int, end: int) -> None:
        """Text of the buffer; what the prompt already held is not said again."""
        if self._base < 0 and not self._echo:
            start = max(start, -self._base)
        if start < end:
            text = self._buf[start:end]
            line = text.rpartition("\n")
            self._line_start = not line[2].strip() and (bool(line[1]) or self._line_start)
            self._say(kind, text)

    def _note(self, text: str, at: Optional[int] = None) -> None:
        if len(self.diagnostics) < 1000:
            self.diagnostics.append(Diagnostic(self._base + (self._pos if at is None else at), text))

    # Text up to the next marker

    def _next(self, marks: Marks, kind: str) -> Optional[str]:
        """Say text as `kind` up to the next marker, and give the marker's kind; None: more input is needed."""
        self._eat_space()
        buf, pos, stop = self._buf, self._pos, len(self._buf)
        search = pos
        hold = stop if self._final else marks.held(buf, pos)
        while True:
            found = marks.find(buf, search)
            if found is None or hold <= found.start:
                found, end = None, hold
            else:
                end = found.start
            text = buf[pos:end]
            if found is not None and found.kind in ("bare", "line"):
                line = text.rpartition("\n")
                if line[2].strip() or not (line[1] or self._line_start):
                    search = found.end if found.end > found.start else found.end + 1
                    continue
            break
        if self._fresh:
            if not text or text.isspace():
                if found is None:
                    if not self._final:
                        if end == stop:
                            self._wait = NON_SPACE
                        return None
                    if not (self._out or self._run or self._calls or any(self._texts.values())):
                        self._text(kind, pos, end)
                    self._pos = stop
                    return None
                if text and kind == "content":
                    self._line_start = self._line_start or "\n" in text
            else:
                self._fresh = False
                if self._ended:
                    self._ended = False
                    self._note("text after the end of the turn", pos)
        if found is None:
            self._text(kind, pos, end)
            self._pos = end
            return None
        if found.kind in MAYBE_TEXT or (found.kind in AROUND_REASONING and not self._parse_reasoning):
            # It may stay text, and then so does the white space before it.
            end -= 0 if found.kind in AROUND_REASONING else len(text) if self._fresh else lead_in(text, found.lead)
            found = found._replace(start=end)
        elif not self._fresh:
            end -= lead_in(text, found.lead)
        if not self._fresh or (found.kind in AROUND_REASONING and not self._parse_reasoning):
            self._text(kind, pos, end)
        self._pos = found.start
        self._mark = found
        return found.kind

    def _eat_space(self) -> None:
        while self._eat and self._pos < len(self._buf):
            if self._buf[self._pos] != self._eat[0]:
                self._eat = ""
                break
            self._pos += 1
            self._eat = self._eat[1:]

    def _accept(self, fresh: bool = True) -> None:
        """Drop the marker."""
        self._pos = self._mark.end
        self._eat = self._mark.trail
        self._fresh = fresh
        self._line_start = True

    def _keep(self, kind: str) -> None:
        """The marker is text."""
        self._text(kind, self._mark.start, self._mark.end)
        self._pos = self._mark.end
        self._fresh = False

    def _at(self, marks: Marks) -> Optional[str]:
        """The kind of the marker that comes next, white space apart; "" for something else; None: more input is needed."""
        found = NON_SPACE.search(self._buf, self._pos)
        if found is None:
            if not self._final:
                self._wait = NON_SPACE
                return None
            return ""
        start = found.start()
        mark = marks.match(self._buf, start)
        if not self._final and marks.begins(self._buf[start : start + 4096]):
            return None
        if mark is None:
            return ""
        self._mark = mark
        return mark.kind

    def _turn_marker(self, kind: str, text: str) -> None:
        """A marker that only structures the turn."""
        if kind == "stray" and self._literal:
            self._keep(text)
        elif kind == "stray":
            self._accept(self._fresh)
        else:
            self._accept(kind != "content")
            self._ended = kind == "end"
            self._literal = False

    def _open_reasoning(self) -> None:
        mark = self._mark
        if self._parse_reasoning:
            self._accept()
        else:
            self._keep("content")
        self._opener = self._buf[mark.start : mark.end] + mark.trail

    def _close_reasoning(self) -> None:
        self._opener = ""
        if self._mark.kind == "end":
            return
        if self._parse_reasoning:
            self._accept()
        else:
            self._keep("content")

    # States

    def _content(self) -> bool:
        raise NotImplementedError

    def _after_call(self) -> bool:
        raise NotImplementedError

    def _slots(self, pos: int, slots: Sequence[Slot]) -> tuple[dict[str, str], int, str]:
        """The slots' values and where the last one's end marker ends; the last item is what was expected instead,
        or "more" where more input is needed."""
        values: dict[str, str] = {}
        buf = self._buf
        for slot in slots:
            found = NON_SPACE.search(buf, pos)
            pos = found.start() if found else len(buf)
            limit = min(len(buf), pos + NAME_LIMIT)
            hold = len(buf) if self._final else slot.end.held(buf, pos)
            mark = slot.end.find(buf, pos)
            end, after = (mark.start, mark.start if mark.kind == "next" else mark.end) if mark else (-1, -1)
            line = buf.find("\n", pos, limit if end < 0 else end)
            if slot.line and line >= 0:
                end, after, mark = line, line, None
            elif mark is not None and hold <= mark.start:
                return values, pos, "more"
            elif end < 0 or end > limit:
                if not self._final and hold - pos < NAME_LIMIT and "\n" not in buf[pos:hold].strip():
                    return values, pos, "more"
                return values, pos, slot.kind
            value = buf[pos:end].strip()
            if not value or (slot.kind != "key" and "\n" in value and value not in self._tools):
                return values, pos, slot.kind
            values[slot.kind] = value
            pos = after
            self._eat = mark.trail if mark is not None and mark.kind != "next" else ""
        return values, pos, ""

    # Calls

    def _announce(self, call: ToolCall) -> None:
        self._flush()
        function = {"name": call["function"]["name"], "arguments": ""}
        self._out.append(
            {
                "tool_calls": [
                    {"index": len(self._calls) - 1, "id": call["id"], "type": "function", "function": function}
                ]
            }
        )

    def _open_call(self, name: str, call_id: Optional[str] = None) -> None:
        self._release("content")
        self._flush()
        if self._calls:
            self._calls[-1]["function"]["arguments"] = "".join(self._arguments)
        self._arguments = []
        call: ToolCall = {"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        self._calls.append(call)
        self._announce(call)
        self._open = True
        self._literal = False
        if self._tools and name not in self._tools:
            self._note("unknown tool " + name)

    def _set_id(self, call_id: str) -> None:
        self._flush()
        self._calls[-1]["id"] = call_id
        self._out.append({"tool_calls": [{"index": len(self._calls) - 1, "id": call_id}]})

    def _try_call(self, state: Callable[[Any], bool], kind: str) -> None:
        """A call's opener has come, in text of this kind; the text before its first slot is the mark."""
        self._back, self._back_kind = self._state, kind
        self._pos = self._mark.start
        self._skip = self._mark.end - self._mark.start
        self._state = state

    def _try_name(self, state: Callable[[Any], bool]) -> None:
        """A call that begins with its name."""
        self._back, self._back_kind, self._skip = type(self)._content, "content", 0
        self._state = state

    def _is_tool(self, name: str) -> bool:
        # Where calls look like text, only a tool's name (or at least an identifier) makes a call.
        return name in self._tools if self._tools else bool(re.fullmatch(r"[^\W\d][\w.:-]*", name))

    def _no_call(self, expected: str) -> bool:
        self._note("not a call: expected " + expected)
        self._literal = True
        self._eat = ""
        self._state = self._back
        if self._skip:
            self._text(self._back_kind, self._pos, self._pos + self._skip)
            self._pos += self._skip
            self._fresh = False
        return True

    def _release(self, kind: str) -> None:
        """The text that was held is of this kind."""
        self._flush()
        held = "".join(self._texts["held"])
        self._texts["held"].clear()
        if held.strip() or kind == "content":
            self._say(kind, held)

    def _close_call(self) -> None:
        self._open = False
        self._fresh = True
        self._line_start = True
        self._state = type(self)._after_call

    def _finish(self) -> None:
        """What is still open at the end of the output."""
        self._release("content")
        if self._open:
            self.incomplete = True
            self._note("the output ends inside a call")
