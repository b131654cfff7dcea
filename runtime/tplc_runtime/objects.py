"""Arguments that are one object.

{"a": 1}  →  {"a": 1}        "{\"a\": 1}"  →  {"a": 1}        hello  →  {}, and the text is content
"""

from __future__ import annotations

from .machine import Machine, next_char
from .values import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class Objects(Machine):
    CALLS: ClassVar[bool] = True
    ODD_NAMES: ClassVar[bool] = True
    ARGUMENTS_OPEN: ClassVar[bool] = True

    def _begin_arguments(self) -> None:
        self._state = type(self)._arguments

    def _lack_of_arguments(self, pos: int) -> str:
        buf, start = self._buf, next_char(self._buf, pos)
        if start == len(buf):
            return "" if self._final else "more"
        match = self.STYLES[0].token.match(buf, start)
        if match is not None and self.STYLES[0].tokens.get(match.group(), "") in ("{", '"'):
            return ""
        begun = match is None or (match.lastindex == 3 and buf[start:] in self.STYLES[0].begins)
        return self._lack_of("the arguments", start, begun)

    def _opens_arguments(self, pos: int) -> bool:
        match = self.STYLES[0].token.match(self._buf, pos)
        return match is not None and self.STYLES[0].tokens.get(match.group(), "") == "{"

    def _arguments(self) -> bool:
        # arguments = object | string that holds an object
        if self._reader is None:
            self._skip_space()
            start = next_char(self._buf, self._pos)
            match = self.STYLES[0].token.match(self._buf, start)
            begins = match is not None and match.lastindex == 3 and self._buf[start:] in self.STYLES[0].begins
            if match is None or (begins and not self._final):
                return False
            self._written = self.STYLES[0].tokens.get(match.group(), "")
            if self._written not in ("{", '"'):
                self._note("expected the arguments")
                self._out.emit("arguments", "{}")
                return self._close_call()
            self._reader = Reader(self.STYLES, self.BREAKS)
        reader = self._reader
        self._pos, self._wanted = reader.read(self._buf, self._pos, self._final), reader.wanted
        if self._written == "{":
            self._out.emit("arguments", reader.take())
        elif not reader.want:
            self._emit_arguments(reader.take())
        return self._value_is_over(reader) and self._close_call()

    def _finish(self) -> None:
        super()._finish()
        if self._open and self._reader is not None:
            self._emit_arguments(self._reader.close())
        elif self._open:
            self._out.emit("arguments", "{}")
