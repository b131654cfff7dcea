"""Check the arguments of the Python API before any work: a TypeError says what was expected, and for which
argument.

text("source_text", Path("chat.jinja"), "…")  →  TypeError: source_text: expected …, got PosixPath
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence


def text(name: str, value: object, what: str) -> None:
    if not isinstance(value, str):
        hint = ": read it first (path.read_text())" if isinstance(value, os.PathLike) else ""
        raise _wrong(name, what, value, hint)


def whole_number(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(name, "a whole number", value)


def switch(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise _wrong(name, "True or False", value)


def instance(name: str, value: object, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise _wrong(name, what, value)


def texts_by_name(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise _wrong(name, 'texts by their names, such as {"eos_token": "…"}', value)
    for key, entry in value.items():
        text(f"{name}[{key!r}]", entry, "text (str)")


def listed(name: str, value: object, kind: type, what: str) -> None:
    """Check that a value is a sequence of this kind, or None; raise TypeError otherwise."""
    if value is None:
        return
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise _wrong(name, f"a list of {what}", value)
    for index, entry in enumerate(value):
        if not isinstance(entry, kind):
            raise _wrong(f"{name}[{index}]", what, entry)


def tools(value: object) -> None:
    listed("tools", value, Mapping, 'tools such as {"type": "function", "function": {"name": …}}')


def _wrong(name: str, what: str, value: object, hint: str = "") -> TypeError:
    got = "None" if value is None else type(value).__name__
    return TypeError(f"{name}: expected {what}, got {got}{hint}")
