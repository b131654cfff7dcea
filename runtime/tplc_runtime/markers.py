r"""Find markers in text that comes in pieces.

    Marks(call=["\n<call>\n"], end=["<stop>"]).find("a\n<call>\nb", 0)  →  the place of <call>, kind "call"

A marker's core is the marker without its outer white space; only cores are searched for.  White space inside a core
matches any run of white space (none, beside brackets); between brackets there may be some where the marker has none.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import namedtuple

from .pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEAM = r"(?<=[>\])}»])(?=[<\[({«])|(?<=\[)(?=\{)"  # where white space may stand: "<call>|[|{"
GAP = 64  # the most white space that is looked for at one place inside a marker
NEAR = 4  # so many signs of a marker are looked at before its beginning is
WORD_SIGN = Pattern(r"[\w.+-]")
PLAIN_WORD = Pattern(r"[\w.-]{0,64}")

LONG_WORD = Pattern(r"[^\W\d_]{3}")
JOINING = "_▁"  # and `-`: what the words of a marker are joined with
JOINTS = Pattern(rf"[\s{JOINING}-]+")
MOST_JOINTS = 4  # so many of them, or so much white space, where a marker that is spelled otherwise has some
ALIKE = {**{upper: upper + 32 for upper in range(65, 91)}, ord("｜"): ord("|")}

# `lead` and `trail` are the white space that the template writes around a marker; `longer`: it may be of another.
Mark = namedtuple("Mark", "kind start end lead trail longer", defaults=(True,))


def squeezed(text: str) -> str:
    """A text without white space, `_`, `-` and their like, in lower case, with `|` for `｜`."""
    return str(JOINTS.sub("", text)).translate(ALIKE)


def is_respelled(core: str) -> bool:
    """Whether a marker is still one when its case and its separators are other ones: it has brackets and a word."""
    return core[0] in "<[【«" and '{"' not in "".join(core.split()) and LONG_WORD.search(core) is not None


class Marks:
    """`respelled`: the kinds of markers that may be spelled otherwise, each with such a sign in front as its own."""

    def __init__(self, respelled: Sequence[str] = (), **kinds: Sequence[str]) -> None:
        found: dict[str, tuple[str, str, str]] = {}
        for kind, markers in kinds.items():
            for marker in filter(str.strip, markers):
                lead, core, trail = marker.partition(marker.strip())
                found.setdefault(core, (kind, lead[-GAP:], trail))
        self.cores = cores = sorted(found, key=len, reverse=True)
        self.kinds = [found[core] for core in cores]
        # A core that ends like a word, with white space after it, is not the beginning of a longer word.
        ends = {core: " " if core[-1].isalnum() and found[core][2] else "" for core in cores}
        alike = [core for core in cores if found[core][0] in respelled and is_respelled(core)]
        own = [f"({_pattern(core)}{_WORD_END * len(ends[core])})" for core in cores]
        self._any = Pattern("|".join([*own, *(f"({respelling(core)})" for core in alike)]) or "(?!)")
        pieces = {core: _pieces(core) for core in cores}
        self._words, self._near = _first_signs(pieces, alike)
        self.width = max((len(core) + GAP * (len(pieces[core]) - 1) for core in cores), default=0) + 1
        self.width = max([self.width, *(len(core) * (MOST_JOINTS + 1) for core in alike)])
        # As what they are without what may be otherwise.
        self._squeezed = sorted((squeezed(core), core) for core in alike)
        self._kind_of = {core: found[core][0] for core in alike}
        # What may begin at a text's end, and the same without its white space, which is free.
        self._whole = sorted(core + ends[core] for core in cores)
        spelled = sorted(("".join(core.split()) + ends[core], core) for core in cores if len(pieces[core]) > 1)
        self._loose, self._spelled = [loose for loose, _ in spelled], [core for _, core in spelled]
        # Those that others begin with, and those that stand anywhere in others.
        bare = {core: "".join(core.split()) for core in cores}
        lines = "\n" + "\n".join(bare.values())
        longer = {core for core in cores if ends[core] or lines.count("\n" + bare[core]) > 1}
        inside = {core for core in cores if ends[core] or lines.count(bare[core]) > 1}
        self._found = [(*found[core], core in longer, core in inside) for core in cores]
        self._found += [(*found[core], True, True) for core in alike]
        self.first = {core[0] for core in cores}
        self.wordless = not any(map(WORD_SIGN.match, self.first))
        # A slot's plain word, up to the end or to a sure marker; the space behind that, None where the marker is kept.
        sure = [i for i, core in enumerate(cores) if self.kinds[i][0] != "bare" and core not in longer]
        any_of = "|".join(f"({_pattern(cores[i])})" for i in sure) or "(?!)"
        self.word = Pattern(rf"[\w.-]{{0,64}}\Z|([\w.-]{{1,64}})(?:{any_of})" if self.wordless else "(?!)")
        self.trails = [None if self.kinds[i][0] == "next" else self.kinds[i][2] for i in sure]
        leads = {lead for _, lead, _ in self.kinds}
        self._leads = {lead[i:j] for lead in leads for i in range(len(lead)) for j in range(i + 1, len(lead) + 1)}
        self._lead_width = max(map(len, leads), default=0)

    def find(self, buf: str, pos: int, *, anchored: bool = False, stop: int = sys.maxsize) -> Mark | None:
        """The leftmost and longest marker from `pos` on, or (anchored) the one at `pos`."""
        if anchored or len(buf) - pos < 128:
            match = self._any.match(buf, pos) if anchored else self._any.search(buf, pos, stop)
        else:
            # In long text it is far faster to look for the words that markers begin with, and for markers there.
            match, word = None, self._words.search(buf, pos, stop)
            while match is None and word is not None:
                match = self._any.match(buf, word.start(), stop)
                word = match or self._words.search(buf, word.start() + 1, stop)
        if match is None:
            return None
        kind, lead, trail, longer, inside = self._found[(match.lastindex or 1) - 1]
        start, end = match.span()
        return tuple.__new__(Mark, (kind, start, end, lead, trail, longer if anchored else inside))

    def begins(self, buf: str, pos: int) -> str:
        """A marker that the text from `pos` to the end could become, or one without its free space; "" for none."""
        tail = buf[pos:] if len(buf) - pos <= self.width else ""
        # In order, what the tail begins stands right after it.
        at = bisect_right(self._whole, tail)
        if at < len(self._whole) and tail != "" and self._whole[at].startswith(tail):
            return self._whole[at]
        if self._squeezed and tail != "":
            part = squeezed(tail)
            at = bisect_right(self._squeezed, (part, "\U0010ffff"))
            if at < len(self._squeezed) and self._squeezed[at][0].startswith(part) and tail[0] in self.first:
                return self._squeezed[at][1]
        if not self._loose:
            return ""
        part = "".join(tail.split())
        at = bisect_right(self._loose, part)
        while part and at < len(self._loose) and self._loose[at].startswith(part):
            # White space inside of a word of a marker is none of the marker's.
            if is_cut(self._spelled[at], tail) or self._loose[at] == part + " ":
                return self._loose[at]
            at += 1
        return ""

    def begun(self, buf: str, pos: int, kinds: Sequence[str] = (), least: int = 1) -> bool:
        """Does the text from `pos` to the end begin a marker of these kinds (of any)?"""
        rest = "".join(buf[pos:].split()) if len(buf) - pos < self.width + GAP else ""
        part = squeezed(rest)
        alike = (text for text, core in self._squeezed if not kinds or self._kind_of[core] in kinds)
        if len(rest) >= least and any(text.startswith(part) for text in alike):
            return True
        cores = (core for core, (kind, _, _) in zip(self.cores, self.kinds) if not kinds or kind in kinds)
        return len(rest) >= least and any("".join(core.split()).startswith(rest) for core in cores)

    def partial(self, buf: str, pos: int) -> int:
        """Where text begins that could still become a marker, or be white space that belongs to one."""
        partial = len(buf)
        for near in self._near.finditer(buf, max(pos, partial - self.width)):
            if self.begins(buf, near.start()):
                partial = near.start()
                break
        return self.before(buf, pos, partial)

    def plain(self, text: str) -> int:
        """As partial; -1 when there may be a whole marker, which takes a closer look."""
        partial = len(text)
        if text[-1:] not in self._leads and self._near.search(text) is None:
            return partial
        for match in self._near.finditer(text):
            if self.begins(text, match.start()):
                partial = match.start()
                break
            if self._words.match(text, match.start()):
                return -1
        return self.before(text, 0, partial)

    def before(self, buf: str, pos: int, start: int) -> int:
        """Where the white space begins that may belong to a marker at `start`."""
        if buf[start - 1 : start] not in self._leads:  # every part of a lead is in there
            return start
        if self._lead_width == 1:
            return start - (start > pos)
        at = max(pos, start - self._lead_width)
        while at < start and buf[at:start] not in self._leads:
            at += 1
        return at


_WORD_END = r"(?!\w)"


class Usual:
    """What usually stands between two calls, or two pairs, up to a name in the second."""

    def __init__(self, text: str) -> None:
        self.text = text

    def begun(self, buf: str, start: int) -> bool:
        """Is there no more of it, and of a plain word behind it, from `start` on?"""
        text, size = buf[start:], len(self.text)
        return self.text.startswith(text) or (text[:size] == self.text and bool(PLAIN_WORD.fullmatch(text, size)))


def _pieces(core: str) -> list[str]:
    return [piece for word in core.split() for piece in re.split(SEAM, word)]


def _near(core: str, free: bool) -> str:
    """`free`: white space between its signs is."""
    signs = "".join(core.split())[:NEAR]
    rest, space = "", r"\s*" * free
    for sign in reversed(signs[1:]):
        rest = rf"{space}(?:\Z|{re.escape(sign)}{rest})"
    return re.escape(signs[0]) + f"(?={rest})" * bool(rest)


def _first_signs(pieces: Mapping[str, Sequence[str]], alike: Sequence[str]) -> tuple[Pattern, Pattern]:
    """Patterns of what markers begin with, and of where one may begin: its first signs, or what the text has of them.

    `alike`: those that may be spelled otherwise.
    """
    exact = [core for core in pieces if core not in alike]
    words = {f"{re.escape(word[0])}(?={re.escape(word[1:])})" for word in (pieces[core][0] for core in exact)}
    words |= {_near_alike(core, r"(?!)") for core in alike}
    near = {_near(core, len(pieces[core]) > 1) for core in exact} | {_near_alike(core, r"\Z") for core in alike}
    return Pattern("|".join(sorted(words)) or "(?!)"), Pattern("|".join(sorted(near)) or "(?!)")


def _near_alike(core: str, end: str) -> str:
    """The same for one that may be spelled otherwise; `end`: or the end of what has come."""
    signs = squeezed(core)[:NEAR]
    rest = ""
    for sign in reversed(signs[1:]):
        rest = rf"[\s_▁-]*(?:{end}|{_any_case(sign)}{rest})"
    return re.escape(core[0]) + f"(?={rest})" * bool(rest)


def respelling(core: str) -> str:
    """The pattern of a marker that is spelled otherwise: in other case, with other separators, with white space."""
    pattern, before = re.escape(core[0]), core[0]
    for sign in core[1:]:
        if sign.isspace() or sign in JOINING:
            between = rf"[\s{JOINING}-]{{0,{MOST_JOINTS}}}"
            pattern += between * (not pattern.endswith(between))
        else:
            apart = not (before.isalnum() and sign.isalnum())
            pattern += rf"\s{{0,{MOST_JOINTS}}}" * (apart and not before.isspace()) + _any_case(sign)
        before = sign
    return pattern


def _any_case(sign: str) -> str:
    if sign in "|｜":
        return "[|｜]"
    both = {sign.lower(), sign.upper()} if sign.isascii() else {sign}
    return re.escape(sign) if len(both) == 1 else f"[{''.join(sorted(both))}]"


def _pattern(core: str) -> str:
    pattern, before = "", ""
    for piece in _pieces(core):
        least = int(before.isalnum() and piece[0].isalnum())
        pattern += (rf"\s{{{least},{GAP}}}" if before else "") + re.escape(piece)
        before = piece[-1]
    return pattern


def is_cut(core: str, rest: str) -> bool:
    """Is this the beginning of a marker, cut off?  White space stands where the marker may have some."""
    at = 0
    for piece in _pieces(core):
        if not rest.startswith(piece, at):
            return piece.startswith(rest[at:])
        at += len(piece)
        at += len(rest) - at - len(rest[at:].lstrip())
    return False


def lead_in(text: str, lead: str) -> int:
    """How much of the end of `text` is white space of the marker after it."""
    if text.endswith(lead):
        return len(lead)
    return next((n for n in range(min(len(text), len(lead)), 0, -1) if text.endswith(lead[-n:])), 0)


NO_MARKS = Marks()
