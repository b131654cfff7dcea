r"""Make patterns of markers: those that find them, and those of their beginnings.

    lexemes_of([("call", ["\n<call>\n"]), ("end", ["<stop>"])])
    →  find  <(?:(call>)|(stop>))        near  <(?=[cs]|\Z)

This is the only place where a marker becomes a pattern.  A marker's core is the marker without its outer white space;
only cores are searched for.  White space inside a core matches any run of white space (none, next to brackets);
between brackets there may be some where the marker has none.  The compiler prints the patterns into parsers of one
file; parsers that share a runtime have only their markers, and make the patterns when they first need them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .scanner import (
    ANY_WORD,
    BEGINS_LONGER,
    LANGUAGE,
    LONGEST_LANGUAGE,
    LONGEST_WORD,
    NOTHING,
    PART_OF_LONGER,
    PLAIN_WORD,
    RESPELLED,
    SPELLED_OTHERWISE,
    WORD_SLOT,
    Scanner,
    squeezed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any

    from .scanner import Marker

OPTIONAL_SPACE = r"(?<=[>\])}»])(?=[<\[({«])|(?<=\[)(?=\{)"  # where white space may be: "<call>|[|{"
BETWEEN_PIECES = r"\s+|" + OPTIONAL_SPACE
MAX_INNER_SPACE = 64  # the most white space that is searched for at one place inside a marker
NO_WORD_FOLLOWS = r"(?!\w)"
LINE_END_FOLLOWS = r"(?=\n|\Z)"
SAME_SLOT = "\ufdd0"  # in a core: any text in a line
BAR = re.compile("[|｜]")
LONG_WORD = re.compile(r"[^\W\d_]{3}")
INFLECTION = re.compile(r"((?<=[a-z][a-z][a-rt-z])s|(?<=[a-z]{4})ing)(?![a-z])")
LONG_STEM = 3  # words with more letters may end in `ing`, too
WORD_OR_CHAR = re.compile(r"[A-Za-z]+|.", re.DOTALL)
WORD_JOINERS = "_▁Ġ|｜-"  # what the words of a marker are joined with, and what may be next to its brackets
MOST_WORD_SEPARATORS = 4  # so much white space, or so many joints, where a marker that is spelled otherwise has some
SLOT_PATTERN = PLAIN_WORD.pattern.replace("{0,", "{1,")
CONTROL = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
PATTERN_OF_SLOT = {
    SAME_SLOT: r"(?:\s{0,16}\n)?[^\n]*?(?:\n\s{0,16})?",
    ANY_WORD: LANGUAGE.pattern,
    WORD_SLOT: SLOT_PATTERN,
}
SPECIAL_IN_PATTERNS = frozenset(r"\.^$*+?{}[]|()")
ONLY_RESPELLED = "respelled"


class Lexeme:
    """A marker as it is searched for: its core, and the white space that the template writes around it.

    `respelled`: in other case, with other separators; `any_number`: and with words in the singular or the plural.
    `ends_line`: it counts only before the line end that the template writes after it."""

    __slots__ = ("any_number", "core", "ends_line", "find", "kind", "lead", "respelled", "squeezed", "trail")

    def __init__(
        self, kind: str, text: str, *, respelled: bool = False, any_number: bool = False, ends_line: bool = False
    ) -> None:
        self.kind, self.core = kind, text.strip()
        lead, _, self.trail = text.partition(self.core)
        self.lead, self.respelled, self.any_number = lead[-MAX_INNER_SPACE:], respelled, any_number
        self.ends_line, self.squeezed = ends_line, "".join(self.core.split())
        if respelled:
            self.find = respelling(self.core, any_number=any_number)
        else:
            end = LINE_END_FOLLOWS if ends_line else NO_WORD_FOLLOWS * self.is_whole_word
            self.find = core_pattern(self.core) + end

    @property
    def text(self) -> str:
        """Return the marker as the template writes it."""
        return self.lead + self.core + self.trail

    @property
    def is_whole_word(self) -> bool:
        """Return whether the core ends like a word with white space after it: it is not the beginning of a longer
        word."""
        return bool(self.trail) and (self.core[-1].isalnum() or self.core[-1] == ANY_WORD)

    @property
    def spelled(self) -> str:
        """Return the core with one space for optional white space; at its end, for white space that must follow."""
        if self.respelled:
            return RESPELLED + self.core[0] + squeezed(self.core[1:])
        return " ".join(piece for _, piece in pieces(self.core)) + " " * (self.is_whole_word or self.ends_line)


class Lexemes:
    """What counts in one place.  `find` has a group for each lexeme, in their order, longer before shorter.

    `near` matches where one may begin, by two characters, or by one at the text's end.  `ambiguous` says which are
    part of a longer one (1), its beginning (2), or spelled otherwise (4).  `leads` contains their leading white space.
    A truncated marker begins at most `width` characters before the text's end.  `given`: the markers in the order in
    which they were given, as the template writes them.
    """

    def __init__(self, lexemes: Sequence[Lexeme], given: Sequence[Lexeme]) -> None:
        self.all, self.given = tuple(lexemes), tuple(given)
        exact_texts = [lexeme.squeezed for lexeme in lexemes if not lexeme.respelled]
        self.find = factored([(lexeme.core[0], f"({lexeme.find})") for lexeme in lexemes])
        self.near = pattern_near(lexemes)
        self.ambiguous = tuple([ambiguity(lexeme, exact_texts) for lexeme in lexemes])
        self.width = max(map(truncated_width, lexemes), default=0) + 1
        leads = {lexeme.lead for lexeme in lexemes}  # those that no other contains
        longest = [lead for lead in sorted(leads) if not any(lead != other and lead in other for other in leads)]
        self.leads = "\0".join(filter(None, longest))

    @property
    def first(self) -> str:
        """Return the characters that markers begin with."""
        return "".join(sorted({lexeme.core[0] for lexeme in self.all}))

    @property
    def markers(self) -> list[Marker]:
        """Return the data that a scanner needs for each marker."""
        found = zip(self.all, self.ambiguous)
        return [(one.kind, one.spelled, one.lead, one.trail, ambiguous) for one, ambiguous in found]

    @property
    def scanner(self) -> dict[str, Any]:
        """Return the other data that a scanner needs."""
        return {name: getattr(self, name) for name in ("find", "near", "width", "leads", "first")}


class Markers(Scanner):
    """A scanner that is given its markers by kind, as the template writes them, and makes their patterns when it is
    first used.  `respelled`, `apart` and `any_number`: see `lexemes_of`; True for all markers."""

    def __init__(
        self,
        respelled: Sequence[str] = (),
        apart: Sequence[str] = (),
        any_number: Sequence[str] | bool = (),
        **kinds: Sequence[str],
    ) -> None:
        self._given = kinds, respelled, apart, any_number

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        kinds, respelled, apart, any_number = self._given
        cores = [text.strip() for texts in kinds.values() for text in texts]
        any_number = cores if any_number is True else any_number or ()
        found = lexemes_of(kinds.items(), respelled, apart=apart, any_number=any_number)
        super().__init__(*found.markers, **found.scanner)
        scanner: Any = self
        scanner.__class__ = Scanner  # a class with __getattr__ is slower also where an attribute is there
        return getattr(self, name)


def lexemes_of(
    kinds: Iterable[tuple[str, Iterable[str]]],
    respelled: Collection[str] = (),
    *,
    apart: Collection[str] = (),
    any_number: Collection[str] = (),
    ends_line: Callable[[str, str, str], bool] | None = None,
) -> Lexemes:
    """Return the lexemes of markers of several kinds; a repeated core belongs to the first kind that has it.

    Markers of the kinds in `respelled` may be in other case, or have other separators: that comes after all others.
    Those of the kinds in `apart` are of the kind "respelled" then, as they count in some places only.
    `any_number`: the cores whose words may be in the singular or the plural then.  `ends_line` returns whether a marker
    counts only before a line's end: of its kind, core, and the white space after it.
    """
    found: dict[str, Lexeme] = {}
    for kind, texts in kinds:
        for text in texts:
            core = text.strip()
            # A piece of a marker that begins with its slot is like any text.
            if core and core not in found and WORD_SLOT not in core[:2]:
                at_end = ends_line is not None and ends_line(kind, core, text.partition(core)[2])
                found[core] = Lexeme(kind, text, ends_line=at_end)
    longest_first = sorted(found.values(), key=lambda lexeme: -len(lexeme.core))
    for one in [one for one in longest_first if one.kind in (*respelled, *apart) and is_respelled(one.core)]:
        kind = ONLY_RESPELLED if one.kind in apart else one.kind
        longest_first.append(Lexeme(kind, one.text, respelled=True, any_number=one.core in any_number))
    firsts = sorted({lexeme.core[0] for lexeme in longest_first})
    lexemes = [lexeme for first in firsts for lexeme in longest_first if lexeme.core[0] == first]
    return Lexemes(lexemes, tuple(found.values()))


def truncated_width(lexeme: Lexeme) -> int:
    """Return how long a truncated marker can be."""
    core = lexeme.core
    if lexeme.respelled:
        return len(core) * (MOST_WORD_SEPARATORS + 1) + MAX_INNER_SPACE * len(core.split())
    slots = LONGEST_LANGUAGE * core.count(ANY_WORD) + LONGEST_WORD * core.count(WORD_SLOT)
    return len(core) + MAX_INNER_SPACE * (len(pieces(core)) - 1) + slots


def ambiguity(lexeme: Lexeme, exact_texts: Sequence[str]) -> int:
    text = lexeme.squeezed
    if lexeme.respelled or f"{ANY_WORD} " in lexeme.core:
        return BEGINS_LONGER | SPELLED_OTHERWISE
    if lexeme.is_whole_word or lexeme.ends_line or sum(begins_marker(text, other) for other in exact_texts) > 1:
        return BEGINS_LONGER
    return PART_OF_LONGER * (sum(text in other for other in exact_texts) > 1)


def begins_marker(text: str, marker: str) -> bool:
    """Return whether a marker begins like `text`; what follows a fence in it may be any language."""
    stem, any_word, _ = marker.partition(ANY_WORD)
    return marker.startswith(text) or (any_word != "" and text.startswith(stem) and text[len(stem) :].isalnum())


def factored(groups: Sequence[tuple[str, str]]) -> str:
    """Return alternatives grouped by their first characters, which makes the search much faster:
    <(?:(call>)|(stop>))"""
    by_first: dict[str, list[str]] = {}
    for first, pattern in groups:
        token = exact(first)
        by_first.setdefault(token, []).append("(" + pattern.removeprefix("(").removeprefix(token))
    return "|".join([f"{token}{group('|'.join(rests))}" for token, rests in by_first.items()]) or NOTHING


def pattern_near(lexemes: Sequence[Lexeme]) -> str:
    seconds: dict[str, list[str]] = {}
    others: dict[str, set[str]] = {}
    for lexeme in lexemes:
        if lexeme.respelled:
            second = lexeme.spelled[2:3]
            others.setdefault(lexeme.core[0], set()).update(
                (*WORD_JOINERS, second, second.upper(), *"\\" * (second == "/"))
            )
        else:
            seconds.setdefault(lexeme.core[0], []).append(lexeme.spelled[1:2])
    alternatives = []
    for first, found in seconds.items():
        chars = "".join(sorted({*found} - {""}))
        # White space may follow, or nothing that counts.
        free = "" in found or " " in chars
        chars = "".join(sorted({*chars, *others.get(first, ())} - {""}))
        either = r"\s" * (first in others) + in_class(chars)
        alternatives.append(exact(first) + ("" if free else rf"(?=[{either}]|\Z)"))
    return "|".join(alternatives) or NOTHING


def core_pattern(core: str) -> str:
    """Return the pattern of a marker without its outer white space; inside it any white space matches."""
    return "".join([space + exact(piece) for space, piece in pieces(core)])


def pieces(core: str) -> list[tuple[str, str]]:
    """Return a core's pieces, each with the pattern of the white space before it."""
    words = re.split(BETWEEN_PIECES, core.strip())
    return [(space_between(before, piece), piece) for before, piece in zip(["", *words], words)]


def space_between(before: str, after: str) -> str:
    if not before:
        return ""
    # What follows the language of a fence is no part of it.
    apart = before[-1] == ANY_WORD and after[0] == "-"
    least = int(apart or ((is_word_char(before[-1]) or before[-1] == ANY_WORD) and is_word_char(after[0])))
    return rf"\s{{{least},{MAX_INNER_SPACE}}}"


def is_word_char(char: str) -> bool:
    return char.isalnum() or char == "_"


def is_respelled(core: str) -> bool:
    """Return whether a marker with other case and separators is still recognisable: it has brackets and a word."""
    return (
        WORD_SLOT not in core
        and core[0] in "<[【«]"
        and '{"' not in "".join(core.split())
        and LONG_WORD.search(core) is not None
    )


def respelling(core: str, *, any_number: bool = False) -> str:
    """Return the pattern of a marker in another spelling: in other case, with other separators or white space.

    `any_number`: its words may be in the singular or the plural, too.
    """
    pattern, before = exact(core[0]), core[0]
    # Where bars are on one side of a marker only, they show which marker it is.
    free = len(BAR.findall(core)) % 2 == 0
    joiners, around = (WORD_JOINERS, r"[\s|｜]") if free else (BAR.sub("", WORD_JOINERS), r"\s")
    for token in WORD_OR_CHAR.findall(core[1:]):
        if token.isspace() or token in joiners:
            between = rf"[\s{joiners}]{{0,{MAX_INNER_SPACE if token.isspace() else MOST_WORD_SEPARATORS}}}"
            pattern += between * (not pattern.endswith(between))
        else:
            apart = not (before.isalnum() and token[0].isalnum()) and not before.isspace()
            apart = apart and not pattern.endswith(f"{{0,{MOST_WORD_SEPARATORS}}}")
            pattern += rf"{around}{{0,{MOST_WORD_SEPARATORS}}}" * apart + in_any_case(token, any_number=any_number)
        before = token[-1]
    return pattern


def in_any_case(token: str, *, any_number: bool = False) -> str:
    if token in "|｜/":
        return "[|｜]" if token != "/" else r"[/\\]"
    if not (token.isascii() and token.isalpha()):
        return exact(token)
    word = singular(token)
    has_plural = any_number and singular(word + "s") == word
    return f"(?ai:{word}{'(?:s|ing)?' if len(word) > LONG_STEM else 's?'})" if has_plural else f"(?ai:{token})"


def singular(text: str) -> str:
    """Return a text in lower case, with its words in the singular, and without `ing`."""
    return INFLECTION.sub("", text.lower())


def exact(text: str) -> str:
    """Return the pattern of exactly this text."""
    return "".join([exact_char(char) for char in text])


@lru_cache(maxsize=1024)
def exact_char(char: str) -> str:
    if char in PATTERN_OF_SLOT:
        return PATTERN_OF_SLOT[char]
    if char in SPECIAL_IN_PATTERNS:
        return "\\" + char
    return CONTROL.get(char) or printable(char)


def group(pattern: str) -> str:
    return f"(?:{pattern})" if "|" in pattern else pattern


def in_class(chars: Iterable[str]) -> str:
    """Return the characters as they are written in a class of a pattern."""
    return "".join(["\\" + char if char in r"\]^-[&~|" else CONTROL.get(char) or printable(char) for char in chars])


def printable(char: str) -> str:
    """Return the character, or its escape if it is invisible."""
    if char in " \t\n\r\v\f" or (char.isprintable() and not char.isspace()):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
