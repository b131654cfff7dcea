"""Find turns that depend on chance or on the time of rendering: their markers are other ones in each conversation.

<call at=17:43:09>f{}</call> and <call at=03:04:05>f{}</call>  →  the turn depends on the time of rendering: …
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tplc.errors import RenderFailed, TemplateRaised
from tplc.ir.printed import quoted
from tplc.verify.battery import Case
from tplc.verify.shown import NotShown, Shown, Stage

_MOMENTS = (datetime(1999, 1, 2, 3, 4, 5), datetime(2031, 12, 30, 22, 58, 56))
_SEEDS = (1, 2, 3, 4)
_LONGEST = 80


class _Trial(NamedTuple):
    what: str
    turn: str | None


def unsteady(stage: Stage, place: Shown | NotShown, case: Case) -> Iterator[str]:
    """Yield what the turn of a message depends on apart from the conversation, with two turns that differ."""
    if isinstance(place, NotShown):
        return
    trials = _trials(stage, place, case)
    usual = next(trials, _Trial("", None)).turn
    for what, turn in trials:
        if None not in (turn, usual) and turn != usual:
            yield f"the turn depends on {what}: {quoted(str(usual)[:_LONGEST])} and {quoted(str(turn)[:_LONGEST])}"
            return


def _trials(stage: Stage, place: Shown, case: Case) -> Iterator[_Trial]:
    """Yield the turn as it usually is, then with other choices and at other times, as far as these render."""
    try:
        yield _Trial("", place.frame.turn_text(stage.trace(case, place.setting)))
        for seed in _SEEDS:
            yield _Trial("chance", place.frame.turn_text(stage.trace(case, place.setting, seed=seed)))
        for moment in _MOMENTS:
            full = stage.trace(case, place.setting, clock=moment)
            yield _Trial("the time of rendering", place.frame.turn_text(full))
    except (TemplateRaised, RenderFailed):
        return
