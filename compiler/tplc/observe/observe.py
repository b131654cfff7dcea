"""All of it: judge every output, group the odd ones, propose tolerances, keep those that hold.

observe(ir, outputs)   →   Observation(judged=(…), groups=(…), proposals=(…))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tplc import driver
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.ir.tolerances import apply_tolerances, check_tolerances
from tplc.observe.findings import KINDS, Judge, Judged, judge_of
from tplc.observe.groups import Group, groups_of
from tplc.observe.outputs import Recorded
from tplc.observe.propose import Proposal, propose

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Observation:
    """`tried`: the same outputs with the proposed tolerances in force."""

    judged: tuple[Judged, ...]
    groups: tuple[Group, ...]
    proposals: tuple[Proposal, ...]
    tried: tuple[Judged, ...]

    @property
    def clean(self) -> int:
        return sum(judged.clean for judged in self.judged)

    @property
    def kinds(self) -> Mapping[str, int]:
        """How many outputs have findings of each kind."""
        return {kind: sum(any(f.kind == kind for f in each.findings) for each in self.judged) for kind in KINDS}

    @property
    def share_odd(self) -> float:
        """In percent."""
        return 100 * (1 - self.clean / len(self.judged))


def observe(ir: TemplateIR, outputs: Sequence[Recorded], *, source: str, step: Step = lambda _: None) -> Observation:
    """Parse the outputs and group the odd ones.  `source` is recorded in proposed tolerances; `step` is called with
    progress."""
    judge = judge_of(ir, driver.artifact_of(ir))
    judged = _judge_all(judge, outputs, step)
    groups = groups_of(judged)
    proposals = _that_hold(ir, judged, _meaningful(ir, propose(ir, judge, groups, step), source), source)
    return Observation(judged, groups, proposals, tried(ir, outputs, proposals, source))


def tried(
    ir: TemplateIR, outputs: Sequence[Recorded], proposals: Sequence[Proposal], source: str
) -> tuple[Judged, ...]:
    """The outputs with proposed tolerances in force."""
    changed = apply_tolerances(ir, tolerances_of(proposals, source))
    judge = judge_of(ir, driver.artifact_of(changed))
    return _judge_all(judge, outputs, lambda _: None)


def tolerances_of(proposals: Sequence[Proposal], source: str) -> list[Tolerance]:
    return [proposal.tolerance(source) for proposal in proposals]


def _judge_all(judge: Judge, outputs: Sequence[Recorded], step: Step) -> tuple[Judged, ...]:
    found = []
    for output in outputs:
        found.append(judge.judge(output))
        step(1)
    return tuple(found)


def _meaningful(ir: TemplateIR, proposals: Sequence[Proposal], source: str) -> list[Proposal]:
    """Those that no tolerance file would be refused for."""
    kept: list[Proposal] = []
    for proposal in proposals:
        pair = [other for other in proposals if other.marker.startswith("reasoning.")]
        others = kept if proposal.marker not in ("reasoning.start", "reasoning.end") else [*kept, *pair]
        chosen = list(dict.fromkeys([*others, proposal]))
        try:
            check_tolerances(ir, tolerances_of(chosen, source))
        except TplcError:
            continue
        kept.append(proposal)
    return list(dict.fromkeys(kept))


def _that_hold(
    ir: TemplateIR, judged: Sequence[Judged], proposals: Sequence[Proposal], source: str
) -> tuple[Proposal, ...]:
    """Those with which odd outputs are read better, and no clean one is read otherwise."""
    kept = list(proposals)
    for _ in range(len(proposals)):
        after = tried(ir, [each.output for each in judged], kept, source) if kept else ()
        harmful = {
            proposal
            for before, now in zip(judged, after, strict=bool(kept))
            if before.clean and dict(before.message) != dict(now.message)
            for proposal in kept
            if proposal.text in before.output.text
        }
        useless = {proposal for proposal in kept if not _mends(proposal, judged, after)}
        if not harmful | useless:
            break
        kept = [proposal for proposal in kept if proposal not in harmful | useless]
    return tuple(kept)


def _mends(proposal: Proposal, judged: Sequence[Judged], after: Sequence[Judged]) -> bool:
    return any(
        now.badness < before.badness or len(now.message["tool_calls"]) > len(before.message["tool_calls"])
        for before, now in zip(judged, after, strict=True)
        if proposal.text in before.output.text
    )
