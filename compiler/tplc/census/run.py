"""Compile many templates, several at once: in processes of this machine, or on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
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
    limits: Mapping[str, float] | None = None,
    progress: Callable[[str], None] = lambda source: None,
) -> list[Entry]:
    """An entry for each source, in their order, whatever the engine."""
    if engine not in ENGINES:
        raise UsageError(f"--engine {engine}: no such engine; there are {', '.join(ENGINES)}")
    if engine == "ray" and find_spec("ray") is None:
        raise UsageError("--engine ray needs a package that is not installed: pip install 'tplc[ray]'")
    entries = []
    for entry in _on_ray(sources, address, limits) if engine == "ray" else _in_processes(sources, jobs, limits):
        entries.append(entry)
        progress(entry.source)
    return entries


def _in_processes(sources: Sequence[str], jobs: int, limits: Mapping[str, float] | None) -> Iterator[Entry]:
    """A process that dies takes its pool with it: what that had not done goes through one pool each."""
    with ProcessPoolExecutor(max(1, min(jobs, len(sources)))) as pool:
        futures = [_submitted(pool, source, limits) for source in sources]
        for source, future in zip(sources, futures, strict=True):
            yield (
                _alone(source, limits) if isinstance(future.exception(), BrokenProcessPool) else _result(source, future)
            )


def _submitted(pool: ProcessPoolExecutor, source: str, limits: Mapping[str, float] | None) -> Future[Entry]:
    try:
        return pool.submit(entry_of, source, limits)
    except BrokenProcessPool as error:
        broken: Future[Entry] = Future()
        broken.set_exception(error)
        return broken


def _alone(source: str, limits: Mapping[str, float] | None) -> Entry:
    with ProcessPoolExecutor(1) as pool:
        return _result(source, pool.submit(entry_of, source, limits))


def _result(source: str, future: Future[Entry]) -> Entry:
    """What should never be raised is an entry as well: one template must not end a census of thousands."""
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        return Entry(source, "internal error", "the process that compiled it died")
    if error is not None:
        return Entry(source, "internal error", f"{type(error).__name__}: {error}".partition("\n")[0])
    return future.result()


def _on_ray(sources: Sequence[str], address: str | None, limits: Mapping[str, float] | None) -> Iterator[Entry]:
    ray = start_ray(address)
    compiled: Any = ray.remote(entry_of)
    futures = [compiled.remote(source, limits) for source in sources]
    for source, future in zip(sources, futures, strict=True):
        try:
            yield ray.get(future)
        except ray.exceptions.RayError as error:
            yield Entry(source, "internal error", f"{type(error).__name__}: {error}".partition("\n")[0])
