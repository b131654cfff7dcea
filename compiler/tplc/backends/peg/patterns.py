"""Regular expressions and literals in the spelling of parsimonious.

    marker("\\n<call>\\n")  →  \\n?<call>\\n?        (what the template writes around a marker's core is optional)
    leaf(r"\\n?<call>")     →  ~r"\\n?<call>"s
    literal('a"b')         →  "a\\"b"

Long text is read by one regular expression up to the next marker, never by a rule a character.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from tplc.lower.acceptor import AGAIN
from tplc_runtime.markers import SEAM, is_respelled, respelling

CONTROL = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
SLOT_AGAIN = r"[^\n]*?"
SPECIAL = frozenset(r"\.^$*+?{}[]|()")
END = r"\Z"
SPACE_BETWEEN = r"\s*"  # between the pieces of a marker
# White space that may follow a marker does not matter to who looks ahead.
OPTIONAL_END = re.compile(r"(?:\\n\?|\\n\{0,[0-9]+\})\Z")


def literal(text: str) -> str:
    return '"' + "".join(_in_literal(char) for char in text) + '"'


def leaf(pattern: str) -> str:
    """A rule's right side that one regular expression matches; `.` is any character."""
    return '~r"' + pattern.replace('"', r"\"") + '"s'


def exact(text: str) -> str:
    """The pattern of exactly this text."""
    return "".join(_in_pattern(char) for char in text)


def marker(text: str, *, loose: bool = True, alike: bool = False) -> str:
    """The pattern of a marker: its core, and as much of the outer white space as the text has.

    A marker of white space alone is its own core.  `alike`: its case and its separators may be others.
    """
    core = text.strip()
    if not core:
        return exact(text)
    before, after = text[: text.index(core)], text[text.index(core) + len(core) :]
    # A word before white space is a word, not the beginning of a longer one.
    whole = r"(?!\w)" if after and core[-1].isalnum() else ""
    pattern = marker_core(core, loose=loose) + whole
    if alike and is_respelled(core):
        pattern = f"(?:{pattern}|{respelling(core)})"
    return some_suffix(before) + pattern + some_prefix(after)


def marker_core(text: str, *, loose: bool = True) -> str:
    """The pattern of a marker without its outer white space; inside it any white space will do."""
    core = text.strip()
    if not loose:
        return exact(core)
    pieces = re.split(rf"(\s+|{SEAM})", core)
    return "".join(
        exact(piece) if index % 2 == 0 else _inner_space(pieces[index - 1], pieces[index + 1])
        for index, piece in enumerate(pieces)
    )


def marker_word(text: str) -> str:
    """As `marker_core`; a word before white space is not the beginning of a longer one."""
    core = text.strip()
    return marker_core(core) + (r"(?!\w)" if core[-1].isalnum() and text[-1].isspace() else "")


def _inner_space(before: str, after: str) -> str:
    return r"\s+" if is_word(before[-1]) and is_word(after[0]) else r"\s*"


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


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


def group(pattern: str) -> str:
    return f"(?:{pattern})" if "|" in pattern else pattern


def up_to(stops: list[str], *, least: int = 1) -> str:
    """Text up to the first place where a stop or the end of the text is, at least `least` (0 or 1) characters."""
    ahead = [OPTIONAL_END.sub("", stop) for stop in stops]
    return f"{'.+?' if least else '.*?'}(?={either([*ahead, END])})"


# So many characters of a marker are nested in one another: engines read patterns by recursion.
MOST_NESTED = 40


def begun(texts: Sequence[str], *, least: int = 1) -> str:
    """The beginning of a marker where the text ends, no whole one: at least so many characters of it.

    Between its pieces any white space will do.
    """
    cores = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    texts_of = [_but_the_last(signs_of(core)) for core in cores]
    trees = [_beginnings([signs[:MOST_NESTED] for signs in texts_of], 0, least)]
    for signs in texts_of:
        for at in range(MOST_NESTED, len(signs), MOST_NESTED):
            trees.append("".join(signs[:at]) + _beginnings([signs[at : at + MOST_NESTED]], at, 1))
    tree = group(either(trees)) if len(trees) > 1 else trees[0]
    words = r"(?![^\W_]+\s*\Z)" if least > 1 and any(core[0].isalnum() for core in cores) else ""
    return words + tree + END if tree else "(?!)"


def _but_the_last(signs: list[str]) -> list[str]:
    """But for the white space before it."""
    return [*signs[:-1], *([SPACE_BETWEEN] if signs[-1].startswith(SPACE_BETWEEN) else [])]


def signs_of(core: str) -> list[str]:
    """The patterns of a marker's characters, each with the white space before it."""
    pieces = re.split(rf"(\s+|{SEAM})", core)
    signs = []
    for index, piece in enumerate(pieces[::2]):
        space = SPACE_BETWEEN if index else ""
        signs += [(space if at == 0 else "") + exact(char) for at, char in enumerate(piece)]
    return signs


def _beginnings(texts: Sequence[Sequence[str]], count: int, least: int) -> str:
    """What goes on after `count` characters, as a tree: each of them once.

    "<call", "<cut"  →  <(?:c(?:a(?:l(?:l)?)?|u(?:t)?)?)?
    """
    nexts: dict[str, list[Sequence[str]]] = {}
    for text in texts:
        if len(text) >= least:
            nexts.setdefault(text[0], []).append(text[1:]) if text else None
    branches = []
    for char, rests in nexts.items():
        sign = char.removeprefix(SPACE_BETWEEN)
        rest = sign + _beginnings(rests, count + 1, least - 1)
        # White space after a piece may be all that has come.
        between = SPACE_BETWEEN if sign != char else ""
        branches.append(f"{between}(?:{rest})?" if between and rest and least <= 0 else between + rest)
    if least > 0:
        return group(either(branches))
    return f"(?:{either(branches)})?" if branches else ""


def any_of(chars: str) -> str:
    """A character class."""
    return "[" + "".join("\\" + char if char in r"\]^-[&~|" else CONTROL.get(char, char) for char in chars) + "]"


def none_of(chars: str) -> str:
    return "[^" + any_of(chars)[1:]


def _in_literal(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return CONTROL.get(char) or _printable(char)


def _in_pattern(char: str) -> str:
    if char == AGAIN:
        return SLOT_AGAIN
    if char in SPECIAL:
        return "\\" + char
    return CONTROL.get(char) or _printable(char)


def _printable(char: str) -> str:
    if char in string.printable or (char.isprintable() and not char.isspace()):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
