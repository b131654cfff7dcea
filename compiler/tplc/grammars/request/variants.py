"""How else a marker may be written, where the parser reads it: variants of tolerance files and of the catalogue.

variant "<Call>" for "<call>"   →   called("<call>") = ("<call>", "<Call>")

A grammar accepts each in place of the template's own marker, the template's own first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tplc.grammars.request.openers import CallMarkers, call_markers
from tplc.ir.nodes import FormMarker, TemplateIR, Text
from tplc.lower import lower
from tplc.lower.layouts import merged, not_blank, text_at, unique
from tplc.lower.tolerated import Tolerated, tolerated


@dataclass(frozen=True, slots=True)
class MarkerVariants:
    """`calls`: what is around calls, one for each way to open, separate or close them, the template's own first.

    `opens` and `closes` are around content for which the template has no marker.
    """

    calls: tuple[CallMarkers, ...]
    reasoning_starts: tuple[str, ...]
    reasoning_ends: tuple[str, ...]
    content_starts: tuple[str, ...]
    content_ends: tuple[str, ...]
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    known: Tolerated

    def that_begin_calls(self) -> MarkerVariants:
        """Without those that the template's own opener ends: a grammar that waits for it begins there.

        What is added before calls stands before the place where such a grammar begins.
        """
        own = self.calls[0].mark or self.calls[0].first.lstrip()
        others = [one for one in self.calls[1:] if own not in one.first.lstrip()[1:]]
        return replace(self, calls=(self.calls[0], *others), opens=())

    def inside(self, text: str, *, after_name: bool) -> tuple[str, ...]:
        """The text of a call's layout after its opener, and its variants."""
        if not text.strip():
            return (text,)
        return unique(self.known.ends_of_name(text) if after_name else self.known.texts(text))


def variants_of(ir: TemplateIR) -> MarkerVariants:
    """`ir` has no forms: it is the format as turns of one shape have it."""
    known = tolerated(ir)

    def texts(role: FormMarker, usual: str) -> tuple[str, ...]:
        """Those in place of the template's marker; none where it has none."""
        return not_blank(known.of_role(role)) if usual.strip() else ()

    def where_it_has_none(role: FormMarker, usual: str) -> tuple[str, ...]:
        return () if usual.strip() else tuple(text.strip() for text in known.variants.get(role, ()))

    return MarkerVariants(
        unique_markers(ir, known),
        texts("reasoning.start", ir.reasoning.start),
        texts("reasoning.end", ir.reasoning.end),
        texts("content.start", ir.content.start),
        texts("content.end", ir.content.end),
        where_it_has_none("content.start", ir.content.start),
        where_it_has_none("content.end", ir.content.end),
        known,
    )


def unique_markers(ir: TemplateIR, known: Tolerated) -> tuple[CallMarkers, ...]:
    found = [call_markers(one, lower(one)) for one in (ir, *_siblings(ir, known))]
    return tuple({(one.first, one.later, one.next, one.end): one for one in reversed(found)}.values())[::-1]


def _siblings(ir: TemplateIR, known: Tolerated) -> Iterator[TemplateIR]:
    """The format with another text in one place around its calls."""

    def others(text: str) -> tuple[str, ...]:
        return known.texts(text)[1:] if text.strip() else ()

    tools, layout = ir.tools, merged(ir.tools.call)
    opener = text_at(layout, 0)
    made = [replace(tools, section_start=text) for text in others(tools.section_start)]
    made += [replace(tools, section_end=text) for text in others(tools.section_end)]
    made += [replace(tools, separator=text) for text in others(tools.separator)]
    made += [replace(tools, call=(Text(text), *layout[1:])) for text in others(opener)]
    for one in made:
        yield replace(ir, tools=one)
