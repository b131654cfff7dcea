r"""The states of a turn as lines of text, or as a graph for Graphviz.

content         text → content
  reasoning       "<r>"  if parse_reasoning: drop → reasoning; else keep → reasoning
  call            "<call>"  if parse_tool_calls: open call → call; else keep → content
                  "<CALL>"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tplc.ir.visible import one_line
from tplc.lower.acceptor import Acceptor
from tplc.lower.call_form import CallForm
from tplc.lower.lexemes import shown
from tplc.lower.printed import slot_ends, value_end
from tplc.lower.states import Branch, Transition, TurnState, states


def printed_states(acceptor: Acceptor) -> str:
    """Print the states of a format, each with the lexemes that count in it and where they lead."""
    lines = [line for state in states(acceptor) if state.name not in LATER for line in _state(state)]
    lines += _call(acceptor.calls) if acceptor.calls is not None else ()
    lines += [line for state in states(acceptor) if state.name in LATER for line in _state(state)]
    return "".join(one_line(line) + "\n" for line in lines)


LATER = ("after_call", "over")


def _state(state: TurnState) -> Iterator[str]:
    other = "" if state.otherwise is None else f"other text {_transition(state.otherwise)}"
    yield f"{state.name:16}{other or f'text → {state.text}'}"
    if state.drops_left_over:
        yield f"  {'left over':16}a bracket, a fence or an opener too many  drop"
    for kind, transition in state.on:
        yield from _lexemes(kind, map(shown, dict(state.kinds)[kind]), _transition(transition))


def _lexemes(kind: str, texts: Iterable[str], does: str = "") -> Iterator[str]:
    """Print a line for each text; the first, which is the template's own, has the kind and what it does."""
    for index, text in enumerate(texts):
        yield f"  {kind:16}{text}  {does}".rstrip() if index == 0 else f"  {'':16}{text}"


def _call(calls: CallForm) -> Iterator[str]:
    """Print what a call consists of after its opener; if something else comes, the opener is text."""
    yield f"{'call':16}slots, then arguments → after_call; other text → content"
    yield from (f"  {slot.kind:16}text up to {slot_ends(slot)}" for slot in calls.header)
    for role in dict.fromkeys(role for _, role in calls.object.fields):
        members = [".".join(path) for path, other in calls.object.fields if other == role]
        yield from _lexemes(role, (f"the member {shown(member)} of the object" for member in members))
    if calls.pairs is None:
        form = (
            "indented lines"
            if calls.arguments.lines is not None
            else "an object" + " inside a string" * calls.arguments.encoded
        )
        yield from () if calls.object.fields else [f"  {'arguments':16}{form}"]
        return
    yield f"{'arguments':16}pairs"
    for kind, found in calls.pairs.between:
        yield from _lexemes(kind, map(shown, found))
    yield f"{'pair':16}slots, then a value → arguments"
    yield from (f"  {slot.kind:16}text up to {slot_ends(slot)}" for slot in calls.pairs.slots)
    yield f"  {'value':16}{value_end(calls.pairs)}"


def _transition(found: Transition | Branch) -> str:
    if isinstance(found, Branch):
        return f"if {found.condition}: {_transition(found.on)}; else {_transition(found.off)}"
    note = f"note {shown(found.note[1])}" + " after text" * found.only_after_text if found.note else ""
    return " ".join([", ".join([*filter(None, [note]), *found.actions]), f"→ {found.next}"]).lstrip()


def states_graph(acceptor: Acceptor) -> str:
    """Write the states as a directed graph in the language of Graphviz."""
    lines = ["digraph states {", "  rankdir=LR;", "  node [shape=box];"]
    for state in states(acceptor):
        edges: dict[str, list[str]] = {}
        other = [("other text", state.otherwise)] if state.otherwise is not None else []
        for kind, found in (*state.on, *other):
            transitions = (found.on, found.off) if isinstance(found, Branch) else (found,)
            for transition in transitions:
                kinds = edges.setdefault(transition.next, [])
                kinds += [kind] if kind not in kinds else []
        lines += [f'  {state.name} -> {target} [label="{", ".join(kinds)}"];' for target, kinds in edges.items()]
    if acceptor.calls is not None:
        lines += ['  call -> after_call [label="complete"];', '  call -> content [label="no call"];']
    return "\n".join([*lines, "}"]) + "\n"
