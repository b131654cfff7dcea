"""Strings that record what they are compared with.

    Watched("hi", log).lower().startswith("deploy")  →  False, and log holds "deploy"

A template may compare a message with a phrase that is nowhere in its source (`"yolped" | reverse`), so the phrases
are taken from the comparisons themselves.  What is made of a watched text is watched too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex

Log = Callable[[str], None]

_MOST_CHARS = 200


class Watched(str):
    # The log is out of the template's reach: the sandbox lets no attribute through that begins with an underscore.
    __slots__ = ("_log",)

    _log: Log

    def __new__(cls, text: str, log: Log) -> Watched:
        made = super().__new__(cls, text)
        made._log = log
        return made

    def _note(self, other: object) -> None:
        if type(other) is str and other.strip() and len(other) <= _MOST_CHARS:
            self._log(other)
        elif isinstance(other, tuple):
            for item in other:
                self._note(item)

    def _made(self, value: Any) -> Any:
        if type(value) is str:
            return Watched(value, self._log)
        if type(value) in (list, tuple):
            return type(value)(map(self._made, value))
        return value

    def __str__(self) -> str:
        return self

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        self._note(other)
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        self._note(other)
        return str.__ne__(self, other)

    def __contains__(self, other: str) -> bool:  # type: ignore[override]
        self._note(other)
        return str.__contains__(self, other)

    def __iter__(self) -> Iterator[str]:
        return map(self._made, str.__iter__(self))

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        made: str = self._made(str.__getitem__(self, key))
        return made

    def __add__(self, other: str) -> str:
        made: str = self._made(str.__add__(self, other))
        return made

    def __radd__(self, other: str) -> str:
        made: str = self._made(str.__add__(other, self))
        return made


def _watching(name: str) -> Callable[..., Any]:
    method = getattr(str, name)

    def watching(self: Watched, *args: Any, **options: Any) -> Any:
        for argument in args:
            self._note(argument)
        return self._made(method(self, *args, **options))

    watching.__name__ = name
    return watching


# Those that compare or cut; `format` and `format_map` stay the sandbox's own.
for _name in """
    capitalize casefold center count endswith expandtabs find index join ljust lower lstrip partition removeprefix
    removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title
    translate upper zfill
""".split():
    setattr(Watched, _name, _watching(_name))
