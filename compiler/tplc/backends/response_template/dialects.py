"""Whether the values of a dialect are read by the content parsers there are, and what of them is not.

{city: ~Oslo~}  →  {"string_delims": [["~", "~"]], "unquoted_keys": true}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tplc.ir.nodes import Dialect, Json, StringStyle, ValueStyle
from tplc.ir.spellings import JSON_PUNCTUATION, punctuation_of

_JSON_WORDS = {"true": "true", "false": "false", "null": "null"}


def json_arguments(style: ValueStyle) -> dict[str, Json]:
    """Return the arguments of the `json` parser for values in this style; {} for JSON itself."""
    arguments: dict[str, Json] = {}
    delimiters: list[Json] = [[string.open, string.close] for string in style.strings if not _is_json_string(string)]
    if delimiters:
        arguments["string_delims"] = delimiters
    if not style.key_open:
        arguments["unquoted_keys"] = True
    return arguments


def is_json(style: ValueStyle) -> bool:
    return not json_arguments(style) and characters_are_json(style) and not foreign_words(style)


def characters_are_json(style: ValueStyle) -> bool:
    return punctuation_of(style) == JSON_PUNCTUATION


def foreign_words(style: ValueStyle) -> dict[str, str]:
    """Return the words for true, false and null that differ from JSON's, by JSON's words."""
    words = {"true": style.true, "false": style.false, "null": style.null}
    return {meaning: word for meaning, word in words.items() if word is not None and word != _JSON_WORDS[meaning]}


def has_literal(value: object, meanings: Mapping[str, str]) -> bool:
    """Return whether a value contains true, false or null if the dialect writes that with a word of its own."""
    words = {True: "true", False: "false", None: "null"}
    return any(
        (item is None or isinstance(item, bool)) and words[item] in meanings
        for item in nested_values(value)
        if not isinstance(item, Mapping | list)
    )


def needs_escape(value: object, style: ValueStyle) -> bool:
    """Return whether a text in the value is escaped, or contains a delimiter that would end it."""
    return any(_is_changed(item, style) for item in texts_in(value))


def _is_changed(text: str, style: ValueStyle) -> bool:
    quotes = [quote for string in style.strings for quote in (string.open, string.close)]
    if any(quote in text for quote in quotes):
        return True
    return (
        any(string.escape != "none" for string in style.strings) and json.dumps(text, ensure_ascii=False) != f'"{text}"'
    )


def texts_in(value: object) -> Iterator[str]:
    for item in nested_values(value):
        if isinstance(item, str):
            yield item


def nested_values(value: object) -> Iterator[Any]:
    """Yield a value and everything nested in it, including keys."""
    yield value
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from nested_values(item)
    elif isinstance(value, list):
        for item in value:
            yield from nested_values(item)


def is_container(value: object) -> bool:
    return isinstance(value, Mapping | list)


def nested_is_json(dialect: Dialect, value: object) -> bool:
    """Return whether a list or an object as a whole argument value is written as JSON."""
    if dialect.elements is not None:
        return False
    return is_json(dialect.in_object if isinstance(value, Mapping) else dialect.in_list)


def _is_json_string(string: StringStyle) -> bool:
    return (string.open, string.close, string.escape) == ('"', '"', "json")
