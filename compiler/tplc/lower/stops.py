"""Where a model stops: the ends of turns, and the end of a call that is all of a turn.

TemplateIR, Acceptor  →  ("<end>", "<run>")
"""

from __future__ import annotations

from tplc.ir.nodes import TemplateIR
from tplc.ir.stand_ins import without_stand_ins
from tplc.lower.acceptor import Acceptor, CallForm


def stops(ir: TemplateIR, acceptor: Acceptor) -> tuple[str, ...]:
    """Return the stop texts without outer white space; a token that wasn't given is represented by its stand-in."""
    texts = (*ir.turn.ends, *_ends_of_calls(acceptor.calls))
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def known_stops(ir: TemplateIR, acceptor: Acceptor) -> tuple[str, ...]:
    """Return the texts that a server can use as stop texts."""
    return tuple(dict.fromkeys(text for text in map(_known, stops(ir, acceptor)) if text))


def _known(text: str) -> str:
    return without_stand_ins(text).strip()


def _ends_of_calls(calls: CallForm | None) -> list[str]:
    """Return the last closer of a call if one call is all of a turn."""
    return sorted(calls.turn_closers, key=len)[:1] if calls is not None else []
