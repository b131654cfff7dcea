"""Measure the cost of starting, as processor time of whole processes: `python -m benchmarks.start`.

The interpreter alone; with the imports of a generated parser, and with the parser; `tplc --version` and `tplc --help`.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table

from benchmarks.outputs import JSON_FORMAT, parser_of

ROUNDS = 21
BARE = "an interpreter"


def starts(rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median milliseconds of each command; the commands take turns."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "generated.py").write_text(parser_of(JSON_FORMAT), encoding="utf-8")
        path = f"import sys; sys.path.insert(0, {folder!r})"
        commands = {
            BARE: ["-c", path],
            "one that imports re and json": ["-c", f"{path}; import re, json"],
            "one that imports a parser": ["-c", f"{path}; import generated"],
            "tplc --version": ["-m", "tplc", "--version"],
            "tplc --help": ["-m", "tplc", "--help"],
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds + 1):  # the first writes compiled modules
            for name, arguments in commands.items():
                taken[name].append(_milliseconds(arguments))
    return {name: statistics.median(times[1:]) for name, times in taken.items()}


def _milliseconds(arguments: Sequence[str]) -> float:
    # -I: compiled modules are kept, in any environment.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-I", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def start_table(taken: Mapping[str, float]) -> Table:
    table = Table("start of", "ms of processor time", "more than the interpreter", "× the interpreter")
    for name, milliseconds in taken.items():
        bare = taken[BARE]
        table.add_row(name, f"{milliseconds:.1f}", f"{milliseconds - bare:.1f}", f"{milliseconds / bare:.2f}")
    return table


if __name__ == "__main__":
    from rich.console import Console

    Console(width=110).print(start_table(starts()))
