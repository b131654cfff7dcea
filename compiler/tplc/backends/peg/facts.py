"""What the rules need to know of the Acceptor as patterns: which texts open and close what.

section "<calls>\\n", call "<call>" NAME "\\n" ARGUMENTS "</call>"
→  section_open  <calls>\\n?      call_open  <call>      after the name  \\n      call_close  </call>
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tplc.backends.peg.patterns import (
    begun,
    either,
    marker,
    marker_core,
    of_kinds,
    some_prefix,
    some_suffix,
)
from tplc.lower import Acceptor, CallForm, CallShape
from tplc.lower.lexemes import ALIKE, MAX_INNER_SPACE, SLOT_AGAIN, Lexemes, exact, first_characters, group, lexemes_of
from tplc.lower.states import closes_and_opens, states, texts_at
from tplc.lower.values import LEAST_CUT, NAME_LIMIT
from tplc_runtime.repairs import LEFT_IN_CALL, LEFT_SIGNS
from tplc_runtime.turn import CALL_KINDS, MOST_ENDS

OPENS = ("call",)
NO_LEXEMES = Lexemes((), "", "", (), 0, "")
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
    section_close: str
    separator: str
    # What opens calls, and another one after a call.
    call_open: str
    call_next: str
    call_open_plain: str
    # The same that opens only calls of tools that are known.
    call_open_short: str
    call_next_short: str
    call_close: str
    # The call's closer is not the beginning of an opener as well.
    closes_only: bool
    stray: str
    # An opener of calls and its closer, with nothing between.
    empty: str
    # Only JSON's punctuation opens a call, so the opener counts only at the start of a line.
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
    # The names of the tools.
    names: tuple[str, ...] = ()

    @property
    def alike(self) -> bool:
        """Whether markers of calls may be in other case, or have other separators."""
        return "marker_spelling" in self.acceptor.tolerances

    @property
    def apart(self) -> bool:
        """Whether a separator opens the next call, for a call has no opener of its own."""
        return bool(self.separator) and not (self.calls.inner or self.calls.fields)

    @property
    def reads_again(self) -> bool:
        """Whether calls that are not as the template writes them are read by the tools' names."""
        return "other_forms" in self.acceptor.tolerances

    @property
    def left_opener(self) -> str:
        """What opens calls, in the place of their closer."""
        texts = self.calls.left_over if "repeated_markers" in self.acceptor.tolerances else ()
        last = last_of(self.calls)
        if not texts or not (self.calls.last or self.calls.tail):
            return ""
        guard = rf"(?<!{last}\s*)" if last else ""
        return rf"{guard}{of_kinds(lexemes_of([('call', texts)]), ('call',))}(?=\s*+{self.after_left_over(OPENS)})"

    @property
    def left_sign(self) -> str:
        """A bracket or a fence that is left over after a call."""
        if "repeated_markers" not in self.acceptor.tolerances:
            return ""
        last, signs = last_of(self.calls), LEFT_SIGNS.pattern
        if self.calls.last or self.calls.tail:
            signs = rf"(?<!{last}\s*){LEFT_IN_CALL.pattern}|{signs}" if last else signs
        return rf"\s*+(?!{self.after_call})(?:{signs})(?=\s*+(?:{self.after_left_over()}|\Z))"

    @property
    def next_object(self) -> str:
        """The object of another call without its opener, as long as the last closer has not come."""
        calls = self.calls
        if not (calls.is_object or calls.fields) or not self.reads_again or not (calls.last or calls.tail):
            return ""
        last = last_of(calls)
        guard = rf"(?<!{last}\s*)" if last else ""
        return rf"{guard}(?!{self.after_call})[,;]?\s*+(?={exact(calls.object_open)})"

    @property
    def after_call(self) -> str:
        """What counts after a call."""
        return next(state.lexemes.find for state in states(self.acceptor) if state.name == "after_call")

    def after_left_over(self, but: Sequence[str] = ()) -> str:
        found = next(state.lexemes for state in states(self.acceptor) if state.name == "after_call")
        return group(of_kinds(found, [kind for kind in (*CALL_KINDS, "end", "last") if kind not in but]))

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
        return [pattern for pattern in [group(either([self.call_open, self.call_open_short]))] if pattern]

    @property
    def kept_starts(self) -> list[str]:
        """The same as text, if no call begins: with the text of an id that an opener leaves to the id's slot."""
        prefix = "" if self.calls.fields else self.calls.shape.id_prefix
        rest = rf"(?:\s{{0,{MAX_INNER_SPACE}}}+{exact(prefix)})?" if prefix else ""
        return [pattern + rest for pattern in self.call_starts]

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
    def unclosed(self) -> str:
        """What opens a call of a known tool inside of a line of reasoning, if nothing closes that any more."""
        if not self.names or self.bare or not self.call_cores:
            return ""
        state = next(state for state in states(self.acceptor) if state.name == "reasoning")
        closes, ends = (group(of_kinds(state.lexemes, (kind,))) for kind in ("reasoning_end", "end"))
        names = either([exact(name) for name in self.names])
        rest = rf"(?:(?!{either([closes, ends])}).)*+" + group(either([ends, r"\Z"]))
        return rf"(?:{self.call_cores})(?=.{{0,{NAME_LIMIT}}}?(?:{names}))(?={rest})"

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

    def facts(self) -> Facts:
        acceptor, calls = self.acceptor, self.calls
        starts = (*acceptor.reasoning_starts, *acceptor.content_starts)
        first = {text.strip() for text in texts_at(starts, "before content")}
        lead = _lead(calls.section_start + calls.shape.opener)
        found = {state.name: state.lexemes for state in states(acceptor)}
        content, after = found["content"], found.get("after_call", NO_LEXEMES)
        before = found.get("before_content", NO_LEXEMES)
        reasoning = found.get("reasoning", found.get("pending", NO_LEXEMES))
        opens, short = ("call", "line"), {text.strip() for text in calls.short} if calls.header else set()
        no_trails = Lexemes(tuple(replace(one, trail="") for one in after.all), "", "", (), 0, "")
        alone = Lexemes(tuple(replace(one, lead="") for one in content.all), "", "", (), 0, "")
        sections = {text.strip() for text in calls.section_closers} - {text.strip() for text in calls.call_closers}
        closes = ("both", "closed", "close", "section")
        return Facts(
            acceptor=acceptor,
            calls=calls,
            turn_end=either([of_kinds(content, ("end",)), _at_end(of_kinds(content, ("last",)), content)]),
            turn_header=of_kinds(content, ("header",)),
            reasoning_open=either([of_kinds(content, ("reasoning",)), of_kinds(before, ("reasoning",))]),
            reasoning_open_anywhere=of_kinds(content, ("reasoning",)),
            reasoning_open_first=of_kinds(before, ("reasoning",), only=lambda one: one.core in first or one.respelled),
            reasoning_close=either([of_kinds(reasoning, ("reasoning_end",)), _alike_closers(reasoning)]),
            reasoning_close_first=of_kinds(found.get("start", NO_LEXEMES), ("reasoning_end",)),
            content_space=acceptor.content_space,
            content_open=of_kinds(content, ("content",)),
            content_open_first=of_kinds(before, ("content",), only=lambda one: one.core in first),
            content_close="",  # determined by what follows it
            section_close=of_kinds(after, closes, only=lambda one: one.core in sections),
            # White space after a separator that opens calls may be content.
            separator=of_kinds(after if calls.fields or calls.inner else no_trails, ("separator",)),
            call_open=of_kinds(content, opens, first=self.first, only=lambda one: one.core not in short),
            call_next=of_kinds(after, opens, first=self.first, only=lambda one: one.core not in short),
            call_open_short=of_kinds(content, opens, first=self.first, only=lambda one: one.core in short),
            call_next_short=of_kinds(after, opens, first=self.first, only=lambda one: one.core in short),
            call_open_plain=of_kinds(content, ("plain",), first=self.first),
            call_close=either(
                [self.closer_with_slot(), of_kinds(after, closes, only=lambda one: one.core not in sections)]
            ),
            closes_only=not closes_and_opens(calls),
            stray=of_kinds(content, ("stray",)),
            empty=of_kinds(content, ("empty",)),
            bare=acceptor.calls is not None and calls.where == "line start",
            call_lead=some_suffix(lead) if lead.endswith("\n") else "",
            call_cores=of_kinds(alone, opens, first=self.first),
        )

    @property
    def first(self) -> str:
        """What opens a call that is an object, or whose id begins with a word, opens nothing without that."""
        calls = self.calls
        return calls.object_open if calls.fields and not calls.shape.slots else calls.shape.id_prefix

    def closer_with_slot(self) -> str:
        """A closer in which a slot comes again."""
        texts = self.calls.shape.closer
        if None not in texts:
            return ""
        breaks = group(either([marker_core(text) for text in self.calls.breaks]))
        slot = rf"(?:(?!{breaks})[^\n])*?" if breaks else SLOT_AGAIN
        whole = "".join(rf"\s*+{slot}" if text is None else marker(text) for text in texts)
        # A marker in the slot's place ends it: then the text before the slot stands alone.
        opened = marker(texts[0]) if breaks and texts[0] else ""
        return either([whole, rf"{opened}(?=\s*+(?:(?!{breaks})[^\n])*+{breaks})" if opened else ""])


def _at_end(pattern: str, content: Lexemes) -> str:
    """Words end a turn only where nothing follows but more of them."""
    again = group(either([one.find for one in content.all if one.kind == "last"]))
    return pattern + rf"(?=(?:\s*+{again}){{0,{MOST_ENDS - 1}}}\s*+\Z)" if pattern else ""


def _alike_closers(reasoning: Lexemes) -> str:
    """What closes reasoning, spelled otherwise, if nothing else closes it any more."""
    closes, ends = (of_kinds(reasoning, (kind,)) for kind in ("reasoning_end", "end"))
    rest = rf"(?:(?!{either([closes, ends])}).)*+" + group(either([ends, r"\Z"]))
    found = [
        f"{some_suffix(one.lead)}{one.find}(?={rest}){some_prefix(one.trail)}"
        for one in reasoning.all
        if one.kind == ALIKE
    ]
    return group(either(found))


def content_close(acceptor: Acceptor, facts: Facts) -> str:
    """What people write as well ends content only before what may follow it."""
    behind = [facts.turn_end, facts.turn_header, facts.reasoning_open_anywhere, *facts.call_starts, facts.content_open]
    behind += [facts.stray, facts.empty, r"\Z"]
    content = next(state.lexemes for state in states(acceptor) if state.name == "content")
    signs = of_kinds(content, ("sign",))
    signs += rf"(?=\s*+(?:{either(behind)}))" if signs else ""
    return group(either([of_kinds(content, ("content_end",)), signs]))


def longest_first(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=lambda text: (-len(text.strip()), text))


def _lead(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def last_of(calls: CallForm) -> str:
    """What a call ends with, of which nothing is missing."""
    if calls.tail is not None:
        return marker_core(calls.tail[0]) + r"[^\n]*"
    last, more = (either([marker_core(text) for text in texts]) for texts in (calls.last, calls.closers))
    # Pieces of closers may come after it.
    after = rf"(?:\s*(?:{more}))*" if set(calls.closers) - set(calls.last) else ""
    return f"(?:{last}){after}" if last else ""
