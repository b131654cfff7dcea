r"""Closers of raw values that are hardly recognisable, or have the argument's key.

    "</~with>"  →  a pattern of `<~with/>`, `</~with`, `＜/~with＞`, `</city>`

They count if nothing else closes the value, and an argument that the schema knows or the end of the call follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from tplc.lower.acceptor import Acceptor
from tplc.lower.bounds import KEY
from tplc.lower.garbled import BRACKETS, WORDS, any_case, any_case_words
from tplc.lower.layouts import unique
from tplc.lower.lexemes import in_class, is_respelled
from tplc.lower.pairs import closes_lost_value
from tplc_runtime.pattern import LONGEST_KEY

FULL_WIDTH = {"<": "＜", "[": "［"}
CLOSING_BRACKETS = in_class(">＞|｜]/\\")


@dataclass(frozen=True, slots=True)
class GarbledEnd:
    """`pattern` matches a garbled closer of a value, with a group for the key in it; `begun` matches its beginning at
    the end of the text.  Both begin with one of `first_chars`, or with a backslash before it."""

    pattern: str
    begun: str
    first_chars: str


def garbled_end_of_value(acceptor: Acceptor, key: str = KEY) -> GarbledEnd | None:
    """Return how the closer of a raw value may be garbled; `key`: the pattern of a key.  None if it can't be."""
    pairs = acceptor.calls.pairs if acceptor.calls is not None else None
    if pairs is None or "marker_spelling" not in acceptor.tolerances:
        return None
    ends = unique(text.strip() for text in (*pairs.value_end.closers, *pairs.value_end.unprefixed))
    cores = [core for core in ends if is_respelled(core)]
    wrapped = bool(pairs.value.wraps) and not pairs.types_open_pairs  # where they do, the closer may be of another type
    others = pairs.value_end.around_key is not None or pairs.value.items is not None or wrapped
    if not cores or others or closes_lost_value(pairs, acceptor.tolerances) is None:
        return None
    first = "".join(unique(char for core in cores for char in core[0] + FULL_WIDTH.get(core[0], "")))
    # A backslash before a closer with further ones belongs to it.
    start, inner = rf"\\?[{in_class(first)}]", in_class(sorted(BRACKETS))
    tag = rf"\s?[/\\]({key})[>＞]"
    letters = "|".join(unique(map(any_case_words, cores)))
    begun = "|".join(unique(map(_begun_words, cores)))
    return GarbledEnd(
        rf"{start}(?:[{inner}\s]{{0,7}}(?:{letters})s?(?!\w)[{CLOSING_BRACKETS}]{{0,4}}|{tag})",
        rf"(?:{start}(?:[{inner}\s]{{0,7}}(?:{begun})|\s?[/\\][\w.:-]{{0,{LONGEST_KEY}}}[>＞]?)\s*|\\)\Z",
        first,
    )


def _begun_words(core: str) -> str:
    """Return the pattern of the beginning of a marker's words, and of the brackets after them."""
    pattern = rf"s?[{CLOSING_BRACKETS}]{{0,4}}"
    words = WORDS.findall(core)
    for word in reversed(words):
        for char in reversed(word):
            pattern = f"(?:{any_case(char)}{pattern})?"
        pattern = r"[\W_]{0,4}" * (word is not words[0]) + pattern
    return pattern
