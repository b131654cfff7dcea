"""Options and fixtures for all tests.

`pytest --update` rewrites expected files instead of comparing.  Modules under tests/ import one another as
`from tests.name import …`.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
import regex
import typer.main

from tests import compiled
from tplc import bounds

ROOT = Path(__file__).resolve().parent.parent
_SWEEP = "TPLC_SWEEP"
MOST_RESIDENT = 400  # megabytes
# Other modules of the compiler keep what they read of the runtime's source, which takes half a second to read again.
KEEP_FORMATS = ("tests.", "tplc.backends.peg.engine", "tplc.code", "tplc.explain", "tplc.lower")
_most_resident: list[float] = [MOST_RESIDENT]
SHARED = Path(os.environ.get("TPLC_SHARED", ROOT.parent / "shared"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite expected files from the present results")
    parser.addoption("--sweep", action="store_true", help="run all cases of the tests marked as sweeps")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.add_cleanup(compiled.make_folder())
    compiled.share()
    if config.getoption("--sweep"):
        # Modules ask for it when they are imported, and what they import as `tests.conftest` is another module.
        os.environ[_SWEEP] = "1"


def amount(usual: int, *, sweep: int) -> int:
    """Return how many cases a test that makes its cases itself tries.  It is marked `sweep(1)`: it runs both ways."""
    return sweep if os.environ.get(_SWEEP) else usual


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one in `every` cases of a sweep, at least one.  Sweeps of a file keep the same ones, which share what they
    compile.

    Cases that are chosen by name (`file.py::test[case]`) always run, and with --update all that write expected files.
    """
    writes = {"golden", "update"} if config.getoption("--update") else set()
    if config.getoption("--sweep") or any("[" in argument for argument in config.args):
        return
    sweeps = [
        item
        for item in items
        if item.get_closest_marker("sweep") and not writes.intersection(getattr(item, "fixturenames", ()))
    ]
    cases = Counter(item.nodeid.partition("[")[0] for item in sweeps)
    counts: Counter[str] = Counter()
    left_out = []
    for item in sweeps:
        function, _, _ = item.nodeid.partition("[")
        every = min(next(item.iter_markers("sweep")).args[0], cases[function])
        if counts[function] % every != crc32(item.location[0].encode()) % every:
            left_out.append(item)
        counts[function] += 1
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


def pytest_runtest_setup() -> None:
    """Stop enforcing limits, because a command enforces them for the rest of the process."""
    bounds._enforced = False


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Drop the formats, parsers and grammars that are kept for the tests of a module. Those of all modules together
    take more than half a gigabyte, and every process that a later test forks starts with that memory."""
    is_last = nextitem is None or nextitem.location[0] != item.location[0]
    if is_last and resident_megabytes() > _most_resident[-1]:
        for name in [name for name in sys.modules if name.startswith(KEEP_FORMATS)]:
            for kept in vars(sys.modules[name]).values():
                if isinstance(kept, _lru_cache_wrapper):
                    kept.cache_clear()
        gc.collect()
        # What isn't given back to the system must not make every later module start without them.
        _most_resident.append(max(MOST_RESIDENT, resident_megabytes() + 50))


def resident_megabytes() -> float:
    """Return the memory of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024 / 1024


def pytest_collection_finish() -> None:
    """Exempt tests and modules from garbage collection: they stay in memory to the end."""
    if not TYPE_CHECKING:  # the patterns of one PEG would drive out those of another
        regex._main._MAXCACHE = 4000
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session")
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))


@pytest.fixture
def golden(update: bool) -> Callable[[Path, str], None]:
    """Return a function `golden(path, actual)`, which asserts that the file contains exactly this text, or writes it
    with --update."""

    def compare(path: Path, actual: str) -> None:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8", newline="")
            return
        assert path.is_file(), f"{path} is missing: run pytest --update, then read the diff"
        assert actual == path.read_bytes().decode("utf-8")

    return compare


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with collected templates and outputs, which isn't part of this project."""
    if not SHARED.is_dir():
        pytest.skip(f"no folder {SHARED.name} next to the project")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def _commands_are_declared_once() -> Iterator[None]:
    """Declare the commands once: typer would read all declarations again for each command, which takes longer than many
    commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session")
def cache_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the cache folder of the user who runs the commands."""
    return tmp_path_factory.mktemp("cache-home")
