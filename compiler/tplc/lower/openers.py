"""What opens a call: from outside the section, and inside it, also where its first pieces are missing.

section "<calls>\\n", call "<call>"  →  "<calls>\\n<call>", "<call>" (omitted section); inside: "<call>"
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from tplc.ir.markers import (
    FIELD_NAME,
    could_be_prose,
    is_distinctive,
    is_ordinary,
    is_unmistakable,
    only_words,
    pieces_of,
    without_space,
)
from tplc.lower.call_form import FENCE, Opening, Where
from tplc.lower.layouts import not_blank, unique, with_any_language
from tplc.lower.tolerated import Tolerated
from tplc_runtime.pattern import NAME_CHARACTERS
from tplc_runtime.scanner import ANY_WORD

OBJECT = "{"
CLOSING = tuple(">])}»")
ANY_FENCE = f"{FENCE}{ANY_WORD}\n"
_LAST_WORDS = re.compile(rf"(?<=[^{NAME_CHARACTERS}])[{NAME_CHARACTERS}]+\Z")
# A tag with a prefix that shows whose it is.
_ONE_TAG = re.compile(r"\A(\s*<[^\w\s<>]*\w+[^\w\s<>▁-]+)[\w-]+([^\w\s<>▁]*>\s*)\Z")
ANY_TAG = rf"\1{ANY_WORD} \2"  # the tag with another word
_SYNTAX = frozenset("[]{}(),:\"'=`; \t\n\r")


def only_for_tools(opening: Opening, ends: Iterable[str], own: Iterable[str]) -> Opening:
    """Return the openers; those that end like `ends`, which may be in any text, open calls of known tools only, but for
    those that end like `own`."""
    ends, own = tuple(ends), tuple(own)
    known = tuple(text for text in opening.openers if text.endswith(ends) and not text.endswith(own))
    rest = tuple(text for text in opening.openers if text not in known)
    return replace(opening, openers=rest, short=opening.short + known)


def starts_of(opener: str, first: str, tolerated: Tolerated) -> tuple[str, ...]:
    """Return the openers of a call with variants, which replace the opener alone, or together with `first`, the text
    that follows it."""
    whole = [text.removesuffix(first) for text in tolerated.texts(opener + first)[1:] if text.endswith(first)]
    return spaced(opener, unique([*tolerated.texts(opener), *whole]))


def spaced(marker: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Add the white space after the marker to its variants that have none."""
    space = marker[len(marker.rstrip()) :]
    return unique(text if text[-1:].isspace() or not text.strip() else text + space for text in texts)


def openers_of(
    sections: tuple[str, ...],
    starts: tuple[str, ...],
    first: str,
    name_end: str,
    tolerated: Tolerated,
    declared: tuple[str, ...] = (),
) -> Opening:
    """Return the openers.  `first`: the text that always precedes the call's first slot; `name_end`: the text after
    that slot; `declared`: openers of the section that the template doesn't write.  They count where the template's own
    openers do."""
    inside = unique([*(start + first for start in starts), *tolerated.texts(starts[0] + first)])
    whole = [section + text for section in sections for text in inside]
    opened = _declared(declared, inside, first, tolerated)
    rests = _incomplete(whole, inside, name_end, tolerated)
    whole, rests = list(not_blank(whole)), list(not_blank(rests))
    # What models write for those; a section alone, or a call alone, is written otherwise as well.
    # What code and prose hold as well has no such variants; after a fence it counts where it does without one.
    first_texts = unique([*whole[:1], *inside[:1]])
    own = [text for text in first_texts if is_unmistakable(text) and not is_ordinary(text)]
    twice, repeated = list[str](), list[str]()
    once = (*whole, *rests, *inside, *opened)
    if "repeated_markers" in tolerated.kinds:
        twice = _twice(starts[0], first)
        repeated = _repeated_outside(sections, inside, twice)
        rests += repeated
        rests += [ANY_FENCE + text.lstrip() for text in own if FENCE not in text]
        inside = unique([*inside, *twice])
    if "marker_spelling" in tolerated.kinds:
        rests += [_ONE_TAG.sub(ANY_TAG, sections[0]) + text for text in inside[:1] if _has_one_tag(sections[0], text)]
    if "other_forms" in tolerated.kinds and [text.strip() for text in (*whole, *inside)] == [OBJECT] * 2:
        whole.append("[" + OBJECT)  # a list of calls where the template writes one
    elif "other_forms" in tolerated.kinds and first.strip() == OBJECT:
        inside = unique([*inside, *(other for text in inside[:1] for other in _punctuated(text))])
        rests += [other for text in own for other in _punctuated(text)]
    short = _short(sections[0], own, whole) if "other_forms" in tolerated.kinds and first.strip() != OBJECT else ()
    # An ordinary text that comes twice is ordinary as well.
    again = {section + text for section in sections for text in twice if is_ordinary(starts[0] + first)}
    # A header that ends in a marker of its own can't be ordinary text, even if it begins like it.
    ordinary = set() if is_unmistakable(name_end) else {text for text in (*whole, *rests) if is_ordinary(text)} | again
    ordinary = {text for text in ordinary if not tolerated.cannot_be_content(text)}
    where = _where_of((text for text in (*whole, *rests) if text not in ordinary), tolerated)
    alone = _alone(whole, rests, ordinary, where)
    fenced = _fenced([text for text in first_texts if text not in own], tolerated)
    rests += [other for text, other in fenced.items() if text not in alone]
    alone = unique([*alone, *(other for text, other in fenced.items() if text in alone)])
    return Opening(
        section_starts=sections,
        starts=starts,
        openers=unique(text for text in (*whole, *rests, *opened) if text not in alone),
        where=where,
        inner=not_blank(inside),
        ordinary=alone,
        short=tuple(text for text in short if text.strip() not in {*map(str.strip, (*whole, *rests))}),
        twice=tuple(sorted({*map(without_space, (*repeated, *twice))} - {*map(without_space, once)})),
    )


def _where_of(openers: Iterable[str], tolerated: Tolerated) -> Where:
    """Return where openers count: what could be in any answer counts where a line begins only."""
    is_known = any(is_unambiguous_opener(text) or tolerated.cannot_be_content(text) for text in openers)
    return "anywhere" if is_known else "line start"


def _alone(whole: Sequence[str], rests: Sequence[str], ordinary: Collection[str], where: Where) -> tuple[str, ...]:
    """Return the ordinary openers, but for those that end with all of an opener, where these count at lines."""
    cores = {text.strip() for text in whole} if where == "line start" else set()
    found = [text for text in (*whole, *rests) if text in ordinary]
    return unique(text for text in found if not any(text.strip().endswith(core) for core in cores))


def _has_one_tag(section: str, opener: str) -> bool:
    """Return whether the section is opened by one tag, which may have another word before what is surely a call."""
    begins_alike = _ONE_TAG.match("".join(pieces_of(opener)[:1]))
    return _ONE_TAG.match(section) is not None and not begins_alike and is_unmistakable(opener)


def _fenced(openers: Iterable[str], tolerated: Tolerated) -> dict[str, str]:
    """Return the openers with a fence before them."""
    found = (text for text in openers if is_distinctive(text) and FENCE not in text)
    return {text: ANY_FENCE + text.lstrip() for text in found} if "repeated_markers" in tolerated.kinds else {}


def _declared(sections: Iterable[str], inside: Sequence[str], first: str, tolerated: Tolerated) -> list[str]:
    """Return the openers of calls in sections that the template doesn't write."""
    found = [section + text for section in sections for text in (inside or [first])]
    if "other_forms" in tolerated.kinds and first.strip() == OBJECT:
        found += [other for text in found for other in _punctuated(text)]
    return found


def _punctuated(opener: str) -> list[str]:
    """Return an opener before an object with other brackets, with a fence around the object, and before something else:
    a second reading may find calls in that."""
    stem = opener.rstrip(" \t\n[{")
    if stem == opener or not is_unmistakable(stem):
        return []
    return [f"{stem}\n{between}" for between in (OBJECT, "[" + OBJECT, ANY_FENCE + OBJECT, "")]


def _short(section: str, openers: Iterable[str], whole: Iterable[str]) -> tuple[str, ...]:
    """Return the openers without their last piece, or without the words, quotes or brackets at their end, and the
    section's opener alone; of `whole`, the openers in all variants, only those without words at their end."""
    openers = tuple(openers)
    others = [_LAST_WORDS.sub("", text.rstrip()) for text in whole if _LAST_WORDS.search(text.rstrip())]
    stems = [stem for text in openers for stem in (_LAST_WORDS.sub("", text.rstrip()), text.rstrip("\"'[=: \t\n"))]
    stems += [stem for text in openers if (stem := text[: text.rindex(pieces_of(text)[-1])].rstrip())[-1:] in CLOSING]
    found = [text for text in (section, *stems, *others) if is_unmistakable(text)]
    return unique(text for text in found if text.rstrip() not in {one.rstrip() for one in openers})


def _incomplete(whole: Iterable[str], inside: Iterable[str], name_end: str, tolerated: Tolerated) -> list[str]:
    """Return the openers of which the first pieces, the constant word before the name, or a fence's language are
    missing."""
    rests: list[str] = []
    if "omitted_openers" in tolerated.kinds:
        rests = [rest for opener in whole for rest in distinctive_suffixes(opener)]
        rests += [text for text in inside if is_distinctive(text)]
    if "other_forms" in tolerated.kinds:
        # A fence alone may be around any code.
        named = [text for text in whole if text.partition(FENCE)[0].strip()]
        rests += [other for text in named if (other := with_any_language(text)) != text]
    if "other_forms" in tolerated.kinds and is_distinctive(name_end):
        rests += _without_prefix(whole)
    return rests


def _without_prefix(openers: Iterable[str]) -> list[str]:
    """Return the openers without the constant word before the name, if it follows `=` or `:`: ` to=` for ` to=ns.`.
    Only the marker after the name shows that they open a call."""
    stems = [_LAST_WORDS.sub("", text) for text in openers if _LAST_WORDS.search(text)]
    return [stem for stem in stems if stem.rstrip()[-1:] in ("=", ":") and is_ordinary(stem)]


def _repeated(marker: str) -> str:
    """Return a marker twice, on one line or on two, as models write it."""
    return marker.rstrip() + "\n" + marker.lstrip()


def _repeated_outside(sections: Sequence[str], inside: Sequence[str], twice: Sequence[str]) -> list[str]:
    """Return the openers outside of a section in which its own opener, or the call's, comes twice."""
    found = [_repeated(text) + inside[0] for text in sections[:1] if is_distinctive(text)]
    return found + [section + text for section in sections[:1] for text in twice]


def _twice(start: str, first: str) -> list[str]:
    """Return the opener of a call that comes twice, and one of which the first piece does, if that is in brackets."""
    pieces = [piece for piece in pieces_of(start)[:-1][:1] if piece[-1] in CLOSING and not could_be_prose(piece)]
    found = [_repeated(start)] * is_distinctive(start)
    found += [_repeated(piece) + start.split(piece, 1)[1] for piece in pieces if is_distinctive(piece)]
    return [text + first for text in found]


def distinctive_suffixes(text: str) -> list[str]:
    """Return the distinctive rests of an opener whose first pieces are missing."""
    found = []
    at = 0
    for piece in pieces_of(text):
        at = text.index(piece, at)
        rest = text[at:]
        if rest.strip() != text.strip() and is_unmistakable(rest) and not rest[0].isalnum():
            found.append(rest)
        at += len(piece)
    return found


def is_unambiguous_opener(opener: str) -> bool:
    """Return whether more than JSON's and lists' punctuation and field names opens a call, and more than words."""
    return not only_words(opener) and any(char not in _SYNTAX for char in FIELD_NAME.sub("", opener))
