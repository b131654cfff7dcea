"""Apply one function to many things in parallel: in processes of this machine, or on Ray.

run_parallel(compile, ["a", "killer", "b"], jobs=2)  →  (0, …), (2, …), (1, Died()), as each is done

What a call raises comes back as a value, and a process that dies takes no other call with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from typing import Any, TypeVar

from tplc.bounds import enforce, enforced
from tplc.cluster import reason, start_ray
from tplc.errors import MissingPackage, UsageError

ENGINES = ("processes", "ray")
Item = TypeVar("Item")
Result = TypeVar("Result")


class Died(Exception):
    """The process that had it was killed, or ended by itself."""


def check_engine(engine: str, address: str | None = None) -> None:
    if engine not in ENGINES:
        raise UsageError(f"--engine {engine}: no such engine; there are {', '.join(ENGINES)}")
    if engine == "ray" and find_spec("ray") is None:
        raise MissingPackage("--engine ray", "ray")
    if address is not None and engine != "ray":
        raise UsageError(f"--address is for --engine ray, and the engine is {engine}")


def run_parallel(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    engine: str = "processes",
    jobs: int | None = None,
    address: str | None = None,
) -> Iterator[tuple[int, Result | BaseException]]:
    """Yield each item's index and result, in the order in which they finish."""
    check_engine(engine, address)
    task = _Task(function, enforced())
    return _on_ray(task, items, jobs, address) if engine == "ray" else _in_processes(task, items, jobs or 1)


class _Task:
    """A function for workers, with the bounds of the process that started it."""

    def __init__(self, function: Callable[[Any], Any], bounded: bool) -> None:
        self._function, self._bounded = function, bounded

    def __call__(self, item: Any) -> Any:
        if self._bounded:
            enforce()
        return self._function(item)


def _in_processes(task: _Task, items: Sequence[Any], jobs: int) -> Iterator[tuple[int, Any]]:
    """Yield the results of a process pool. A process that dies takes its pool with it; the remaining items then get a
    pool each."""
    left = list(range(len(items)))
    with ProcessPoolExecutor(max(1, min(jobs, len(items)))) as pool:
        futures = {}
        try:
            for at in left:
                futures[pool.submit(task, items[at])] = at
        except BrokenProcessPool:
            pass  # those that are left are done one by one
        try:
            for future in as_completed(futures):
                error = future.exception()
                if not isinstance(error, BrokenProcessPool):
                    left.remove(futures[future])
                    yield futures[future], future.result() if error is None else error
        except BaseException:
            pool.shutdown(cancel_futures=True)  # those that run end first: nothing else would end their processes
            raise
    for at in left:
        yield at, _alone(task, items[at])


def _alone(task: _Task, item: Any) -> Any:
    with ProcessPoolExecutor(1) as pool:
        future = pool.submit(task, item)
        error = future.exception()
    if isinstance(error, BrokenProcessPool):
        return Died()
    return future.result() if error is None else error


def _on_ray(task: _Task, items: Sequence[Any], jobs: int | None, address: str | None) -> Iterator[tuple[int, Any]]:
    ray = start_ray(address, jobs)
    remote: Any = ray.remote(lambda item: task(item))
    places = {remote.remote(item): at for at, item in enumerate(items)}
    while places:
        [done], _ = ray.wait(list(places))
        at = places.pop(done)
        try:
            yield at, ray.get(done)
        except ray.exceptions.RayTaskError as error:
            yield at, error.cause if isinstance(error.cause, Exception) else RuntimeError(reason(error))
        except ray.exceptions.RayError:
            yield at, Died()
