"""Time several functions in turns, so that other load on the machine affects all of them.

medians({"a": f, "b": g}, 5)  →  {"a": 0.012, "b": 0.034}
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from types import FrameType


def medians(functions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of processor time of each."""
    taken: dict[str, list[float]] = {name: [] for name in functions}
    gc.collect()
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.process_time()
            function()
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def functions_called(run: Callable[[], object]) -> int:
    """Count the functions, Python's and C's, that a call takes: the same number on every machine."""
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count
