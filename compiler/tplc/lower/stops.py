"""Where a model stops: the ends of turns, and the end of a call that is all of a turn.

TemplateIR, Acceptor  →  ("<end>", "<run>")
"""

from __future__ import annotations

from tplc.ir.nodes import TemplateIR
from tplc.ir.stand_ins import without_stand_ins
from tplc.lower.acceptor import Acceptor


def stops(ir: TemplateIR, acceptor: Acceptor) -> tuple[str, ...]:
    """Return the stop texts without outer white space; a token that wasn't given is represented by its stand-in."""
    calls = acceptor.calls  # if one call is all of a turn, its last closer ends it
    texts = (*ir.turn.ends, *(sorted(calls.closing.of_turn, key=len)[:1] if calls is not None else ()))
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def known_stops(ir: TemplateIR, acceptor: Acceptor) -> tuple[str, ...]:
    """Return the texts that a server can use as stop texts."""
    known = (without_stand_ins(text).strip() for text in stops(ir, acceptor))
    return tuple(dict.fromkeys(filter(None, known)))
