"""How a section of calls begins, and the first part of that which no prose holds.

"<calls>\\n<call>" name …    opener "<calls>\\n<call>"    mark "<calls>"
'{"name": "' name …          opener '{"name": "'          no mark: JSON and field names stand in any text
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tplc.ir.nodes import Layout, TemplateIR, Text

_PROSE = frozenset(".,;:!?'\"()-–—…")


@dataclass(frozen=True, slots=True)
class Markers:
    """The texts around calls, with the white space that neighbours share written once.

    `first` comes before the first call at the beginning of a turn, `later` before the first call behind something
    else, `next` before each further call, `end` after the last; `call` is the layout of a call without the literal
    text that opens it.
    """

    first: str
    later: str
    next: str
    end: str
    call: Layout
    mark: str | None


def opener_begun(markers: Markers, head: str) -> str:
    """How much of the first call's opener the prompt's head already holds."""
    opener = markers.first.lstrip()
    return next((opener[:n] for n in range(len(opener), 0, -1) if head.endswith(opener[:n])), "")


def shared(before: str, marker: str) -> str:
    """A marker without that much of its leading white space as `before` ends with."""
    space = marker[: len(marker) - len(marker.lstrip())]
    count = next((n for n in range(len(space), 0, -1) if before.endswith(space[:n])), 0)
    return marker[count:]


def call_markers(ir: TemplateIR) -> Markers:
    tools = ir.tools
    call = tools.call
    opening = call[0].text if call and isinstance(call[0], Text) else ""
    inner = call[1:] if opening else call
    closing = inner[-1].text if inner and isinstance(inner[-1], Text) else ""
    start = first_of_turn(ir, tools.section_start)
    first = start + (shared(start, opening) if start else first_of_turn(ir, opening))
    later = tools.section_start + shared(tools.section_start, opening)
    separator = shared(closing, tools.separator) if closing else tools.separator
    following = separator + shared(closing + separator, opening)
    end = shared(closing, tools.section_end) if closing else tools.section_end
    return Markers(first, later, following, end, inner, mark(ir, first.lstrip()))


def first_of_turn(ir: TemplateIR, marker: str) -> str:
    """A marker as the first of the turn: the prompt ends with the header already."""
    header = ir.turn.header
    if header and marker.startswith(header):
        return marker[len(header) :]
    return shared(header, marker)


def mark(ir: TemplateIR, opener: str) -> str | None:
    """The shortest beginning of the opener, up to white space, that stands in no ordinary text."""
    for end in [match.start() for match in re.finditer(r"\s", opener)] + [len(opener)]:
        if _distinctive(ir, opener[:end]):
            # White space up to the name belongs to it: without it, half an opener would do.
            return opener[:end] if opener[end:].strip() else opener
    return None


def is_bare(ir: TemplateIR, opener: str) -> bool:
    """Whether nothing in the opener is but JSON's punctuation and the names of fields."""
    fields = _field_names(ir)
    return all(word in fields for word in re.split(r"[\s{}\[\](),:\"']+", opener) if word)


def _distinctive(ir: TemplateIR, text: str) -> bool:
    if len(text) < 3 or not any(character.isalpha() for character in text) or is_bare(ir, text):
        return False
    return any(not character.isalnum() and character not in _PROSE and not character.isspace() for character in text)


def _field_names(ir: TemplateIR) -> frozenset[str]:
    json = ir.tools.json
    if json is None:
        return frozenset()
    paths = [json.name, json.arguments, json.id or (), json.index or (), *(path for path, _ in json.constants)]
    texts = [text.strip('"') for _, text in json.constants]
    return frozenset([key for path in paths for key in path] + texts)
