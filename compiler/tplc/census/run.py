"""Compile many templates, several at once: in processes of this machine, or on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from importlib.util import find_spec
from typing import Any

from tplc.census.entry import Entry, entry_of
from tplc.cluster import start_ray
from tplc.errors import UsageError

ENGINES = ("processes", "ray")


def census(
    sources: Sequence[str],
    *,
    engine: str = "processes",
    jobs: int = 1,
    address: str | None = None,
    progress: Callable[[str], None] = lambda source: None,
) -> list[Entry]:
    """An entry for each source, in their order, whatever the engine."""
    if engine not in ENGINES:
        raise UsageError(f"--engine {engine}: no such engine; there are {', '.join(ENGINES)}")
    if engine == "ray" and find_spec("ray") is None:
        raise UsageError("--engine ray needs a package that is not installed: pip install 'tplc[ray]'")
    entries = []
    for entry in _on_ray(sources, address) if engine == "ray" else _in_processes(sources, jobs):
        entries.append(entry)
        progress(entry.source)
    return entries


def _in_processes(sources: Sequence[str], jobs: int) -> Iterator[Entry]:
    with ProcessPoolExecutor(max(1, min(jobs, len(sources)))) as pool:
        futures = [pool.submit(entry_of, source) for source in sources]
        for source, future in zip(sources, futures, strict=True):
            yield _result(source, future)


def _result(source: str, future: Future[Entry]) -> Entry:
    """What should never be raised is an entry as well: one template must not end a census of thousands."""
    error = future.exception()
    if error is not None:
        return Entry(source, "internal error", f"{type(error).__name__}: {error}".partition("\n")[0])
    return future.result()


def _on_ray(sources: Sequence[str], address: str | None) -> Iterator[Entry]:
    ray = start_ray(address)
    compiled: Any = ray.remote(entry_of)
    futures = [compiled.remote(source) for source in sources]
    for source, future in zip(sources, futures, strict=True):
        try:
            yield ray.get(future)
        except ray.exceptions.RayError as error:
            yield Entry(source, "internal error", f"{type(error).__name__}: {error}".partition("\n")[0])
