"""`tplc census`: compiles a collection of templates and writes a table of the results."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from tplc.census.changes import changes
from tplc.census.entry import STATES, CensusEntry, shared_formats, without_name
from tplc.census.page import page
from tplc.census.run import census
from tplc.census.sources import sources_in
from tplc.census.table import encoded, need_arrow, read
from tplc.cli import inputs
from tplc.cli.ending import unwinding
from tplc.cli.progress import counting
from tplc.cli.shown import print_json
from tplc.errors import ReportedFailure, UsageError
from tplc.ir.visible import one_line
from tplc.overwriting import check_not_input, protect
from tplc.parallel import check_engine
from tplc.project.artifacts import check_output, check_place, write_bytes, write_output

_MOST_SHOWN = 20


class NoLongerVerified(ReportedFailure):
    """Templates that an earlier census found verified are not any more."""


class SourcesUnread(ReportedFailure):
    """The table is written, and some of the listed sources could not be read."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class CensusOptions:
    place: str
    output: str | None
    html: str | None
    against: str | None
    engine: str
    address: str | None
    jobs: int | None
    force: bool
    as_json: bool
    limits: tuple[str, ...] = ()


def census_command(options: CensusOptions) -> None:
    limits = asdict(inputs.limits(options.limits))
    check_engine(options.engine, options.address)
    earlier = read(options.against) if options.against else None
    if options.output is not None:
        check_place(options.output)
        need_arrow(options.output)
        if os.path.exists(options.output) and not options.force:
            raise UsageError(f"{options.output}: already exists; use --force to overwrite it")
    if options.html is not None:
        check_output(options.html, force=options.force)
    sources = sources_in(options.place)
    protect(sources)
    for path in filter(None, (options.output, options.html)):
        check_not_input(path)
    written = options.output not in (None, "-")
    if written and not str(options.output).endswith((".parquet", ".jsonl", ".ndjson")):
        raise UsageError(f"{options.output}: a table is written as .parquet or .jsonl")
    jobs = options.jobs or (os.cpu_count() if options.engine == "processes" else None)
    with unwinding(), counting("compiling", len(sources)) as step:
        entries = census(
            sources, engine=options.engine, jobs=jobs, address=options.address, limits=limits, progress=step
        )
    found = changes(earlier, entries) if earlier is not None else []
    if options.output is not None:
        write_bytes(options.output, encoded(entries, options.output))
    near = [replace(entry, source=_within(entry.source, options.place)) for entry in entries]
    changed = [replace(change, source=_within(change.source, options.place)) for change in found]
    if options.html is not None:
        name = os.path.basename(os.path.abspath(options.place))
        write_output(options.html, page(near, changed, name))
    if options.as_json:
        listed = [{"source": change.source, "what": change.what, "worse": change.worse} for change in found]
        shared = {name: [entry.source for entry in group] for name, group in shared_formats(entries)}
        print_json({"entries": [entry.to_json() for entry in entries], "shared_formats": shared, "changes": listed})
    else:
        _print(near, [path for path in (options.output, options.html) if path])
        if options.against is not None:
            _some([f"{one_line(change.source)}: {one_line(change.what)}" for change in changed])
            print(f"{len(found) or 'nothing'} changed since {one_line(options.against)}")
    worse = [change for change in found if change.worse]
    if worse:
        raise NoLongerVerified(f"{len(worse)} of the templates that verified no longer do")
    unreadable = sum(entry.state == "unreadable" for entry in entries)
    if unreadable:
        raise SourcesUnread(f"{unreadable} of {len(entries)} sources cannot be read")


def _print(entries: list[CensusEntry], outputs: Sequence[str]) -> None:
    states = Counter(entry.state for entry in entries)
    print(f"{'templates':<16}{len(entries)}")
    for state in STATES:
        if states[state]:
            print(f"{state:<16}{states[state]}")
    formats = {entry.format for entry in entries if entry.format}
    print(f"{'formats':<16}{len(formats)}, {len(list(shared_formats(entries)))} of them in several templates")
    _some(
        [f"{name}: {', '.join(one_line(entry.source) for entry in group)}" for name, group in shared_formats(entries)]
    )
    not_right = [entry for entry in entries if entry.state != "verified"]
    _some([f"{one_line(entry.source)}: {entry.state}: {_cause(entry)}" for entry in not_right])
    for output in outputs:
        print(f"wrote {one_line(output)}", file=sys.stderr)


def _cause(entry: CensusEntry) -> str:
    return one_line(without_name(entry.cause, entry.source))


def _within(source: str, place: str) -> str:
    """Return a source's path relative to the collection's folder."""
    inside = os.path.isdir(place) and os.path.relpath(source, place)
    return inside if inside and not inside.startswith("..") and inside != "." else source


def _some(rows: Sequence[str]) -> None:
    print("".join(f"  {row}\n" for row in rows[:_MOST_SHOWN]), end="")
    if len(rows) > _MOST_SHOWN:
        print(f"  … and {len(rows) - _MOST_SHOWN} more: they are in the table (-o, --html, --json)")
