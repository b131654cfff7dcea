r"""The states of a turn as lines of text, or as a graph for Graphviz.

content        text → content
  reasoning      "<r>"    drop              → reasoning
  call           "<call>" if parse_tool_calls: open call → call; else keep → content
"""

from __future__ import annotations

from collections.abc import Iterator

from tplc.ir.printed import quoted
from tplc.ir.visible import one_line
from tplc.lower.acceptor import Acceptor
from tplc.lower.states import OptionChoice, Transition, TurnState, states


def printed_states(acceptor: Acceptor) -> str:
    """Print the states of a format, each with the lexemes that count in it and where they lead."""
    return "".join(one_line(line) + "\n" for state in states(acceptor) for line in _state(state))


def _state(state: TurnState) -> Iterator[str]:
    text = f"text → {state.text}" if state.text is not None else f"other text → {state.otherwise}"
    yield f"{state.name:16}{text}"
    for kind, transition in state.on:
        for text in dict(state.kinds)[kind]:
            yield f"  {kind:16}{quoted(text)}  {_transition(transition)}"


def _transition(found: Transition | OptionChoice) -> str:
    if isinstance(found, OptionChoice):
        return f"if {found.option}: {_transition(found.on)}; else {_transition(found.off)}"
    note = f"note {quoted(found.note[1])}" + " after text" * found.only_after_text if found.note else ""
    return f"{', '.join([*filter(None, [note]), *found.actions]) or 'leave'} → {found.next}"


def states_graph(acceptor: Acceptor) -> str:
    """Write the states as a directed graph in the language of Graphviz."""
    lines = ["digraph states {", "  rankdir=LR;", "  node [shape=box];"]
    for state in states(acceptor):
        edges: dict[str, list[str]] = {}
        for kind, found in state.on:
            transitions = (found.on, found.off) if isinstance(found, OptionChoice) else (found,)
            for transition in transitions:
                kinds = edges.setdefault(transition.next, [])
                kinds += [kind] if kind not in kinds else []
        if state.otherwise is not None:
            edges.setdefault(state.otherwise, []).append("other text")
        lines += [f'  {state.name} -> {target} [label="{", ".join(kinds)}"];' for target, kinds in edges.items()]
    return "\n".join([*lines, "}"]) + "\n"
