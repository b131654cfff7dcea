"""Count the characters that a parser looks at or copies, to find work that grows faster than an output.

    looked_at(module, "<call>" * 1000)  →  52000, where a parser reads each character some nine times

The parser's buffer is a string that counts: slices of it, searches in it, and what regular expressions match in it.
Seconds don't show a copy of all that follows each marker, as copies are fast, before outputs have a megabyte.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.outputs import parser_of
from tplc.verify.artifact import load_module

MOST_JSON = 256
SHORT = 64  # slices that aren't longer are plain strings


class CountedText(str):
    """A string that adds up the characters that are looked at in it, and in long slices of it."""

    __slots__ = ()
    looked = 0

    def __getitem__(self, key: Any) -> str:
        return _counted(str.__getitem__(self, key))

    def __add__(self, other: str) -> str:
        return _counted(str.__add__(self, other))

    def __radd__(self, other: str) -> str:
        return _counted(str.__add__(other, self))

    def find(self, sub: str, start: Any = 0, end: Any = None) -> int:
        end = len(self) if end is None else min(end, len(self))
        found = str.find(self, sub, start, end)
        CountedText.looked += max(0, (end if found < 0 else found) - start)
        return found

    def rfind(self, sub: str, start: Any = 0, end: Any = None) -> int:
        end = len(self) if end is None else min(end, len(self))
        found = str.rfind(self, sub, start, end)
        CountedText.looked += max(0, end - (start if found < 0 else found))
        return found


def _counted(text: str) -> str:
    CountedText.looked += len(text)
    return CountedText(text) if len(text) > SHORT else text


def _looks_at_all(name: str) -> Callable[..., Any]:
    method = getattr(str, name)

    def counting(self: str, *args: Any) -> Any:
        CountedText.looked += len(self)
        found = method(self, *args)
        return CountedText(found) if found.__class__ is str and len(found) > SHORT else found

    return counting


for _name in "strip lstrip rstrip replace translate lower removesuffix removeprefix split partition rpartition".split():
    setattr(CountedText, _name, _looks_at_all(_name))
for _name in "isalnum isspace isdigit isidentifier __contains__".split():
    setattr(CountedText, _name, _looks_at_all(_name))


def counting_parser(example: str) -> ModuleType:
    """Return a parser of its own of an example, whose patterns count what they match."""
    module = load_module(parser_of(example))
    module.Pattern.__getattr__ = _method_of_pattern
    if hasattr(module, "json_end"):  # what it examines is bounded, by more than the outputs have here
        module.json_end.__defaults__ = (MOST_JSON,)
        vars(module)["LONGEST_OBJECT"] = MOST_JSON
    return module


def _method_of_pattern(pattern: Any, name: str) -> Any:
    if pattern._compiled is None:
        pattern._compiled = re.compile(pattern.pattern, re.DOTALL)
    method = getattr(pattern._compiled, name)
    if name not in ("search", "match", "fullmatch"):
        return method

    def counting(text: str, pos: int = 0, end: int = sys.maxsize) -> Any:
        found = method(text, pos, end)
        least = min(end, len(text)) - pos if name == "search" else 1
        CountedText.looked += found.end() - pos if found is not None else max(0, least)
        return found

    setattr(pattern, name, counting)
    return counting


def looked_at(module: ModuleType, text: str, chunk: int = 0, tools: Any = None) -> int:
    """Return the number of characters that are looked at, at least, while the output is read."""
    parser = module.StreamParser(tools=tools) if tools is not None else module.StreamParser()
    parser._buf = CountedText(parser._buf)
    CountedText.looked = 0
    for at in range(0, len(text), chunk or len(text)):
        parser.feed(text[at : at + (chunk or len(text))])
    parser.finish()
    assert parser.message["role"] == "assistant"
    return CountedText.looked


def markers_of(module: ModuleType) -> list[str]:
    """Return the markers that the parser looks for, without those that have a word of any kind in them."""
    found: dict[str, None] = {}
    for one in module.StreamParser.__mro__:
        values = list(vars(one).values())
        for value in values:
            values += value if isinstance(value, (list, tuple)) else ()
            cores = [marker[1] for marker in value.markers] if isinstance(value, module.Scanner) else []
            found |= {core: None for core in cores if core.isprintable() and core.isascii() and core.strip()}
    return list(found)
