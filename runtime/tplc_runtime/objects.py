"""Arguments that are one object.

{"a": 1}  →  {"a": 1}        "{\"a\": 1}"  →  {"a": 1}        hello  →  {}, and the text is content
"""

from __future__ import annotations

from .machine import Machine, next_char
from .values import HELD, Reader, Style, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar

    from .message import Delta


class Objects(Machine):
    STYLES: ClassVar[tuple[Style, Style, Style]]
    _reader: Reader | None = None
    _through = False  # inside of a reader's JSON that is said as it comes
    _kind = ""  # how the arguments begin

    def _more(self, chunk: str) -> list[Delta]:
        reader = self._reader
        if reader is None or not self._through:
            return super()._more(chunk)
        # In the middle of arguments no state has to look at JSON as it should be.
        buf = self._buf + chunk if self._buf != "" else chunk
        end = reader.regular(buf, 0, len(buf))
        if not reader.waits or len(buf) - end > HELD:
            self._buf, self._pos = buf, end
            return self._advance("")
        text, self._buf = buf[:end], buf[end:]
        self._plain_value = self._buf == "" and reader.string is not None and reader.style.usual == '"'
        if text == "":
            return []
        reader.out.clear()  # it is the text, as it came
        self._passed.append(text)
        return [{"tool_calls": [{"index": self._index, "function": {"arguments": text}}]}]

    def _advance(self, chunk: str) -> list[Delta]:
        deltas = super()._advance(chunk)
        reader = self._reader
        waits = self._eat or self._wanted or self._base < 0 or (reader is not None and (reader.comma or reader.out))
        self._through = reader is not None and not waits and self._goes_through(reader)
        if self._through:
            self._within = "arguments"
        return deltas

    def _goes_on(self, kind: str, plain_to: Callable[[str], int] = len) -> None:
        super()._goes_on(kind, plain_to)
        self._through = False

    def _goes_through(self, reader: Reader) -> bool:
        """Are all of these values arguments, and said as they come?"""
        return len(reader.stack) > reader.floor and reader.style.is_json and self._kind == "{"

    def _arguments(self) -> bool:
        # arguments = object | string that holds an object
        if self._reader is None:
            self._eat_space()
            start = next_char(self._buf, self._pos)
            match = self.STYLES[0].token.match(self._buf, start)
            begins = match is not None and match.lastindex == 3 and self._buf[start:] in self.STYLES[0].begins
            if match is None or (begins and not self._final):
                return False
            if self.STYLES[0].tokens.get(match.group()) not in ("{", '"'):
                self._note("expected the arguments")
                self._say("arguments", "{}")
                return self._close_call()
            self._reader = Reader(self.STYLES, (), self.BREAKS)
            self._kind = match.group()
        self._pos, self._wanted = self._reader.read(self._buf, self._pos, self._final), self._reader.wanted
        return self._said_arguments(self._reader) and self._close_call()

    def _said_arguments(self, reader: Reader) -> bool:
        """Say what has come of the arguments; True at their end."""
        if self.STYLES[0].tokens.get(self._kind) == "{":
            self._say("arguments", reader.take())
        if reader.want:
            self._in_string(reader)
            return False
        if reader.out:
            self._say("arguments", self._unwrapped(reader.take()))
        if reader.repair:
            self._note("arguments: " + reader.repair)
        self._reader = None
        return True

    def _unwrapped(self, text: str) -> str:
        """Arguments written as a string that holds an object; any other text is no arguments, so it is content."""
        inside = text_of(text) if text[:1] == '"' else ""
        inner = Reader(self.STYLES)
        if inside.lstrip()[:1] == "{" and not inside[inner.read(inside, 0, True) :].strip():
            return inner.take() + inner.close()
        if text not in ("null", '""'):
            self._note("the arguments are not an object")
            self._say("content", text)
        return "{}"

    def _finish(self) -> None:
        super()._finish()
        if self._open:
            if self._reader is not None:
                text = self._reader.take() + self._reader.close()
                self._say("arguments", text if self.STYLES[0].tokens.get(self._kind) == "{" else self._unwrapped(text))
            else:
                self._say("arguments", "{}")
