"""Print a method for each state of a turn, from its row of the table.

TurnState("content", text="content", on=(("end", drop → over), ("header", note "another turn begins", drop → content)))
→
    def _content(self) -> bool:
        # content = (text | TURN_END)*
        kind = self._until(self.IN_CONTENT, "content")
        if kind == "end":
            return self._end_turn()
        if kind == "header":
            return self._drop_after_text("another turn begins")
        return kind != ""
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tplc.backends.python.literals import literal, texts
from tplc.lower.acceptor import Acceptor
from tplc.lower.states import (
    CALLS,
    COUNTED_AS,
    UNCLOSED,
    Action,
    Branch,
    BranchTest,
    StateName,
    Transition,
    TurnState,
    transition_of,
)

METHODS: Mapping[str, str] = {
    "start": "_start",
    "pending": "_pending_text",
    "reasoning": "_reasoning",
    "content": "_content",
    "after_call": "_after_call",
    "over": "_over",
}
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


_UNOPENED_CALLS = (
    "        unopened = self._unopened_calls()",
    "        if unopened is not None:",
    "            return unopened",
)
_REASONING_AGAIN = (
    "        again = self._reasoning_again()",
    "        if again is not False:",
    "            return again is True",
)


def keeps_markers(facts: Acceptor, of_state: Mapping[StateName, TurnState]) -> bool:
    """Return whether a marker may be text at its place, or because the caller wants it."""
    return facts.name_opens_message or any(
        kind in MAY_BE_TEXT for state in of_state.values() for kind, _ in state.kinds
    )


def waits_for_markers(of_state: Mapping[StateName, TurnState]) -> bool:
    """Return whether there are states without text, which wait until a marker is whole."""
    return any(state.text is None or name == "before_content" for name, state in of_state.items())


def state_methods(facts: Acceptor, of_state: Mapping[StateName, TurnState], rules: Mapping[str, str]) -> list[str]:
    """Print the methods of the states that text is in; `rules` are what they are commented with."""
    first: StateName = "pending" if "pending" in of_state else "start"
    lines: list[str] = []
    if first in of_state:
        lines.append(f"    FIRST_STATE = {literal(METHODS[first])}")
    for name in ("start", "pending", "reasoning", "content"):
        if name in of_state:
            lines += _method(of_state[name], facts, rules[name], of_state.get("before_content"))
    return lines + (_after_call(of_state["after_call"], rules["after_call"]) if "after_call" in of_state else [])


def _method(state: TurnState, facts: Acceptor, rule: str, before: TurnState | None) -> list[str]:
    """Return the method of a state.  `before` is the state before any content, if more markers count there."""
    lines = ["", f"    def {METHODS[state.name]}(self) -> bool:", f"        # {rule}"]
    if state.name == "content" and facts.calls is not None and facts.calls.may_lack_openers:
        lines += _UNOPENED_CALLS
    if state.text is None:
        lines += [f"        kind = self._next(self.{SCANNERS[state.name]})", "        if kind is None:"]
        lines += ["            return False"]
    elif state.name == "reasoning":
        lines += [*_REASONING_AGAIN] if facts.repeated_reasoning else []
        lines.append('        text = "reasoning_content" if self._reasoning_on else "content"')
        lines.append(f"        kind = self._until(self.{SCANNERS[state.name]}, text)")
    elif before is not None:
        kinds = [kind for kind, _ in state.on]
        more = [(kind, transition_of(state.name, kind)) for kind, _ in before.kinds if kind not in kinds]
        state = replace(state, on=(*state.on, *more))
        lines += _until_or_first(state, before.counting)
    else:
        lines.append(f"        kind = self._until(self.{SCANNERS[state.name]}, {literal(str(state.text))})")
    whole = facts.calls is not None and bool(facts.calls.whole)
    for does, kinds in _branches(state, whole=whole).items():
        lines += [f"        if kind {_is_kind(kinds)}:", *(f"            {line}" for line in does)]
    if state.text is None:
        return [*lines, "        self._state = type(self)._content", "        return True"]
    return [*lines, '        return kind != ""']


def _after_call(state: TurnState, rule: str) -> list[str]:
    lines = ["", "    def _after_call(self) -> bool:", f"        # {rule}", "        kind = self._next_of_calls()"]
    lines += ["        if kind is None:", "            return False"]
    lines += _LEFT_OVER if state.drops_left_over else ()
    found: dict[tuple[str, ...], list[str]] = {}
    for kind, transition in state.on:
        if does := tuple(_after_call_does(transition)):
            found.setdefault(does, []).append(kind)
    for does, kinds in found.items():
        lines += [f"        if kind {_is_kind(kinds)}:", *(f"            {line}" for line in does)]
    if state.otherwise is not None and (does := tuple(_after_call_does(state.otherwise))):
        lines += ['        if kind == "":', *(f"            {line}" for line in does)]
    return [*lines, "        return self._leave_calls(kind)"]


_LEFT_OVER = (
    '        more = self._drop_left_over(kind) if kind == "" or (kind == "call" and self._unclosed) else "no"',
    '        if more != "no":',
    '            return more == "dropped"',
)
_ON_ACTION: Mapping[Action, str] = {
    "open call": 'return self._try_call("content")',
    "drop closer": "return self._drop_closer(self._unclosed)",
    "close call": "return self._drop_closer(False)",
    "close calls": "return self._close_calls()",
    "read tail": "return self._tail()",
}
_ON_CONDITION: Mapping[BranchTest, str] = {"call is closed": "not self._unclosed", "calls are closed": "self._closed"}


def _after_call_does(found: Transition | Branch) -> Iterator[str]:
    """Print what a marker or text after a call does; nothing, if it only leads to content."""
    if isinstance(found, Branch):
        test, on, off = _ON_CONDITION[found.condition], [*_after_call_does(found.on)], [*_after_call_does(found.off)]
        if not on:
            test, on, off = test.removeprefix("not ") if test.startswith("not ") else f"not {test}", off, []
        yield f"if {test}:"
        yield from (f"    {line}" for line in on)
        yield from off
    elif found.actions == ("drop separator",):
        yield "return self._drop_closer(True)"
    elif "open call without opener" in found.actions:
        yield from ["self._drop_closer(True)"] * (found.actions[0] == "drop separator")
        yield from ("self._skip = 0", _ON_ACTION["open call"])
    elif found.actions:
        yield _ON_ACTION[found.actions[0]]
    elif found.next == "over":
        yield f"self._state = type(self).{METHODS[found.next]}"
        yield "return True"


def _is_kind(kinds: Sequence[str]) -> str:
    return f"== {literal(kinds[0])}" if len(kinds) == 1 else f"in {texts(kinds)}"


def _until_or_first(state: TurnState, first: Sequence[str]) -> list[str]:
    given = f"self.{SCANNERS[state.name]}, {literal(str(state.text))}, {texts(first)}"
    return [
        f"        # What opens {' or '.join(first)} is text once content has begun.",
        f"        kind = self._until_or_first({given})",
    ]


def _branches(state: TurnState, *, whole: bool) -> dict[tuple[str, ...], list[str]]:
    """Return the actions, with the kinds of markers that have them.  `whole`: an opener may belong to a whole call."""
    found: dict[tuple[str, ...], list[str]] = {}
    for kind, transition in state.on:
        does = tuple(_does(state, kind, transition))
        known = found.setdefault(does, []) if does else []
        counted = "whole" if kind == "ordinary" else COUNTED_AS.get(kind, kind)
        for one in (counted, *["whole"] * (whole and kind in CALLS)):
            known += [one] * (one not in known)
    return found


def noted(note: tuple[str, str]) -> str:
    """Return the arguments of a call that reports a diagnostic: its code and its text."""
    return ", ".join(map(literal, note))


def _does(state: TurnState, kind: str, found: Transition | Branch) -> Iterator[str]:
    """Yield the code for a marker.  If an option decides, the runtime handles the other case."""
    if state.text is None and kind != "reasoning_end":
        return  # the next state sees to it
    if kind in CALLS:
        text = "text" if state.name == "reasoning" else literal(str(state.text))
        kept = "self._keep_call()" if state.name == "reasoning" else f"self._keep_as_text({text})"
        yield f"return self._try_call({text}) if self._calls_on else {kept}"
        return
    transition = found.on if isinstance(found, Branch) else found
    if not transition.actions:
        return
    if kind == "reasoning":
        yield "return self._open_reasoning()"
        return
    if kind in ("reasoning_end", "reasoning_line") and state.name == "reasoning":
        yield "return self._close_reasoning()"
        return
    if kind == UNCLOSED and transition.note:
        yield 'self._opener, self._state = "", type(self)._content'
        yield from ("if not self._reasoning_on:", "    return self._keep_as_text(text)")
        yield f"return self._drop_noted({noted(transition.note)})"
        return
    if transition.note and state.text is not None:
        drop = "drop_after_text" if transition.only_after_text else "drop_noted"
        yield f"return self._{drop}({noted(transition.note)})"
        return
    if transition.note:
        yield f"self._note({noted(transition.note)})"
    if "pending is reasoning" in transition.actions:
        yield 'self._out.release("reasoning_content")'
    if "pending is content" in transition.actions:
        yield 'self._out.release("content")'
    if transition.next == "over":
        yield "return self._end_turn()"
        return
    if transition.next != state.name:
        yield f"self._state = type(self).{METHODS[transition.next]}"
    fresh = {"drop": "", "drop opener": "False", "drop and go on": "self._only_space_so_far"}[transition.actions[-1]]
    yield f"return self._drop({fresh})"
