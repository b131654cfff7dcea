"""Describe how values are spelled, for their readers: quotes, words and punctuation, with those of Python if declared.

spellings_of(tools, also_python=True)  →  (at the top, inside lists, inside objects)
"""

from __future__ import annotations

from dataclasses import dataclass

from tplc.ir.nodes import ObjectArguments, Tools, ValueStyle

_PYTHON_STRINGS = (('"', '"', "json"), ("'", "'", "python"))
# Quotes that models write for those of JSON.
_OTHER_QUOTES = (
    ("“", "”", "json"),
    ("”", "”", "json"),
    ("‘", "’", "json"),
    ("„", "“", "json"),
    ("＂", "＂", "json"),
    ("«", "»", "json"),
    ("「", "」", "json"),
    ("″", "″", "json"),
    ("&quot;", "&quot;", "none"),
    ("&#34;", "&#34;", "none"),
    ('\\\\"', '\\\\"', "none"),
    ('\\"', '\\"', "none"),
)
# The literals of JSON, each with its spelling there and in Python.
WORDS = {"true": ("true", "True"), "false": ("false", "False"), "null": ("null", "None")}
_PYTHON_WORDS = {words[at]: word for at in (1, 0) for word, words in WORDS.items()}
JSON_PUNCTUATION = tuple("[,]{:,}")


@dataclass(frozen=True, slots=True)
class Spelling:
    """`strings` as (open, close, escape), `words` and the JSON they mean, `punctuation` for JSON's `[,]{:,}`."""

    strings: tuple[tuple[str, str, str], ...]
    words: tuple[tuple[str, str], ...]
    punctuation: tuple[str, ...]
    bare_keys: bool
    as_json: bool  # the template writes JSON, even if more is read


def spellings_of(tools: Tools, *, also_python: bool, repairs: bool = False) -> tuple[Spelling, Spelling, Spelling]:
    assert tools.dialect is not None
    dialect = tools.dialect
    inside = spelling_of(dialect.in_object, also_python=also_python, repairs=repairs)
    if isinstance(tools.arguments, ObjectArguments) or tools.json is not None:
        return inside, inside, inside
    top, in_list = (
        spelling_of(style, also_python=also_python, repairs=repairs) for style in (dialect.top, dialect.in_list)
    )
    return top, in_list, inside


def spelling_of(style: ValueStyle, *, also_python: bool, repairs: bool = False) -> Spelling:
    own = [(string.open, string.close, string.escape) for string in style.strings]
    strings: dict[str, tuple[str, str, str]] = {}
    others = _OTHER_QUOTES if repairs and ('"', '"', "json") in own else ()
    for string in (*own, *(_PYTHON_STRINGS if also_python and own else ()), *others):
        strings.setdefault(string[0], string)
    words = {style.true: "true", style.false: "false", style.null or "": "null"}
    if also_python:
        words = _PYTHON_WORDS | words
    punctuation = tuple(char or usual for char, usual in zip(punctuation_of(style), JSON_PUNCTUATION, strict=True))
    known = tuple((word, meaning) for word, meaning in words.items() if word)
    as_json = own == [('"', '"', "json")] and punctuation == JSON_PUNCTUATION and style.key_open == '"'
    as_json = as_json and (style.true, style.false, style.null) == ("true", "false", "null")
    return Spelling(tuple(strings.values()), known, punctuation, not style.key_open, as_json)


def punctuation_of(style: ValueStyle) -> tuple[str, ...]:
    """Return the style's punctuation in the places of JSON's `[,]{:,}`, without white space."""
    punctuation = (
        style.list_open,
        style.list_separator,
        style.list_close,
        style.object_open,
        style.colon,
        style.object_separator,
        style.object_close,
    )
    return tuple(char.strip() for char in punctuation)
