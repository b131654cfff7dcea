r"""Closers of calls that are hardly recognisable: their letters are right, their brackets are not, or the reverse.

    "</task>"  →  a pattern of `<\task>`, `<task/>`, `</task`, `<</task>`, `</task=f>`, `</hut>`

They count directly after a call, where a marker of the calls, the end of the turn, or nothing follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tplc.ir.markers import is_unmistakable
from tplc.lower.acceptor import Acceptor
from tplc.lower.layouts import unique
from tplc.lower.lexemes import NOTHING, exact, in_class, is_respelled, respelling
from tplc_runtime.pattern import LEAST_CUT
from tplc_runtime.second import CLOSING_TAG

WORDS = re.compile(r"[A-Za-z]+|[^\W_A-Za-z]+")
BRACKETS = frozenset("<>/\\|[](){}＜＞｜")
SHORT = re.compile(r"[<\[【«](?:[^\w\s<>]*[A-Za-z]+){1,2}[^\w\s]*[>\]】»]")
_OPENING = frozenset("<[({«【＜")
PLURAL_OR_NAME = r"s?(?!\w)(?:[=:][\x22\x27]?[\w.:-]{1,64}[\x22\x27]?)?"  # no quotes: then it is printed as it is


@dataclass(frozen=True, slots=True)
class Garbled:
    """`pattern` matches a garbled closer: it begins with one of `first_chars`, and has the letters of one of `words`,
    or is a closing tag.

    `last`: the first group of the pattern, which matches closers after which nothing of the call is missing.
    """

    pattern: str
    last: str
    first_chars: str
    words: tuple[str, ...]


def garbled_closers(acceptor: Acceptor) -> Garbled | None:
    """Return how the closers of calls may be garbled; None if there are no such closers, or that is not tolerated."""
    calls = acceptor.calls
    if calls is None or not acceptor.tolerances.issuperset(("marker_spelling", "repeated_markers")):
        return None
    closers = unique(text.strip() for text in calls.closing.closers if not any(map(str.isspace, text.strip())))
    cores = tuple(core for core in closers if core and (_is_garbled(core) or is_unmistakable(core)))
    if not cores:
        return None
    after = (*acceptor.ends, *acceptor.last_ends, *calls.closing.separators)  # no first character of these is taken
    first_chars = set[str]().union(*(_first_chars([core]) if is_respelled(core) else core[0] for core in cores))
    first_chars.update(*(re.split(r"(?<=\w)", core, maxsplit=1)[0] for core in cores))
    lasts = {text.strip() for text in calls.closing.last}
    pieces = {_letters(text) for text in calls.closing.closers if text.strip() not in lasts}
    # The letters of a piece of the last closer don't show whether all of it is there.
    ends = {core for core in lasts if _letters(core) not in pieces}
    last, other = (_spellings([core for core in cores if (core in ends) is last], after) for last in (True, False))
    words = unique(map(_letters, cores))
    last = f"({last or NOTHING})"
    pattern = "|".join([last, *[other] * bool(other), CLOSING_TAG.pattern])
    return Garbled(pattern, last, "".join(sorted({*first_chars, "<"})), words)


def _parts(core: str) -> Iterator[str]:
    """Yield the patterns of what is left of a closer without its first characters: its words, with some of the
    punctuation next to them.  A missing bracket before them is garbled as well, if others may be there."""
    found = re.fullmatch(r"(\W*)(\w(?:.*\w)?)(\W*)", core)
    if found is not None:
        lead, words, trail = found.groups()
        starts = [lead[at:] for at in range(1, len(lead))] * (not _is_garbled(core)) + [""]
        texts = [start + words + trail[:end] for start in starts for end in range(len(trail), -1, -1)]
        yield from (exact(text) for text in texts if text != words and len(text) >= LEAST_CUT)


def _is_garbled(core: str) -> bool:
    """Return whether a closer may have other brackets, or is in another case."""
    return is_respelled(core) or SHORT.fullmatch(core) is not None


def _letters(core: str) -> str:
    return "".join(WORDS.findall(core)).lower()


def _spellings(cores: Sequence[str], after: Iterable[str]) -> str:
    """Return the pattern of garbled closers.

    A short word may be any other text's: such a closer is only in other case, or has white space in it.
    """
    long = [core for core in cores if is_respelled(core)]
    patterns = [_with_other_brackets(long, after)] * bool(long)
    patterns += [respelling(core) for core in cores if core not in long and _is_garbled(core)]
    return "|".join([*patterns, *(part for core in cores for part in _parts(core))])


def _first_chars(cores: Iterable[str]) -> set[str]:
    return {*BRACKETS, *(char for core in cores for char in core if not char.isalnum() and char not in "_▁-")}


def _with_other_brackets(cores: Sequence[str], after: Iterable[str]) -> str:
    """Return the pattern of closers with the right letters; `after`: texts that may come next."""
    first_chars = _first_chars(cores)
    trailing = first_chars - _OPENING - {text.strip()[0] for text in after if text.strip()}
    leading = in_class(sorted(first_chars))
    end = rf"[{in_class(sorted(trailing))}]{{0,4}}" if trailing else ""
    return in_other_brackets(cores, leading, rf"{leading}\s") + end


def in_other_brackets(cores: Iterable[str], first: str, inner: str, *, after: str = PLURAL_OR_NAME) -> str:
    """Return the pattern of markers with the right letters.

    `first`, `inner`: the characters before the letters, as they are written in a class of a pattern.  `after`: the
    pattern of what comes after the letters.
    """
    found = [*dict.fromkeys(tuple(WORDS.findall(core)) for core in cores)]
    # Those of one word share what makes their case free.
    single = [words[0] for words in found if len(words) == 1 and words[0].isascii()]
    texts = [any_case("|".join(single))] * bool(single)
    texts += [_any_case_words(words) for words in found if len(words) != 1 or not words[0].isascii()]
    return rf"[{first}][{inner}]{{0,7}}" + (texts[0] if len(texts) == 1 else f"(?:{'|'.join(texts)})") + after


def any_case_words(core: str) -> str:
    """Return the pattern of a marker's words in any case, with other characters between them."""
    return _any_case_words(WORDS.findall(core))


def _any_case_words(words: Iterable[str]) -> str:
    return r"[\W_]{0,4}".join(map(any_case, words))


def any_case(word: str) -> str:
    return f"(?ai:{word})" if word.isascii() else exact(word)
