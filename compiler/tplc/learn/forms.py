"""Which markers are others in turns of one shape?

What opens content ends reasoning: it is written once, and not where no content follows.  White space is what ends
reasoning there: a turn of reasoning alone, and one with a call, show how much.
"""

from __future__ import annotations

from tplc.ir.markers import lead_of
from tplc.ir.nodes import Form, Part, TemplateIR
from tplc.learn.probe import REASONING, Prober, Setup, asks, assistant, name_of
from tplc.learn.reasoning import REASONED, ReasoningMarkers


@asks("reasoning", REASONED)
def forms_of_shared_opener(prober: Prober, base: Setup, markers: ReasoningMarkers, ir: TemplateIR) -> tuple[Form, ...]:
    if not ir.reasoning.end.strip() or ir.reasoning.end.strip() != ir.content.start.strip():
        return ()
    shapes: list[tuple[Part, ...]] = [("reasoning", "content"), ("reasoning", "content", "calls")]
    opened = [Form(parts, "content.start", "") for parts in shapes]
    usual = lead_of(ir.reasoning.end)
    before_calls = next((lead_of(s.after) for s in markers.shown if s.then == name_of(0)), usual)
    tail = prober.tail([assistant(base, reasoning=(ir.reasoning.key, REASONING))], base)
    rest = tail.partition(REASONING)[2] if isinstance(tail, str) else ""
    at_end = lead_of(rest) if rest.strip().startswith(tuple(end.strip() for end in ir.turn.ends)) else usual
    return (
        *opened,
        Form(("reasoning",), "reasoning.end", at_end),
        Form(("reasoning", "calls"), "reasoning.end", before_calls),
    )
