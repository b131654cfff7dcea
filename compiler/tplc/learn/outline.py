"""Cut a turn with calls at its slots.

    `<all>[f {…}] [g {…}]</all>`  →  pre `<all>[`, inner (` `), mids `] [`, post `]</all>`

Counters are text that counts up from call to call, and numbers that say how many calls there are: a stand-in takes
their place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tplc.ir.markers import lead_of
from tplc.ir.nodes import PairArguments, SlotKind
from tplc.ir.write import escaped
from tplc.learn.arguments import COUNT, INDEX, ArgumentFacts, call_turn, generalise
from tplc.learn.conversation import CallSetup
from tplc.learn.probe import Prober, Refusal, Setup, key_of, name_of, own_id, value_of
from tplc.learn.reasoning import ReasoningMarkers
from tplc.learn.turn import TurnFacts
from tplc.messages import Call

MOST_CALLS = 3  # in a probe


@dataclass(frozen=True, slots=True)
class Outline:
    """A turn with calls, cut at its slots: text before the first, inside each call, between calls, after the last.

    `kinds` are the slots of one call in order, the arguments as a whole being one of them.
    """

    kinds: tuple[SlotKind, ...]
    pre: str
    inner: tuple[tuple[str, ...], ...]
    mids: tuple[str, ...]
    post: str


def probe_call(call: int) -> Call:
    return Call(name_of(call), ((key_of(call), value_of(call, 0)),))


def learn_outline(
    prober: Prober, turn: TurnFacts, markers: ReasoningMarkers, called: CallSetup, arguments: ArgumentFacts
) -> tuple[Outline, int]:
    """Return a turn of as many calls as the template writes, with its counters marked, and the first counter's
    value."""
    counts = range(1, MOST_CALLS + 1) if called.parallel else (1,)
    shown = [outline(prober, turn, called.setup, markers, arguments, count) for count in counts]
    return _mark_counters([found for found in shown if found is not None])


def outline(
    prober: Prober, turn: TurnFacts, setup: Setup, markers: ReasoningMarkers, arguments: ArgumentFacts, count: int
) -> Outline | None:
    text = call_turn(prober, turn, setup, [probe_call(i) for i in range(count)])
    if isinstance(text, Refusal) or any(name_of(i) not in text for i in range(count)):
        return None
    return _cut(markers.without_blank(text), setup, arguments, count)


def _cut(text: str, setup: Setup, arguments: ArgumentFacts, count: int) -> Outline:
    calls = [_slots(text, setup, arguments, call) for call in range(count)]
    begins = [slots[0][1] for slots in calls]
    ends = [slots[-1][2] for slots in calls]
    return Outline(
        kinds=tuple(kind for kind, _, _ in calls[0]),
        pre=generalise(text[: begins[0]], setup),
        inner=tuple(tuple(generalise(text[a[2] : b[1]], setup) for a, b in pairwise(slots)) for slots in calls),
        mids=tuple(generalise(text[end:begin], setup) for end, begin in zip(ends, begins[1:], strict=False)),
        post=generalise(text[ends[-1] :], setup),
    )


def _slots(text: str, setup: Setup, arguments: ArgumentFacts, call: int) -> list[tuple[SlotKind, int, int]]:
    """Return the slots of one call by first occurrence: (kind, start, end), in order."""
    key, value = key_of(call), value_of(call, 0)
    begin = text.index(key)
    begin = _back_over(text, begin, arguments.opened)
    end = text.index(value) + len(value)
    quote = _quote_close(arguments)
    if quote and text.startswith(quote, end):
        end += len(quote)
    end = _over(text, end, arguments.closed, setup, call)
    slots: list[tuple[SlotKind, int, int]] = [("arguments", begin, end)]
    sentinels: list[tuple[SlotKind, str | None]] = [("name", name_of(call)), ("id", own_id(call, setup))]
    for kind, sentinel in sentinels:
        if sentinel and sentinel in text:
            at = text.index(sentinel)
            slots.append((kind, at, at + len(sentinel)))
    return sorted(slots, key=lambda slot: slot[1])


def _quote_close(arguments: ArgumentFacts) -> str:
    strings = arguments.dialect.top.strings
    close = strings[0].close if strings else ""
    # Escapes of a whole object are undone in the text.
    is_escaped = isinstance(arguments.arguments, PairArguments)
    return escaped(arguments.escapes, "value", close) if is_escaped else close


def _back_over(text: str, at: int, opened: str) -> int:
    """Return the start of `opened`, which ends at `at`; white space inside it is free (pretty-printed values)."""
    for ch in reversed(opened):
        if ch.isspace():
            continue
        while at and text[at - 1].isspace() and text[at - 1] != ch:
            at -= 1
        if at and text[at - 1] == ch:
            at -= 1
    lead = lead_of(opened)
    return at - len(lead) if lead and text.endswith(lead, 0, at) else at


def _over(text: str, at: int, closed: str, setup: Setup, call: int) -> int:
    """Return the end of `closed`, which begins at `at`; white space is free, stand-ins are this call's sentinels."""
    literal = closed.replace("zqkey0token0x", key_of(call))
    if text.startswith(literal, at):
        return at + len(literal)
    for ch in literal:
        if ch.isspace():
            continue
        while at < len(text) and text[at].isspace():
            at += 1
        if at < len(text) and text[at] == ch:
            at += 1
    return at


def _mark_counters(outlines: Sequence[Outline]) -> tuple[Outline, int]:
    """Return the last outline with counters replaced by a stand-in, and the first counter's value."""
    last = _mark_counts(outlines)
    if len(last.inner) < 2:
        return last, 0
    base = 0
    inner = list(last.inner[0])
    for i, (first, second) in enumerate(zip(last.inner[0], last.inner[1], strict=True)):
        marked, value = _marked(first, second)
        inner[i] = marked
        base = value if value is not None else base
    pre, mids, post = last.pre, last.mids, last.post
    if len(mids) > 1:
        marked, value = _marked(mids[0], mids[1])
        if value is not None:
            parts = marked.split(INDEX)
            pre, opened_at = _counters_in_opening(pre, parts)
            post = _counters_in_closing(post, parts)
            base = value if opened_at is None else opened_at
            mids = (marked,)
    return Outline(last.kinds, pre, (tuple(inner),), mids, post), base


def _mark_counts(outlines: Sequence[Outline]) -> Outline:
    """Return the last outline with a stand-in for numbers that are the number of calls in each of the outlines."""
    last = outlines[-1]
    if len(outlines) < MOST_CALLS:
        return last
    inner = [_counted(texts) for texts in zip(*(outline.inner[0] for outline in outlines), strict=True)]
    between = _counted(["", *(outline.mids[0] for outline in outlines[1:])])
    return replace(
        last,
        pre=_with_counts(last.pre, _counted([outline.pre for outline in outlines])),
        inner=tuple(tuple(map(_with_counts, texts, inner)) for texts in last.inner),
        mids=tuple(_with_counts(mid, between) for mid in last.mids),
        post=_with_counts(last.post, _same_closers(last.mids[0], last.post, between)),
    )


_NUMBER = re.compile(r"(\d+)")


def _counted(texts: Sequence[str]) -> tuple[int, ...]:
    """Return which numbers in the texts equal their place, from 1 on, if the texts are otherwise equal."""
    parts = [(str(place), _NUMBER.split(text)) for place, text in enumerate(texts, 1) if text]
    if not parts or any(part[::2] != parts[0][1][::2] for _, part in parts):
        return ()
    numbers = range(1, len(parts[0][1]), 2)
    return tuple(number for number in numbers if all(part[number] == place for place, part in parts))


def _same_closers(mid: str, post: str, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return those of the numbers between two calls that are after the last call as well: there, a counter is the
    number of calls, too."""
    between, last = _NUMBER.split(mid), _NUMBER.split(post)
    return tuple(number for number in numbers if between[:number:2] == last[:number:2] and number < len(last))


def _with_counts(text: str, numbers: Sequence[int]) -> str:
    """Return the text with a stand-in for these of its numbers."""
    parts = _NUMBER.split(text)
    return "".join(COUNT if place in numbers else part for place, part in enumerate(parts))


def _counters_in_opening(pre: str, parts: Sequence[str]) -> tuple[str, int | None]:
    """Return `pre` with the numbers marked that open an item as counters do, and the first of them. `parts` are the
    texts around the counters between two items."""
    for first in range(1, len(parts)):
        tail = "".join(r"(\d+)" + re.escape(part) for part in parts[first:])
        found = re.search(tail + r"\Z", pre)
        if found:
            return pre[: found.start()] + "".join(INDEX + part for part in parts[first:]), int(found.group(1))
    return pre, None


def _counters_in_closing(post: str, parts: Sequence[str]) -> str:
    """Return `post` with the numbers marked that close an item as counters do."""
    for last in range(len(parts) - 1, 0, -1):
        head = re.escape(parts[0]) + "".join(r"\d+" + re.escape(part) for part in parts[1:last]) + r"\d+"
        found = re.match(head, post)
        if found:
            return INDEX.join(parts[:last]) + INDEX + post[found.end() :]
    return post


def _marked(first: str, second: str) -> tuple[str, int | None]:
    """Return `first` with a number replaced that is one more in `second`, and the number."""
    one, two = re.split(r"(\d+)", first), re.split(r"(\d+)", second)
    if len(one) != len(two) or one[::2] != two[::2]:
        return first, None
    value = None
    for i in range(1, len(one), 2):
        if int(two[i]) == int(one[i]) + 1:
            value = int(one[i]) if value is None else value
            one[i] = INDEX
    return "".join(one), value
