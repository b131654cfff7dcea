r"""Classify markers by their text. All backends use these functions, so that they agree.

holds_piece("<call>do:", "do:")  →  True    holds_piece("<call>undo:", "do:")  →  False
only_punctuation("\n>>")  →  True        only_punctuation("(~why")  →  False
could_be_prose("Done.")  →  True        could_be_prose("<done>")  →  False
ends_in_text(" ==\n")  →  True          ends_in_text("<:>")  →  False
only_words(" to ")  →  True              only_words("to[")  →  False
is_ordinary("tools.")  →  True           is_ordinary("<|tool|>")  →  False
is_word_at_line("\nDone.")  →  True    is_word_at_line("Done.")  →  False
is_bracketed("<|,|>")  →  True             is_bracketed("<->")  →  False
is_distinctive("</call>")  →  True       is_distinctive('"name": ')  →  False
pieces_of("</a>\n</b><c>")  →  ["</a>", "</b>", "<c>"]
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable

from tplc_runtime.scanner import WORD_SLOT

# JSON's own punctuation and field names say nothing about a template: any answer could contain `{"name": "`.
FIELD_NAME = re.compile(r"""(["'])\w*\1\s*:?""")
_LEAST_DISTINCTIVE = 3
_MOST_ORDINARY_CHARACTERS = 2
_PUNCTUATION_OR_SPACE = frozenset(string.punctuation + string.whitespace)
_CHARACTERS_OF_PROSE = frozenset(".,;:!?'\"()-…·–—‘’“”„¿¡。、，；：！？「」『』（）،؟")
# Characters that occur only between words, as in "and/or".
_BETWEEN_WORDS = re.compile(r"(?<=\w)[/&%_](?=\w)")
# Characters that code and addresses contain singly between words: `x = f`, `me@home`, `#1`.
_SINGLE_CHARACTER = re.compile(r"(?<![^\w\s.,;:!?'\"()-])[=@#$/&%](?![^\w\s.,;:!?'\"()-])")
_TWO_PUNCTUATION_MARKS = re.compile(r"[^\w\s]{2}")
# Characters of code in a row, perhaps with punctuation between them: `#-#-#`.
_ROW_OF_CODE = re.compile(r"[=@#$/&%][^\w\s]*[=@#$/&%]")
_BRACKETED = re.compile(r"<[|~!@#$%^&*+:]+[^<>\w\s]*[|~!@#$%^&*+:]+>|\[[|~!@#$%^&*+]+[^\[\]\w\s]*[|~!@#$%^&*+]+\]")
# Characters that headings, lists and emphasis put around words.
_MARKDOWN = re.compile(r"^(?:#{1,6}\s|[-+*>]\s|={1,2}\s)?[*_`]{0,3}|(?:\s={1,2}|[*_`]{1,3}:?)$")


def only_punctuation(marker: str) -> bool:
    """Return whether a marker consists only of ASCII punctuation and white space, which prose and code contain as well.

    Where such a marker counts must be said more narrowly than for others: `x >> 2` closes nothing.
    """
    return bool(marker.strip()) and _PUNCTUATION_OR_SPACE.issuperset(marker)


def could_be_prose(marker: str) -> bool:
    """Return whether people and models also write such a text: words with punctuation, or punctuation alone.

    It marks something only where the template can have written it: no words may be lost.
    """
    core = _BETWEEN_WORDS.sub("", _MARKDOWN.sub("", FIELD_NAME.sub("", _with_word(marker.strip()))))
    if only_punctuation(core or "."):
        return bool(marker.strip())
    return "---" not in core and all(map(_occurs_in_prose, core))


def is_unmistakable(text: str) -> bool:
    """Return whether a text is recognised as a marker's in any place: it is distinctive, and nothing that people
    write."""
    return is_distinctive(text) and not could_be_prose(text)


def is_word(marker: str) -> bool:
    """Return whether a marker consists of words and their punctuation."""
    return could_be_prose(marker) and any(map(str.isalnum, marker))


def ends_in_text(marker: str) -> bool:
    """Return whether an end marker also occurs inside answers: words, one or two punctuation characters, or one
    repeated."""
    core = marker.strip()
    is_punctuation = only_punctuation(core) or (bool(core) and _CHARACTERS_OF_PROSE.issuperset(core))
    return is_word(marker) or (is_punctuation and (len(core) <= 2 or len(set(core)) == 1))


def lead_of(text: str) -> str:
    """Return the white space at the beginning of a text."""
    return text[: len(text) - len(text.lstrip())]


def is_word_at_line(marker: str) -> bool:
    """Return whether people also write a marker that the template writes at the start of a line: it counts only
    there."""
    return "\n" in lead_of(marker) and ends_in_text(marker)


def _occurs_in_prose(char: str) -> bool:
    return char.isspace() or char in _CHARACTERS_OF_PROSE or unicodedata.category(char)[0] in "LMN"


def _with_word(marker: str) -> str:
    """Return a marker with a word in its slot, if it has one."""
    return marker.replace(WORD_SLOT, "0")


def only_words(marker: str) -> bool:
    """Return whether a marker consists of words alone, like any sentence: `to `, `call:`, `name =`."""
    return re.fullmatch(r"\w+(\s+\w+)*\s*[:=]?", marker.strip()) is not None


def is_ordinary(marker: str) -> bool:
    """Return whether a marker consists of ordinary characters: words with single punctuation characters, or one or two
    of them.

    Prose, addresses, and source code hold such a text anywhere, so it marks something at a stated position only.
    """
    core = _with_word(marker.strip())
    if only_punctuation(core):
        return len(core) <= _MOST_ORDINARY_CHARACTERS
    plain = _SINGLE_CHARACTER.sub(" ", FIELD_NAME.sub("", core))
    if _ROW_OF_CODE.search(core):
        return False
    return only_words(core) or (could_be_prose(plain) and _TWO_PUNCTUATION_MARKS.search(plain) is None)


def is_distinctive(text: str) -> bool:
    """Return whether a text is recognisably a marker: it is like nothing in a value, so any text may follow it."""
    core = text.strip()
    plain = FIELD_NAME.sub("", core)
    return len(core) >= _LEAST_DISTINCTIVE and any(char.isalnum() or ord(char) > 127 for char in plain)


def is_bracketed(text: str) -> bool:
    """Return whether a text consists of characters in brackets that don't occur in prose or code."""
    return _BRACKETED.fullmatch(text.strip()) is not None


def opening_tag(closer: str) -> str:
    """Return the tag that a closing tag belongs to, as in XML; "" if the marker is no closing tag."""
    match = re.fullmatch(r"\s*([^\w\s/]+)/(.*)", closer, re.DOTALL)
    return (match[1] + match[2]).rstrip() if match is not None else ""


def without_space(text: str) -> str:
    return "".join(text.split())


def holds_piece(marker: str, piece: str) -> bool:
    """Return whether a marker is this text, or contains it as a distinctive piece."""
    return marker.strip() == piece.strip() or piece_at(marker, piece.strip()) >= 0


def piece_at(marker: str, piece: str) -> int:
    """Return where a distinctive piece is in a marker, without cutting a word; -1 if it isn't there."""
    at = marker.find(piece) if is_distinctive(piece) else -1
    while at >= 0 and (_joined(marker, at) or _joined(marker, at + len(piece))):
        at = marker.find(piece, at + 1)
    return at


def _joined(text: str, at: int) -> bool:
    """Return whether a word continues across this place."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def pieces_of(text: str) -> list[str]:
    """Return the pieces of a marker that may be left out separately: cut at white space, and between `>` and `<`, `]`
    and `[`, …"""
    return [piece for word in text.split() for piece in re.split(r"(?<=[>\])}»])(?=[<\[({«])", word) if piece]


def without_last_piece(text: str) -> str:
    """Return a marker without its last piece.

    Servers cut off the token that ends a turn: what is left of a marker that ends the turn as well."""
    return text.rstrip().removesuffix("".join(pieces_of(text)[-1:]))


def any_piece_ends_with(texts: Iterable[str], ends: tuple[str, ...]) -> bool:
    """Return whether one of the texts, or a piece of one, ends with one of `ends`, which have no white space."""
    return any(without_space(piece).endswith(ends) for text in texts for piece in (text, *pieces_of(text)))


def parts_of(piece: str) -> list[str]:
    """Split a piece after each closing bracket."""
    return [part for part in re.split(r"(?<=[>\])}»])", piece) if part]


def common_prefix(*texts: str) -> str:
    """Return the common prefix of all the texts."""
    low, high = min(texts), max(texts)
    for i, ch in enumerate(low):
        if high[i] != ch:
            return low[:i]
    return low


def common_suffix(*texts: str) -> str:
    """Return the common suffix of all the texts."""
    return common_prefix(*(t[::-1] for t in texts))[::-1]
