"""What the rules need to know of the Acceptor as patterns: which texts open and close what.

section "<calls>\\n", call "<call>" NAME "\\n" ARGUMENTS "</call>"
→  section_open  <calls>\\n?      call_open  <call>      after the name  \\n      call_close  </call>
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tplc.backends.peg.patterns import (
    begun,
    either,
    marker,
    marker_core,
    some_suffix,
)
from tplc.ir.markers import could_be_prose, is_distinctive, pieces_of
from tplc.lower import Acceptor, CallForm, CallShape
from tplc.lower.lexemes import MAX_INNER_SPACE, OPTIONAL_SPACE, SLOT_AGAIN, exact, first_characters, group
from tplc.lower.states import texts_at
from tplc_runtime.pattern import LEAST_CUT, NAME_LIMIT

NO_CALLS = CallForm(("",), "", "", (), CallShape("", (), ()), ("",), (), "line start", (), (), "", (), ())


@dataclass(frozen=True, slots=True)
class Facts:
    """The Acceptor, and patterns that more than one section uses; "" where the format has no such thing."""

    acceptor: Acceptor
    calls: CallForm

    turn_end: str
    turn_header: str
    reasoning_open: str
    # The openers that count in content as well, and those that count before it begins only.
    reasoning_open_anywhere: str
    reasoning_open_first: str
    reasoning_close: str
    # Closers that are dropped at the turn's start only.
    reasoning_close_first: str
    content_space: str
    content_open: str
    # Openers that count before content begins only.
    content_open_first: str
    content_close: str
    section_open: str
    object_start: str
    section_close: str
    separator: str
    call_open: str
    call_close: str
    # The call's closer is not the beginning of an opener as well.
    closes_only: bool
    # The call's opener says by itself that a call comes, also outside a section.
    distinctive_call: bool
    stray: str
    # An opener of calls and its closer, with nothing between.
    empty: str
    # Nothing but JSON's signs opens a call: it counts only where a line begins.
    bare: bool
    call_lead: str
    call_cores: str
    # Where calls are not parsed, what ends reasoning all the same: at its start, and after text.
    unparsed_first: str = ""
    unparsed: str = ""
    # And headers of calls whose end might open a message, with what they begin with.
    kept_header: str = ""
    kept_opener: str = ""
    # A whole call of a known tool is a call inside of a line, too.
    inline: bool = False

    @property
    def unopened(self) -> bool:
        """Nothing opens reasoning: it is what stands before its closing marker."""
        return bool(self.reasoning_close) and not self.acceptor.reasoning_starts

    @property
    def begun_opener(self) -> str:
        """The beginning of an opener where the text ends: there is no more of the call than that."""
        if self.bare or not self.calls.openers:
            return ""
        return self.opener_lead + begun(self.calls.truncatable, least=LEAST_CUT)

    @property
    def talks(self) -> bool:
        """Whether what comes after an opener that opens no call is read in another way than other text."""
        return bool(self.stray or self.begun_opener)

    @property
    def begun_stops(self) -> list[str]:
        """Where that may be: short patterns to look for in text."""
        if self.bare:
            return []
        cores = [text.strip() for text in self.calls.openers if text.strip()]
        most = 2 * max(map(len, self.calls.openers), default=0)
        first = either([first_characters(core, LEAST_CUT) for core in cores])
        return [rf"{self.opener_lead}{group(first)}(?=.{{0,{most}}}\Z)"] if first else []

    @property
    def opener_lead(self) -> str:
        """White space that the template writes before the calls."""
        leads = [_lead(text) for text in self.calls.openers]
        return some_suffix(max(leads, key=len)) if any(leads) else ""

    @property
    def call_starts(self) -> list[str]:
        """Patterns at which a call may begin, looking ahead."""
        if not self.section_open or not self.call_open:
            return [pattern for pattern in (self.section_open, self.call_open, self.object_start) if pattern]
        whole = rf"{self.section_open}\s*+{self.call_open}"
        return [whole, self.call_open] if self.distinctive_call else [whole]

    @property
    def line_starts(self) -> list[str]:
        """The same where they count at the start of a line only, which may be indented."""
        indented = [rf"(?<=\n)[^\S\n]*+(?:{self.call_cores})"] if self.call_cores else []
        return [self.own_line, *indented] if self.call_lead else indented

    @property
    def over_lines(self) -> str:
        """An opener that begins anywhere, of which a piece that opens calls by itself begins a line."""
        openers = [text.strip() for text in self.calls.openers if text.strip()]
        halves = [(whole[: -len(rest)].rstrip(), rest) for whole in openers for rest in openers if whole.endswith(rest)]
        return either([rf"{marker_core(half)}[^\S\n]*+\n\s*+{marker_core(rest)}" for half, rest in halves if half])

    @property
    def own_line(self) -> str:
        """A call's opener together with the line ends before it that belong to it."""
        return rf"{self.call_lead}(?<=\n)(?:{self.call_cores})"


def facts_of(acceptor: Acceptor) -> Facts:
    facts = _Analysis(acceptor).facts()
    return replace(facts, content_close=content_close(acceptor, facts))


def without_calls(facts: Facts) -> Facts:
    """The facts of the format without its calls, which end its reasoning as they did, and keep all of their header."""
    acceptor, calls = facts.acceptor, facts.calls
    plain = facts_of(replace(acceptor, calls=None))
    if acceptor.headers_alike:
        ends = either([marker_core(end) for end in calls.header[0].suffixes if end.strip()])
        opener, stops = group(facts.call_cores), either([plain.turn_end, plain.turn_header])
        sign = f"(?:(?!{stops}).)" if stops else "."
        header = rf"{opener}{sign}{{0,{NAME_LIMIT}}}?{group(ends)}"
        plain = replace(plain, kept_header=header, kept_opener=opener)
    if calls.in_reasoning is None:
        return plain
    begins = either([facts.over_lines, *facts.line_starts])
    return replace(plain, unparsed_first=rf"\s*+(?:{facts.call_cores})", unparsed=group(begins))


class _Analysis:
    def __init__(self, acceptor: Acceptor) -> None:
        self.acceptor = acceptor
        self.calls = acceptor.calls or NO_CALLS
        self.omissible = "omitted_openers" in acceptor.tolerances
        self.alike = "marker_spelling" in acceptor.tolerances

    def facts(self) -> Facts:
        acceptor, calls = self.acceptor, self.calls
        starts = acceptor.reasoning_starts
        sections = [text for text in calls.section_starts if text.strip()]
        section = next(iter(sections), calls.section_start)
        # A section that opens with white space alone is no more than white space of the first call's opening.
        blank = [text for text in calls.section_starts if not text.strip()] if sections else [section]
        openers = (*(space + text for space in blank for text in calls.starts), *(calls.starts if sections else ()))
        opened = bool(openers[0].strip())
        ahead = _ahead(openers[0], self.first)
        no_opener = "" if opened or not sections else _ahead(section, self.first)
        lead = _lead(section + calls.shape.opener)
        cores = [self.opener([text.lstrip() for text in texts]) for texts in (sections, openers)]
        return Facts(
            acceptor=acceptor,
            calls=calls,
            turn_end=turn_end(acceptor),
            turn_header=pattern_of(longest_first(acceptor.headers)),
            reasoning_open=self.before_calls([start.text for start in starts]),
            reasoning_open_anywhere=self.before_calls(texts_at(starts, "anywhere")),
            reasoning_open_first=self.alone(texts_at(starts, "before content")),
            reasoning_close=pattern_of(acceptor.reasoning_ends),
            reasoning_close_first=self.alone(texts_at(acceptor.strays, "turn start")) if starts else "",
            content_space=acceptor.content_space,
            content_open=self.before_calls(texts_at(acceptor.content_starts, "anywhere")),
            content_open_first=self.alone(texts_at(acceptor.content_starts, "before content")),
            content_close="",  # told by what follows it
            section_open=self.before_parts(sections, self.opener(sections)) + no_opener,
            object_start="" if opened or sections else ahead,
            section_close=self.closer(calls.section_closers),
            separator=pattern_of(calls.separators),
            call_open=self.before_parts(openers, self.opener(openers)) + ahead if opened else "",
            call_close=self.call_close(),
            closes_only=not self.opens("".join(text or "" for text in calls.shape.closer[:1]).strip()),
            distinctive_call=not set(calls.openers).isdisjoint(calls.inner),
            stray=either([marker(text) for text in longest_first(unlike(texts_at(acceptor.strays, "anywhere")))]),
            empty=pattern_of(longest_first(calls.empty)),
            bare=acceptor.calls is not None and calls.where == "line start",
            call_lead=some_suffix(lead) if lead.endswith("\n") else "",
            call_cores=either(cores) or ahead,
        )

    @property
    def first(self) -> str:
        """What opens a call that is an object, or whose id begins with a word, opens nothing without that."""
        calls = self.calls
        return calls.object_open if calls.fields and not calls.shape.slots else calls.shape.id_prefix

    def alone(self, texts: Iterable[str]) -> str:
        """The pattern of markers where no longer marker of the format stands."""
        return group(either([unless_longer(each, self.markers(), marker(each)) for each in texts]))

    def markers(self) -> list[str]:
        """All that opens or closes something."""
        acceptor, calls = self.acceptor, self.calls
        turn = [*acceptor.ends, *acceptor.headers, *acceptor.content_ends, *acceptor.reasoning_ends]
        starts = [start.text for start in (*acceptor.content_starts, *acceptor.reasoning_starts)]
        return [*turn, *starts, *calls.section_starts, calls.section_end, calls.separator, calls.shape.opener]

    def before_calls(self, texts: Sequence[str]) -> str:
        """The pattern of markers that an opener of calls may begin with."""
        openers = (*self.calls.section_starts, self.calls.shape.opener)
        return unless_longer(texts[0], openers, pattern_of(texts)) if texts else ""

    def before_parts(self, texts: Sequence[str], pattern: str) -> str:
        """The pattern of openers of calls that an opener of reasoning or content may begin with."""
        parts = [start.text for start in (*self.acceptor.reasoning_starts, *self.acceptor.content_starts)]
        return unless_longer(texts[0], parts, pattern) if texts else ""

    def opener(self, texts: Iterable[str]) -> str:
        found = [text for text in texts if text.strip()]
        return group(either([opener_pattern(text, omissible=self.omissible, alike=self.alike) for text in found]))

    def opens(self, text: str) -> bool:
        return any(other.startswith(text) for other in self.openers())

    def openers(self) -> list[str]:
        """What opens a section, a call."""
        texts = [*self.calls.section_starts, self.calls.shape.opener]
        return [text.strip() for text in texts if text.strip()]

    def call_close(self) -> str:
        texts = self.calls.shape.closer
        if None not in texts:
            return self.closer(self.calls.call_closers)
        return "".join(SLOT_AGAIN if text is None else marker(text) for text in texts)

    def closer(self, texts: Sequence[str]) -> str:
        """A closing marker, or a piece of it where it has several; the whole comes first."""
        whole, openers = texts[:1], self.openers()
        # A piece that an opener begins with would tear that apart.
        found = [text for text in unlike(texts) if text in whole or text.strip() not in openers]
        found.sort(key=lambda text: (text not in whole, -len(text)))
        alone = [
            unless_longer(text, () if text in whole else openers, marker(text, alike=self.alike)) for text in found
        ]
        return group(either(alone))


def turn_end(acceptor: Acceptor) -> str:
    """Words end a turn only where nothing follows."""
    ends = sorted([*acceptor.ends, *acceptor.last_ends], key=lambda end: (-len(end), end))
    return either([marker(end) + (r"(?=\s*+\Z)" if end in acceptor.last_ends else "") for end in ends])


def content_close(acceptor: Acceptor, facts: Facts) -> str:
    """What people write as well ends content only before what may follow it."""
    behind = [facts.turn_end, facts.turn_header, facts.reasoning_open_anywhere, *facts.call_starts, facts.content_open]
    behind += [facts.stray, facts.empty, r"\Z"]
    signs = [marker(text) + rf"(?=\s*+(?:{either(behind)}))" for text in acceptor.content_signs]
    return group(either([pattern_of(acceptor.content_marks), *signs]))


def longest_first(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=lambda text: (-len(text.strip()), text))


def pattern_of(texts: Iterable[str]) -> str:
    """The pattern of a marker and of its variants."""
    return group(either([marker(text) for text in texts]))


def unless_longer(text: str, others: Iterable[str], pattern: str) -> str:
    """The pattern of a marker where none of the others stands that begin with it: the longer one counts."""
    begins = exact(text.strip())
    longer = [exact(other.strip()) for other in others if other.strip() != text.strip()]
    longer = [other for other in longer if other.startswith(begins)] if pattern and begins else []
    return (f"(?!{either(longer)})" if longer else "") + pattern


def unlike(texts: Iterable[str]) -> list[str]:
    """The texts whose cores differ."""
    return list({text.strip(): text for text in reversed([*texts]) if text.strip()}.values())[::-1]


def _ahead(opener: str, first: str) -> str:
    """What has to come next; after white space where the opener ends with some."""
    apart = opener[-1:].isspace() or len(re.split(OPTIONAL_SPACE, opener[-1:] + first[:1])) > 1
    space = "" if opener.strip() and not apart else rf"\s{{0,{MAX_INNER_SPACE}}}+"
    return f"(?={space}{exact(first)})" if first else ""


def _lead(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def opener_pattern(text: str, *, omissible: bool, alike: bool = False) -> str:
    """The pattern of an opener; its first pieces may be missing when what is left is distinctive.

    "<call>\\n<do="  →  (?:<call>\\s*)?<do=
    """
    *leads, last = segments_of(text) if omissible else [text]
    pattern = ""
    for lead in leads:
        before = f"(?:{pattern})?" if pattern else ""
        pattern = before + marker(lead.rstrip(), alike=alike) + r"\s*+"
    return (f"(?:{pattern})?" if pattern else "") + marker(last, alike=alike)


def segments_of(text: str) -> list[str]:
    """The opener cut before every piece that, with all after it, is distinctive."""
    cuts, at = [], 0
    for index, piece in enumerate(pieces_of(text)):
        at = text.index(piece, at)
        rest = text[at:]
        if index and is_distinctive(rest) and not could_be_prose(rest) and not piece[0].isalnum():
            cuts.append(at)
        at += len(piece)
    edges = [0, *cuts, len(text)]
    return [text[start:end] for start, end in pairwise(edges)]
