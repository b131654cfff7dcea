"""Put into a format what a catalogue knows of formats with its markers.

Entry(markers=("<call>",), tolerances=("<Call>" for "<call>")), a format with "<call>\\n"
→   the format, with the tolerance "<Call>" for "<call>", which names its entry
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tplc.catalogue.entries import Entry
from tplc.ir.nodes import TemplateIR
from tplc.ir.own_markers import own_markers
from tplc.ir.roles import ROLES
from tplc.ir.tolerances import apply_tolerances, means_something


def apply_catalogue(ir: TemplateIR, entries: Sequence[Entry]) -> TemplateIR:
    """Apply the entries that match; each is compared with the format as learned, independent of the other entries."""
    fitting = [entry for entry in entries if fits(entry, ir)]
    declared = [replace(tolerance, entry=entry.name) for entry in fitting for tolerance in entry.tolerances]
    return apply_tolerances(ir, [tolerance for tolerance in declared if means_something(ir, tolerance)])


def fits(entry: Entry, ir: TemplateIR) -> bool:
    markers = own_markers(ir)
    present = all(any(needed.strip() in marker for marker in markers) for needed in entry.markers)
    return present and not any(ROLES[role](ir).strip() for role in entry.lacks)


def applied_entries(ir: TemplateIR) -> Mapping[str, int]:
    """Return the catalogue entries in a format, with the number of their tolerances."""
    return Counter(tolerance.entry for tolerance in ir.tolerances if tolerance.entry)
