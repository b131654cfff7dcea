"""Regular expressions and literals in the spelling of parsimonious.

    marker("\\n<call>\\n")  →  \\n?<call>\\n?        (what the template writes around a marker's core is optional)
    leaf(r"\\n?<call>")     →  ~r"\\n?<call>"s
    literal('a"b')         →  "a\\"b"

Long text is read by one regular expression up to the next marker, never by a rule a character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from tplc.lower.call_form import FENCE
from tplc.lower.lexemes import (
    CONTROL,
    END,
    MAX_INNER_SPACE,
    NOTHING,
    OPTIONAL_SPACE,
    Lexeme,
    Lexemes,
    compared,
    core_pattern,
    exact,
    first_characters,
    group,
    is_respelled,
    lexeme_of,
    printable,
    respelling,
    truncated_pattern,
    truncated_respelling,
)
from tplc_runtime.pattern import LEAST_CUT

# White space that may follow a marker does not matter to who looks ahead.
QUOTE = re.compile(r"""\\.|["]""", re.DOTALL)
LINE_BEFORE = r"(?<=(?:\A|\n)[^\S\n]*)"  # only white space is before this on its line
LINE_STARTS = (r"\A", r"\n")
OPTIONAL_END = re.compile(r"(?:\\n\?|\\n\{0,[0-9]+\})\Z")


def literal(text: str) -> str:
    inside = ("\\" + char if char in '"\\' else CONTROL.get(char) or printable(char) for char in text)
    return '"' + "".join(inside) + '"'


def leaf(pattern: str) -> str:
    """Return a rule's right side that one regular expression matches; `.` is any character."""
    if '"' in pattern:
        pattern = QUOTE.sub(lambda found: found[0] if len(found[0]) > 1 else r"\"", pattern)
    return f'~r"{pattern}"s'


def marker(text: str, *, any_spelling: bool = False) -> str:
    """Return the pattern of a marker: its core, and as much of the outer white space as the text has.

    A marker of white space alone is its own core.  `any_spelling`: its case and its separators may be others.
    """
    if not text.strip():
        return exact(text)
    one = lexeme_of(text)
    return some_suffix(one.lead) + marker_word(text, any_spelling=any_spelling) + some_prefix(one.trail)


def marker_word(text: str, *, any_spelling: bool = False) -> str:
    """Return the same without the white space; a word before white space is not the beginning of a longer one."""
    if not text.strip():
        return ""
    one = lexeme_of(text)
    return f"(?:{one.find}|{respelling(one.core)})" if any_spelling and is_respelled(one.core) else one.find


def marker_core(text: str, *, any_spelling: bool = False) -> str:
    """Return the pattern of a marker without its outer white space."""
    return marker_word(text.strip(), any_spelling=any_spelling)


def not_at_code_end(starts: Sequence[str]) -> str:
    """Return the pattern of a place that is not the fence that closes code, after which a call may follow.

    A fence that names a language opens code, and any other closes it if it is open.  `starts`: markers after which a
    line begins."""
    line = rf"(?<={either([*LINE_STARTS, *starts])})[^\S\n]*```"
    text = f"(?:(?!{line}).)*"
    other = rf"{text}{line}(?![\w-])"
    return rf"(?!```(?![\w-])(?<=(?:\A{other}|{line}[\w-]+)(?:{other}{other})*{text}{line}))"


def of_kinds(
    found: Lexemes,
    kinds: Collection[str],
    *,
    first: str = "",
    only: Callable[[Lexeme], bool] | None = None,
    lead: bool = True,
    trail: bool = True,
    at_lines: bool = False,
    at_fence: str = "",
) -> str:
    """Return the pattern of the lexemes of these kinds, excluding places where a lexeme of another kind has
    precedence.

    `first`: what comes next in any case; a lexeme that ends with it leaves it.  `only`: which of the lexemes.
    `lead`, `trail`: with the white space that the template writes before them, and after them.  `at_lines`: only at
    the start of a line, which may be indented.  `at_fence`: what must hold where it begins with a fence.
    """
    chosen = [one for one in found.all if one.kind in kinds and (only is None or only(one))]
    patterns = []
    for one in chosen:
        before = found.all[: found.all.index(one)]
        others = [other.find for other in before if other not in chosen and _may_be(other, one)]
        guard = f"(?!{either(others)})" if others else ""
        guard += f"(?={exact(one.core[0])}){LINE_BEFORE}" * at_lines
        guard += at_fence * one.core.startswith(FENCE)
        patterns.append(some_suffix(one.lead) * lead + guard + _without(one, first) + some_prefix(one.trail) * trail)
    return group(either(patterns))


def _may_be(longer: Lexeme, shorter: Lexeme) -> bool:
    """Return whether the longer marker may be at the place of the shorter one."""
    if longer.respelled or shorter.respelled:
        return compared(longer.core).startswith(compared(shorter.core))
    return longer.squeezed.startswith(shorter.squeezed)


def _without(one: Lexeme, first: str) -> str:
    if not first or not one.core.endswith(first):
        return one.find
    rest = one.core.removesuffix(first)
    core = rest.strip()
    if not core:
        return ahead(rest, first) if rest or not first[0].isalnum() else f"(?={exact(first)})"
    return (respelling(core) if one.respelled else core_pattern(core)) + ahead(rest, first)


def ahead(opener: str, first: str) -> str:
    """Return the pattern that must come next; after white space if the opener ends with some."""
    apart = opener[-1:].isspace() or len(re.split(OPTIONAL_SPACE, opener[-1:] + first[:1])) > 1
    space = "" if opener.strip() and not apart else rf"\s{{0,{MAX_INNER_SPACE}}}+"
    return f"(?={space}{exact(first)})" if first else ""


def cores(texts: Iterable[str], *, any_spelling: bool = False) -> str:
    """Return one of the markers, without outer white space."""
    return either([marker_core(text, any_spelling=any_spelling) for text in texts])


def some_prefix_of(spaces: Sequence[str]) -> str:
    """Return a pattern of any number of the first characters of one of these texts of white space."""
    if len(spaces) < 2:
        return "".join(map(some_prefix, spaces))
    longest_first = sorted(spaces, key=len, reverse=True)
    prefixes = [exact(space[0]) + (some_prefix(space[1:]) if space[1:] else "") for space in longest_first]
    return f"(?:{'|'.join(prefixes)})?"


def some_prefix(space: str) -> str:
    """Return a pattern of any number of the first characters of `space`."""
    if len(set(space)) == 1:
        return exact(space[0]) + (f"{{0,{len(space)}}}" if len(space) > 1 else "?")
    pattern = ""
    for char in reversed(space):
        pattern = f"(?:{exact(char)}{pattern})?"
    return pattern


def some_suffix(space: str) -> str:
    """Return a pattern of any number of the last characters of `space`."""
    if len(set(space)) == 1:
        return some_prefix(space)
    pattern = ""
    for char in space:
        pattern = f"(?:{pattern}{exact(char)})?"
    return pattern


def either(patterns: list[str]) -> str:
    """Return one of the patterns, tried in order; each pattern once."""
    return "|".join(dict.fromkeys(pattern for pattern in patterns if pattern))


def up_to(stops: list[str], *, least: int = 1) -> str:
    """Return text up to the first place where a stop or the end of the text is, at least `least` (0 or 1)
    characters."""
    ahead = [OPTIONAL_END.sub("", stop) for stop in stops]
    return f"{'.+?' if least else '.*?'}(?={either([*ahead, END])})"


def truncated(texts: Sequence[str], *, least: int = 1, any_spelling: bool = False, letters: bool = False) -> str:
    """Return the beginning of a marker at the end of the text, but no whole one: at least so many characters of it.

    `any_spelling`: its case and its separators may be others.  `letters`: several characters may be letters alone.
    """
    cores = [text.strip() for text in texts if text.strip()]
    words = r"(?![^\W_]+\s*\Z)" if least > 1 and not letters and any(core[0].isalnum() for core in cores) else ""
    pattern = truncated_pattern(cores, least=least)
    others = [truncated_respelling(core) for core in cores if is_respelled(core)] if any_spelling else []
    enough = rf"(?=(?:\S\s*){{{least}}})" if least > 1 else ""
    return pattern if pattern == NOTHING else words + group(either([pattern, *(enough + other for other in others)]))


def may_be_begun(lead: str, cores: Sequence[str], most: int) -> str:
    """Return a short pattern of where the beginning of such a marker may be in text."""
    first = either([first_characters(core, LEAST_CUT) for core in cores])
    return rf"{lead}{group(first)}(?=.{{0,{2 * most}}}\Z)"


def longest_first(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=lambda text: (-len(text.strip()), text))


def any_of(chars: str) -> str:
    """Return a character class."""
    return "[" + "".join("\\" + char if char in r"\]^-[&~|" else CONTROL.get(char, char) for char in chars) + "]"


def none_of(chars: str) -> str:
    return "[^" + any_of(chars)[1:]
