"""One function on many things, on each installed engine."""

from __future__ import annotations

import importlib.util
import os
import signal

import pytest

from tplc.bounds import enforced
from tplc.cluster import stop_ray
from tplc.errors import UsageError
from tplc.parallel import run_parallel

RAY = bool(os.environ.get("TPLC_ENGINES")) and importlib.util.find_spec("ray") is not None
THINGS = ["a", "killer", "b", "wrong", *"cdefgh"]


def work(thing: str) -> str:
    if thing == "killer":
        os.kill(os.getpid(), signal.SIGKILL)
    if thing == "wrong":
        raise ValueError(thing)
    return thing.upper()


def shown(result: object) -> str:
    return f"{type(result).__name__}: {result}" if isinstance(result, Exception) else str(result)


# Ray warns of itself.
ON_RAY = pytest.param("ray", 2, marks=pytest.mark.filterwarnings("ignore"))


@pytest.mark.parametrize(("engine", "jobs"), [("processes", 1), ("processes", 3), ON_RAY])
def test_each_is_done_once_also_if_others_fail(engine: str, jobs: int) -> None:
    if engine == "ray" and not RAY:
        pytest.skip("ray takes long to start: make engines")
    found = list(run_parallel(work, THINGS, engine=engine, jobs=jobs))
    stop_ray()
    wanted = {"killer": "Died: ", "wrong": "ValueError: wrong"}
    assert sorted((place, shown(result)) for place, result in found) == [
        (place, wanted.get(thing, thing.upper())) for place, thing in enumerate(THINGS)
    ]


def bounded(_: int) -> bool:
    return enforced()


def test_bounds_are_those_of_the_process_that_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(run_parallel(bounded, [1])) == [(0, enforced())]
    monkeypatch.setattr("tplc.parallel.enforced", lambda: True)
    assert list(run_parallel(bounded, [1])) == [(0, True)]


def test_what_is_asked_wrongly() -> None:
    with pytest.raises(UsageError, match="--engine dask: no such engine; there are processes, ray"):
        run_parallel(work, [], engine="dask")
    with pytest.raises(UsageError, match="--address is for --engine ray, and the engine is processes"):
        run_parallel(work, [], address="auto")


def test_nothing_is_nothing() -> None:
    assert list(run_parallel(work, [])) == []
