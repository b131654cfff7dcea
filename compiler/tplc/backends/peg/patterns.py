"""Regular expressions and literals in the spelling of parsimonious.

    marker("\\n<call>\\n")  →  \\n?<call>\\n?        (what the template writes around a marker's core is optional)
    leaf(r"\\n?<call>")     →  ~r"\\n?<call>"s
    literal('a"b')         →  "a\\"b"

Long text is read by one regular expression up to the next marker, never by a rule a character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tplc.lower.lexemes import (
    CONTROL,
    END,
    NO_WORD_FOLLOWS,
    NOTHING,
    core_pattern,
    ends_as_word,
    exact,
    printable,
    truncated_pattern,
)

# White space that may follow a marker does not matter to who looks ahead.
OPTIONAL_END = re.compile(r"(?:\\n\?|\\n\{0,[0-9]+\})\Z")


def literal(text: str) -> str:
    return '"' + "".join(_in_literal(char) for char in text) + '"'


def leaf(pattern: str) -> str:
    """A rule's right side that one regular expression matches; `.` is any character."""
    return '~r"' + pattern.replace('"', r"\"") + '"s'


def marker(text: str) -> str:
    """The pattern of a marker: its core, and as much of the outer white space as the text has.

    A marker of white space alone is its own core.
    """
    core = text.strip()
    if not core:
        return exact(text)
    before, after = text[: text.index(core)], text[text.index(core) + len(core) :]
    whole = NO_WORD_FOLLOWS * ends_as_word(core, after)
    return some_suffix(before) + core_pattern(core) + whole + some_prefix(after)


def marker_core(text: str) -> str:
    """The pattern of a marker without its outer white space."""
    return core_pattern(text.strip())


def marker_word(text: str) -> str:
    """As `marker_core`; a word before white space is not the beginning of a longer one."""
    core = text.strip()
    return core_pattern(core) + NO_WORD_FOLLOWS * ends_as_word(core, text[len(text.rstrip()) :])


def some_prefix(space: str) -> str:
    """As many characters of `space`, from its first on, as are there."""
    if len(set(space)) == 1:
        return exact(space[0]) + (f"{{0,{len(space)}}}" if len(space) > 1 else "?")
    pattern = ""
    for char in reversed(space):
        pattern = f"(?:{exact(char)}{pattern})?"
    return pattern


def some_suffix(space: str) -> str:
    """As many characters of `space`, up to its last, as are there."""
    if len(set(space)) == 1:
        return some_prefix(space)
    pattern = ""
    for char in space:
        pattern = f"(?:{pattern}{exact(char)})?"
    return pattern


def either(patterns: list[str]) -> str:
    """One of the patterns, tried in order; each pattern once."""
    return "|".join(dict.fromkeys(pattern for pattern in patterns if pattern))


def up_to(stops: list[str], *, least: int = 1) -> str:
    """Text up to the first place where a stop or the end of the text is, at least `least` (0 or 1) characters."""
    ahead = [OPTIONAL_END.sub("", stop) for stop in stops]
    return f"{'.+?' if least else '.*?'}(?={either([*ahead, END])})"


def begun(texts: Sequence[str], *, least: int = 1) -> str:
    """The beginning of a marker where the text ends, no whole one: at least so many characters of it."""
    cores = [text.strip() for text in texts if text.strip()]
    words = r"(?![^\W_]+\s*\Z)" if least > 1 and any(core[0].isalnum() for core in cores) else ""
    pattern = truncated_pattern(cores, least=least)
    return pattern if pattern == NOTHING else words + pattern


def any_of(chars: str) -> str:
    """A character class."""
    return "[" + "".join("\\" + char if char in r"\]^-[&~|" else CONTROL.get(char, char) for char in chars) + "]"


def none_of(chars: str) -> str:
    return "[^" + any_of(chars)[1:]


def _in_literal(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return CONTROL.get(char) or printable(char)
