"""The flags of the runtime that the states of a turn decide, and the names of the scanners of these states.

TurnState("content", kinds=(("call", …), ("end", …)), …)  →  HAS_LINE_MARKERS off, TEXT_MARKERS off, …
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tplc.lower.acceptor import Acceptor
from tplc.lower.lexemes import Lexemes
from tplc.lower.states import (
    COUNTED_AS,
    OPENED_BY_SEPARATOR,
    UNCLOSED,
    Branch,
    StateName,
    TurnState,
    calls_end_reasoning,
    has_respelled_ends,
    is_unopened,
    opener_kind,
)
from tplc_runtime.scanner import WORD_SLOT
from tplc_runtime.slots import NUMBERS

SCANNERS: Mapping[StateName, str] = {
    "start": "AT_START",
    "pending": "IN_REASONING",
    "reasoning": "IN_REASONING",
    "content": "IN_CONTENT",
    "before_content": "BEFORE_CONTENT",
    "after_call": "AFTER_CALL",
    "over": "AFTER_TURN",
}
MAY_BE_TEXT = ("stray", "empty", "reasoning", "reasoning_end")
# The kinds of markers that states distinguish.  Where a format has no marker of a kind, its parser has no comparison
# with it (fold.py): nothing else in the runtime that is called `kind` may be compared with one of these words.
KINDS = frozenset(
    """reasoning content_end header stray empty unclosed call line whole tail both separator section closed
    close""".split()
)


def flags_of_turn(facts: Acceptor, of_state: Mapping[StateName, TurnState]) -> dict[str, bool]:
    """Return the flags that decide how a turn is read."""
    calls = facts.calls
    return {
        "UNOPENED_CALLS": calls is not None and calls.opening.may_be_missing,
        "HAS_OPENERS": calls is not None and bool(calls.opening.openers),
        "FENCED_CALLS": calls is not None and calls.opening.may_be_fenced,
        "PENDING_TEXT": is_unopened(facts),
        "REASONING_IS_CLOSED": calls is None or not calls.opening.ends_reasoning,
        "CLOSERS_COME_FIRST": "start" in of_state and not is_unopened(facts),
        "NAME_OPENS_MESSAGE": facts.name_opens_message,
        "DROPS_TRUNCATED_MARKERS": "cut_markers" in facts.tolerances,
    }


def flags_after_calls(state: TurnState) -> dict[str, bool]:
    """Return the flags that decide what follows a call."""
    on_text = state.otherwise.condition if isinstance(state.otherwise, Branch) else ""
    return {
        "DROPS_LEFT_OVER": state.drops_left_over,
        "SEPARATOR_OPENS": ("separator", OPENED_BY_SEPARATOR) in state.on,
        "CALLS_ARE_JUXTAPOSED": on_text == "calls are closed",
        "TEXT_ENDS_TURN": on_text == "call is closed",
    }


def idle_flags(
    facts: Acceptor, of_state: Mapping[StateName, TurnState], printed: Collection[Lexemes]
) -> dict[str, bool]:
    """Return flags for what a format lacks: they change nothing that a parser reads, but what it consists of.

    `printed`: what its scanners search for."""
    markers = [lexeme for found in printed for lexeme in found.all]
    calls = facts.calls
    slots = () if calls is None else (*calls.header, *(calls.tail[1] if calls.tail else ()))
    at_ends = bool(facts.last_ends or facts.weak_content_ends)
    at_lines = bool(facts.reasoning_ends_at_lines)
    if calls is not None:
        by_opener = bool(calls.opening.openers) and (opener_kind(calls) == "line" or calls_end_reasoning(facts))
        at_lines = at_lines or by_opener or bool(calls.opening.ordinary)
    unclosed = "reasoning" in of_state and UNCLOSED in dict(of_state["reasoning"].kinds)
    respelled_ends = unclosed or has_respelled_ends(facts)
    texts = (*facts.heads, *(marker.core for marker in markers))
    without_text = any(state.text is None or name == "before_content" for name, state in of_state.items())
    kinds = {kind for state in of_state.values() for kind, _ in state.kinds}
    return {
        "HEADED": any(facts.heads),
        "REASONING": bool(facts.reasoning_starts or facts.reasoning_ends),
        "HAS_REASONING": bool(facts.reasoning_starts),
        "CONTENT_OPENS": bool(facts.content_starts),
        "CLOSER_OPENS_CONTENT": facts.closer_opens_content,
        # States without text wait until a marker is whole.
        "WAITS": calls is not None or bool(facts.repeated_reasoning) or without_text,
        "PLACE_DECIDES": at_ends or respelled_ends or at_lines,
        "HAS_LINE_MARKERS": at_lines,
        "HAS_LINE_CLOSERS": bool(facts.reasoning_ends_at_lines),
        "HAS_FINAL_MARKERS": at_ends,
        "HAS_RESPELLED_ENDS": respelled_ends,
        # A marker may be text at its place, or because the caller wants it.
        "TEXT_MARKERS": facts.name_opens_message or not kinds.isdisjoint(MAY_BE_TEXT),
        # What may follow a call depends on whether the closer of all calls has come.
        "SECTION_DECIDES": any(
            isinstance(found, Branch) and found.condition == "calls are closed"
            for state in of_state.values()
            if state.name == "after_call"
            for found in (state.otherwise, *(found for _, found in state.on))
        ),
        "CALLS_HAVE_INDEX": any(slot.kind in NUMBERS for slot in slots),
        "OTHER_SPELLINGS": any(marker.respelled for marker in markers),
        "WORD_SLOTS": any(WORD_SLOT in text for text in texts),
    }


def absent_kinds(facts: Acceptor, printed: Collection[Lexemes]) -> frozenset[str]:
    """Return the kinds of markers that states distinguish and the format has none of."""
    kinds = {lexeme.kind for found in printed for lexeme in found.all}
    kinds |= {COUNTED_AS[kind] for kind in kinds & COUNTED_AS.keys()}
    if facts.calls is not None:
        kinds |= {"call", *["whole"] * bool(facts.calls.whole)}
    return KINDS - kinds
