"""What a response template cannot say of a format, and which messages show it.

Limit("closing text in an argument", "the first closing text ends the call", …).holds(message)  →  True
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tplc.backends.response_template.dialects import (
    foreign_words,
    has_literal,
    is_container,
    needs_escape,
    nested_is_json,
    texts_in,
)
from tplc.ir.nodes import Dialect, Tools, ValueStyle
from tplc.ir.write import write_arguments

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Limit:
    """`holds`: whether a message shows it.  A message that does is not expected to come back.

    `always`: every call does, and it comes back all the same but for what is lost.
    """

    feature: str
    reason: str
    holds: Callable[[Message], bool]
    always: bool = False


def calls_of(message: Message) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for call in message.get("tool_calls") or ():
        yield call["function"]["name"], json.loads(call["function"]["arguments"])


def ids_are_lost(where: str) -> Limit:
    return Limit("call ids", f"an id {where} cannot be taken over", lambda _: False, always=True)


def closed_early(tools: Tools, close: str) -> Limit:
    """Return the limit that the first text like a call's end ends the call, even in a string, since the parser doesn't
    recognise strings."""
    end = re.compile(_unnamed(close), re.DOTALL)

    def holds(message: Message) -> bool:
        return any(end.search(write_arguments(tools, arguments)) for _, arguments in calls_of(message))

    return Limit("closing text in an argument", "the first text like a call's end ends the call", holds)


def value_closed_early(ends: tuple[str, ...]) -> Limit:
    cores = [end.strip() for end in ends if end.strip()]

    def holds(message: Message) -> bool:
        texts = (text for _, arguments in calls_of(message) for text in texts_in(arguments))
        return any(core in text for text in texts for core in cores)

    return Limit("closing text in a value", "the first text like a value's end ends the value", holds)


def of_object(style: ValueStyle) -> Iterator[Limit]:
    """Yield the limits for arguments that are one object in a style other than JSON."""
    words = foreign_words(style)
    if words:
        listed = ", ".join(f"{word} for {meaning}" for meaning, word in words.items())
        yield Limit(
            f"words of the dialect: {listed}",
            "the parser knows those of JSON only",
            lambda message: any(has_literal(arguments, words) for _, arguments in calls_of(message)),
        )
    if any((string.open, string.close, string.escape) != ('"', '"', "json") for string in style.strings):
        yield Limit(
            "escapes in text",
            "text between the dialect's quotes is taken as it stands",
            lambda message: any(needs_escape(arguments, style) for _, arguments in calls_of(message)),
        )
    if not style.key_open:
        yield Limit(
            "keys that aren't words, or have white space before them",
            "a key without quotes must be a word directly after its opener",
            lambda message: any(_has_odd_keys(arguments, style) for _, arguments in calls_of(message)),
        )


def of_bare_calls(tools: Tools) -> Iterator[Limit]:
    if tools.bare_call:
        yield Limit(
            "calls without arguments in another form",
            "a call is recognised by its arguments",
            lambda message: any(not arguments for _, arguments in calls_of(message)),
        )


def of_pairs(tools: Tools) -> Iterator[Limit]:
    assert tools.dialect is not None
    yield from of_containers(tools.dialect)
    words = foreign_words(tools.dialect.top)
    known = {"true": ("true",), "false": ("false",), "null": ("null", "none")}
    odd = {meaning: word for meaning, word in words.items() if word.lower() not in known[meaning]}
    if odd:
        listed = ", ".join(f"{word} for {meaning}" for meaning, word in odd.items())
        yield Limit(
            f"words of the dialect: {listed}",
            "only the usual words are made into values",
            lambda message: any(has_literal(value, odd) for value in _values(message)),
        )
    if tools.dialect.top.strings:
        yield from (limit for limit in of_object(tools.dialect.top) if not limit.feature.startswith("words"))


def of_containers(dialect: Dialect) -> Iterator[Limit]:
    def holds(message: Message) -> bool:
        return any(_is_foreign(dialect, value) for value in _values(message))

    if dialect.elements is not None:
        yield Limit("lists and objects as nested elements", "tags are read on one level only", holds)
    else:
        yield Limit("lists and objects that are not written as JSON", "they are read as JSON or stay text", holds)


def _is_foreign(dialect: Dialect, value: object) -> bool:
    if not is_container(value):
        return False
    style = dialect.in_object if isinstance(value, Mapping) else dialect.in_list
    words = foreign_words(style)
    # Written like JSON, but for what such a value happens to hold.
    if dialect.elements is None and all(string.escape == "json" for string in style.strings) and style.key_open == '"':
        return has_literal(value, words)
    return not nested_is_json(dialect, value)


def _values(message: Message) -> Iterator[object]:
    for _, arguments in calls_of(message):
        yield from arguments.values()


def _has_odd_keys(value: object, style: ValueStyle) -> bool:
    spaced = style.object_separator != style.object_separator.strip() or style.object_open[-1:].isspace()
    if isinstance(value, Mapping):
        if (spaced and len(value) > 1) or any(not re.fullmatch(r"\w+", key) for key in value):
            return True
        return any(_has_odd_keys(item, style) for item in value.values())
    return isinstance(value, list) and any(_has_odd_keys(item, style) for item in value)


def _unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)
