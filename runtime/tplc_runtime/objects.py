"""Arguments that are one object.

{"a": 1}  →  {"a": 1}        "{\"a\": 1}"  →  {"a": 1}        hello  →  {}, and the text is content
"""

from __future__ import annotations

from .machine import Machine, next_char
from .values import Reader, Style, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class Objects(Machine):
    CALLS: ClassVar[bool] = True
    STYLES: ClassVar[tuple[Style, Style, Style]]
    _kind = ""  # how the arguments begin

    def _begin_arguments(self) -> None:
        self._state = type(self)._arguments

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
                self._out.say("arguments", "{}")
                return self._close_call()
            self._reader = Reader(self.STYLES, self.BREAKS)
            self._kind = match.group()
        self._pos, self._wanted = self._reader.read(self._buf, self._pos, self._final), self._reader.wanted
        return self._said_arguments(self._reader) and self._close_call()

    def _said_arguments(self, reader: Reader) -> bool:
        """Say what has come of the arguments; True at their end."""
        if self.STYLES[0].tokens.get(self._kind) == "{":
            self._out.say("arguments", reader.take())
        if reader.want:
            self._in_string(reader)
            return False
        if reader.out:
            self._out.say("arguments", self._unwrapped(reader.take()))
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
            self._out.say("content", text)
        return "{}"

    def _finish(self) -> None:
        super()._finish()
        if self._open:
            if self._reader is not None:
                text = self._reader.take() + self._reader.close()
                self._out.say(
                    "arguments", text if self.STYLES[0].tokens.get(self._kind) == "{" else self._unwrapped(text)
                )
            else:
                self._out.say("arguments", "{}")
