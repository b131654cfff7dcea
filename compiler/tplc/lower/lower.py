r"""Work out what a parser reads from what the template writes: IR → Acceptor.

    tools.call = "<call>" name "\n" arguments "</call>"
    →  openers: "<call>"; the name ends at "\n"; closers: "</call>"

Only texts of the IR go in and come out: nothing here knows any format.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tplc.ir.nodes import TemplateIR, Verification
from tplc.lower.acceptor import Acceptor
from tplc.lower.calls import calls_of
from tplc.lower.tolerated import tolerated
from tplc.lower.turn import turn_of


def lower(ir: TemplateIR) -> Acceptor:
    """Return the acceptor of a format.  It is made once for all backends; the verification result doesn't matter."""
    ir = replace(ir, verification=Verification())
    try:
        return _known(ir)
    except TypeError:
        # A variable of a prompt's context is a list or an object, which have no hash.
        return _lowered(ir)


@lru_cache(maxsize=64)
def _known(ir: TemplateIR) -> Acceptor:
    return _lowered(ir)


def _lowered(ir: TemplateIR) -> Acceptor:
    allowed = tolerated(ir)
    calls = calls_of(ir, allowed) if ir.tools.format != "none" else None
    return turn_of(ir, calls, allowed)
