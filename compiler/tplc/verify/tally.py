"""What verification counts, and what it asks of an artifact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tplc.ir.nodes import Ambiguity, Excused, Json, NeedsTools, Verification
from tplc.messages import Message
from tplc.verify.battery import Case
from tplc.verify.causes import Tried
from tplc.verify.coverage import Coverage, CoveredKind
from tplc.verify.shown import Context


@dataclass(frozen=True, slots=True)
class Pair:
    """An excused message with all that both were rendered with: two conversations with one render."""

    excused: Excused
    conversation: Sequence[Message]
    other: Sequence[Message]
    tools: Sequence[Mapping[str, Json]] | None
    context: Context


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of trying messages: the result, the messages, and the conversations of those that are excused."""

    verification: Verification
    tried: tuple[Tried, ...]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class OneRender:
    """A message came back as `other`, which has the same render."""

    ambiguity: Ambiguity
    other: Case
    pair: Pair


@dataclass(frozen=True, slots=True)
class Excuse:
    """An excused message: the kinds of its turn and its names, and its outcome, in the first context or a later one."""

    kinds: tuple[CoveredKind, ...]
    tried: Tried
    pair: Pair
    first: bool


@dataclass(slots=True)
class Tally:
    messages: int = 0
    passed: int = 0
    chunkings: int = 0
    not_shown: dict[str, None] = field(default_factory=dict)
    refused: dict[str, list[str]] = field(default_factory=dict)
    ambiguities: dict[str, Ambiguity] = field(default_factory=dict)
    excuses: list[Excuse] = field(default_factory=list)
    not_read: dict[str, str] = field(default_factory=dict)
    needs_tools: list[NeedsTools] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    failures: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)  # parts that are written, and never as they are
    unsteady: list[str] = field(default_factory=list)  # what turns depend on apart from the conversation
    tried: list[Tried] = field(default_factory=list)
    later: list[Tried] = field(default_factory=list)  # in other contexts than the first

    def pairs(self) -> Iterator[Pair]:
        """Yield the excused messages. Those of a kind that never comes back count as failures instead."""
        lost = self.coverage.lost_kinds()
        for excuse in self.excuses:
            if not lost.isdisjoint(excuse.kinds):
                self.messages += 1
                (self.tried if excuse.first else self.later).append(excuse.tried)
            else:
                yield excuse.pair


@dataclass(slots=True)
class Expectations:
    """What is asked of an artifact that cannot say all of a format.

    `excuse` names why a message need not come back, "" when it has to; the first message that did not is noted in
    `shown`, and how many there were of each kind in `excused`.  `untyped` names why types need not come back where no
    tools are given.  `cuts` are lengths of chunks, tried for every message.  `ends`: the artifact ends a turn itself.
    """

    excuse: Callable[[Case], str] = lambda _: ""
    ids: bool = True
    untyped: str = ""
    cuts: tuple[int, ...] = ()
    ends: bool = True
    shown: dict[str, NotAsked] = field(default_factory=dict)
    excused: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A message that shows what an artifact is known not to express."""

    case: Case
    turn: str
    problem: str
