"""Measure the CPU seconds of the tests: by folder, by file, of collection, and by function.

    make durations                                 the whole suite
    make durations ARGS="tests/peg --functions"    and the functions that the time goes to, sampled

A wall clock measures what else the machine does, and `pytest --durations` sees no other process. These figures are user
and system time of the process that runs the tests, of the processes that it starts, and of those that they start.  With
several workers, those of all workers are added. The figures by test are in build/durations.json.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = ROOT / "build" / "durations.json"
_TICK = os.sysconf("SC_CLK_TCK")
_EVERY = 0.005  # seconds of CPU between two samples
_DEEPEST = 400  # frames of a sample
_KEY = "cpu_seconds"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--functions", action="store_true", help="list the functions that the CPU time goes to")
    parser.addoption("--most", type=int, default=40, help="lines of each list")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations(config), "cpu-durations")


class Durations:
    """What one process measures; the one that starts the workers adds up what they send."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.tests: Counter[str] = Counter()
        self.parts: Counter[str] = Counter()
        self.own: Counter[str] = Counter()
        self.cumulative: Counter[str] = Counter()
        self.started = cpu_seconds()
        self.is_worker = hasattr(config, "workerinput")

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        before = cpu_seconds()
        result = yield
        self.parts["start"] = before
        self.parts["collection"] += cpu_seconds() - before
        if self.config.getoption("--functions"):
            signal.signal(signal.SIGPROF, self._sample)
            signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        before = cpu_seconds()
        result = yield
        self.tests[item.nodeid] += cpu_seconds() - before
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if self.is_worker:
            self.parts["whole process"] = cpu_seconds()
            sent = {"tests": self.tests, "parts": self.parts, "own": self.own, "cumulative": self.cumulative}
            self.config.workeroutput[_KEY] = json.dumps(sent)  # type: ignore[attr-defined]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        for name, counted in json.loads(getattr(node, "workeroutput", {}).get(_KEY, "{}")).items():
            getattr(self, name).update(counted)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        WRITTEN.parent.mkdir(exist_ok=True)
        WRITTEN.write_text(json.dumps(dict(self.tests.most_common()), indent=0), encoding="utf-8")
        terminalreporter.section("CPU seconds")
        for line in self._lines():
            terminalreporter.write_line(line)

    def _lines(self) -> Iterator[str]:
        most = self.config.getoption("--most")
        files: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        for test, seconds in self.tests.items():
            files[test.partition("::")[0]] += seconds
            counts[test.partition("::")[0]] += 1
        for name, seconds in self.parts.items():
            yield f"{seconds:8.1f}  {name}"
        yield f"{sum(files.values()):8.1f}  all {len(self.tests)} tests"
        folders: Counter[str] = Counter()
        for name, seconds in files.items():
            folders["/".join(name.split("/")[:2])] += seconds
        for name, seconds in folders.most_common() if len(folders) > 1 else ():
            yield f"{seconds:8.1f}  {name}"
        yield "files:"
        for name, seconds in files.most_common(most):
            yield f"{seconds:8.1f}  {name} ({counts[name]})"
        yield "longest tests:"
        for name, seconds in self.tests.most_common(most):
            yield f"{seconds:8.1f}  {name}"
        for title, counted in (("functions:", self.own), ("functions and what they call:", self.cumulative)):
            if counted:
                yield title
            for name, samples in counted.most_common(2 * most):
                yield f"{samples * _EVERY:8.1f}  {name}"

    def _sample(self, number: int, frame: FrameType | None) -> None:
        seen = set()
        for depth in range(_DEEPEST):
            if frame is None:
                break
            code = frame.f_code
            name = f"{_short(code.co_filename)}:{code.co_qualname if hasattr(code, 'co_qualname') else code.co_name}"
            if depth == 0:
                self.own[name] += 1
            seen.add(name)
            frame = frame.f_back
        self.cumulative.update(seen)


@cache
def _short(file: str) -> str:
    return "/".join(Path(file).parts[-3:])


def cpu_seconds() -> float:
    """Return the user and system time of this process, of those it waited for, and of those that still run."""
    return sum(os.times()[:4]) + sum(map(_of_process, _children(os.getpid())))


def _of_process(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK + sum(map(_of_process, _children(pid)))


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []
