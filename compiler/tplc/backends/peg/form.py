"""A format as the rules of one request print it: which pattern is in which rule.

section "<calls>\\n", call "<call>" NAME "\\n" ARGUMENTS "</call>"
→  call_open  <calls>\\n?<call>|<call>      call_close  </call>      section_close  …

A rule of one pattern is the ordered choice of the lexemes of some kinds in one state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from tplc.backends.peg.known_tools import KnownTools
from tplc.backends.peg.patterns import (
    either,
    leaf,
    marker,
    marker_core,
    may_be_begun,
    not_at_code_end,
    of_kinds,
    some_prefix,
    some_prefix_of,
    some_suffix,
    truncated,
)
from tplc.backends.peg.rules import Rule, rule
from tplc.ir.markers import lead_of, without_space
from tplc.ir.nodes import Dialect
from tplc.lower import Acceptor, CallForm, CallShape
from tplc.lower.call_form import FENCE
from tplc.lower.closers import LEFT_OVER_CHARS
from tplc.lower.garbled import garbled_closers
from tplc.lower.lexemes import (
    ANY_SLOT_TEXT,
    MAX_INNER_SPACE,
    NOTHING,
    Lexeme,
    Lexemes,
    exact,
    group,
    lexemes_of,
)
from tplc.lower.states import StateName, closes_and_opens, is_unopened, states, texts_at
from tplc_runtime.machine import ENDS_AFTER_CALLS
from tplc_runtime.pattern import LEAST_CUT, LEAST_PUNCTUATION, NAME_LIMIT
from tplc_runtime.places import MOST_ENDS, UNCLOSED_KINDS
from tplc_runtime.repairs import LEFT_OVER
from tplc_runtime.scanner import LONGEST_WORD
from tplc_runtime.second import CLOSING_TAG, NOTE
from tplc_runtime.turn import CALL_KINDS, CUT_KINDS

OPENS = ("both", "call", "line")
CLOSES = ("both", "closed", "close", "section")
NO_CALLS = CallForm((), "", CallShape("", (), ()))
NO_LEXEMES = lexemes_of(())


@dataclass(frozen=True)
class FormPatterns:
    """`form["turn_end"]` is the pattern of the rule of that name, "" if the format has no such thing.

    `parsed`: the same with its calls, where calls are not parsed: they end reasoning all the same.
    """

    acceptor: Acceptor
    known: KnownTools
    values: Dialect | None = None  # how values are written, where there are calls
    parsed: FormPatterns | None = None

    def __getitem__(self, name: str) -> str:
        return self._leaves[name]

    def named(self, *names: str) -> list[str]:
        """Return the rules that the format has, of these."""
        return [name for name in names if self[name]]

    def leaves(self, *names: str) -> list[Rule]:
        """Return the rules of these names; without choices if the format has no such thing."""
        return [rule(name, *([leaf(self[name])] if self[name] else [])) for name in names]

    def external(self, name: str) -> Rule:
        """Return a rule that a reader of the engine replaces; its printed form is an approximation.

        That is the text up to a marker that is in no value, of which the mapper's reader then takes its part.
        """
        text = f"(?:(?!{either(self.broken_by)}).)++" if self.broken_by else ".++"
        return rule(name, leaf(text if name.startswith("loose_") else NOTHING))

    @cached_property
    def _leaves(self) -> dict[str, str]:
        return _leaves_of(self.acceptor)

    @cached_property
    def calls(self) -> CallForm:
        return self.acceptor.calls or NO_CALLS

    @property
    def dialect(self) -> Dialect:
        assert self.values is not None
        return self.values

    @cached_property
    def states(self) -> dict[StateName, Lexemes]:
        return {state.name: state.lexemes for state in states(self.acceptor)}

    def of(
        self,
        state: StateName,
        *kinds: str,
        only: Callable[[Lexeme], bool] | None = None,
        lead: bool = True,
        trail: bool = True,
        at_lines: bool = False,
    ) -> str:
        """Return the pattern of the lexemes of some kinds that count in a state."""
        calls = self.calls
        # What opens a call that is an object, or whose id begins with a word, opens nothing without that.
        first = calls.object.opener if calls.object.fields and not calls.shape.slots else calls.shape.id_prefix
        first = first if kinds[0] in (*OPENS, "ordinary") else ""
        lexemes, at_fence = self.states.get(state, NO_LEXEMES), self.at_fence * (state != "after_call")
        return of_kinds(
            lexemes, kinds, first=first, only=only, lead=lead, trail=trail, at_lines=at_lines, at_fence=at_fence
        )

    @cached_property
    def not_escaped(self) -> str:
        """Return what must hold where a marker in content begins: it isn't the end of an escape."""
        text = self.acceptor.escape_of_ends
        escape = exact(text[:1])
        return rf"(?!{exact(text[1])}(?<=(?<!{escape})(?:{escape}{escape})*{escape}.))" if text else ""

    @cached_property
    def at_fence(self) -> str:
        """Return what must hold at a fence around calls: it doesn't close code of content or reasoning."""
        if not self.calls.opening.may_be_fenced:
            return ""
        facts = self.acceptor
        starts = (*facts.reasoning_starts, *facts.content_starts)
        opened = dict.fromkeys(text.strip() for text in (*facts.reasoning_ends, *(one.text for one in starts)))
        return not_at_code_end([marker_core(text) for text in opened if text])

    # What the format has

    @property
    def any_spelling(self) -> bool:
        """Return whether markers of calls may be in other case, or have other separators."""
        return "marker_spelling" in self.acceptor.tolerances

    @property
    def reads_again(self) -> bool:
        """Return whether calls in another form are read by the tools' names."""
        return "other_forms" in self.acceptor.tolerances

    @property
    def unopened(self) -> bool:
        """Return whether reasoning has no opener: it is the text before its closing marker."""
        return is_unopened(self.acceptor)

    @property
    def reasoning_state(self) -> StateName:
        return "pending" if self.unopened else "reasoning"

    @property
    def inline(self) -> bool:
        """Return whether a whole call of a known tool is a call inside of a line, too."""
        return self.calls.opening.at_lines and bool(self.known and self.calls.whole)

    @property
    def closes_only(self) -> bool:
        """Return whether the call's closer isn't also the beginning of an opener."""
        return not closes_and_opens(self.calls)

    @property
    def has_failed_call_text(self) -> bool:
        """Return whether text after an opener without a call is read differently from other text."""
        return bool(self["stray_closer"] or self["trailing_for_opener"])

    @cached_property
    def broken_by(self) -> list[str]:
        """Return the patterns of markers that no name contains, and no value outside of a string."""
        return [marker_core(text) for text in self.calls.breaks]

    @cached_property
    def breaks(self) -> str:
        return group(either(self.broken_by))

    # What opens calls

    @property
    def begins(self) -> str:
        """Return what must follow an opener that is like text, if no tools are known."""
        return (
            f"(?={self.id_prefix}{self.calls.opening.begins})" if self.calls.opening.begins and not self.known else ""
        )

    @property
    def id_prefix(self) -> str:
        """Return the pattern of the text of an id that an opener leaves to the id's slot, if it comes."""
        prefix = "" if self.calls.object.fields else self.calls.shape.id_prefix
        return rf"(?:\s{{0,{MAX_INNER_SPACE}}}+{exact(prefix)})?" if prefix else ""

    @property
    def may_be_indented(self) -> bool:
        """Return whether lines count that are indented differently from the template."""
        return not self.begins or any(lead_of(text)[-1:] in (" ", "\t") for text in self.calls.opening.openers)

    @cached_property
    def call_cores(self) -> str:
        cores = self.of("content", *OPENS, lead=False)
        # Where an id begins with the opener, space is before it.
        indent = "" if self.begins and self.may_be_indented else r"(?!\s)"
        return f"{indent}(?:{cores}){self.begins}" if cores else ""

    @cached_property
    def call_starts(self) -> list[str]:
        """Return patterns at which a call may begin, looking ahead."""
        either_of = group(either([self["call_open"], self["call_open_for_short"]]))
        return [either_of] if either_of else []

    @property
    def kept_starts(self) -> list[str]:
        """Return the same as text, if no call begins: with the text of an id that an opener leaves to the id's slot."""
        return [pattern + self.id_prefix + self.begins for pattern in self.call_starts]

    @property
    def line_starts(self) -> list[str]:
        """Return the same for openers that count only at the start of a line, which may be indented."""
        indent = r"[^\S\n]*+" * self.may_be_indented
        indented = [rf"(?<=\n){indent}(?:{self.call_cores})"] if self.call_cores else []
        return [*([self.own_line] if self.own_line else []), *indented]

    @cached_property
    def own_line(self) -> str:
        """Return a call's opener together with the line ends before it that belong to it."""
        lead = lead_of(self.calls.opening.section_start + self.calls.shape.opener)
        return rf"{some_suffix(lead)}(?<=\n)(?:{self.call_cores})" if lead.endswith("\n") else ""

    @property
    def over_lines(self) -> str:
        """Return an opener that begins anywhere, of which a piece that opens calls by itself begins a line."""
        openers = [text.strip() for text in self.calls.opening.openers if text.strip()]
        halves = [(whole[: -len(rest)].rstrip(), rest) for whole in openers for rest in openers if whole.endswith(rest)]
        return either([rf"{marker_core(half)}[^\S\n]*+\n\s*+{marker_core(rest)}" for half, rest in halves if half])

    @property
    def ends_reasoning(self) -> list[str]:
        """Return the openers that end reasoning."""
        if self.calls.opening.in_reasoning == "anywhere":
            return self.call_starts
        return [self.over_lines, *self.line_starts]

    @property
    def unclosed(self) -> str:
        """Return the opener of a known tool's call inside a line of reasoning that nothing closes later."""
        names = either([exact(name) for name in sorted(tool.name for tool in self.known.tools)])
        if not names or self.calls.opening.at_lines or not self.call_cores:
            return ""
        return rf"(?:{self.call_cores})(?=.{{0,{NAME_LIMIT}}}?(?:{names}))(?={self.rest_of_reasoning})"

    @property
    def rest_of_reasoning(self) -> str:
        """Return reasoning up to the end of the turn, without the template's own closer."""
        ends = self.of(self.reasoning_state, "end")
        return rf"(?:(?!{either([*self.closers, ends])}).)*+" + group(either([ends, r"\Z"]))

    @property
    def closers(self) -> list[str]:
        """Return the closers of reasoning, in the template's spelling."""
        state = self.reasoning_state
        return [self.of(state, "reasoning_end"), self.of(state, "reasoning_line", at_lines=True)]

    @property
    def call_unparsed(self) -> str:
        """Return the openers that end reasoning if calls are not parsed."""
        whole = self.parsed
        if whole is None or whole.calls.opening.in_reasoning is None:
            return ""
        if whole.calls.opening.in_reasoning == "anywhere":
            return group(either(whole.call_starts))
        over_lines = f"{whole.at_fence}(?:{whole.over_lines})" if whole.over_lines else ""
        return group(either([over_lines, whole.of("content", *OPENS, at_lines=True)])) + whole.begins

    @property
    def header_unparsed(self) -> str:
        """Return the header of a call that is not parsed, if its end might open a message."""
        whole = self.parsed
        if whole is None or not whole.acceptor.name_opens_message:
            return ""
        ends = either([marker_core(end) for end in whole.calls.header[0].suffixes if end.strip()])
        stops = either([self["turn_end"], self["turn_header"]])
        char = f"(?:(?!{stops}).)" if stops else "."
        return rf"{whole.call_cores}{char}{{0,{NAME_LIMIT}}}?{group(ends)}"

    @property
    def failed_header(self) -> str:
        """Return the rest of a header that opens no call, if its end might open a message: that is text as well."""
        if not self.acceptor.name_opens_message:
            return ""
        opens = either([self["content_open"], self["reasoning_open_anywhere"]])
        others = [self["turn_end"], self["turn_header"], self["content_close"], self["empty_call"], *self.call_starts]
        return rf"(?:(?!{either([opens, *others])}).)*+{group(opens)}" if opens else ""

    # After a call

    @property
    def last(self) -> str:
        """Return the closers of a call after which nothing of it is missing."""
        calls = self.calls
        if calls.tail is not None:
            return marker_core(calls.tail[0]) + r"[^\n]*"
        last, more = (
            either([marker_core(text) for text in texts]) for texts in (calls.closing.last, calls.closing.closers)
        )
        # Pieces of closers may come after it.
        after = rf"(?:\s*(?:{more}))*" if set(calls.closing.closers) - set(calls.closing.last) else ""
        garbled = garbled_closers(self.acceptor)
        garbled_last = f"|{garbled.last}" if garbled is not None else ""
        return f"(?:{last}{garbled_last}){after}" if last else ""

    @property
    def not_last(self) -> str:
        left = LEFT_OVER_CHARS * ("repeated_markers" in self.acceptor.tolerances)
        tag = f"|{CLOSING_TAG.pattern}" if garbled_closers(self.acceptor) is not None else ""
        return rf"(?<!{self.last}(?:[\s{left}]{tag})*)" if self.last else ""

    @property
    def not_after_section(self) -> str:
        """Return the place where another call may begin without an opener: not after the closer of all calls."""
        section = self.of("after_call", "section")
        closers = either([marker_core(text) for text in self.calls.closing.closers])
        return rf"(?<!{group(section)}(?:\s|{closers})*)" if section else ""

    @property
    def garbled_closer(self) -> str:
        """Return a garbled closer of the calls, before what ends them."""
        garbled = garbled_closers(self.acceptor)
        over = rf"(?=\s*+(?:{self.after_left_over()}|\Z))"
        return "" if garbled is None else rf"(?>{garbled.pattern}){over}"

    def after_left_over(self, *but: str) -> str:
        kinds = [kind for kind in (*CALL_KINDS, "end", "final_end") if kind not in but]
        return group(of_kinds(self.states["after_call"], kinds))


def without_calls(form: FormPatterns) -> FormPatterns:
    """Return the format without its calls, whose openers still end reasoning and keep their header."""
    return FormPatterns(replace(form.acceptor, calls=None), form.known, parsed=form)


@lru_cache(maxsize=64)
def _leaves_of(acceptor: Acceptor) -> dict[str, str]:
    """Return the rules of one pattern, by name: those that are the same for any tools."""
    form = FormPatterns(acceptor, KnownTools())
    found = _of_the_turn(form) | _of_calls(form)
    return found | {"content_close": _content_close(form, found)}


def _of_the_turn(form: FormPatterns) -> dict[str, str]:
    """Return the rules of one pattern of a turn, by name."""
    acceptor = form.acceptor
    starts = (*acceptor.reasoning_starts, *acceptor.content_starts)
    first = {text.strip() for text in texts_at(starts, "before content")}

    def before_content(kind: str) -> str:
        return form.of("before_content", kind, only=lambda one: one.core in first or one.respelled)

    opened = form.of("content", "reasoning")
    return {
        "turn_end": turn_ends(form),
        "turn_header": form.of("content", "header"),
        "reasoning_open": either([opened, form.of("before_content", "reasoning")]),
        "reasoning_open_anywhere": opened,
        "reasoning_open_first": before_content("reasoning"),
        "reasoning_close": either([*form.closers, _respelled_closers(form)]),
        "reasoning_close_at_once": _spaced(form.of(form.reasoning_state, "reasoning_line")),
        "reasoning_for_closer": _spaced(form.of("start", "reasoning_end")),
        "reasoning_again": _spaced(of_kinds(lexemes_of([("", acceptor.repeated_reasoning)]), ("",))),
        "content_space": some_prefix_of(acceptor.content_spaces),
        "content_open": form.of("content", "content"),
        "content_open_first": before_content("content"),
        "stray_closer": form.of("content", "stray"),
        "empty_call": form.of("content", "empty"),
        "cut_marker": _cut_marker(form, "content"),
        "cut_marker_for_reasoning": _cut_marker(form, "reasoning"),
        "cut_marker_for_thinking": _cut_marker(form, "pending"),
    }


def _spaced(pattern: str) -> str:
    return r"\s*+" + pattern if pattern else ""


def _of_calls(form: FormPatterns) -> dict[str, str]:
    """Return the rules of one pattern of calls, by name."""
    calls = form.calls
    short = {text.strip() for text in calls.opening.short} if calls.header else set()
    ordinary = {text.strip() for text in calls.opening.ordinary}
    sections = {text.strip() for text in calls.closing.of_section} - {text.strip() for text in calls.closing.of_call}

    def opens(state: StateName, *, are_short: bool) -> str:
        return form.of(state, *OPENS, only=lambda one: (one.core in short) is are_short)

    def closes(*, section: bool) -> str:
        return form.of("after_call", *CLOSES, only=lambda one: (one.core in sections) is section)

    return {
        "call_open": opens("content", are_short=False),
        "call_next": opens("after_call", are_short=False),
        "call_open_for_short": opens("content", are_short=True),
        "call_next_for_short": opens("after_call", are_short=True),
        "call_open_for_ordinary": form.of("content", "ordinary"),
        "call_next_for_ordinary": form.of("after_call", *OPENS, only=lambda one: one.core not in {*ordinary, *short}),
        "call_close": either([_closer_with_slot(form), closes(section=False)]),
        "section_close": closes(section=True),
        # White space after a separator that opens calls may be content.
        "call_separator": form.of("after_call", "separator", trail=bool(calls.object.fields or calls.opening.inner)),
        "call_next_for_object": _next_object(form),
        "left_bracket": _left_bracket(form),
        "left_opener": _left_opener(form),
        "left_bracket_for_note": _text_before_closer(form, is_note=True),
        "content_for_closing": _text_before_closer(form),
        "trailing_for_opener": _begun_opener(form),
        "cut_marker_for_calls": _cut_end_after_calls(form),
    }


def turn_ends(form: FormPatterns, *, lead: bool = True) -> str:
    """Return the pattern of the ends of the turn; `lead`: with the white space that the template writes before them."""
    ends, last = (form.of("content", kind, lead=lead) for kind in ("end", "final_end"))
    return either([ends, last + _ends_of_output(form) if last else ""])


def _ends_of_output(form: FormPatterns) -> str:
    """Return the pattern of prose-like ends of the turn, which count only if nothing but more of them follows."""
    again = group(either([one.find for one in form.states["content"].all if one.kind == "final_end"]))
    return rf"(?=(?:\s*+{again}){{0,{MOST_ENDS - 1}}}\s*+\Z)"


def _respelled_closers(form: FormPatterns) -> str:
    """Return the closer of reasoning in another spelling, or what opens content, if nothing else closes it later."""
    found = [
        f"{some_suffix(one.lead)}{one.find}(?={form.rest_of_reasoning}){some_prefix(one.trail)}"
        for one in form.states.get(form.reasoning_state, NO_LEXEMES).all
        if one.kind in UNCLOSED_KINDS
    ]
    return group(either(found))


def _content_close(form: FormPatterns, found: dict[str, str]) -> str:
    """Return the end of content; a prose-like one counts only before text that may follow content.  `found`: the other
    patterns of the form."""
    weak, marks = form.of("content", "weak_content_end"), form.of("content", "content_end")
    if not weak:
        return marks
    opens = group(either([found["call_open"], found["call_open_for_short"]]))
    first, last = ("turn_end", "turn_header", "reasoning_open_anywhere"), ("content_open", "stray_closer", "empty_call")
    after = [*(found[name] for name in first), opens, *(found[name] for name in last)]
    return group(either([marks, weak + rf"(?=\s*+(?:{either([*after, chr(92) + 'Z'])}))"]))


def _closer_with_slot(form: FormPatterns) -> str:
    """Return a closer in which a slot is repeated."""
    texts, breaks = form.calls.shape.closer, form.breaks
    if None not in texts:
        return ""
    slot = rf"(?:(?!{breaks})[^\n])*?" if breaks else ANY_SLOT_TEXT
    whole = "".join(rf"\s*+{slot}" if text is None else marker(text) for text in texts)
    # A marker in the slot's place ends it: then the text before the slot is alone.
    opened = marker(texts[0]) + f"(?!{_name_before_break(form)})" if breaks and texts[0] else ""
    return either([whole, rf"{opened}(?=\s*+(?:(?!{breaks})[^\n])*+{breaks})" if opened else ""])


def _name_before_break(form: FormPatterns) -> str:
    """Return a word in the place of a closer's slot, after which only the next marker comes."""
    return rf"\s*+[\w.-]{{1,{LONGEST_WORD}}}+(?=\s*+{form.breaks})"


def _unended_closer(form: FormPatterns) -> str:
    """Return a closer in which a slot is repeated, without the text after the slot."""
    texts = form.calls.shape.closer
    return rf"\s*+{marker(texts[0])}{_name_before_break(form)}" if None in texts and texts[0] and form.breaks else ""


# What is left over between calls


def _left_opener(form: FormPatterns) -> str:
    """Return an opener of calls in the place of their closer."""
    texts = form.acceptor.left_over
    if not texts or not form.calls.is_closed:
        return ""
    opener = of_kinds(lexemes_of([("call", texts)]), ("call",))
    return rf"{form.not_last}{opener}(?=\s*+{form.after_left_over('call')})"


def _left_bracket(form: FormPatterns) -> str:
    """Return a bracket, a fence or a closer without its end that is left over after a call."""
    if form.acceptor.calls is None or "repeated_markers" not in form.acceptor.tolerances:
        return _unended_closer(form)
    after, brackets = form.states["after_call"].find, LEFT_OVER.pattern
    if (garbled := garbled_closers(form.acceptor)) is not None:
        # A closer that the output cuts is no garbled one.
        cut = truncated([text.strip() for text in form.calls.closing.closers], any_spelling=form.any_spelling)
        brackets = rf"{brackets}|(?!{cut})(?>{garbled.pattern})"
    left = rf"\s*+(?!{after})(?:{brackets})(?=\s*+(?:{form.after_left_over()}|\Z))"
    return either([left, _unended_closer(form)])


def _closers_after_text(form: FormPatterns) -> str:
    """Return the closers of a call before which text may come, after its arguments."""
    calls = form.acceptor.calls
    if calls is None or calls.pairs is not None or "repeated_markers" not in form.acceptor.tolerances:
        return ""
    return form.of("after_call", "close", "closed", lead=False, only=lambda one: len(one.core) >= LEAST_CUT)


def _text_before_closer(form: FormPatterns, *, is_note: bool = False) -> str:
    """Return text, or a comment, between the arguments of a call and its closer."""
    if not (closers := _closers_after_text(form)):
        return ""
    after = form.states["after_call"].find
    note = rf"(?://|#)(?:(?!{after})[^\n])*+|{NOTE}"  # in linear time: no part of it is given back
    text = note if is_note else rf"(?:(?!{after}).){{1,{NAME_LIMIT}}}?"
    another = rf"(?![,;]?\s*+{exact(form.calls.object.opener)})" if form.calls.object.fields else ""
    return rf"(?!{after}){another}(?:{text})(?=\s*+{closers})"


def _next_object(form: FormPatterns) -> str:
    """Return the object of another call without its opener, before the last closer."""
    calls = form.calls
    if not calls.object.fields or not form.reads_again or not calls.is_closed:
        return ""
    return rf"{form.not_last}(?!{form.states['after_call'].find})[,;]?\s*+(?={exact(calls.object.opener)})"


# Beginnings of markers where the output ends


def _begun_opener(form: FormPatterns) -> str:
    """Return the beginning of an opener at the end of the text."""
    calls = form.calls
    if calls.opening.at_lines or not calls.opening.openers:
        return ""
    fenced = any(text.lstrip().startswith(FENCE) for text in calls.opening.truncatable)
    return _lead_of_openers(calls) + form.at_fence * fenced + truncated(calls.opening.truncatable, least=LEAST_CUT)


def begun_openers(form: FormPatterns) -> list[str]:
    """Return short patterns of where the beginning of an opener may be in text."""
    cores = [] if form.calls.opening.at_lines else [text.strip() for text in form.calls.opening.openers if text.strip()]
    most = max(map(len, form.calls.opening.openers), default=0)
    return [may_be_begun(_lead_of_openers(form.calls), cores, most)] if cores else []


def _lead_of_openers(calls: CallForm) -> str:
    """Return white space that the template writes before the calls."""
    return some_suffix(max(map(lead_of, calls.opening.openers), key=len, default=""))


def _cut_marker(form: FormPatterns, name: StateName) -> str:
    """Return the truncated end of the turn, or of the part that this state reads, at the output's end."""
    pattern, ends = _cut_ends(form, name, CUT_KINDS), turn_ends(form, lead=False)
    whole = f"(?!{ends})" if ends else ""
    worded = rf"(?=[\W_]*[^\W_])(?![^\W_]+\s*\Z){pattern}" if pattern else ""
    mixed = _cut_ends(form, name, CUT_KINDS, LEAST_PUNCTUATION, only=_begins_mixed)
    cut = group(either([worded, mixed])) if worded and mixed else worded or mixed
    return f"{_leads_in(form, name)}{whole}{cut}" if cut else ""


def _cut_end_after_calls(form: FormPatterns) -> str:
    """Return the truncated end of the turn, or of content, after complete calls: two letters of it may be text."""
    pattern = _cut_ends(form, "after_call", ENDS_AFTER_CALLS, LEAST_CUT - 1)
    last = f"(?!{form.not_last})" if form.not_last else ""
    return rf"{last}(?![^\W_]\s*[^\W_]\s*\Z){pattern}" if pattern else ""


def _begins_mixed(core: str) -> bool:
    """Return whether a marker begins with different characters that are neither letters nor digits."""
    first = without_space(core)[:LEAST_PUNCTUATION]
    return len({*first}) > 1 and not any(map(str.isalnum, first))


def _cut_ends(
    form: FormPatterns,
    name: StateName,
    kinds: Sequence[str],
    least: int = LEAST_CUT,
    only: Callable[[str], bool] = bool,
) -> str:
    """Return the pattern of truncated markers of these kinds; "" if there are none, or if they are text.  `only`: of
    markers for which this holds."""
    ends = [one for one in form.states.get(name, NO_LEXEMES).all if one.kind in kinds and only(one.core)]
    cores = [one.core for one in ends if not one.respelled]
    pattern = truncated(cores, least=least, any_spelling=any(one.respelled for one in ends), letters=True)
    return pattern if "cut_markers" in form.acceptor.tolerances and pattern != NOTHING else ""


def cut_markers(form: FormPatterns, name: StateName) -> list[str]:
    """Return short patterns of where a truncated end may be in text."""
    if not _cut_marker(form, name):
        return []
    cores = [one.core for one in form.states[name].all if one.kind in CUT_KINDS and not one.respelled]
    return [may_be_begun(_leads_in(form, name), cores, max(map(len, cores)))]


def _leads_in(form: FormPatterns, name: StateName) -> str:
    return group(either([some_suffix(lead) for lead in form.states[name].leads.split("\0") if lead]))
