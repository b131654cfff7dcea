r"""Markers as parsers search for them: the patterns that find a marker, and its truncated beginning.

    lexemes_of([("call", ["\n<call>\n"]), ("end", ["<stop>"])])
    →  find  <(?:(call>)|(stop>))        near  <(?=[cs]|\Z)

The patterns are made by `tplc_runtime.lexemes`, also for parsers that share a runtime.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

from tplc.ir.markers import could_be_prose, only_punctuation
from tplc.ir.printed import quoted
from tplc_runtime.lexemes import (
    CONTROL,
    MAX_INNER_SPACE,
    ONLY_RESPELLED,
    OPTIONAL_SPACE,
    PATTERN_OF_SLOT,
    SAME_SLOT,
    SLOT_PATTERN,
    WORD_JOINERS,
    Lexeme,
    Lexemes,
    begins_marker,
    core_pattern,
    exact,
    factored,
    group,
    in_any_case,
    in_class,
    is_respelled,
    pieces,
    printable,
    respelling,
)
from tplc_runtime.lexemes import lexemes_of as runtime_lexemes_of
from tplc_runtime.scanner import BEGINS_LONGER, NOTHING, PLAIN_WORD, squeezed

MAX_NESTING = 40  # so many characters of a marker are nested in one another: engines read patterns by recursion
END = r"\Z"
WORD_CHAR = re.compile(r"[\w.+-]")
ANY_SLOT_TEXT = PATTERN_OF_SLOT[SAME_SLOT]
__all__ = (
    "ANY_SLOT_TEXT",
    "CONTROL",
    "END",
    "MAX_INNER_SPACE",
    "NOTHING",
    "ONLY_RESPELLED",
    "OPTIONAL_SPACE",
    "Lexeme",
    "Lexemes",
    "compared",
    "core_pattern",
    "exact",
    "first_characters",
    "group",
    "in_class",
    "is_respelled",
    "is_wordless",
    "lexeme_of",
    "lexemes_of",
    "plain_word",
    "printable",
    "respelling",
    "shown",
    "truncated_pattern",
    "truncated_respelling",
)


def ends_line(kind: str, core: str, trail: str) -> bool:
    """Return whether a marker counts only before the line end that the template writes after it: it ends reasoning, and
    consists of punctuation that text holds as well, or of words inside a line."""
    if "\n" not in trail or kind not in ("reasoning_end", "reasoning_line"):
        return False
    if only_punctuation(core):
        return len(core) < 3
    return kind == "reasoning_end" and could_be_prose(core)


lexemes_of = partial(runtime_lexemes_of, ends_line=ends_line)


@lru_cache(maxsize=1024)
def lexeme_of(text: str, kind: str = "") -> Lexeme:
    """Return the lexeme of one marker, which must contain more than white space."""
    return Lexeme(kind, text, ends_line=ends_line(kind, text.strip(), text.partition(text.strip())[2]))


def is_wordless(found: Lexemes) -> bool:
    """Return whether no marker begins with a character of words or numbers."""
    return not any(map(WORD_CHAR.match, found.first))


def compared(text: str) -> str:
    """Return what `is_truncated` compares of a marker in another spelling: words may be in the singular or the plural,
    or end in `ing`, and nothing may separate them, so every "s" may be missing."""
    return squeezed(text).replace("ing", "").replace("s", "")


def truncated_respelling(core: str) -> str:
    """Return the pattern of the beginning of a marker in another spelling, at the end of the text."""
    between = rf"(?:[\sSs{WORD_JOINERS}]|[Ii](?:[Nn](?:[Gg]|{END})|{END}))*+"
    pieces = [in_any_case(token) + between for token in compared(core[1:])[:-1]]
    pattern = "".join(f"(?:{piece}|{END})" for piece in pieces[MAX_NESTING:])
    for piece in reversed(pieces[:MAX_NESTING]):
        pattern = f"(?:{piece}{pattern})?"
    return exact(core[0]) + between + pattern + END


def plain_word(found: Lexemes) -> tuple[str, tuple[str | None, ...]]:
    """Return the pattern of a slot's plain word up to the text's end, or to a marker that is no beginning of another.

    For each of those markers the white space after it follows; None if the marker is not part of the slot.
    """
    clear = [
        (lexeme, unless)
        for lexeme, ambiguous in zip(found.all, found.ambiguous, strict=True)
        if lexeme.kind != "bare" and (unless := _unless_longer(lexeme, ambiguous, found.all)) is not None
    ]
    if not is_wordless(found):
        return NOTHING, ()
    ends = factored([(lexeme.core[0], f"({lexeme.find}{unless})") for lexeme, unless in clear])
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
    longer = [other.squeezed for other in others if other is not lexeme and begins_marker(own, other.squeezed)]
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


def shown(marker: str) -> str:
    """Return a marker in quotes, for people to read: with … for the texts in it that differ."""
    return quoted(marker.translate(dict.fromkeys(map(ord, PATTERN_OF_SLOT), "…")))
