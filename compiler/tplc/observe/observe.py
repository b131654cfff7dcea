"""Judge every output, group the odd ones, propose tolerances, and keep those that help.

observe(ir, outputs)   →   Observation(judged=(…), groups=(…), proposals=(…))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tplc import driver
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR, Tolerance
from tplc.ir.tolerances import apply_tolerances, check_tolerances
from tplc.ir.write import write_message
from tplc.observe.findings import KINDS, Judge, Judged, judge_of
from tplc.observe.groups import Group, groups_of
from tplc.observe.outputs import Recorded
from tplc.observe.propose import Proposal, propose
from tplc.verify.battery import battery
from tplc.verify.compare import as_message

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Observation:
    """The result for recorded outputs. `tried`: the same outputs with the proposed tolerances applied."""

    judged: tuple[Judged, ...]
    groups: tuple[Group, ...]
    proposals: tuple[Proposal, ...]
    tried: tuple[Judged, ...]

    @property
    def clean(self) -> int:
        return sum(judged.clean for judged in self.judged)

    @property
    def kinds(self) -> Mapping[str, int]:
        """Return how many outputs have findings of each kind."""
        return {kind: sum(any(f.kind == kind for f in each.findings) for each in self.judged) for kind in KINDS}

    @property
    def share_odd(self) -> float:
        """Return the share of odd outputs in percent."""
        return 100 * (1 - self.clean / len(self.judged))


def observe(ir: TemplateIR, outputs: Sequence[Recorded], *, source: str, step: Step = lambda _: None) -> Observation:
    """Parse the outputs and group the odd ones.  `source` is recorded in proposed tolerances; `step` is called with
    progress."""
    judge = judge_of(ir, driver.artifact_of(ir))
    judged = _judge_all(judge, outputs, step)
    groups = groups_of(judged)
    meaningful = _meaningful(ir, propose(ir, judge, groups, step), source)
    harmless = _harmless(ir, judge, meaningful, source) if meaningful else []
    proposals = _measured(ir, judged, _that_hold(ir, judged, harmless, source), source)
    return Observation(judged, groups, proposals, tried(ir, outputs, proposals, source))


def tried(
    ir: TemplateIR, outputs: Sequence[Recorded], proposals: Sequence[Proposal], source: str
) -> tuple[Judged, ...]:
    """Return the outputs with proposed tolerances in force."""
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
    """Return the proposals that a tolerance file may contain."""
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
    """Return the proposals that make outputs clean and change no clean output."""
    kept = list(proposals)
    for _ in range(2 * len(proposals)):
        after = tried(ir, [each.output for each in judged], kept, source) if kept else ()
        harmful = {
            proposal
            for before, now in zip(judged, after, strict=bool(kept))
            if before.clean and dict(before.message) != dict(now.message)
            for proposal in kept
            if proposal.text in before.output.text
        }
        # One after another: of two that mend the same, one is enough.
        useless = next((each for each in reversed(kept) if not _mended(ir, judged, kept, each, after, source)), None)
        if not harmful and useless is None:
            break
        kept = [proposal for proposal in kept if proposal not in harmful and (harmful or proposal is not useless)]
    return tuple(kept)


def _mended(
    ir: TemplateIR,
    judged: Sequence[Judged],
    proposals: Sequence[Proposal],
    left_out: Proposal,
    after: Sequence[Judged],
    source: str,
) -> int:
    """Return how many outputs are clean with all proposals, but not without this one."""
    others = [proposal for proposal in proposals if proposal is not left_out]
    try:
        without = tried(ir, [each.output for each in judged], others, source)
    except TplcError:  # what opens reasoning makes no sense without what closes it
        without = tuple(judged)
    return sum(now.clean and not before.clean for before, now in zip(without, after, strict=True))


def _measured(
    ir: TemplateIR, judged: Sequence[Judged], proposals: Sequence[Proposal], source: str
) -> tuple[Proposal, ...]:
    """Return the proposals with their effects."""
    if not proposals:
        return ()
    outputs = [each.output for each in judged]
    after, found = tried(ir, outputs, proposals, source), []
    for proposal in proposals:
        try:
            alone = tried(ir, outputs, [proposal], source)
        except TplcError:
            alone = tuple(judged)
        changed = sum(dict(a.message) != dict(b.message) for a, b in zip(judged, alone, strict=True))
        mended = _mended(ir, judged, proposals, proposal, after, source)
        found.append(replace(proposal, mended=mended, changed=changed))
    return tuple(found)


def _harmless(ir: TemplateIR, judge: Judge, proposals: Sequence[Proposal], source: str) -> list[Proposal]:
    """Return the proposals that together change no message of the verification, the most frequent ones first."""
    outputs = [Recorded("verification", text) for text in _rendered(ir)]
    before = [dict(judge.judge(output).message) for output in outputs]
    kept: list[Proposal] = []
    for proposal in proposals:
        # Both ends of reasoning make sense together alone.
        pair = [other for other in proposals if {proposal.marker, other.marker} == {"reasoning.start", "reasoning.end"}]
        now = tried(ir, outputs, list(dict.fromkeys([*kept, proposal, *pair])), source)
        if [dict(each.message) for each in now] == before:
            kept.append(proposal)
    return kept


def _rendered(ir: TemplateIR) -> list[str]:
    """Return the messages of the verification as the template renders them."""
    texts = []
    for case in battery(ir):
        message = as_message(ir, case)
        calls = [
            {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
            for call in message["tool_calls"]
        ]
        try:
            texts.append(write_message(ir, {**message, "tool_calls": calls}))
        except (ValueError, KeyError, StopIteration):
            continue  # the format has no such message
    return list(dict.fromkeys(texts))
