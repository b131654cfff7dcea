"""Which kinds of turns came back, and as what did the others come back?

    content and one call: every message of it was read as content alone    →  a failure: the calls are lost
    content and one call: each text was read as reasoning, and reasoning and one call comes back    →  none: one render

All of a turn is content to a parser that misses its markers, and rendered as content it is the same text.  So an
identical render excuses one message, and never a whole kind of them, unless the template writes another kind the same
way and that one comes back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tplc.verify.battery import CONTENT, RANDOM, REASONING, Case


@dataclass(frozen=True, slots=True)
class CoveredKind:
    """What the turns of some messages have in common: their parts, where they are, and the context of the template
    they are rendered in."""

    parts: str
    context: str = ""

    def __str__(self) -> str:
        return self.parts + self.context


def kind_of(case: Case, context: str = "") -> CoveredKind:
    after = ", after a tool's result" if case.after_result else ""
    bare = " without arguments" if len(case.calls) == 1 and not case.calls[0].arguments else ""
    return CoveredKind(f"{case.shape}{bare}{after}", context)


def kinds_of_names(case: Case, context: str = "", other: Case | None = None) -> Iterator[CoveredKind]:
    """Yield a kind for each character of the calls' names that words don't have: a template may choose the form of a
    call by it.  `other`: only of calls that this message lacks."""
    read = Counter(call.name for call in other.calls) if other is not None else Counter[str]()
    lost = (Counter(call.name for call in case.calls) - read).elements()
    for char in dict.fromkeys(char for name in lost for char in name if not (char.isalnum() or char == "_")):
        yield CoveredKind(f"a call whose name has {json.dumps(char, ensure_ascii=False)}", context)


@dataclass(slots=True)
class Coverage:
    """`lost` has the first message of a kind that did not come back, by what it was read as: None for a message with
    other texts than its own, where markers or calls became text."""

    came_back: set[CoveredKind] = field(default_factory=set)
    lost: dict[CoveredKind, dict[CoveredKind | None, str]] = field(default_factory=dict)
    lost_names: dict[CoveredKind, str] = field(default_factory=dict)
    first_lost: dict[CoveredKind, Case] = field(default_factory=dict)
    first_read_as: dict[CoveredKind, Case] = field(default_factory=dict)

    def note_lost(self, case: Case, other: Case, context: str, failure: str) -> None:
        moved = sorted((case.reasoning, case.content)) == sorted((other.reasoning, other.content))
        read_as = kind_of(other, context) if moved and len(case.calls) == len(other.calls) else None
        self.first_lost.setdefault(kind_of(case, context), case)
        if read_as is not None:
            self.first_read_as.setdefault(read_as, other)
        self.lost.setdefault(kind_of(case, context), {}).setdefault(read_as, failure)

    def note_lost_names(self, case: Case, other: Case, context: str, failure: str) -> None:
        for kind in kinds_of_names(case, context, other):
            self.lost_names.setdefault(kind, f"{kind} never comes back: {failure}")

    def plain_cases(self, context: str) -> Iterator[Case]:
        """Yield a message of plain words for each kind in this context of which only random messages were tried, and
        lost, and for each kind that messages were read as and none was tried of."""
        only_random = [(kind, case) for kind, case in self.first_lost.items() if case.title.startswith(RANDOM)]
        not_tried = [(kind, case) for kind, case in self.first_read_as.items() if kind not in self.lost]
        for kind, case in [*only_random, *not_tried]:
            if kind.context == context and kind not in self.came_back:
                words = CONTENT if case.content else ""
                yield replace(case, title=f"{kind.parts}", reasoning=REASONING if case.reasoning else "", content=words)

    def lost_kinds(self) -> frozenset[CoveredKind]:
        """Return the kinds of which no message came back, and some were read as no other kind that does; without such
        kinds, those of names that never came back."""
        kinds = {
            kind
            for kind, found in self.lost.items()
            if kind not in self.came_back and any(read_as not in self.came_back for read_as in found)
        }
        return frozenset(kinds or self.lost_names.keys() - self.came_back)

    def failures(self) -> Iterator[str]:
        lost = self.lost_kinds()
        for kind, found in self.lost.items():
            if kind in lost:
                yield from (failure for read_as, failure in found.items() if read_as not in self.came_back)
        yield from (failure for kind, failure in self.lost_names.items() if kind in lost)
