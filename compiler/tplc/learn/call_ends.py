"""Find what closes the calls of a turn, and what ends the turn after them.

"]</all>{end}"  →  section end "</all>", turn end "{end}"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tplc.ir.markers import common_prefix, common_suffix
from tplc.learn.align import Repetition, cut_left, cut_right, reads_well, token_spans
from tplc.learn.arguments import ArgumentFacts
from tplc.learn.conversation import CallSetup
from tplc.learn.outline import outline, probe_call
from tplc.learn.probe import Prober, Refusal, Setup, after_content, assistant
from tplc.learn.reasoning import ReasoningMarkers
from tplc.learn.turn import TurnFacts


def without_turn_end(
    prober: Prober,
    turn: TurnFacts,
    markers: ReasoningMarkers,
    called: CallSetup,
    arguments: ArgumentFacts,
    post: str,
    ends: tuple[str, ...],
) -> str:
    """Return the text after the last call, without the end of the turn."""
    setup, count = called.setup, 3 if called.parallel else 1
    trailer = _trailer(prober, setup, post, count)
    if trailer:
        # The end of the turn may come before what every render ends with.
        rest = post[: len(post) - len(trailer)].rstrip()
        own = next((end.strip() for end in ends if end.strip() and rest.endswith(end.strip())), "")
        return rest.removesuffix(own).rstrip() if own and rest != own else rest
    for end in ends:
        if end.strip() and post.endswith(end):
            return post[: len(post) - len(end)]
        if end.strip() and setup.follow != "none" and end in post:
            return post[: post.index(end)]  # what follows it is the next message's
        if end.strip() and post.rstrip().endswith(end.strip()):
            return post[: post.rindex(end.strip())].rstrip()
    followed = outline(prober, turn, replace(setup, follow="tool"), markers, arguments, count)
    alone = outline(prober, turn, replace(setup, follow="none"), markers, arguments, count)
    if followed is None or alone is None or followed.post.startswith(alone.post):
        return post
    # something is appended to every render
    shared = alone.post[: cut_left(alone.post, len(common_prefix(alone.post, followed.post)))]
    if not shared.strip() and not (after_content(prober, setup) or "").endswith(alone.post):
        return post  # the call itself is another when something follows it
    return _without_known(shared, ends, turn.anchors)


def _without_known(shared: str, ends: Sequence[str], anchors: Sequence[str]) -> str:
    """Return the text up to an end of the turn in it, or to what the next turn begins with."""
    for end in ends:
        if end.strip() and end.strip() in shared:
            return shared[: shared.index(end.strip())]
    for anchor in anchors:
        for size in range(min(len(anchor), len(shared)), 0, -1):
            if shared.endswith(anchor[:size]) and reads_well(anchor, size):
                return shared[: len(shared) - size]
    return shared


def turn_end_after(split: Repetition, ends: Sequence[str]) -> tuple[Repetition, str]:
    """Split the turn's end off the closers of calls, if it is seen only after calls; return both.  If nothing opens the
    calls, nothing closes them."""
    if split.end and not split.start.strip() and not split.end.isspace():
        return replace(split, end=""), split.end
    closer, turn_end = _end_after_calls(split, ends)
    return replace(split, end=closer), turn_end


def _end_after_calls(split: Repetition, ends: Sequence[str]) -> tuple[str, str]:
    """Return what closes the calls, and what ends the turn after them: a marker that is written like the other ends,
    between the same brackets, and isn't a marker of calls."""
    spans = token_spans(split.end)
    least = 1 if _ends_plain_turn(split, ends) else 2
    if len(spans) < least or spans[-1][1] < len(split.end.rstrip()):
        return split.end, ""
    last = split.end[spans[-1][0] : spans[-1][1]]
    others = split.start + split.open + split.close + split.separator + split.end[: spans[-1][0]]
    marks = {_brackets(others[start:stop]) for start, stop in token_spans(others)}
    usual = {_brackets(end[start:stop]) for end in ends for start, stop in token_spans(end)[-1:]}
    if _brackets(last) not in usual or _brackets(last) in marks:
        return split.end, ""
    return split.end[: spans[-1][0]], split.end[spans[-1][0] :]


def _ends_plain_turn(split: Repetition, ends: Sequence[str]) -> bool:
    """Return whether a turn without calls has just what opens the calls before what follows them."""
    heads = [end.removesuffix(split.end) for end in ends if split.end and end.endswith(split.end)]
    return any(head.strip() and head.strip() == split.start.strip() for head in heads)


def _brackets(mark: str) -> tuple[str, str]:
    """Return the punctuation before and after the words of a marker."""
    inner = mark.strip("".join(ch for ch in set(mark) if not ch.isalnum()))
    at = mark.index(inner) if inner else 0
    return mark[:at], mark[at + len(inner) :]


def _trailer(prober: Prober, setup: Setup, post: str, count: int) -> str:
    """Return the common end of all renders, answered or not (an instruction, a prompt that is always there)."""
    calls = [probe_call(i) for i in range(count)]
    asked = prober.tail([], setup, calls=calls)
    answered = prober.tail([assistant(setup, calls=calls)], setup, calls=calls)
    if isinstance(asked, Refusal) or isinstance(answered, Refusal) or answered.startswith(asked):
        return ""
    shared = common_suffix(asked, post)
    rest = after_content(prober, setup)
    # Text that is in every render also follows content.
    shared = common_suffix(shared, rest) if rest is not None else shared
    return post[cut_right(post, len(post) - len(shared)) :]
