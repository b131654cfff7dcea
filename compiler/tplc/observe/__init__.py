"""Compare recorded outputs of a model with its parser: what is odd about them, and which tolerances would help."""

from tplc.observe.findings import Finding, Judge, Judged, judge_of
from tplc.observe.groups import Group, groups_of
from tplc.observe.observe import Observation, observe, tried
from tplc.observe.outputs import Recorded, read_outputs
from tplc.observe.propose import Proposal, propose

__all__ = [
    "Finding",
    "Group",
    "Judge",
    "Judged",
    "Observation",
    "Proposal",
    "Recorded",
    "groups_of",
    "judge_of",
    "observe",
    "propose",
    "read_outputs",
    "tried",
]
