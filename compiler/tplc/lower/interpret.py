r"""Interpret the states of a turn: the plain definition of what a parser does with text, for tests to compare with.

    interpret(acceptor, "<r>Hm.</r>Yes.<end>")  →  Interpretation(content="Yes.", reasoning_content="Hm.", …)

It reads whole outputs only, and slowly.  Calls are read if they are written as the template writes them; for any other
it raises NotAsWritten, because tolerances in calls are not defined here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from tplc.ir.markers import without_space
from tplc.lower.acceptor import Acceptor
from tplc.lower.interpret_calls import InterpretedCall, NotAsWritten, read_call, read_slots
from tplc.lower.lexemes import Lexeme, Lexemes, lexemes_of
from tplc.lower.markerlike import damaged_arguments, end_of_cut_values, marker_like_texts
from tplc.lower.states import (
    COUNTED_AS,
    Action,
    Branch,
    StateName,
    Transition,
    TurnState,
    is_unopened,
    starts_with_closer,
    states,
)
from tplc_runtime.escapes import Escapes
from tplc_runtime.markerlike import LIKE_A_MARKER, marker_like
from tplc_runtime.message import Message
from tplc_runtime.pattern import IDENTIFIER, LEAST_CUT, Pattern
from tplc_runtime.places import CODE_END, MOST_ENDS, UNCLOSED_KINDS
from tplc_runtime.transcript import is_in_code
from tplc_runtime.turn import (
    ENDS_IN_CALL,
    ENDS_IN_REASONING,
    REASONING_TWICE,
    SPACE_SEPARATOR,
    SPELLING,
    TEXT_AFTER_TURN,
)

# The kinds of COUNTED_AS by the kind that they are where they count.
_COUNTING = {counted: kind for kind, counted in COUNTED_AS.items()}


@dataclass(frozen=True, slots=True)
class Found:
    """A lexeme in the text, as the kind that it counts as there."""

    lexeme: Lexeme
    kind: str
    start: int
    end: int

    def in_text(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass
class Interpretation:
    """`escapes` are the texts that stand for characters, by kind of text; `run` is the kind of the last text, and where
    the text of that kind begins in which they are still to be decoded."""

    escapes: dict[str, Escapes] = field(default_factory=dict)
    run: tuple[str, int] = ("", 0)
    content: str = ""
    reasoning_content: str = ""
    trailing: str = ""
    pending: str = ""
    calls: list[InterpretedCall] = field(default_factory=list)
    incomplete: bool = False
    diagnostics: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def message(self) -> dict[str, object]:
        reasoning = self.reasoning_content or None
        content = None if not self.content and (reasoning or self.calls) else self.content
        calls = [
            {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.calls
        ]
        return {"role": "assistant", "content": content, "reasoning_content": reasoning, "tool_calls": calls}

    def add(self, kind: str, text: str) -> None:
        """Append a text of this kind; only a text of another kind between two of them separates them."""
        if kind != self.run[0] and text:
            self.decode()
            self.run = (kind, len(getattr(self, kind)))
        setattr(self, kind, getattr(self, kind) + text)

    def decode(self) -> None:
        """Put the characters in the place of the texts that stand for them in the last run."""
        kind, start = self.run
        if kind in self.escapes:
            text = getattr(self, kind)
            setattr(self, kind, text[:start] + self.escapes[kind].unescape(text[start:]))
        self.run = ("", 0)

    def is_empty(self) -> bool:
        return not (self.content or self.reasoning_content or self.trailing or self.pending or self.calls)


def interpret(
    acceptor: Acceptor, output: str, *, parse_reasoning: bool = True, parse_tool_calls: bool = True
) -> Interpretation:
    """Read a whole output; raises NotAsWritten if a call is not written as the template writes it."""
    options = {"parse_reasoning": parse_reasoning, "parse_tool_calls": parse_tool_calls and acceptor.calls is not None}
    interpreter = _Interpreter(acceptor, output, options)
    found = interpreter.read()
    end = "" if acceptor.calls is None else end_of_cut_values(acceptor.calls)
    if end and found.calls and interpreter.text.count(end, found.calls[0].end - len(end)) > len(found.calls):
        raise NotAsWritten  # a value that contains the call's closer was cut
    return found


class _Interpreter:
    def __init__(self, acceptor: Acceptor, output: str, options: Mapping[str, bool]) -> None:
        self.acceptor, self.options, self.parse_reasoning = acceptor, options, options["parse_reasoning"]
        self.head = acceptor.heads[0]
        self.text, self.pos = self.head + output, 0
        self.reading = Interpretation({each.kind: Escapes(dict(each.replaced)) for each in acceptor.escapes})
        self.states = {state.name: state for state in states(acceptor)}
        self.space = SPACE_SEPARATOR.join(acceptor.content_spaces)  # white space of the template that may still come
        self.only_space_so_far = True  # nothing but white space has come in this part
        self.at_line_start = True
        self.after_marker = True  # no text has come since a marker, or the beginning
        self.in_reasoning = self.after_kept_call = False
        self.is_unclosed = False  # the last closer of the last call has not come
        self.calls_are_closed = False

    def read(self) -> Interpretation:
        state: StateName = "content"
        if self.parse_reasoning and is_unopened(self.acceptor):
            state = "pending"
        elif self.parse_reasoning and starts_with_closer(self.acceptor):
            state = "start"
        while self.pos < len(self.text) and state != "over":
            state = self._step(state)
            if state == "over" and self._goes_on_after_the_turn():
                state = "content"
        if self.pos < len(self.text):
            self._over()
        self._release("content")
        self.reading.decode()
        if self.in_reasoning and self.parse_reasoning:
            self.reading.incomplete = True
            self._note(*ENDS_IN_REASONING)
        if self.is_unclosed and self.acceptor.calls is not None and not self.acceptor.calls.closing.ends_turn:
            self.reading.incomplete = True
            self._note(*ENDS_IN_CALL)
        if not self.reading.diagnostics and (found := _marker_like(self.acceptor, self.reading)):
            self._note("like_a_marker", found + LIKE_A_MARKER)
        return self.reading

    def _step(self, name: StateName) -> StateName:
        """Read up to the next lexeme that counts, and follow its transition."""
        self._skip_space()
        state = self.states[name]
        if state.text is None:
            found = self._next(state)
            if found is None:
                return self._text_where_none_is_expected(state)
        else:
            if name == "reasoning" and self._drop_repeated(state):
                return name
            first = self._first_of_content() if self.only_space_so_far and name in ("content", "pending") else None
            found = first or self._find(state)
            self._emit_before(found, self._kind_of_text(state))
            if found is None:
                self._check_end()
                return name
        return self._follow(state, found)

    def _follow(self, state: TurnState, found: Found) -> StateName:
        lookup = dict(self.states["before_content"].on if "before_content" in self.states else ()) | dict(state.on)
        transition = self._taken(lookup.get(found.kind) or lookup[_COUNTING[found.kind]])
        if self._is_name_end(found):
            self._keep(found, state.text or "content")
            return state.name
        if transition.note and not (transition.only_after_text and self.only_space_so_far):
            self._note(*transition.note)
        if state.name == "after_call" and not transition.actions:
            self.is_unclosed = False  # only the end of the output, or text, shows that something is missing
        for action in transition.actions:
            if action == "keep":
                self._keep(found, "content" if state.name == "reasoning" else state.text or "content")
            elif action == "pending is reasoning":
                self._release("reasoning_content")
            elif action == "pending is content":
                self._release("content")
            elif state.name == "after_call":
                self._after_call(action, found)
            elif action == "open call":
                self._check_opener(state, found)
            else:
                self._drop(found, action)
        if found.kind in ("reasoning", "reasoning_end", "line", "end") and state.name != "pending":
            self.in_reasoning = transition.next == "reasoning"
        if transition.next != "call":
            return transition.next
        return self._read_call(found.end)

    def _taken(self, found: Transition | Branch) -> Transition:
        if not isinstance(found, Branch):
            return found
        holds = {**self.options, "call is closed": not self.is_unclosed, "calls are closed": self.calls_are_closed}
        return found.on if holds[found.condition] else found.off

    # Calls

    def _check_opener(self, state: TurnState, found: Found) -> None:
        """Raise NotAsWritten unless the template writes this opener, and outside of open reasoning."""
        assert self.acceptor.calls is not None
        opening = self.acceptor.calls.opening
        own = {text.strip() for text in (*opening.openers[:1], *opening.inner) if not _is_one_of(text, opening.twice)}
        odd = found.lexeme.respelled or found.kind == "ordinary" or state.name == "reasoning"
        if odd or found.in_text(self.text).strip() not in own or (self.is_unclosed and state.drops_left_over):
            raise NotAsWritten

    def _check_end(self) -> None:
        """Raise NotAsWritten if the output ends with the beginning of an opener, because that is a matter of
        tolerances."""
        calls = self.acceptor.calls if self.options["parse_tool_calls"] else None
        tail = without_space(self.text)
        for opener in map("".join, map(str.split, calls.opening.openers if calls is not None else ())):
            if any(tail.endswith(opener[:size]) for size in range(LEAST_CUT, len(opener))):
                raise NotAsWritten

    def _read_call(self, pos: int) -> StateName:
        calls = self.acceptor.calls
        assert calls is not None
        call = read_call(calls, self.text, pos)
        if calls.only_tools and not re.fullmatch(IDENTIFIER, call.name):
            raise NotAsWritten
        damaged = damaged_arguments(self.acceptor)
        if damaged is not None and Pattern(damaged).match(json.dumps(call.arguments, ensure_ascii=False)):
            raise NotAsWritten
        self._release("content")
        self.reading.decode()
        self.reading.calls.append(call)
        self.pos, self.space = call.end, ""
        self.only_space_so_far = self.at_line_start = self.after_marker = True
        self.is_unclosed, self.calls_are_closed, self.in_reasoning = calls.is_closed, False, False
        return "after_call"

    def _after_call(self, action: Action, found: Found) -> None:
        if action == "open call":
            self._check_opener(self.states["after_call"], found)
            return
        assert self.acceptor.calls is not None
        calls = self.acceptor.calls
        is_last = _is_one_of(found.in_text(self.text), calls.closing.last_pieces)
        if found.lexeme.respelled or (is_last and not self.is_unclosed):
            raise NotAsWritten
        if action != "open call without opener":
            self.pos, self.space = found.end, found.lexeme.trail
        if action == "read tail" and calls.tail is not None:
            slots, self.pos = read_slots(calls.tail[1], self.text, found.end)
            last = self.reading.calls[-1]
            if slots.get("name", last.name) != last.name:
                raise NotAsWritten
            self.reading.calls[-1] = replace(last, call_id=slots.get("id", last.call_id))
            self.space = ""
        if action in ("close call", "close calls", "read tail"):
            self.is_unclosed = False
        elif action == "drop separator":
            self.is_unclosed = True
        self.calls_are_closed = self.calls_are_closed or action == "close calls"

    def _text_where_none_is_expected(self, state: TurnState) -> StateName:
        """Follow the transition for other text, or for the end of the output."""
        assert state.otherwise is not None
        transition = self._taken(state.otherwise)
        if state.name == "after_call" and (rest := self.text[self.pos :].strip()):
            markers = [without_space(lexeme.core) for lexeme in state.lexemes.all]
            is_cut = any(marker.startswith(without_space(rest)) for marker in markers)
            if self.is_unclosed or is_cut or rest[0] in "}])\"'`.,;" or transition.next == "call":
                raise NotAsWritten
        return "content" if transition.next == "call" else transition.next

    def _goes_on_after_the_turn(self) -> bool:
        """Return whether a call, or another message with one, follows the end of the turn."""
        state = self.states.get("over")
        return state is not None and self.options["parse_tool_calls"] and self._next(state) is not None

    # Lexemes

    def _matches(self, state: TurnState, pos: int) -> Found | None:
        escape = self.acceptor.escape_of_ends if state.text == "content" else ""
        match = _first(re.compile(state.lexemes.find, re.DOTALL), self.text, pos, escape)
        if match is None or match.lastindex is None:
            return None
        lexeme = state.lexemes.all[match.lastindex - 1]
        return Found(lexeme, lexeme.kind, match.start(), match.end())

    def _next(self, state: TurnState) -> Found | None:
        """Return the lexeme that comes next, apart from white space."""
        start = len(self.text) - len(self.text[self.pos :].lstrip())
        found = self._matches(state, start)
        return found if found is not None and found.start == start else None

    def _first_of_content(self) -> Found | None:
        """Return an opener that counts only before any text of reasoning or content."""
        state = self.states.get("before_content")
        found = self._next(state) if state is not None else None
        return found if state is not None and found is not None and found.kind in state.counting else None

    def _drop_repeated(self, state: TurnState) -> bool:
        """Drop what opens reasoning again; what its closer follows is all that the reasoning holds."""
        if not (self.only_space_so_far and self.parse_reasoning):
            return False
        again = self._at(lexemes_of([("reasoning", self.acceptor.repeated_reasoning)]), _next_char(self.text, self.pos))
        after = None if again is None else self._at(state.lexemes, _next_char(self.text, again.end))
        if again is None or (after is not None and after.kind in ("reasoning_end", "reasoning_line")):
            return False
        self._note(*REASONING_TWICE)
        self.pos, self.space = again.end, again.lexeme.trail
        return True

    def _at(self, lexemes: Lexemes, pos: int) -> Found | None:
        match = re.compile(lexemes.find, re.DOTALL).match(self.text, pos)
        if match is None or match.lastindex is None:
            return None
        lexeme = lexemes.all[match.lastindex - 1]
        return Found(lexeme, lexeme.kind, pos, match.end())

    def _is_closed(self, state: TurnState, pos: int) -> bool:
        """Return whether a closer as the template writes it comes before the end of the turn."""
        found = self._matches(state, pos)
        while found is not None and found.kind not in ("reasoning_end", "end"):
            if found.kind == "reasoning_line" and _ends_at_line_start(self.text[pos : found.start], before=False):
                return True
            found = self._matches(state, found.start + 1)
        return found is not None and found.kind == "reasoning_end"

    def _find(self, state: TurnState) -> Found | None:
        """Return the first lexeme that counts at its place, and isn't the fence that closes code."""
        found = self._counting(state, self._matches(state, self.pos))
        while found is not None and CODE_END.match(self.text, found.start) is not None:
            before = getattr(self.reading, self._kind_of_text(state)) + self.text[self.pos : found.start]
            if not _closes_code(self.acceptor, before):
                break
            found = self._counting(state, self._matches(state, found.start + 1))
        return found

    def _kind_of_text(self, state: TurnState) -> str:
        return (state.text or "content") if self.parse_reasoning or state.name != "reasoning" else "content"

    def _counting(self, state: TurnState, found: Found | None) -> Found | None:
        """Return the lexeme, or the first after it, that counts at its place."""
        at_line_start, seen, outer = self.at_line_start, self.pos, None
        while found is not None and found.kind in ("line", *UNCLOSED_KINDS, *COUNTED_AS):
            if found.kind in UNCLOSED_KINDS:
                if not self._is_closed(state, found.end):
                    counted = "reasoning_end" if found.kind == "respelled" else found.kind
                    return Found(found.lexeme, counted, found.start, found.end)
            elif found.kind in ("line", "reasoning_line"):
                at_line_start, seen = _ends_at_line_start(self.text[seen : found.start], at_line_start), found.start
                if found.kind == "reasoning_line" and at_line_start:
                    return Found(found.lexeme, "reasoning_end", found.start, found.end)
                # One of which a later piece is at a line's start counts as a whole.
                if at_line_start and found.kind == "line":
                    whole = outer if outer is not None and found.start < outer.end else found
                    if _begins_call(self.acceptor, whole, self.text, self.pos * self.after_marker):
                        return whole
                outer = found if outer is None or found.start >= outer.end else outer
            elif (kind := self._kind_at_end(state, found)) is not None:
                return Found(found.lexeme, kind, found.start, found.end)
            found = self._matches(state, found.start + 1)
        return found

    def _kind_at_end(self, state: TurnState, found: Found) -> str | None:
        """Return the kind as which a prose-like lexeme counts: at the output's end, or before another lexeme; otherwise
        None."""
        at, after = _next_char(self.text, found.end), None
        for _ in range(MOST_ENDS):
            if at == len(self.text):
                return "end" if found.kind == "final_end" else "content_end"
            after = self._matches(state, at)
            if found.kind != "final_end" or after is None or after.kind != "final_end" or after.start != at:
                break
            at = _next_char(self.text, after.end)
        if found.kind == "final_end" or after is None or after.start != at:
            return None
        if after.kind == "final_end":
            return "content_end" if not self.text[after.end :].strip() else None
        counts = after.kind != "weak_content_end" and (after.kind != "line" or "\n" in self.text[found.end : at])
        return "content_end" if counts else None

    def _is_name_end(self, found: Found) -> bool:
        """Return whether what opens a message may end the name of a call that is kept."""
        return self.acceptor.name_opens_message and self.after_kept_call and found.kind in ("reasoning", "content")

    def _is_text(self, found: Found) -> bool:
        if found.kind in ("call", "line", "empty"):
            return found.kind == "empty"
        return self._is_name_end(found) or (
            not self.parse_reasoning and found.kind in ("stray", "reasoning", "reasoning_end")
        )

    # Text

    def _emit_before(self, found: Found | None, kind: str) -> None:
        end = len(self.text) if found is None else found.start
        between = self.text[self.pos : end]
        is_blank = self.only_space_so_far and not between.strip()
        self.only_space_so_far = is_blank
        silent = self.reading.is_empty()
        if found is None:
            if not is_blank or silent:
                self._emit(kind, end)
            self.pos = end
            return
        # White space alone is the answer if the turn ends after it.
        alone = found.kind == "end" and kind == "content" and silent
        is_text = self._is_text(found)
        lead = 0 if is_text else len(between) if is_blank and not alone else _overlap(between, found.lexeme.lead)
        if not is_blank or is_text or alone:
            self._emit(kind, end - lead)
        self.pos = end - lead if found.kind in ("call", "line") else end

    def _emit(self, kind: str, end: int) -> None:
        text = self.text[self.pos : end]
        self.at_line_start = _ends_at_line_start(text, self.at_line_start)
        self.after_marker = self.after_marker and not text
        new = text[max(0, len(self.head) - self.pos) :]
        self.reading.add(kind, new)
        self.pos = end

    def _keep(self, found: Found, kind: str) -> None:
        self._emit(kind, found.end)
        self.only_space_so_far = False
        self.after_kept_call = found.kind in ("call", "line")

    def _drop(self, found: Found, action: str) -> None:
        if found.lexeme.respelled:
            self._note(*SPELLING)
        self.pos, self.space = found.end, found.lexeme.trail
        self.after_kept_call = False
        self.only_space_so_far = self.only_space_so_far if action == "drop and go on" else action == "drop"
        self.at_line_start = self.after_marker = True  # what counts where a line begins counts after a marker, too

    def _skip_space(self) -> None:
        while self.space and self.pos < len(self.text):
            char, spaces = self.text[self.pos], self.space.split(SPACE_SEPARATOR)
            rests = [space[1:] for space in spaces if space[:1] == char]
            self.pos, self.space = self.pos + bool(rests), SPACE_SEPARATOR.join(rests)

    def _release(self, kind: str) -> None:
        pending, self.reading.pending = self.reading.pending, ""
        if kind == "reasoning_content" and (opened := _opener_before(self.acceptor, pending)):
            self._note(*REASONING_TWICE)
            pending = pending[opened:]
        if pending.strip() or kind == "content":
            self.reading.add(kind, pending)

    def _over(self) -> None:
        self.pos = len(self.text) - len(self.text[self.pos :].lstrip())
        if self.pos < len(self.text):
            self._note(*TEXT_AFTER_TURN)
            self._emit("trailing", len(self.text))

    def _note(self, code: str, text: str) -> None:
        if self.pos >= len(self.head):
            self.reading.diagnostics.append((self.pos - len(self.head), text, code))


def _begins_call(acceptor: Acceptor, found: Found, text: str, first: int) -> bool:
    """Return whether what follows an opener that is like text begins like a call that the template writes.  `first`:
    where the text after a marker begins, which may be indented; 0 if more has come."""
    begins = acceptor.calls.opening.begins if acceptor.calls is not None else ""
    before = text[max(0, found.start - 1) : found.start]
    is_first = not text[first : found.start].strip()
    if begins and not is_first and before in (" ", "\t") and before != found.lexeme.lead[-1:]:
        return False
    return re.compile(begins).match(text, found.end) is not None


def _overlap(text: str, lead: str) -> int:
    """Return how many characters at the end of the text are white space of the marker after it."""
    return next((size for size in range(min(len(text), len(lead)), 0, -1) if text.endswith(lead[-size:])), 0)


def _ends_at_line_start(text: str, before: bool) -> bool:
    _, newline, line = text.rpartition("\n")
    return (bool(newline) or before) and not line.strip()


def _first(pattern: re.Pattern[str], text: str, pos: int, escape: str) -> re.Match[str] | None:
    """Return the first match that doesn't begin with the end of an escape."""
    match = pattern.search(text, pos)
    while match is not None and _is_escaped(escape, text, match.start()):
        match = pattern.search(text, match.start() + 1)
    return match


def _is_escaped(escape: str, text: str, at: int) -> bool:
    """Return whether the character at this place is the end of an escape in content."""
    before = text[:at]
    odd = bool(escape) and (len(before) - len(before.rstrip(escape[0]))) % 2 == 1
    return odd and text.startswith(escape[1], at)


def _closes_code(acceptor: Acceptor, before: str) -> bool:
    """Return whether a fence after this text closes code, rather than opening calls."""
    may_be_fenced = acceptor.calls is not None and acceptor.calls.opening.may_be_fenced
    return may_be_fenced and is_in_code(before, False) and not before.rpartition("\n")[2].strip()


def _opener_before(acceptor: Acceptor, pending: str) -> int:
    """Return the length of an opener before reasoning that the template opens nowhere."""
    openers = lexemes_of([("reasoning", acceptor.repeated_reasoning)])
    match = re.match(rf"\s*(?:{openers.find})", pending) if openers.all else None
    return match.end() if match is not None else 0


def _next_char(text: str, pos: int) -> int:
    return len(text) - len(text[pos:].lstrip())


def _marker_like(acceptor: Acceptor, reading: Interpretation) -> str:
    """Return text like a marker; "" if there is none."""
    patterns = marker_like_texts(acceptor)
    if patterns is None:
        return ""
    named = [(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in reading.calls]
    calls = [{"function": {"name": name, "arguments": text}} for name, text in named]
    return marker_like(
        cast("Message", {**reading.message, "tool_calls": calls}),
        [Pattern(one) for one in (patterns.text, patterns.edge, patterns.value, *patterns.alone)],
    )


def _is_one_of(text: str, others: tuple[str, ...]) -> bool:
    """Return whether a text, without white space, ends with one of the others."""
    return without_space(text).endswith(others)
