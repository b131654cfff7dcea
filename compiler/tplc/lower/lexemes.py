r"""Markers as parsers search for them: the patterns that find a marker, and its truncated beginning.

    lexemes_of([("call", ["\n<call>\n"]), ("end", ["<stop>"])])
    →  find  <(?:(call>)|(stop>))        near  <(?=[cs]|\Z)

This is the only place where a marker becomes a pattern.  A marker's core is the marker without its outer white space;
only cores are searched for.  White space inside a core matches any run of white space (none, next to brackets);
between brackets there may be some where the marker has none.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from tplc.ir.markers import could_be_prose, only_punctuation
from tplc.ir.printed import quoted
from tplc.ir.word_slots import WORD
from tplc.lower.acceptor import SAME_SLOT
from tplc_runtime.scanner import (
    ANY_WORD,
    BEGINS_LONGER,
    LANGUAGE,
    LONGEST_LANGUAGE,
    LONGEST_WORD,
    PART_OF_LONGER,
    PLAIN_WORD,
    RESPELLED,
    SPELLED_OTHERWISE,
    WORD_SLOT,
    squeezed,
)

OPTIONAL_SPACE = r"(?<=[>\])}»])(?=[<\[({«])|(?<=\[)(?=\{)"  # where white space may be: "<call>|[|{"
MAX_INNER_SPACE = 64  # the most white space that is searched for at one place inside a marker
MAX_NESTING = 40  # so many characters of a marker are nested in one another: engines read patterns by recursion
END = r"\Z"
NOTHING = "(?!)"
NO_WORD_FOLLOWS = r"(?!\w)"
LINE_END_FOLLOWS = r"(?=\n|\Z)"
ANY_SLOT_TEXT = r"[^\n]*?"
WORD_CHAR = re.compile(r"[\w.+-]")
BAR = re.compile("[|｜]")
LONG_WORD = re.compile(r"[^\W\d_]{3}")
WORD_OR_CHAR = re.compile(r"[A-Za-z]+|.", re.DOTALL)
WORD_JOINERS = "_▁|｜-"  # what the words of a marker are joined with, and what may be next to its brackets
MOST_WORD_SEPARATORS = 4  # so much white space, or so many joints, where a marker that is spelled otherwise has some
SLOT_PATTERN = rf"{WORD}{{1,{LONGEST_WORD}}}"
CONTROL = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
_PATTERNS = {SAME_SLOT: ANY_SLOT_TEXT, ANY_WORD: LANGUAGE.pattern, WORD_SLOT: SLOT_PATTERN}
_SPECIAL = frozenset(r"\.^$*+?{}[]|()")


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A marker as it is searched for: its core, and the white space that the template writes around it."""

    kind: str
    core: str
    lead: str = ""
    trail: str = ""
    respelled: bool = False  # in other case, with other separators,
    any_number: bool = False  # and with words in the singular or the plural

    @property
    def is_whole_word(self) -> bool:
        """Return whether the core ends like a word with white space after it: it is not the beginning of a longer
        word."""
        return ends_as_word(self.core, self.trail)

    @property
    def ends_line(self) -> bool:
        """Return whether the marker counts only before the line end that the template writes after it: it ends
        reasoning, and consists of punctuation that text holds as well, or of words inside a line."""
        if "\n" not in self.trail or self.kind not in ("reasoning_end", "reasoning_line"):
            return False
        if only_punctuation(self.core):
            return len(self.core) < 3
        return self.kind == "reasoning_end" and could_be_prose(self.core)

    @property
    def find(self) -> str:
        if self.respelled:
            return respelling(self.core, any_number=self.any_number)
        if self.ends_line:
            return core_pattern(self.core) + LINE_END_FOLLOWS
        return core_pattern(self.core) + NO_WORD_FOLLOWS * self.is_whole_word

    @property
    def spelled(self) -> str:
        """Return the core with one space for optional white space; at its end, for white space that must follow."""
        if self.respelled:
            return RESPELLED + self.core[0] + squeezed(self.core[1:])
        return " ".join(piece for _, piece in pieces(self.core)) + " " * (self.is_whole_word or self.ends_line)

    @property
    def squeezed(self) -> str:
        return "".join(self.core.split())


@dataclass(frozen=True, slots=True)
class Lexemes:
    """What counts in one place.  `find` has a group for each lexeme, in their order, longer before shorter.

    `near` matches where one may begin, by two characters, or by one at the text's end.  `ambiguous` says which are
    part of a longer one (1), its beginning (2), or spelled otherwise (4).  `leads` contains their leading white space.
    """

    all: tuple[Lexeme, ...]
    find: str
    near: str
    ambiguous: tuple[int, ...]
    width: int  # as far from the text's end a truncated marker may begin
    leads: str

    @property
    def first(self) -> str:
        """Return the characters that markers begin with."""
        return "".join(sorted({lexeme.core[0] for lexeme in self.all}))

    @property
    def markers(self) -> list[tuple[str, str, str, str, int]]:
        """Return the data that a scanner needs for each marker."""
        found = zip(self.all, self.ambiguous, strict=True)
        return [(one.kind, one.spelled, one.lead, one.trail, ambiguous) for one, ambiguous in found]

    @property
    def is_wordless(self) -> bool:
        """Return whether no marker begins with a character of words or numbers."""
        return not any(map(WORD_CHAR.match, self.first))


ONLY_RESPELLED = "respelled"


def lexemes_of(
    kinds: Iterable[tuple[str, Iterable[str]]],
    respelled: Collection[str] = (),
    *,
    apart: Collection[str] = (),
    any_number: Collection[str] = (),
) -> Lexemes:
    """Return the lexemes of markers of several kinds; a repeated core belongs to the first kind that has it.

    Markers of the kinds in `respelled` may be in other case, or have other separators: that comes after all others.
    Those of the kinds in `apart` are of the kind "respelled" then, as they count in some places only.  `any_number`:
    the cores whose words may be in the singular or the plural then.
    """
    found: dict[str, Lexeme] = {}
    for kind, texts in kinds:
        for text in texts:
            core = text.strip()
            # A piece of a marker that begins with its slot is like any text.
            if core and core not in found and WORD_SLOT not in core[:2]:
                found[core] = lexeme_of(text, kind)
    longest_first = sorted(found.values(), key=lambda lexeme: -len(lexeme.core))
    alike = [lexeme for lexeme in longest_first if lexeme.kind in (*respelled, *apart) and is_respelled(lexeme.core)]
    longest_first += [
        replace(
            lexeme,
            respelled=True,
            any_number=lexeme.core in any_number,
            kind=ONLY_RESPELLED if lexeme.kind in apart else lexeme.kind,
        )
        for lexeme in alike
    ]
    firsts = sorted({lexeme.core[0] for lexeme in longest_first})
    lexemes = tuple(lexeme for first in firsts for lexeme in longest_first if lexeme.core[0] == first)
    widths = [
        len(lexeme.core)
        + MAX_INNER_SPACE * (len(pieces(lexeme.core)) - 1)
        + LONGEST_LANGUAGE * lexeme.core.count(ANY_WORD)
        + LONGEST_WORD * lexeme.core.count(WORD_SLOT)
        for lexeme in lexemes
    ]
    widths += [
        len(lexeme.core) * (MOST_WORD_SEPARATORS + 1) + MAX_INNER_SPACE * len(lexeme.core.split()) for lexeme in alike
    ]
    exact_texts = [lexeme.squeezed for lexeme in lexemes if not lexeme.respelled]
    return Lexemes(
        all=lexemes,
        find=_factored([(lexeme.core[0], f"({lexeme.find})") for lexeme in lexemes]),
        near=_near(lexemes),
        ambiguous=tuple(_ambiguity(lexeme, exact_texts) for lexeme in lexemes),
        width=max(widths, default=0) + 1,
        leads=_joined({lexeme.lead for lexeme in lexemes}),
    )


def lexeme_of(text: str, kind: str = "") -> Lexeme:
    """Return the lexeme of one marker, which must contain more than white space."""
    core = text.strip()
    lead, _, trail = text.partition(core)
    return Lexeme(kind, core, lead[-MAX_INNER_SPACE:], trail)


def _ambiguity(lexeme: Lexeme, squeezed: Sequence[str]) -> int:
    text = lexeme.squeezed
    if lexeme.respelled:
        return BEGINS_LONGER | SPELLED_OTHERWISE
    if lexeme.is_whole_word or lexeme.ends_line or sum(_begins(text, other) for other in squeezed) > 1:
        return BEGINS_LONGER
    return PART_OF_LONGER * (sum(text in other for other in squeezed) > 1)


def _begins(text: str, other: str) -> bool:
    """Return whether a marker begins like `text`; what follows a fence in it may be any language."""
    stem, any_word, _ = other.partition(ANY_WORD)
    return other.startswith(text) or (any_word != "" and text.startswith(stem) and text[len(stem) :].isalnum())


def _factored(groups: Sequence[tuple[str, str]]) -> str:
    """Return alternatives grouped by their first characters, which makes the search much faster:
    <(?:(call>)|(stop>))"""
    by_first: dict[str, list[str]] = {}
    for first, pattern in groups:
        token = exact(first)
        by_first.setdefault(token, []).append("(" + pattern.removeprefix("(").removeprefix(token))
    return "|".join(f"{token}{group('|'.join(rests))}" for token, rests in by_first.items()) or NOTHING


def _joined(leads: set[str]) -> str:
    """Return white space that contains every part of every lead."""
    longest = [lead for lead in sorted(leads) if not any(lead != other and lead in other for other in leads)]
    return "\0".join(filter(None, longest))


def _near(lexemes: Sequence[Lexeme]) -> str:
    seconds: dict[str, list[str]] = {}
    others: dict[str, set[str]] = {}
    for lexeme in lexemes:
        if lexeme.respelled:
            second = lexeme.spelled[2:3]
            others.setdefault(lexeme.core[0], set()).update(
                (*" \t\n\r", *WORD_JOINERS, second, second.upper(), *"\\" * (second == "/"))
            )
        else:
            seconds.setdefault(lexeme.core[0], []).append(lexeme.spelled[1:2])
    alternatives = []
    for first, found in seconds.items():
        chars = "".join(sorted({*found} - {""}))
        # White space may follow, or nothing that counts.
        free = "" in found or " " in chars
        chars = "".join(sorted({*chars, *others.get(first, ())} - {""}))
        alternatives.append(exact(first) + ("" if free else rf"(?=[{in_class(chars)}]|\Z)"))
    return "|".join(alternatives) or NOTHING


def in_class(chars: Iterable[str]) -> str:
    """Return the characters as they are written in a class of a pattern."""
    return "".join("\\" + char if char in r"\]^-[&~|" else CONTROL.get(char) or printable(char) for char in chars)


def ends_as_word(core: str, trail: str) -> bool:
    return bool(trail) and core[-1].isalnum()


def core_pattern(core: str) -> str:
    """Return the pattern of a marker without its outer white space; inside it any white space matches."""
    return "".join(space + exact(piece) for space, piece in pieces(core))


def pieces(core: str) -> list[tuple[str, str]]:
    """Return a core's pieces, each with the pattern of the white space before it."""
    words = re.split(rf"\s+|{OPTIONAL_SPACE}", core.strip())
    return [(_space_between(before, piece), piece) for before, piece in zip(["", *words], words, strict=False)]


def _space_between(before: str, after: str) -> str:
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
        and core[0] in "<[【«"
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
            pattern += rf"{around}{{0,{MOST_WORD_SEPARATORS}}}" * apart + _any_case(token, any_number=any_number)
        before = token[-1]
    return pattern


def truncated_respelling(core: str) -> str:
    """Return the pattern of the beginning of a marker in another spelling, at the end of the text."""
    pieces = []
    for token in WORD_OR_CHAR.findall(core[1:]):
        chars = squeezed(token)
        pieces += [_any_case(char) for char in chars[:-1]]
        pieces += [_any_case(char) + "[Ss]?+" * _has_plural(chars) for char in chars[-1:]]
    pieces = [rf"{piece}[\s{WORD_JOINERS}]*+" for piece in pieces[:-1]]
    pattern = "".join(f"(?:{piece}|{END})" for piece in pieces[MAX_NESTING:])
    for piece in reversed(pieces[:MAX_NESTING]):
        pattern = f"(?:{piece}{pattern})?"
    return exact(core[0]) + rf"[\s{WORD_JOINERS}]*+" + pattern + END


def _any_case(token: str, *, any_number: bool = False) -> str:
    if token in "|｜/":
        return "[|｜]" if token != "/" else r"[/\\]"
    if not (token.isascii() and token.isalpha()):
        return exact(token)
    singular = squeezed(token)
    return f"(?ai:{singular}s?)" if any_number and _has_plural(singular) else f"(?ai:{token})"


def _has_plural(word: str) -> bool:
    return squeezed(word + "s") == word


def plain_word(found: Lexemes) -> tuple[str, tuple[str | None, ...]]:
    """Return the pattern of a slot's plain word up to the text's end, or to a marker that is no beginning of another.

    For each of those markers the white space after it follows; None if the marker is not part of the slot.
    """
    clear = [
        (lexeme, unless)
        for lexeme, ambiguous in zip(found.all, found.ambiguous, strict=True)
        if lexeme.kind != "bare" and (unless := _unless_longer(lexeme, ambiguous, found.all)) is not None
    ]
    if not found.is_wordless:
        return NOTHING, ()
    ends = _factored([(lexeme.core[0], f"({lexeme.find}{unless})") for lexeme, unless in clear])
    trails = tuple(None if lexeme.kind == "next" else lexeme.trail for lexeme, _ in clear)
    return rf"{PLAIN_WORD.pattern}\Z|({SLOT_PATTERN})(?:{ends})", trails


def _unless_longer(lexeme: Lexeme, ambiguous: int, others: Sequence[Lexeme]) -> str | None:
    """Return the pattern of what must follow a marker that is then no beginning of a longer one: "" if none begins with
    it, None if one character can't show that."""
    if ambiguous < BEGINS_LONGER:
        return ""
    if lexeme.is_whole_word or lexeme.ends_line or any(other.respelled for other in others):
        return None
    own = lexeme.squeezed
    longer = [other.squeezed for other in others if other is not lexeme and _begins(own, other.squeezed)]
    if not all(other.startswith(own) and other[len(own) :] and other[len(own)].isprintable() for other in longer):
        return None  # after a fence, any language
    return rf"(?![\s{in_class(sorted({other[len(own)] for other in longer}))}]|{END})"


def first_characters(core: str, count: int) -> str:
    """Return the pattern of a core's first characters."""
    return "".join(space + exact(char) for space, char in _characters(core)[:count])


# Truncated markers


def truncated_pattern(cores: Iterable[str], *, least: int = 1) -> str:
    """Return the pattern of a truncated core at the end of the text, with at least `least` characters."""
    texts = [_truncatable(core) for core in dict.fromkeys(cores)]
    tree = _tree(texts, least=least)
    return tree + END if tree else NOTHING


def _truncatable(core: str) -> list[tuple[str, str]]:
    """Return the characters of a core that a truncated one may have, each with the white space before it.

    The last character, which is left out, leaves the white space before it.
    """
    chars = _characters(core)
    return [*chars[:-1], *([(chars[-1][0], "")] if chars[-1][0] else [])]


def _characters(core: str) -> list[tuple[str, str]]:
    """Return the characters of a core's pieces, each with the white space before it."""
    return [(space if at == 0 else "", char) for space, piece in pieces(core) for at, char in enumerate(piece)]


def _tree(texts: Sequence[Sequence[tuple[str, str]]], *, least: int, depth: int = 0) -> str:
    """Return the continuations as a tree in which each character occurs once.

    "<call", "<cut"  →  <(?:c(?:a(?:l(?:l)?)?|u(?:t)?)?)?
    """
    nexts: dict[tuple[str, str], list[Sequence[tuple[str, str]]]] = {}
    for text in texts:
        if text and len(text) >= least:
            nexts.setdefault(text[0], []).append(text[1:])
    branches = []
    for (space, char), rests in nexts.items():
        if depth >= MAX_NESTING:
            branches += [_flat([(space, char), *rest]) for rest in rests]
            continue
        rest = exact(char) + (_tree(rests, least=least - 1, depth=depth + 1) if char else "")
        # White space after a piece may be all that has come.
        branches.append(f"{space}(?:{rest})?" if space and char and least <= 0 else space + rest)
    if least > 0:
        return group("|".join(branches))
    return f"(?:{'|'.join(branches)})?" if branches else ""


def _flat(text: Sequence[tuple[str, str]]) -> str:
    """Return the same without nesting: after the end of the text, every following character may be missing."""
    (space, first), *rest = text
    return space + exact(first) + "".join(f"{space}(?:{exact(char)}|{END})" for space, char in rest if char)


# Texts as patterns


def exact(text: str) -> str:
    """Return the pattern of exactly this text."""
    return "".join(map(_in_pattern, text))


def group(pattern: str) -> str:
    return f"(?:{pattern})" if "|" in pattern else pattern


def _in_pattern(char: str) -> str:
    if char in _PATTERNS:
        return _PATTERNS[char]
    if char in _SPECIAL:
        return "\\" + char
    return CONTROL.get(char) or printable(char)


def shown(marker: str) -> str:
    """Return a marker in quotes, for people to read: with … for the texts in it that differ."""
    return quoted(marker.translate(dict.fromkeys(map(ord, _PATTERNS), "…")))


def printable(char: str) -> str:
    """Return the character, or its escape if it is invisible."""
    if char in string.printable or (char.isprintable() and not char.isspace()):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
