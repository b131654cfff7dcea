"""Refuse to write over the files that a command reads, however their paths are spelled.

tplc explain hut.jinja --html ./hut.jinja --force  →  ./hut.jinja: is the source; name another file to write
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tplc.errors import UsageError

ALSO_READ = "also read"


@dataclass(slots=True)
class _Inputs:
    read: dict[str, str] = field(default_factory=dict)  # what each file is
    amended: set[str] = field(default_factory=set)


# None outside of commands: a program that uses tplc as a library decides itself what it writes.
_inputs: ContextVar[_Inputs | None] = ContextVar("inputs", default=None)


@contextmanager
def inputs_protected() -> Iterator[None]:
    """Keep the inputs of one command until the block ends."""
    token = _inputs.set(_Inputs())
    try:
        yield
    finally:
        _inputs.reset(token)


def protect(paths: Iterable[str], what: str = ALSO_READ) -> None:
    """Note files that the command reads, so that none is written over."""
    inputs = _inputs.get()
    if inputs is not None:
        for path in paths:
            inputs.read.setdefault(path, what)


def allow_amending(path: str) -> None:
    """Allow to write a file that is read: the command adds to it and keeps the rest."""
    inputs = _inputs.get()
    if inputs is not None:
        inputs.amended.add(path)


def check_not_input(path: str) -> None:
    """Raise UsageError if the file is an input of the command, also through links."""
    inputs = _inputs.get()
    if inputs is None or path == "-" or path in inputs.amended:
        return
    for read, what in inputs.read.items():
        if _is_same_file(path, read):
            raise UsageError(f"{path}: is {what}; name another file to write")


def _is_same_file(path: str, other: str) -> bool:
    try:
        return os.path.isfile(path) and os.path.samefile(path, other)
    except (OSError, ValueError):  # not a file, or not even a path
        return False
