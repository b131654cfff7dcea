"""Parts that a template writes in another place than any format has them.

`<r>Hm.<call>f {}</call></r>`  →  the template writes calls between the markers of reasoning
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tplc.ir.nodes import TemplateIR
from tplc.ir.own_markers import own_markers
from tplc.verify.battery import Case

_LEAST = 4  # a shorter text occurs by chance
RenderedCase = tuple[Case, str]  # a message, and its render


def misplaced(ir: TemplateIR, failed: Sequence[RenderedCase], passed: Sequence[RenderedCase]) -> Iterator[str]:
    """Yield what holds for messages that don't come back, and for none that does."""
    for what, holds in _CHECKS.items():
        if any(holds(ir, *one) for one in failed) and not any(holds(ir, *one) for one in passed):
            yield f"the template writes {what}"


def _calls_in_reasoning(ir: TemplateIR, case: Case, turn: str) -> bool:
    """Return whether one pair of markers is around both, those of reasoning or those that were taken for the calls'."""
    around = ((ir.reasoning.start, ir.reasoning.end), (ir.tools.section_start, ir.tools.section_end))
    if not (case.reasoning and case.calls):
        return False
    for start, end in around:
        _, opened, after = turn.partition(start.strip() or "\0")
        inside, closed, _ = after.partition(end.strip() or "\0")
        if opened and closed and case.calls[0].name in inside and case.reasoning in inside:
            return True
    return False


def _calls_in_another_order(ir: TemplateIR, case: Case, turn: str) -> bool:
    names = [call.name for call in case.calls]
    places = [turn.find(name) for name in names]
    return len(set(names)) == len(names) > 1 and min(places) >= 0 and places != sorted(places)


def _content_twice(ir: TemplateIR, case: Case, turn: str) -> bool:
    return _is_twice(ir, case, case.content, turn)


def _reasoning_twice(ir: TemplateIR, case: Case, turn: str) -> bool:
    return _is_twice(ir, case, case.reasoning, turn)


def _is_twice(ir: TemplateIR, case: Case, text: str, turn: str) -> bool:
    others = [case.content, case.reasoning]
    others.remove(text)
    is_twice = len(text) >= _LEAST and turn.count(text) > 1 and text not in others[0]
    return is_twice and not any(text in marker for marker in own_markers(ir))


_CHECKS: Mapping[str, Callable[[TemplateIR, Case, str], bool]] = {
    "calls between the markers of reasoning": _calls_in_reasoning,
    "calls in another order": _calls_in_another_order,
    "content twice": _content_twice,
    "reasoning twice": _reasoning_twice,
}
