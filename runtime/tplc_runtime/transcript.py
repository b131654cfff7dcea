"""Keep the message so far, and the deltas that describe its changes.

    emit("content", "Hm."), open_call("f", None), emit("arguments", "{}")
    →  {"content": "Hm.", "tool_calls": [{"id": None, "function": {"name": "f", "arguments": "{}"}, …}], …}

Consecutive pieces of one kind are one delta.
"""

from __future__ import annotations

from .escapes import GUARD, Escapes, unguarded
from .fence import Fence
from .message import Copyable
from .pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from .message import Delta, Message, ToolCall

FENCE_SIZE = 4  # of a line, so many characters show whether it is a fence that names a language
FENCE_LINE = Pattern(r"(?m:^)[^\S\n]*```([\w-]*)")
NOT_PROSE = ("arguments", "value", "trailing")


def is_in_code(text: str, opened: bool) -> bool:
    """Return whether a fence is open after whole lines of text, as before them (`opened`) or not.  A fence that names a
    language opens code, and any other closes it if it is open."""
    for language in FENCE_LINE.findall(text):
        opened = language != "" or not opened
    return opened


class Transcript(Copyable):
    """Keeps text by kind: content, reasoning_content and arguments (of the last call) belong to the message; pending is
    text of a kind that isn't known yet, value is text of a value, and trailing is no part of the message."""

    KINDS = ("content", "reasoning_content", "pending", "arguments", "value", "trailing")
    CALLS: ClassVar[bool] = True
    REASONING: ClassVar[bool] = True
    GUARDED: ClassVar[bool] = True  # special tokens may be known,
    VALUES_WAIT: ClassVar[bool] = True  # a value isn't emitted while it may become an item of a list
    FENCED_CALLS: ClassVar[bool] = True  # a fence around calls is dropped
    # By kind: how many texts were searched for fences, the last line of these, and whether code is open before it.
    _fenced: Mapping[str, tuple[int, str, bool]] = {}
    guarded = False  # special tokens are known: no other text is a marker
    spells_tokens = False  # text of the answer spells one
    ESCAPES: Mapping[str, Escapes] | None = None  # the texts that stand for characters, by kind of text
    cut_escape = ""  # what may be the beginning of such a text,
    _cut_kind = ""  # at the end of a text of this kind

    def __init__(self, json_content: bool = False) -> None:
        self.texts: dict[str, list[str]] = {kind: [] for kind in self.KINDS}
        if self.CALLS:
            self.calls: list[tuple[str, str | None, str]] = []  # name, id, arguments (those of the last are in texts)
            self.index = -1  # of the last call
        self.fence = Fence() if json_content else None
        self.waiting: list[Delta] = []  # not returned yet
        if self.VALUES_WAIT:
            self.pending: list[list[str]] = []  # the texts of such values
        self._pieces: list[str] = []  # the text of the next delta, and its kind
        self._kind = ""

    def copy(self) -> Any:
        twin = super().copy()
        twin.texts = {kind: texts[:] for kind, texts in self.texts.items()}
        if self.VALUES_WAIT:
            twin.pending = [pieces[:] for pieces in self.pending]
        return twin

    def emit(self, kind: str, text: str) -> None:
        if self.GUARDED and self.guarded and GUARD in text:
            self.spells_tokens = self.spells_tokens or kind not in NOT_PROSE
            text = unguarded(text)
        if self.VALUES_WAIT and kind == "arguments" and self.pending:
            self.pending[-1].append(text)
            return
        if self.ESCAPES:
            text = self._unescaped(kind, text, self.ESCAPES)
        if kind == "content" and self.fence is not None:
            text = self.fence.more(text)
        if not text:
            return
        if kind != self._kind:
            self.flush()
            self._kind = kind
        self._pieces.append(text)

    def _unescaped(self, kind: str, text: str, escapes: Mapping[str, Escapes]) -> str:
        """Return the characters that the text stands for, as far as they are known."""
        if kind != self._cut_kind:
            self.end_escape()
        of_kind = escapes.get(kind)
        if of_kind is None:
            return text
        text = self.cut_escape + text
        end = of_kind.safe_prefix_end(text)
        self.cut_escape, self._cut_kind = text[end:], kind
        return of_kind.unescape(text[:end])

    def end_escape(self) -> None:
        """Emit the text that could have been the beginning of an escape: nothing follows it."""
        text, self.cut_escape = self.cut_escape, ""
        if text:
            escapes, self.ESCAPES = self.ESCAPES, None
            self.emit(self._cut_kind, text)
            self.ESCAPES = escapes

    def flush(self) -> None:
        """Make one delta of the text emitted since the last."""
        if not self._pieces:
            return
        kind, text = self._kind, "".join(self._pieces)
        self._pieces.clear()
        self.texts[kind].append(text)
        if self.CALLS and kind == "arguments":
            self.waiting.append({"tool_calls": [{"index": self.index, "function": {"arguments": text}}]})
        elif kind != "trailing" and (not self.REASONING or kind != "pending"):
            self.waiting.append({kind: text})

    def code_before(self, kind: str) -> tuple[str, bool]:
        """Return how the last line of the text of this kind begins, and whether a fence is open before it."""
        self.flush()
        texts = self.texts[kind]
        seen, line, opened = self._fenced.get(kind, (0, "", False))
        lines, _, line = (line + "".join(texts[seen:])).rpartition("\n")
        line, opened = line.lstrip()[:FENCE_SIZE], is_in_code(lines, opened)
        self._fenced = {**self._fenced, kind: (len(texts), line, opened)}
        return line + self.cut_escape * (self._cut_kind == kind), opened

    def deltas(self) -> list[Delta]:
        """Return the deltas since the last call of this method."""
        if self._pieces:
            self.flush()
        self.waiting, deltas = [], self.waiting
        return deltas

    def end_content(self) -> None:
        """Note that no more content follows."""
        if self.ESCAPES:
            self.end_escape()
        fence, self.fence = self.fence, None
        if fence is not None:
            self.emit("content", fence.end())
        self.flush()

    def take_pending(self) -> str:
        return "".join(self.pending.pop())

    def release(self, kind: str) -> None:
        """Give the pending text this kind."""
        self.flush()
        if self.texts["pending"]:
            pending = "".join(self.texts["pending"])
            self.texts["pending"].clear()
            if pending.strip() or kind == "content":
                self.emit(kind, pending)

    def announce(self) -> None:
        """Add a delta for the beginning of the last call."""
        self.flush()
        name, call_id, _ = self.calls[-1]
        function = {"name": name, "arguments": ""}
        call = {"index": self.index, "id": call_id, "type": "function", "function": function}
        self.waiting.append({"tool_calls": [call]})

    def open_call(self, name: str, call_id: str | None) -> None:
        """Open a call, to which the following arguments belong."""
        if self.ESCAPES:
            self.end_escape()
        self.flush()
        if self.calls:
            self.calls[-1] = (*self.calls[-1][:2], "".join(self.texts["arguments"]))
        self.texts["arguments"] = []
        self.calls.append((name, call_id, ""))
        self.index = len(self.calls) - 1
        self.announce()

    def set_id(self, call_id: str) -> None:
        """Set the id of the last call if it comes after the name; a call that the prompt contains gets none."""
        if not self.calls:
            return
        if self.GUARDED and self.guarded:
            call_id = unguarded(call_id)
        self.flush()
        name, _, arguments = self.calls[-1]
        self.calls[-1] = (name, call_id, arguments)
        self.waiting.append({"tool_calls": [{"index": self.index, "id": call_id}]})

    def forget(self, kept: int) -> None:
        """Treat all text and all calls as prefilled, except so many of the last calls, which continue."""
        if self.FENCED_CALLS:
            self._fenced = {"content": (0, *self.code_before("content"))}
        self.waiting = []
        self.texts.update(content=[], reasoning_content=[], arguments=[])
        if self.CALLS:
            self.calls = self.calls[len(self.calls) - kept :]
            self.index = len(self.calls) - 1

    def is_empty(self) -> bool:
        if self.ESCAPES and self.cut_escape:
            return False
        return not ((self.CALLS and self.calls) or self._pieces or any(self.texts.values()))

    def to_message(self) -> Message:
        content = "".join(self.texts["content"])
        message: Message = {"role": "assistant", "content": content, "reasoning_content": None, "tool_calls": []}
        if self.REASONING:
            message["reasoning_content"] = "".join(self.texts["reasoning_content"]) or None
        if self.CALLS and self.calls:
            calls: list[ToolCall] = [
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for name, call_id, arguments in self.calls
            ]
            calls[-1]["function"]["arguments"] = "".join(self.texts["arguments"])
            message["tool_calls"] = calls
        if (self.REASONING or self.CALLS) and not content and (message["reasoning_content"] or message["tool_calls"]):
            message["content"] = None
        return message
