"""How else a marker may be written, where the parser reads it: variants of tolerance files and of the catalogue.

variant "<Call>" for "<call>"   →   called("<call>") = ("<call>", "<Call>")

A grammar accepts each in place of the template's own marker, the template's own first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tplc.grammars.request.openers import CallMarkers, call_markers
from tplc.ir.nodes import TemplateIR
from tplc.lower import lower
from tplc.lower.layouts import unique
from tplc.lower.tolerated import Tolerated, tolerated
from tplc.lower.variants import TurnMarkerTexts, turn_marker_texts, with_other_markers


@dataclass(frozen=True, slots=True)
class MarkerVariants:
    """`calls`: what is around calls, one for each way to open, separate or close them, the template's own first."""

    calls: tuple[CallMarkers, ...]
    turn: TurnMarkerTexts
    known: Tolerated

    def that_begin_calls(self) -> MarkerVariants:
        """Return the variants without those that end with the template's own opener, at which a lazy grammar begins.

        What is added before calls is before the place where such a grammar begins.
        """
        own = self.calls[0].mark or self.calls[0].first.lstrip()
        others = [one for one in self.calls[1:] if own not in one.first.lstrip()[1:]]
        return replace(self, calls=(self.calls[0], *others), turn=self.turn._replace(opens=()))

    def inside(self, text: str, *, after_name: bool) -> tuple[str, ...]:
        """Return the text of a call's layout after its opener, and its variants."""
        if not text.strip():
            return (text,)
        return unique(self.known.ends_of_name(text) if after_name else self.known.texts(text))


def variants_of(ir: TemplateIR) -> MarkerVariants:
    """Return the variants of the markers.  `ir` has no forms: it describes turns of one shape."""
    known = tolerated(ir)
    calls = [call_markers(one, lower(one)) for one in (ir, *with_other_markers(ir, known))]
    different = tuple({(one.first, one.later, one.next, one.end): one for one in reversed(calls)}.values())[::-1]
    return MarkerVariants(different, turn_marker_texts(ir, known), known)
