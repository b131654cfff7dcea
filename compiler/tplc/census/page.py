"""Show a census as one HTML page, which loads and runs nothing.

[CensusEntry(…), …]  →  "<!doctype html>…": how many are verified, which formats there are, a row for each template
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from tplc.census.changes import ChangedTemplate
from tplc.census.entry import STATES, CensusEntry, shared_formats, without_name
from tplc.page import document, figures
from tplc.version import VERSION

_COLUMNS = ("template", "state", "reasoning", "content", "calls", "format", "messages", "seconds", "notes")


def page(entries: list[CensusEntry], found: Sequence[ChangedTemplate] = (), place: str = "") -> str:
    """Return the page; `place` is the folder or list of the templates."""
    templates = f"{len(entries)} template{'s' * (len(entries) != 1)}"
    title = f"Census of {place}" if place else f"Census of {templates}"
    head = f"<header><h1>{escape(title)}</h1><p>{templates}, tplc {VERSION}</p></header>"
    sections = [head, _figures(entries), _changes(found), _formats(entries), _table(entries)]
    return document(title, title, sections)


def _figures(entries: list[CensusEntry]) -> str:
    states = Counter(entry.state for entry in entries)
    rows: list[tuple[str, str]] = [(state, str(states[state])) for state in STATES if states[state]]
    for name in ("calls", "reasoning", "content"):
        counts = Counter(getattr(entry, name) for entry in entries if getattr(entry, name))
        rows += [(f"{name}: {kind}", str(count)) for kind, count in sorted(counts.items(), key=lambda i: (-i[1], i[0]))]
    return figures("Summary", ("", "templates"), rows)


def _changes(found: Sequence[ChangedTemplate]) -> str:
    rows = [(change.source, change.what) for change in found]
    return figures("Changes", ("template", "change"), rows)


def _formats(entries: list[CensusEntry]) -> str:
    rows = [(name, str(len(group)), ", ".join(one.source for one in group)) for name, group in shared_formats(entries)]
    return figures("Formats of several templates", ("format", "number", "templates"), rows)


def _table(entries: list[CensusEntry]) -> str:
    rows = []
    for entry in entries:
        ambiguous = [f"ambiguous: {', '.join(entry.ambiguities)}"] * bool(entry.ambiguities)
        notes = [*filter(None, [entry.cause]), *ambiguous, *entry.warnings]
        notes = [without_name(note, entry.source) for note in notes]
        messages = f"{entry.passed} of {entry.messages}" if entry.messages else ""
        cells = [entry.source, entry.state, entry.reasoning, entry.content, entry.calls, entry.format, messages]
        rows.append((*cells, f"{entry.seconds:.2f}", "; ".join(notes)))
    return figures("Templates", _COLUMNS, rows, prose="notes")
