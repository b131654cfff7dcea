"""Compile many templates, several at once: in processes of this machine, or on Ray."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tplc.census.entry import CensusEntry, entry_of
from tplc.parallel import Died, run_parallel


def census(
    sources: Sequence[str],
    *,
    engine: str = "processes",
    jobs: int | None = 1,
    address: str | None = None,
    limits: Mapping[str, float] | None = None,
    progress: Callable[[str], None] = lambda source: None,
) -> list[CensusEntry]:
    """Return an entry for each source, in the order of the sources with every engine."""
    done: dict[int, CensusEntry] = {}
    entries: list[CensusEntry] = []
    compiled = partial(entry_of, limits=limits)
    for place, result in run_parallel(compiled, sources, engine=engine, jobs=jobs, address=address):
        done[place] = _entry(sources[place], result)
        while len(entries) in done:
            entries.append(done.pop(len(entries)))
            progress(entries[-1].source)
    return entries


def _entry(source: str, result: CensusEntry | BaseException) -> CensusEntry:
    """Return the entry of a result.  An unexpected error is an entry too, so that one template can't end a census."""
    if isinstance(result, Died):
        return CensusEntry(source, "internal error", "the process that compiled it died")
    if isinstance(result, BaseException):
        return CensusEntry(source, "internal error", f"{type(result).__name__}: {result}".partition("\n")[0])
    return result
