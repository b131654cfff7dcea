"""What ends a turn?

answered                     "{bot}zqcontent0x{end}"
… and a question behind it   "{bot}zqcontent0x{end}{user}zquser1x"
→  end "{end}"
"""

from __future__ import annotations

from dataclasses import replace

from tplc.ir.markers import common_prefix, common_suffix
from tplc.learn.align import cut_left, cut_right, token_spans
from tplc.learn.probe import Prober, Setup, after_content, asks
from tplc.learn.turn import TURN, TurnFacts, cut_common, user_header

_LONG_END = 64


@asks("turn", TURN)
def learn_ends(prober: Prober, base: Setup, turn: TurnFacts) -> tuple[str, ...]:
    """The texts that end a turn: after plain content at the end of a conversation, and before a user message.  Where
    nothing ends a turn, the next message's header does."""
    ends: list[str] = []
    last = after_content(prober, replace(base, follow="none"))
    next_user = after_content(prober, replace(base, follow="user"))
    with_tools = after_content(prober, replace(base, follow="user", tools="full"))
    if next_user is not None and with_tools is not None and with_tools != next_user:
        # tools may be written into the next message's header
        whole = next_user[: cut_common(next_user, with_tools)].rstrip()
        shared = common_prefix(next_user, with_tools).strip()
        next_user = whole or (shared if len(shared) >= 3 else next_user)  # less is no mark of anything
    before_user = user_header(prober, base)
    if last is None:
        last = ""
    if next_user is not None:
        shared = common_prefix(last, next_user)
        if len(shared) < len(last):
            last = _without_appended(last, next_user, turn, before_user)
    if last.strip():
        ends.append(last)
    if next_user is not None and next_user.strip() and not (last.strip() and next_user.startswith(last.rstrip())):
        own = next_user[: _header_at(next_user, before_user)]
        if not own.strip() and not last.strip():
            own = next_user.rstrip() or next_user
        own = _first_mark(own)
        if own.strip() and own not in ends:
            ends.append(own)
    return tuple(ends)


def _first_mark(end: str) -> str:
    """What opens the next message ends the turn: of a long text (an instruction) the mark it begins with is enough."""
    spans = token_spans(end)
    space = len(end) - len(end.lstrip())
    return end[: spans[0][1]] if len(end) > _LONG_END and spans and spans[0][0] == space else end


def _without_opened_header(shared: str, last: str, next_user: str) -> str:
    """What two headers share where they go on with different words opens them: the last token is theirs, if another one
    ends the turn."""
    spans = token_spans(shared)
    words = last[len(shared) :][:1].isalnum() and next_user[len(shared) :][:1].isalnum()
    if words and len(spans) > 1 and spans[-1][1] == len(shared):
        return shared[: spans[-1][0]]
    return shared


def _header_at(text: str, before_user: str) -> int:
    """Where in `text`, which ends with the user's header, that header begins."""
    shared = common_suffix(text, before_user)
    return cut_right(text, len(text) - len(shared)) if len(shared) < len(text) else 0


def _without_appended(last: str, next_user: str, turn: TurnFacts, before_user: str) -> str:
    """`last` without what the template always appends (a generation prompt, a final instruction)."""
    shared = last[: cut_left(last, len(common_prefix(last, next_user)))]
    opening = turn.prompts[0].text if turn.prompts else ""
    for size in range(min(len(opening), len(shared)), 0, -1):
        if shared.endswith(opening[:size]) and cut_left(opening, size) == size:
            return shared[: len(shared) - size]
    at = _header_at(next_user, before_user)
    if 0 < at < len(shared):
        return shared[:at]
    return _without_opened_header(shared, last, next_user) or last
