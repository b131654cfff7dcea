"""The summary of parsed rows as one HTML page: rates by model, tool, diagnostic and length, and sample rows.

page(summary, read, "rows.parquet")  →  "<!doctype html>…"
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from tplc.batch.rows import NOT_READ, RowParser
from tplc.batch.summary import Counts, Sample, Summary, rank, shown_length
from tplc.explain.spans import spans
from tplc.page import document, figures, with_line_ends
from tplc.version import VERSION

_KINDS = ("marker", "reasoning", "content", "name", "arguments", "id")
_RATES = (
    "rows",
    "of all",
    "with calls",
    "calls",
    "incomplete",
    "with diagnostics",
    "unknown tools",
    "schema violations",
    "not judged",
)


def page(summary: Summary, read: RowParser, source: str) -> str:
    """Return the page of a summary.  `read` parsed the rows; it parses the sample rows again to colour their parts."""
    sections = [_head(summary, source), _figures(summary), *_tables(summary), _rows(summary, read)]
    return document(f"{source}: rows parsed", source, sections)


def _head(summary: Summary, source: str) -> str:
    counts = summary.counts
    odd = counts.incomplete + counts.diagnosed
    share = f"{_share(counts.diagnosed, counts.rows)} with diagnostics"
    badge = f'<span class="badge {"bad" if odd else "good"}">{share}</span>'
    facts = f"{counts.rows:,} rows · {counts.characters:,} characters · tplc {VERSION}"
    return f"<header><h1>{escape(source)} {badge}</h1><p>{escape(facts)}</p></header>"


def _figures(summary: Summary) -> str:
    counts = summary.counts
    of_rows = [
        ("with calls", counts.with_calls),
        ("incomplete", counts.incomplete),
        ("with diagnostics", counts.diagnosed),
        ("not read", counts.unread),
    ]
    of_calls = [
        ("of tools not given", counts.unknown_tools),
        ("violating the tool's schema", counts.violating),
        ("not judged", counts.not_judged),
    ]
    rows = [
        ("rows", f"{counts.rows:,}", ""),
        ("null", f"{counts.nulls:,}", _share(counts.nulls, counts.rows)),
        *((name, f"{count:,}", _share(count, counts.rows)) for name, count in of_rows),
        ("calls", f"{counts.calls:,}", ""),
        *((f"calls {name}", f"{count:,}", _share(count, counts.calls)) for name, count in of_calls),
    ]
    return figures("Totals", ("figure", "count", "share"), rows)


def _tables(summary: Summary) -> Iterable[str]:
    counts = summary.counts
    if summary.columns.parser:
        yield figures("By model", ("parser", *_RATES), _rates(summary.by_parser.items(), counts.rows))
    judged = (summary.violating_by_tool, summary.not_judged_by_tool)
    tools = [
        (name, f"{count:,}", _share(count, counts.calls), *(f"{kept[name]:,}" for kept in judged))
        for name, count in rank(summary.by_tool)
    ]
    yield figures("By tool", ("tool", "calls", "of all", "schema violations", "not judged"), tools)
    odd = [(name, f"{count:,}", _share(count, counts.rows)) for name, count in rank(summary.by_diagnostic)]
    yield figures("By diagnostic", ("diagnostic", "count", "per 100 rows"), odd)
    lengths = [(shown_length(at), cell) for at, cell in summary.by_length.items()]
    yield figures("By length", ("characters", *_RATES), _rates(lengths, counts.rows))


def _rates(cells: Iterable[tuple[str, Counts]], all_rows: int) -> list[tuple[str, ...]]:
    return [
        (
            name or "(none)",
            f"{cell.rows:,}",
            _share(cell.rows, all_rows),
            _share(cell.with_calls, cell.rows),
            f"{cell.calls:,}",
            _share(cell.incomplete, cell.rows),
            _share(cell.diagnosed, cell.rows),
            _share(cell.unknown_tools, cell.calls),
            _share(cell.violating, cell.calls),
            _share(cell.not_judged, cell.calls),
        )
        for name, cell in cells
    ]


def _share(part: int, whole: int) -> str:
    if not whole or not part:
        return "0%" if whole else ""
    share = 100 * part / whole
    return f"{share:.1f}%" if share >= 0.1 else "< 0.1%"


# Sample rows


def _rows(summary: Summary, read: RowParser) -> str:
    if not summary.samples:
        return ""
    ordered = sorted(summary.samples, key=lambda sample: (not sample.why, -summary.by_diagnostic[sample.why]))
    legend = " ".join(f'<span class="{kind}">{kind}</span>' for kind in _KINDS)
    shown = "".join(_figure(sample, read) for sample in ordered)
    return f'<section><h2>Rows</h2><p class="legend">{legend}</p>{shown}</section>'


def _figure(sample: Sample, read: RowParser) -> str:
    parser = f", read by <code>{escape(sample.parser)}</code>" if sample.parser else ""
    why = f'<span class="bad">{escape(sample.why)}</span>' if sample.why else "nothing is odd"
    notes = "".join(f"<li><code>{escape(one)}</code></li>" for one in sample.diagnostics)
    facts = f'<ul class="facts">{notes}</ul>' if notes else ""
    cut = '<i class="end">… and more</i>' if sample.cut else ""
    return (
        f"<figure><figcaption>{why} <small>{escape(sample.place)}{parser}</small></figcaption>"
        f"<pre>{_coloured(sample, read)}{cut}</pre>{facts}</figure>"
    )


def _coloured(sample: Sample, read: RowParser) -> str:
    unread = sample.parser not in read.parsers and "" not in read.parsers
    if unread or sample.why == NOT_READ:
        return with_line_ends(sample.text)
    module = read.module(sample.parser if sample.parser in read.parsers else "")
    stream = module.StreamParser(tools=_tools(sample.tools), prompt=sample.prompt)
    fed: list[tuple[int, Sequence[dict[str, Any]]]] = []
    for at, char in enumerate(sample.text, 1):
        deltas = stream.feed(char)
        if deltas:
            fed.append((at, deltas))
    fed.append((len(sample.text), stream.finish()))
    found = spans(sample.text, fed)
    return "".join(f'<span class="{span.kind}">{with_line_ends(span.text)}</span>' for span in found)


def _tools(text: str | None) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
