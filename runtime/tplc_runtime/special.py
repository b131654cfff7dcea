"""Distinguish special tokens from text that is spelled like them.

    feed("<call>", special=())        →  {"content": "<call>"}
    feed("<call>", special=[(0, 6)])  →  a call begins

If ordinary text spells a token, GUARD is put before the token's last character: no marker is found there, and emitted
text doesn't contain the guard.  This needs no lookahead, and the states know nothing of tokens.
"""

from __future__ import annotations

from bisect import bisect_right

from .escapes import GUARD, unguarded
from .machine import Machine
from .message import Copyable, Diagnostic
from .pattern import Pattern
from .scanner import Scanner
from .stream import MOST_DIAGNOSTICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from .message import Delta

LONGEST_SHOWN = 64  # characters of a special token that a diagnostic shows
MOST_NOTES = 100


class KnownTokens:
    """The tokens of markers, the tokens that only end an answer, and beginnings of them that other markers share: an
    output that ends with one may be truncated inside of such a marker.

    `groups` find tokens, no two of which begin alike; `first` matches the beginning of a token, or a guard."""

    def __init__(self, groups: Sequence[Scanner], ends: Scanner, first: str, shared: Sequence[str] = ()) -> None:
        self.groups, self.ends, self.first = groups, ends, Pattern(first)
        self.shared = frozenset(shared)
        self.width = max(group.width for group in groups)


class Guard(Copyable):
    """Puts guards into the text of one answer.  Offsets are those of the text as it arrives; `places` are those of the
    guards in the text that is passed on."""

    MADE_OF: ClassVar[tuple[str, ...]] = ("tokens",)

    def __init__(self, tokens: KnownTokens) -> None:
        self.tokens = tokens
        self.tail = ""  # the beginning of a token that may continue
        self.delayed = 0  # so many characters of it are not passed on: a token that ends the answer may begin with them
        self.special = False  # whether the last character came from a special token,
        self.run = 0  # and how many of the tail's last characters
        self.ended, self.rest = False, ""  # whether a token ended the answer, and the text after it
        self.seen = self.passed = 0  # characters that arrived, and that were passed on with guards
        self.places: list[int] = []
        self.notes: list[Any] = []  # notes about special tokens that are no markers, to be collected
        self.noted = 0
        self.followed = False  # text after the end of the answer was noted
        self._unknown, self._unknown_at = "", 0  # the beginning of such a token, and its offset

    def guarded(self, chunk: str, special: Sequence[Sequence[int]]) -> str:
        """Return the chunk with guards.  `special`: its ranges from special tokens; those that touch are one."""
        if not (special or self.special or self.tail) and self.tokens.first.search(chunk) is None:
            self.seen += len(chunk)
            self.passed += len(chunk)
            return chunk
        old, before = len(self.tail), self.seen - len(self.tail)
        text, start = self.tail + chunk, old - self.delayed
        runs = self._runs(special, old, len(text))
        found = sorted(self._found(text, old))
        breaks, known, end = self._classified(text, old, runs, found)
        self.seen += len(chunk)
        stop = len(text) if end is None else end[0]
        self._note_unknown(text, before, runs, known, stop)
        self._keep_tail(text, runs)
        if end is not None:
            self.ended, self.rest = True, text[end[1] :]
            self.tail, self.delayed, self.special = "", 0, False
        return self._passed_on(text, start, stop - self.delayed, breaks)

    def finished(self) -> str:
        """Return the text to pass on at the end of the answer."""
        text, self.delayed = self.tail[len(self.tail) - self.delayed :], 0
        if self.special:
            self._close_unknown(self.seen)
        elif self.tail and self.tail not in self.tokens.shared:
            text += GUARD  # not a truncated token
            self.places.append(self.passed + len(text) - 1)
        self.tail, self.special = "", False
        self.passed += len(text)
        return text

    def has_ended(self) -> bool:
        """Return whether a token ended the answer.  Type checkers would assume that an attribute doesn't change."""
        return self.ended

    def _runs(self, special: Sequence[Sequence[int]], old: int, stop: int) -> list[tuple[int, int]]:
        """Return the special ranges in the text with the tail before it."""
        found: list[tuple[int, int]] = [(old - self.run, old)] if self.special else []
        for start, end in sorted((max(0, one[0]) + old, min(one[1] + old, stop)) for one in special):
            if end <= start:
                continue
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
        return found

    def _found(self, text: str, old: int) -> list[tuple[int, int, str]]:
        """Return the tokens that the text spells and that end in its new part: start, end, kind."""
        found = []
        for group in self.tokens.groups:
            mark = group.find(text, 0)
            while mark is not None:
                if mark.end > old:
                    found.append((mark.start, mark.end, mark.kind))
                mark = group.find(text, mark.start + 1)
        return found

    def _classified(
        self, text: str, old: int, runs: list[tuple[int, int]], found: list[tuple[int, int, str]]
    ) -> tuple[set[int], list[tuple[int, int]], tuple[int, int] | None]:
        """Return where guards go, where significant special tokens are, and where one of them ends the answer."""
        breaks = {at for at in range(old, len(text)) if text[at] == GUARD} if GUARD in text else set()
        known: list[tuple[int, int]] = []
        starts = [run[0] for run in runs]
        for start, stop, kind in found:
            at = bisect_right(starts, start) - 1
            if at >= 0 and stop <= runs[at][1]:
                known.append((start, stop))
                if kind == "end":
                    return {place for place in breaks if place < start}, known, (start, stop)
            elif kind == "token":
                breaks.add(stop - 1)
        return breaks, known, None

    def _keep_tail(self, text: str, runs: list[tuple[int, int]]) -> None:
        """Keep the end of the text that may be the beginning of a token."""
        size, tokens = len(text), self.tokens
        low = max(0, size - tokens.width)
        self.tail = text[min(group.partial_match(text, low) for group in tokens.groups) :]
        self.special = bool(runs) and runs[-1][1] == size
        self.run = min(size - runs[-1][0], len(self.tail)) if self.special else 0
        self.delayed = size - tokens.ends.partial_match(text, size - self.run) if self.run else 0

    def _passed_on(self, text: str, start: int, stop: int, breaks: set[int]) -> str:
        pieces, at = [], start
        for place in sorted(breaks):
            if start <= place < stop:
                pieces.append(text[at:place])
                self.places.append(self.passed + place - start + len(pieces) - 1)
                at = place
        passed = GUARD.join([*pieces, text[at:stop]])
        self.passed += len(passed)
        return passed

    # Special tokens that are no markers

    def _note_unknown(
        self, text: str, before: int, runs: list[tuple[int, int]], known: list[tuple[int, int]], stop: int
    ) -> None:
        """Note special tokens that are no markers.  `before`: the text's offset; the tail was examined before."""
        old = len(self.tail)
        at = 0
        if self.special and not (runs and runs[0][1] > old):
            self._close_unknown(before + old)
        for index, (start, end) in enumerate(runs):
            going_on = self.special and index == 0
            if not going_on:
                self._unknown, self._unknown_at = "", before + start
            only_space = max(start, old) if going_on else start
            while at < len(known) and known[at][0] < end:
                first, last = known[at]
                self._add_unknown(text[only_space:first])
                self._close_unknown(before + first)
                self._unknown, self._unknown_at = "", max(before + last, self._unknown_at)
                only_space, at = max(last, only_space), at + 1
            self._add_unknown(text[only_space : min(end, stop)])
            if end < len(text):
                self._close_unknown(before + min(end, stop))
        if stop < len(text):
            self._close_unknown(before + stop)

    def _add_unknown(self, text: str) -> None:
        self._unknown += text[: LONGEST_SHOWN - len(self._unknown)]

    def _close_unknown(self, end: int) -> None:
        shown, at = self._unknown[: max(0, end - self._unknown_at)], self._unknown_at
        self._unknown = ""
        if shown.strip() and self.noted < MOST_NOTES:
            self.noted += 1
            self.notes.append(Diagnostic(at, "a special token that is no marker: " + shown, "unknown_special_token"))


class SpecialTokens(Machine):
    KNOWN_TOKENS: ClassVar[KnownTokens]
    TOKEN_OPENS: ClassVar[Sequence[str]] = ()  # the tokens that open calls, if any
    GUARDED: ClassVar[bool] = True
    _guard: Guard | None = None

    def _feed_special(self, chunk: str, special: Sequence[Sequence[int]]) -> list[Delta]:
        guard = self._guard
        if guard is None:
            guard = self._guard = Guard(self.KNOWN_TOKENS)
            self._out.guarded = True
        if guard.ended:
            return self._feed_after_end(chunk)
        if not self._parts:  # chunks may have been passed on since then that the guard has not seen
            self._flush_fast_path()
            passed = self._base + len(self._buf)
            guard.seen, guard.passed = guard.seen + passed - guard.passed, passed
        text = guard.guarded(chunk, special)
        self._take_notes(guard)
        deltas = self._feed_guarded(text)
        if guard.has_ended():
            return deltas + self.finish() + self._feed_after_end(guard.rest)
        if guard.tail or guard.special:
            self._text_fast_path = self._value_fast_path = False
        return deltas

    def _feed_guarded(self, text: str) -> list[Delta]:
        """Handle text with guards, which always goes through the states, as does the text after a pending guard."""
        if (self.WAITS and self._is_still_ambiguous is not None) or self._wanted > len(text):
            return self._feed_slowly(text) if text else []
        if GUARD in text or GUARD in self._buf:
            return self._advance(text)
        if text == "":
            return []
        return self._regular_fast_path(self, text) if self._regular_fast_path is not None else self._feed_slowly(text)

    def finish(self) -> list[Delta]:
        """Ends the output; returns the remaining deltas."""
        guard, deltas = self._guard, []
        if guard is not None and not self._final:
            text = guard.finished()
            self._take_notes(guard)
            deltas = self._feed_guarded(text)
        return deltas + super().finish()

    def _feed_after_end(self, text: str) -> list[Delta]:
        guard = self._guard
        if guard is not None and text.strip() and not guard.followed:
            guard.followed = True
            self._note("text_after_turn", "text after the end of the turn")
        if text:
            self._out.texts["trailing"].append(text)
        return []

    def _take_notes(self, guard: Guard) -> None:
        for note in guard.notes:
            self._insert(note)
        guard.notes.clear()

    def _note(self, code: str, text: str) -> None:
        guard = self._guard
        if guard is None:
            super()._note(code, text)
        elif len(self._diagnostics) - guard.noted < MOST_DIAGNOSTICS:
            self._insert(Diagnostic(self._here(), unguarded(text), code))

    def _here(self) -> int:
        guard, offset = self._guard, self._base + self._pos
        return offset if guard is None else offset - bisect_right(guard.places, offset - 1)

    def _insert(self, note: Any) -> None:
        """Insert a note by its place in the text, because the time of noting depends on the chunks."""
        at = len(self._diagnostics)
        while at and tuple(self._diagnostics[at - 1]) > tuple(note):
            at -= 1
        self._diagnostics.insert(at, note)

    def _try_call(self, kind: str) -> bool:
        """Try a call; text that spells tokens of its format opens none."""
        opened = self._buf[self._mark.start : self._mark.end]
        lacks = self._calls_on and self.TOKEN_OPENS and not any(token in opened for token in self.TOKEN_OPENS)
        if lacks and self._out.spells_tokens and self._state != type(self)._after_call:
            self._note("not_a_call", "not a call: expected the token " + self.TOKEN_OPENS[0])
            self._after_failed_call = True
            self._keep_as_text(kind)
            return True
        return super()._try_call(kind)

    def _open_call(self, name: str, call_id: str | None = None) -> None:
        if self._guard is not None:
            name, call_id = unguarded(name), None if call_id is None else unguarded(call_id)
        super()._open_call(name, call_id)
