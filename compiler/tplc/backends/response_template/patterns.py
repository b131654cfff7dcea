r"""Markers as regular expressions of the `regex` package, where a dot is any character.

    "<call>\n"  →  <call>\n?            "\n</call>\n</calls>"  →  \n?</call>\s*</calls>

The white space that a template writes around a marker is the marker's, as much of it as is there; more is the model's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tplc.ir.markers import without_space
from tplc.lower import Acceptor
from tplc.lower.lexemes import core_pattern, exact


def marker(text: str) -> str:
    """Return the pattern of a marker with any part of its outer white space; white space inside it is free."""
    lead, core, trail = split(text)
    return _lead(lead) + core_pattern(core) + _trail(trail)


def end(text: str) -> str:
    """Return the pattern of the end of a turn.  It takes all white space after it, as nothing follows."""
    lead, core, _ = split(text)
    return _lead(lead) + core_pattern(core) + r"\s*"


def turn_ends(acceptor: Acceptor) -> tuple[str, ...]:
    """Return all ends of a turn.  Those that count at the end of the output only are included, because this parser
    doesn't know that end while it streams."""
    return (*acceptor.ends, *acceptor.last_ends)


def ends(texts: Iterable[str]) -> list[str]:
    """Return the patterns of the ends of a turn.

    An end that begins a longer one takes the white space before the longer one, because the parser finds the shorter
    one as long as the longer one is truncated.
    """
    known = list(texts)
    found = []
    for text in known:
        longer = [
            split(other)[0]
            for other in known
            if other.strip() != text.strip() and other.strip().startswith(text.strip())
        ]
        found.append(end(max([split(text)[0], *longer], key=len) + text.strip()))
    return found


def markers(texts: Iterable[str]) -> list[str]:
    """Return the patterns of several markers; of those that differ in outer white space only, the one with the most.

    A marker inside another one is left out, but for those that it ends with: of a longer one that is half there the
    parser sees nothing when a shorter one is there in full.
    """
    longest: dict[str, str] = {}
    for text in texts:
        core = without_space(text)
        if core and len(text) > len(longest.get(core, "")):
            longest[core] = text
    return [marker(text) for core, text in longest.items() if not any(_hides(core, other) for other in longest)]


def _hides(core: str, other: str) -> bool:
    return core != other and core in other[:-1]


def split(text: str) -> tuple[str, str, str]:
    core = text.strip()
    if not core:
        return text, "", ""
    at = text.index(core)
    return text[:at], core, text[at + len(core) :]


def any_of(patterns: Iterable[str]) -> str:
    """Return one pattern, in which the first that matches counts; "" for none."""
    distinct = [pattern for pattern in dict.fromkeys(patterns) if pattern]
    return distinct[0] if len(distinct) == 1 else f"(?:{'|'.join(distinct)})" if distinct else ""


def optional(pattern: str) -> str:
    if not pattern:
        return ""
    single = re.fullmatch(r"\\?.|\(\?:(?:[^()\\]|\\.)*\)", pattern, re.DOTALL)
    return f"{pattern}?" if single else f"(?:{pattern})?"


def _lead(space: str) -> str:
    """Return `ab` as (?:a?b)?, because the end of the white space is next to the core."""
    pattern = ""
    for char in space:
        pattern = optional(pattern) + exact(char)
    return optional(pattern)


def _trail(space: str) -> str:
    pattern = ""
    for char in reversed(space):
        pattern = exact(char) + optional(pattern)
    return optional(pattern)
