"""From the IR's layout to the rules of a whole turn.

turn    = reasoning? content? section               (the order the template has)
section = first call (next call)* end
call    = "NAME" … arguments …                      one alternative for each tool
"""

from __future__ import annotations

from dataclasses import dataclass

from tplc.grammars.regular import codepoints
from tplc.grammars.regular.expressions import alt, opt, rep, seq
from tplc.grammars.regular.nodes import EMPTY, Chars, Expr
from tplc.grammars.regular.quoting import quoting_of
from tplc.grammars.regular.rules import Rules
from tplc.grammars.regular.until import Stop, stop_at
from tplc.grammars.request.openers import CallMarkers, first_of_turn, mark
from tplc.grammars.request.slotted import lit
from tplc.grammars.request.variants import MarkerVariants
from tplc.grammars.schema.strings import Free, raw_ending_in
from tplc.ir.markers import could_be_prose, is_word_at_line
from tplc.ir.nodes import Layout, Slot, TemplateIR, Text
from tplc.ir.word_slots import before_slot
from tplc.lower import Marker, lower
from tplc.lower.written import writes_reasoning_last

_LETTERS = codepoints.union(codepoints.span("A", "Z"), codepoints.span("a", "z"))
_ID = Chars(codepoints.union(codepoints.span("0", "9"), _LETTERS, codepoints.of("_-")))
_COUNT = alt(lit("0"), seq(Chars(codepoints.span("1", "9")), rep(Chars(codepoints.span("0", "9")), 0, 5)))


@dataclass(frozen=True, slots=True)
class ToolRule:
    """One tool: its name as written, the rule of its arguments, and whether its schema allows none."""

    name: str
    arguments: Expr
    may_be_empty: bool = False


class TurnRules:
    def __init__(self, rules: Rules, ir: TemplateIR, variants: MarkerVariants, head: str) -> None:
        """Keep the format.  `head`: the part of the turn that is in the prompt."""
        acceptor = self._acceptor = lower(ir)
        self._rules = rules
        self._ir = ir
        self._reasoning = next(iter(acceptor.reasoning_starts), Marker(""))
        self._reasoning_end = next(iter(acceptor.reasoning_ends), "").strip()
        self._variants = variants
        first = tuple(start.text for start in acceptor.content_starts[:1])
        self._content_starts = first or acceptor.content_spaces or ("",)
        self._content_end = next(iter(acceptor.content_ends), "").strip()
        self._markers = variants.calls[0]
        self._head = head
        self._calls_are_inside = acceptor.calls is not None and acceptor.calls.opening.in_reasoning == "anywhere"

    # Calls

    def section(self, calls: list[ToolRule], *, parallel: bool) -> Expr:
        """Return the rule `section = first call (next call)* end content?`."""
        return seq(self._opener(first=True), self._calls(calls, parallel=parallel))

    def _opener(self, *, first: bool) -> Expr:
        """Return the text that opens the first call, at the beginning of a turn or after another part."""
        texts = ((one.first if first else one.later).lstrip() for one in self._variants.calls)
        opener = alt(*map(lit, dict.fromkeys(texts)))
        # A declared opener of content may also come before calls.
        if not self._variants.turn.opens:
            return opener
        return seq(opt(seq(alt(*map(lit, self._variants.turn.opens)), self._gap())), opener)

    def at_once(self, calls: list[ToolRule], *, parallel: bool) -> Expr:
        """Return the section with nothing before it."""
        return seq(self._gap(), self.section(calls, parallel=parallel))

    def _calls(self, calls: list[ToolRule], *, parallel: bool) -> Expr:
        """Return the calls after the text that opens the first one."""
        markers = self._markers
        first = self._call(calls)
        end = alt(*(lit(one.end.rstrip()) for one in self._variants.calls))
        closer = markers.call[-1] if markers.call else None
        if isinstance(closer, Text) and all(any(map(str.isalpha, text)) for text in (closer.text, markers.end)):
            # Every call has closed with a marker of its own, so the one after them all may be left out at the end of
            # the turn, as some templates do; what only closes a bracket may not.
            end = opt(end)
        # A declared end of content may also come after calls.
        if self._variants.turn.closes:
            end = seq(end, opt(seq(self._gap(), alt(*map(lit, self._variants.turn.closes)))))
        another = alt(
            *map(lit, dict.fromkeys(text for one in self._variants.calls for text in (one.next, one.next_apart)))
        )
        following = rep(seq(another, self._call(calls)), 0, None) if parallel else EMPTY
        return self._rules.add("calls", seq(first, following, end, self._gap(), self._content_after()))

    def _call(self, calls: list[ToolRule]) -> Expr:
        ways = [self._rules.add(call.name, self._ways(call)) for call in calls]
        return self._rules.add("call", alt(*ways)) if len(ways) > 1 else alt(*ways)

    def _ways(self, call: ToolRule) -> Expr:
        """Return a call after its opener.  Without arguments it may have another form."""
        way, bare = self._filled(self._markers.call, call), self._markers.bare_call
        return alt(way, self._filled(bare, call)) if bare and call.may_be_empty else way

    def _filled(self, layout: Layout, call: ToolRule) -> Expr:
        slots = {
            "name": self._name(call.name),
            "arguments": call.arguments,
            "id": self._id(),
            "index": _COUNT,
            "count": _COUNT,
        }
        found = []
        for place, item in enumerate(layout):
            if isinstance(item, Text):
                after_name = place > 0 and layout[place - 1] == Slot("name")
                texts = self._variants.inside(item.text, after_name=after_name)
                ways = alt(*map(lit, texts))
                name = "after-name" if after_name else "marker"
                found.append(self._rules.add(name, ways) if len(texts) > 1 else ways)
            else:
                found.append(slots[item.kind])
        return seq(*found)

    def _name(self, name: str) -> Expr:
        tools = self._ir.tools
        if tools.format == "json_native" and tools.dialect is not None and tools.dialect.in_object.strings:
            # Inside a JSON call the name is part of a string, so it is written as one.
            return quoting_of(self._rules, tools.dialect.in_object.strings[0]).text(name)
        return lit(tools.written("name", name))

    def _id(self) -> Expr:
        return self._rules.library("id", rep(_ID, 1, 64))

    # Turns

    def with_calls(self, calls: list[ToolRule], *, parallel: bool) -> Expr:
        """Return the rule `reasoning? content? section content?`, with the parts that the format has.  If the template
        writes reasoning after content, both orders are accepted."""
        tail = self._calls(calls, parallel=parallel)
        ways = [self._opened(tail, first=True)]
        reasoning = self.reasoning()
        if reasoning is not None:
            ways.insert(0, seq(reasoning, self._between(), self._opened(tail, first=False)))
            if writes_reasoning_last(self._ir):
                before = seq(self._reasoning_after_content(), self._between(), self._opener(first=False), tail)
                ways.insert(1, before)
        elif not self._reasoning_end and self._reasoning.text.strip() and not self._too_late():
            ways.insert(0, self._reasoning_before(tail))
        return seq(self._gap(), alt(*ways))

    def _reasoning_before(self, tail: Expr) -> Expr:
        """Return reasoning that only an opener of calls closes, and the section; the opener is at the start of a line,
        unless calls are inside of reasoning."""
        start, opener = first_of_turn(self._ir, self._reasoning.text), self._markers.later.lstrip()
        line_end = "" if self._calls_are_inside else "\n"
        stop = Stop(line_end, before_slot(mark(opener) or opener).rstrip())
        text = raw_ending_in(self._rules, "reasoning", Free(0, None), stop, (start.strip(),) if start.strip() else ())
        return seq(lit(_opening(start)), text, lit(opener[len(stop.core) :]), tail)

    def _opened(self, tail: Expr, *, first: bool) -> Expr:
        """Return the rule `content? section`."""
        direct = seq(self._opener(first=first), tail)
        if self._ir.content.with_calls != "before" or self._calls_are_inside:
            return direct
        content = self._content_before(tail, first=first)
        # Plain content may be empty, which is the section alone.
        return alt(*content, *([] if content and self._is_plain_up_to_mark() else [direct]))

    def _is_plain_up_to_mark(self) -> bool:
        return self._ir.content.mode != "always_wrapped" and not self._markers.bare

    def with_value(self, value: Expr) -> Expr:
        """Return the rule `reasoning? content`, in which the content is one value."""
        content = self._ir.content
        end = alt(*map(lit, self._content_ends()))
        wrapped = seq(self._content_opener(first=False), self._gap(), value, self._gap(), end)
        plain = seq(value, self._gap())
        reasoning = self.reasoning()
        first = wrapped if content.mode == "always_wrapped" else plain
        later = plain if content.mode == "plain" else wrapped
        if reasoning is None:
            return seq(self._gap(), first)
        return seq(self._gap(), alt(seq(reasoning, self._gap(), later), first))

    def reasoning(self) -> Expr | None:
        """Return the rule `reasoning = start text end`, with any white space around the text."""
        end = self._reasoning_end
        if not end or self._too_late():
            return None
        starts = [first_of_turn(self._ir, text) for text in self._reasoning_starts()]
        whole = seq(alt(*(lit(_opening(start)) for start in starts)), self._reasoning_text())
        closes = any(prompt.head.strip() == end for prompt in self._ir.turn.prompts)
        if closes and self._head.strip() in ("", end):
            # Some prompt closes reasoning that was never opened; the model may do so itself.
            whole = alt(whole, lit(end))
        return self._rules.add("reasoning", whole)

    def _reasoning_starts(self) -> tuple[str, ...]:
        return self._variants.turn.reasoning_starts or (self._reasoning.text,)

    def _reasoning_text(self) -> Expr:
        """Return reasoning after its opener, up to its end.  An opener that people also write is text in reasoning."""
        starts = [start for start in self._reasoning_starts() if not could_be_prose(start) and start.strip()]
        return self._ending_in("reasoning", self._reasoning_ends(), tuple(before_slot(one.strip()) for one in starts))

    def _reasoning_after_content(self) -> Expr:
        """Return content, which the opener of reasoning ends, and the reasoning."""
        starts = tuple(start.strip() for start in self._reasoning_starts() if start.strip())
        return seq(self._ending_in("content", starts, self._not_in_content()), self._reasoning_text())

    def _too_late(self) -> bool:
        """Return whether the prompt has begun the content, in which an opener of reasoning is text."""
        if self._reasoning.where != "before content":
            return False
        end = self._reasoning_end
        rest = (self._head.rpartition(end)[2] if end else self._head).strip()
        start = self._reasoning.text.strip()
        return not rest.startswith(start) and not start.startswith(rest)

    def _content_before(self, tail: Expr, *, first: bool) -> list[Expr]:
        """Return content, and the section after it."""
        wrapped = self._ir.content.mode == "always_wrapped"
        opened = self._content_opener(first=first) if wrapped else EMPTY
        ends = self._ends_before_calls() if wrapped else ()
        if ends:
            text = self._ending_in("content", ends, ())
            return [seq(opened, text, self._between(), self._opener(first=False), tail)]
        # Nothing closes the content but what opens the calls.  White space after a marker is the template's, and a
        # parser does without it; a marker that any text may contain counts at the start of a line.
        ways = {stop: rest for one in self._variants.calls for stop, rest in self._ends_content(one, wrapped)}
        found = []
        for stop, rest in ways.items():
            others = tuple(other.core for other in ways if other != stop and not stop.core.endswith(other.core))
            text = raw_ending_in(self._rules, "content", Free(0, None), stop, (*self._not_in_content(), *others))
            found.append(seq(opened, text, lit(rest), tail))
        return found

    def _ends_before_calls(self) -> tuple[str, ...]:
        """Return the ends of content that aren't the beginning of the calls after it.  Where each part of a turn has a
        header of its own, content without an end of its own ends as reasoning does."""
        openers = [one.later.lstrip() for one in self._variants.calls]
        ends = [end for end in self._content_ends() if end and not any(opener.startswith(end) for opener in openers)]
        header = self._ir.turn.header.strip()
        as_reasoning = self._reasoning_end.removesuffix(header).rstrip()
        if not ends and header and as_reasoning and as_reasoning in map(str.strip, self._ir.turn.ends):
            return (as_reasoning,)
        return tuple(ends)

    def _ends_content(self, markers: CallMarkers, wrapped: bool) -> list[tuple[Stop, str]]:
        """Return the part of a section's opener that ends the content before it, and the rest of the opener."""
        later, bare = markers.later.lstrip(), markers.bare
        found = later if bare else before_slot(mark(later) or later)
        within_lines = bare and not markers.in_line
        stop = stop_at(markers.later.rstrip()) if within_lines else Stop("", found.rstrip())
        if not stop.core or (within_lines and not wrapped and "\n" not in stop.lead):
            return []
        return [(stop, later[len(stop.core) :])]

    def _content_after(self) -> Expr:
        content, markers = self._ir.content, self._markers
        if content.with_calls != "after" and not self._calls_are_inside:
            return EMPTY
        again = None if markers.bare else mark(markers.next.lstrip())
        forbidden = tuple(text for text in (*self._not_in_content(), markers.mark, again) if text)
        if content.mode == "always_wrapped" and self._content_end:
            text = self._ending_in("content", self._content_ends(), forbidden)
            return opt(seq(self._content_opener(first=False), text))
        return self._rules.spelling.without(self._rules, "content", forbidden)

    def _content_opener(self, *, first: bool) -> Expr:
        starts = self._variants.turn.content_starts or self._content_starts
        return alt(*(lit(_opening(first_of_turn(self._ir, start) if first else start)) for start in starts))

    def _content_ends(self) -> tuple[str, ...]:
        return tuple(end.strip() for end in self._variants.turn.content_ends) or (self._content_end,)

    def _reasoning_ends(self) -> tuple[str, ...]:
        """Return the ends of reasoning, those that count at the start of a line only with the line end before them."""
        ends = self._variants.turn.reasoning_ends or (next(iter(lower(self._ir).reasoning_ends), ""),)
        return tuple("\n" * is_word_at_line(end) + end.strip() for end in ends)

    def _ending_in(self, hint: str, ends: tuple[str, ...], forbidden: tuple[str, ...]) -> Expr:
        """Return text up to the first of the ends, and that end."""
        ways = []
        for end in dict.fromkeys(ends):
            others = tuple(before_slot(other) for other in ends if other != end and not end.endswith(other))
            stop = Stop("", before_slot(end))
            # What is part of the end can't be forbidden before it.
            barred = [text for text in (*forbidden, *others) if text not in stop.core]
            text = raw_ending_in(self._rules, hint, Free(0, None), stop, tuple(barred))
            ways.append(seq(text, lit(end[len(stop.core) :])))
        return alt(*ways)

    def _not_in_content(self) -> tuple[str, ...]:
        """Return the texts that would end the content or begin another part."""
        found = [end.strip() for end in self._ir.turn.ends]
        found += [self._reasoning.text.strip(), self._reasoning_end]
        found += [text.strip() for text in (*self._variants.turn.reasoning_starts, *self._variants.turn.reasoning_ends)]
        return tuple(dict.fromkeys(before_slot(text) for text in found if text))

    def _between(self) -> Expr:
        """Return the text that may be between two blocks; if every block has markers, also the turn's header."""
        header = self._ir.turn.header.strip()
        if self._ir.content.mode != "always_wrapped" or not header:
            return self._gap()
        return seq(self._gap(), opt(seq(lit(header), self._gap())))

    def _gap(self) -> Expr:
        return self._rules.library("gap", rep(Chars(codepoints.of("\t\n\r ")), 0, 8))


def _opening(marker: str) -> str:
    """Return a block's opener without outer white space, except white space after a word, which separates it from
    text."""
    core = marker.strip()
    return marker.lstrip() if core[-1:].isalnum() else core
