"""Read a call again whose strict reading failed before its name, by the tools' names and keys.

    calls_in('{{"tool": "f", "arguments": {{"a": 1}}}}', tools, …)  →  [("f", '{"a": 1}')]
    calls_in("no call at all", tools, …)                           →  []

This needs the tools: without a name of a tool and keys of its schema there is no call.
"""

from __future__ import annotations

import json

from .pattern import Pattern
from .schema import keys_of, tool_named
from .values import Reader, Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .schema import Parameters

NAME_KEYS = ("name", "tool_name", "function_name", "function", "tool", "recipient_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params", "kwargs")
OTHER_KEYS = ("id", "type", "index", "call_id", "tool_call_id")
KNOWN_KEYS = NAME_KEYS + ARGUMENT_KEYS + OTHER_KEYS
FENCE_END = "```"
FENCE = Pattern(r"```[\w-]*[^\S\n]*\n")
INFINITY = float("inf")
BETWEEN_CALLS = Pattern(r"[\s,;)\]}]*")
AT_ONCE = Pattern(r"""[\s({\[\\"'“`]*(?:json\b[\s({\[\\"'“]*)?""")
# A missing quote after a key, or after a value before the next key.
KEY_LEFT_OPEN = Pattern(r'(?<=[{,\s])"(\w+):(?=\s*["\[{\w-])')
NAME_LEFT_OPEN = Pattern(r':\s*"(\w+)\s*,(?=\s*"\w+"\s*:)')
STYLES = (
    Style(
        (('"', '"', "json"), ("'", "'", "python"), ("“", "”", "json")),
        {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"},
    ),
) * 3


def may_be_calls(text: str, tools: Parameters, keys: tuple[str, ...]) -> bool:
    """Return whether the text begins like a call: brackets and quotes, then a key of calls or the name of a tool."""
    at = AT_ONCE.match(text).end()
    rest = text[at : at + 64]
    known = [*keys, *KNOWN_KEYS, *tools]
    return not rest or any(rest.startswith(word) or word.startswith(rest) for word in known)


def calls_in(text: str, tools: Parameters) -> list[tuple[str, str]]:
    """Return the calls in a text, with their arguments as JSON; none if the text contains anything else."""
    text = text.strip().removesuffix(FENCE_END).rstrip()
    fence = FENCE.match(text)
    text = text[fence.end() :].strip() if fence is not None else text
    for candidate in dict.fromkeys(_candidates(text)):
        found = [_call_of(value, tools) for value in _values(candidate)]
        if found and None not in found:
            return [call for call in found if call is not None]
    return []


def arguments_of(name: str, text: str, tools: Parameters) -> str | None:
    """Return the arguments of a tool in an object of JSON; None if they are not this tool's."""
    value = loaded(text)
    found = _with_arguments(name, {"arguments": value}, tools) if isinstance(value, dict) else None
    return None if found is None else found[1]


def calls_of(text: str, tools: Parameters) -> list[tuple[str, str]]:
    """Return the call that a JSON text means, in a list; an empty list if there is none."""
    found = _call_of(loaded(text), tools)
    return [] if found is None else [found]


def loaded(text: str) -> Any:
    """Return the value of a JSON text; None if it is nested too deeply, or contains a number that is too large."""
    try:
        return json.loads(text, parse_float=finite)
    except (ValueError, RecursionError):
        return None


def finite(text: str) -> float:
    """Return a number; raise ValueError if it is too large."""
    number = float(text)
    if number in (INFINITY, -INFINITY):
        raise ValueError(text)
    return number


def _candidates(text: str) -> Iterator[str]:
    """Yield the text, and repaired forms of it."""
    yield text
    if '\\"' in text:
        yield text.replace('\\"', '"')
    if "{{" in "".join(text.split()):
        yield DOUBLED.sub(r"\1", text)
    yield NAME_LEFT_OPEN.sub(r': "\1",', KEY_LEFT_OPEN.sub(r'"\1":', text))


DOUBLED = Pattern(r"([{}])\s*\1")


def _values(text: str) -> list[Any]:
    """Return consecutive objects, also those in lists; with a None in the list if there is anything else."""
    found: list[Any] = []
    pos = BETWEEN_CALLS.match(text, 0).end()
    while pos < len(text) and len(found) < 1000:
        if text[pos] not in "{[":
            return [None]
        reader = Reader(STYLES)
        pos = reader.read(text, pos, True)
        value = loaded(reader.close())
        found += value if isinstance(value, list) else [value]
        pos = BETWEEN_CALLS.match(text, pos).end()
    return found


def _call_of(value: Any, tools: Parameters) -> tuple[str, str] | None:
    """Return the call that an object means."""
    value = _innermost(value)
    if value is None:
        return None
    for key in NAME_KEYS:
        name = tool_named(value[key], tools) if isinstance(value.get(key), str) else ""
        if name and name in tools:
            rest = {other: item for other, item in value.items() if other != key}
            return _with_arguments(name, rest, tools)
    if len(value) == 1:
        [(key, arguments)] = value.items()
        name = tool_named(key, tools)
        return _with_arguments(name, {"arguments": arguments}, tools) if name and name in tools else None
    return None


def _innermost(value: Any) -> dict[str, Any] | None:
    """Return the object, or the one that it contains in the place of a name; None if it is no object."""
    while isinstance(value, dict):
        inner = [value[key] for key in NAME_KEYS if isinstance(value.get(key), dict)]
        if len(inner) != 1 or any(isinstance(value.get(key), str) for key in NAME_KEYS):
            return value
        value = inner[0]
    return None


def _with_arguments(name: str, members: dict[str, Any], tools: Parameters) -> tuple[str, str] | None:
    keys = keys_of(tools[name], tools[name])
    named = [key for key in ARGUMENT_KEYS if key in members and key not in (keys or ())]
    rest = {key: value for key, value in members.items() if key not in OTHER_KEYS}
    # A lone object under a key that the schema lacks holds the arguments.
    if not named and len(rest) == 1 and not rest.keys() <= (keys or rest.keys()):
        named = list(rest)
    arguments = members[named[0]] if named else rest
    if isinstance(arguments, str):
        inside = _values(arguments)
        arguments = inside[0] if len(inside) == 1 else None
    arguments = {} if arguments is None and named else arguments
    if not isinstance(arguments, dict) or (keys is not None and not keys.issuperset(arguments)):
        return None
    try:
        return name, json.dumps(arguments, ensure_ascii=False)
    except RecursionError:
        return None
