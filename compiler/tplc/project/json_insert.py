r"""Put one member into a JSON file that is somebody else's, and leave every other byte of it alone.

{"a": 1,\n "b": [ 2 ]}  and  c = {}   →   {"a": 1,\n "b": [ 2 ],\n "c": {}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tplc.errors import SourceError
from tplc.ir.json_text import NotJson, not_json_in, parse_json
from tplc.ir.nodes import Json

_SPACE = re.compile(r"[ \t\r\n]*")


def with_member(text: str, name: str, value: Json, origin: str) -> str:
    """Return the JSON text with the member set.  `origin` is the file's name, for messages."""
    try:
        whole = parse_json(text.removeprefix("\ufeff"))
    except NotJson as error:
        raise not_json_in(origin, error) from error
    if not isinstance(whole, dict):
        raise SourceError(origin, "expected a JSON object at the top")
    members = list(_members(text))
    found = [span for key, span in members if key == name]
    if len(found) > 1:
        raise SourceError(origin, f"the member {name} is there {len(found)} times")
    indent, line = _style(text)
    written = json.dumps(value, ensure_ascii=False, indent=len(indent) or None)
    written = written.replace("\n", line + indent)
    if found:
        start, stop = found[0]
        return text[:start] + written + text[stop:]
    if not members:
        opened = text.index("{") + 1
        return text[:opened] + f'{line}{indent}"{name}": {written}{line}' + text[text.rindex("}") :]
    last = members[-1][1][1]
    separator = f",{line}{indent}" if indent else ", "
    return f'{text[:last]}{separator}"{name}": {written}{text[last:]}'


def _members(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the members at the top of a valid JSON object, and the place of each value."""
    decoder = json.JSONDecoder()
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, stop = decoder.raw_decode(text, start)
        yield key, (start, stop)
        at = _skip(text, stop)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _style(text: str) -> tuple[str, str]:
    """Return the indentation of the first member and the line end; "" for a file of one line."""
    match = re.match(r"\ufeff?\s*\{[ \t]*(\r?\n)([ \t]+)", text)
    if match:
        return match[2].replace("\t", "  "), match[1]
    return ("", "") if not re.match(r"\ufeff?\s*\{\s*\}", text) else ("  ", "\n")
