"""After which texts does a turn continue if the last message is a tool's result?

    "…</call><result>zqtoolresult0x</result>{r}"   with the head "{r}" of a generation prompt, no header before it
    →  anchor "</result>"

If the same header follows results and questions, there is nothing to learn.  A head is the text that one prompt has
after the anchor of another; only prompts after results have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tplc.ir.markers import is_distinctive
from tplc.learn.probe import (
    TOOL_RESULT,
    Prober,
    Refusal,
    Setup,
    asks,
    assistant,
    following,
    opening,
    sentinel_call,
)
from tplc.learn.turn import TurnFacts, generation_prompt

# Names, keys and ids of probes may be written around a result.
_SENTINEL = re.compile(r"zq[a-z]+\d+x?w*")


@dataclass(frozen=True, slots=True)
class AfterResults:
    """Anchors, and heads after them, that only prompts after a tool's result have; and heads that only prompts with
    tools have."""

    anchors: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


@asks("results", "After which texts does a turn continue if the last message is a tool's result?")
def learn_after_results(prober: Prober, turn: TurnFacts, setup: Setup, contexts: Sequence[Setup]) -> AfterResults:
    setups = [setup.with_context(**dict(context)) for context in ((), *(context.context for context in contexts))]
    usual_heads = {prompt.head for prompt in turn.prompts}
    with_tools = {head for one in setups for head in _heads_with_tools(prober, turn, one)} - usual_heads
    known = sorted(usual_heads | with_tools, key=len, reverse=True)
    found: set[str] = set()
    for one in setups:
        rest = _after_result(prober, replace(one, follow="tool"))
        anchor = rest[: len(rest) - len(next((head for head in known if rest.endswith(head)), ""))]
        usual = any(anchor.endswith(text.lstrip() or text) for text in turn.anchors)
        if not usual and is_distinctive(anchor) and anchor not in turn.asked:
            found.add(anchor)
    anchors = [anchor for anchor in sorted(found) if not any(_extends(anchor, other) for other in found)]
    heads = {text.removeprefix(anchor) for text in found for anchor in anchors if _extends(text, anchor)}
    return AfterResults(tuple(anchors), tuple(sorted(heads | with_tools)))


def _heads_with_tools(prober: Prober, turn: TurnFacts, setup: Setup) -> Iterator[str]:
    """Yield the part of the turn that a prompt has after a question if tools are given."""
    text = generation_prompt(prober, replace(setup, follow="none", tools="full")) if turn.header.strip() else None
    if text is not None and text.startswith(turn.header):
        yield text.removeprefix(turn.header)


def _extends(text: str, start: str) -> bool:
    return text != start and text.startswith(start)


def _after_result(prober: Prober, setup: Setup) -> str:
    """Return what a prompt writes after the last tool result; "" if it is not to be seen."""
    calls = [sentinel_call(0)]
    messages = [*opening(setup), assistant(setup, calls=calls), *following(setup, calls)]
    rendered = prober.render(messages, setup, generation=True, calls=calls)
    if isinstance(rendered, Refusal) or TOOL_RESULT not in rendered:
        return ""
    rest = rendered[rendered.rindex(TOOL_RESULT) + len(TOOL_RESULT) :]
    return _SENTINEL.split(rest)[-1]
