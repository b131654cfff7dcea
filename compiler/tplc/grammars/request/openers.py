"""How a section of calls begins, and the first part of that which no prose holds.

"<calls>\\n<call>" name …    opener "<calls>\\n<call>"    mark "<calls>"
'{"name": "' name …          opener '{"name": "'          no mark: JSON and field names stand in any text
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tplc.ir.markers import lead_of
from tplc.ir.nodes import Layout, TemplateIR
from tplc.ir.word_slots import before_slot
from tplc.lower import Acceptor
from tplc.lower.layouts import text_at
from tplc.lower.openers import is_unambiguous_opener
from tplc.lower.written import written_calls

_PROSE = frozenset(".,;:!?'\"()-–—…")


@dataclass(frozen=True, slots=True)
class CallMarkers:
    """The texts around calls, with the white space that neighbours share written once.

    `first` comes before the first call at the beginning of a turn, `later` before the first call after something
    else, `next` before each further call (`next_apart`: with the white space that its neighbours have too), `end` after
    the last; `call` is the layout of a call without the literal
    text that opens it, `bare_call` of one without arguments, if that has another form.
    """

    first: str
    later: str
    next: str
    next_apart: str
    end: str
    call: Layout
    bare_call: Layout
    mark: str | None
    # No opener counts but where a line begins: any text may contain it.
    bare: bool
    # A call of a known tool may also follow content directly, in the middle of a line.
    in_line: bool


def opener_begun(markers: CallMarkers, head: str) -> str:
    """Return the part of the first call's opener that is in the prompt's head."""
    opener = markers.first.lstrip()
    return next((opener[:n] for n in range(len(opener), 0, -1) if head.endswith(opener[:n])), "")


def shared(before: str, marker: str) -> str:
    """Return a marker without the leading white space with which `before` ends."""
    space = lead_of(marker)
    count = next((n for n in range(len(space), 0, -1) if before.endswith(space[:n])), 0)
    return marker[count:]


def call_markers(ir: TemplateIR, acceptor: Acceptor) -> CallMarkers:
    calls = acceptor.calls
    if calls is None:
        return CallMarkers("", "", "", "", "", (), (), None, bare=True, in_line=False)
    written = written_calls(ir.tools)
    section, opening = written.section_start, written.opener
    inner = written.call[1:] if opening else written.call
    closing = text_at(inner, len(inner) - 1)
    start = first_of_turn(ir, section)
    first = start + (shared(start, opening) if start else first_of_turn(ir, opening))
    later = section + shared(section, opening)
    separator = shared(closing, written.separator) if closing else written.separator
    following = separator + shared(closing + separator, opening)
    end = shared(closing, written.section_end) if closing else written.section_end
    bare = calls.opening.where == "line start"
    empty = ir.tools.bare_call[1:] if opening else ir.tools.bare_call
    apart = written.separator + opening
    marked = None if bare else mark(first.lstrip())
    in_line = bool(calls.whole and later.lstrip()) and "\n" not in later
    return CallMarkers(first, later, following, apart, end, inner, empty, marked, bare, in_line)


def first_of_turn(ir: TemplateIR, marker: str) -> str:
    """Return a marker as the first of the turn: the prompt already ends with the header."""
    header = ir.turn.header
    if header and marker.startswith(header):
        return marker[len(header) :]
    return shared(header, marker)


def mark(opener: str) -> str | None:
    """Return the shortest beginning of the opener, up to white space, that doesn't occur in ordinary text."""
    known = before_slot(opener)
    for end in [match.start() for match in re.finditer(r"\s", known)] + [len(known)]:
        if _distinctive(opener[:end]) and end < len(opener) and known != opener:
            return opener[:end]  # its words differ from turn to turn
        if _distinctive(opener[:end]):
            # White space up to the name belongs to it: without it, half an opener would do.
            return opener[:end] if opener[end:].strip() else opener
    return None


def _distinctive(text: str) -> bool:
    if len(text) < 3 or not any(character.isalpha() for character in text) or not is_unambiguous_opener(text):
        return False
    return any(not character.isalnum() and character not in _PROSE and not character.isspace() for character in text)
