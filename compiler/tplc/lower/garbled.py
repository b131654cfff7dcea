r"""Closers of calls that are hardly recognisable: their letters are right, their brackets are not.

    "</task>"  →  a pattern of `<\task>`, `<task/>`, `</task`, `<</task>`, `</task=f>`

They count directly after a call, where a marker of the calls, the end of the turn, or nothing follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tplc.lower.acceptor import Acceptor
from tplc.lower.layouts import unique
from tplc.lower.lexemes import exact, in_class, is_respelled

WORDS = re.compile(r"[A-Za-z]+|[^\W_A-Za-z]+")
_BRACKETS = frozenset("<>/\\|[](){}＜＞｜")
_OPENING = frozenset("<[({«【＜")


@dataclass(frozen=True, slots=True)
class Garbled:
    """`pattern` matches a garbled closer: it begins with one of `first_chars` and has the letters of one of `words`."""

    pattern: str
    first_chars: str
    words: tuple[str, ...]


def garbled_closers(acceptor: Acceptor) -> Garbled | None:
    """Return how the closers of calls may be garbled; None if there are no such closers, or that is not tolerated."""
    calls = acceptor.calls
    if calls is None or not acceptor.tolerances.issuperset(("marker_spelling", "repeated_markers")):
        return None
    after = (*acceptor.ends, *acceptor.last_ends, *calls.separators)  # no first character of these is taken
    cores = [text.strip() for text in calls.closers if text.strip()]
    cores = [core for core in unique(cores) if is_respelled(core) and not any(map(str.isspace, core))]
    words = unique("".join(WORDS.findall(core)).lower() for core in cores)
    if not cores:
        return None
    first_chars = _BRACKETS.union(
        *({char for char in core if not char.isalnum() and char not in "_▁-"} for core in cores)
    )
    trailing = first_chars - _OPENING - {text.strip()[0] for text in after if text.strip()}
    bodies = "|".join(unique(map(any_case_words, cores)))
    leading = in_class(sorted(first_chars))
    name = r"""(?:[=:]["']?[\w.-]{1,64}["']?)?"""
    end = rf"[{in_class(sorted(trailing))}]{{0,4}}" if trailing else ""
    return Garbled(
        rf"[{leading}][{leading}\s]{{0,7}}(?:{bodies})s?(?!\w){name}{end}", "".join(sorted(first_chars)), words
    )


def any_case_words(core: str) -> str:
    """Return the pattern of a marker's words in any case, with other characters between them."""
    return r"[\W_]{0,4}".join(map(_any_case, WORDS.findall(core)))


def _any_case(word: str) -> str:
    return f"(?ai:{word})" if word.isascii() else exact(word)
