"""Standard input of a command whose caller closed it: `tplc parse hut.jinja <&-`.

Reading from it is reported in the same way as any other input that can't be read.
"""

from __future__ import annotations

import io
from typing import NoReturn, TextIO

from tplc.errors import SourceError


class _Closed(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> NoReturn:
        raise SourceError("standard input", "is closed", "name a file, or pipe the text into the command")

    def fileno(self) -> NoReturn:
        self.readinto(b"")


def closed_input() -> TextIO:
    """Return a stream that raises SourceError when it is read."""
    return io.TextIOWrapper(io.BufferedReader(_Closed()), encoding="utf-8")
