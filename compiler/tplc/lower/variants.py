"""The format with other texts for its markers, which tolerance files and the catalogue give, as grammars need it.

A parser looks for all texts of a marker in one place; a grammar spells each way to write a turn in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from tplc.ir.nodes import FormMarker, TemplateIR, Text
from tplc.lower.layouts import merged, not_blank, text_at
from tplc.lower.tolerated import Tolerated


class TurnMarkerTexts(NamedTuple):
    """The texts of each marker of the turn, the template's own first.

    `opens` and `closes` are around content for which the template has no marker.
    """

    reasoning_starts: tuple[str, ...]
    reasoning_ends: tuple[str, ...]
    content_starts: tuple[str, ...]
    content_ends: tuple[str, ...]
    opens: tuple[str, ...]
    closes: tuple[str, ...]


def turn_marker_texts(ir: TemplateIR, known: Tolerated) -> TurnMarkerTexts:
    """Return the texts of the markers around reasoning and content; none for a marker that the template has not."""

    def texts(role: FormMarker, usual: str) -> tuple[str, ...]:
        return not_blank(known.of_role(role)) if usual.strip() else ()

    def where_it_has_none(role: FormMarker, usual: str) -> tuple[str, ...]:
        return () if usual.strip() else tuple(text.strip() for text in known.variants.get(role, ()))

    return TurnMarkerTexts(
        texts("reasoning.start", ir.reasoning.start),
        texts("reasoning.end", ir.reasoning.end),
        texts("content.start", ir.content.start),
        texts("content.end", ir.content.end),
        where_it_has_none("content.start", ir.content.start),
        where_it_has_none("content.end", ir.content.end),
    )


def with_other_markers(ir: TemplateIR, known: Tolerated) -> Iterator[TemplateIR]:
    """Yield the format with another text in one place around its calls."""

    def others(text: str) -> tuple[str, ...]:
        return known.texts(text)[1:] if text.strip() else ()

    tools, layout = ir.tools, merged(ir.tools.call)
    opener = text_at(layout, 0)
    made = [replace(tools, section_start=text) for text in others(tools.section_start)]
    made += [replace(tools, section_end=text) for text in others(tools.section_end)]
    made += [replace(tools, section_start=start, section_end=end) for start, end in _declared_sections(ir, known)]
    made += [replace(tools, separator=text) for text in others(tools.separator)]
    made += [replace(tools, call=(Text(text), *layout[1:])) for text in others(opener)]
    for one in made:
        yield replace(ir, tools=one)


def _declared_sections(ir: TemplateIR, known: Tolerated) -> Iterator[tuple[str, str]]:
    """Yield the texts around all calls that a tolerance file gives a format without such a text, in every
    combination."""
    own = (ir.tools.section_start, ir.tools.section_end)
    starts = (own[0], *known.declared("tools.section_start"))
    ends = (own[1], *known.declared("tools.section_end"))
    yield from ((start, end) for start in starts for end in ends if (start, end) != own)
