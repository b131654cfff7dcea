"""Compare today's parsers with those of an earlier commit: `python -m benchmarks.against COMMIT`.

Five formats by six kinds of output, in chunks of 4 and as a whole: the time as a ratio, taken in turns, and how many
functions are called for a chunk, which is the same on every machine.  Before that lines, and the time of an import.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.clock import functions_called
from benchmarks.earlier import sources_of
from benchmarks.grid import CHUNK, FORMATS, KINDS, message
from benchmarks.outputs import ir_of, parser_of
from tplc.ir.write import write_message
from tplc.verify.artifact import load_module

EXAMPLES = ("plain-chat", *FORMATS.values())
# The modules that parsers import are there before the time is taken.
IMPORT = """
import collections, functools, json, json.encoder, re, sys, time
code = compile(open(sys.argv[1], encoding="utf-8").read(), "parser", "exec")
times = []
for _ in range(20):
    start = time.perf_counter()
    exec(code, {"__name__": "parser"})
    times.append(time.perf_counter() - start)
print(min(times))
"""


def ratio(before: Callable[[], object], now: Callable[[], object], rounds: int) -> float:
    """Return the median of the ratios of two times that were taken directly after each other."""
    found = []
    for index in range(rounds):
        order = (before, now) if index % 2 else (now, before)
        taken = {}
        for function in order:
            start = time.process_time()
            function()
            taken[function] = time.process_time() - start
        found.append(taken[now] / taken[before])
    return statistics.median(found)


def run(parser: Any, chunks: Sequence[str]) -> None:
    stream = parser.StreamParser()
    for chunk in chunks:
        stream.feed(chunk)
    stream.finish()


def speeds(sources: Sequence[dict[str, str]], size: int, rounds: int, *, whole: bool) -> Table:
    """Return the ratios of times; `whole`: of texts that are fed at once."""
    fed = "whole" if whole else f"in chunks of {CHUNK}"
    table = Table(f"{fed}: time now / before (functions called for a chunk: before, now)", *KINDS)
    for name, example in FORMATS.items():
        before, now = (load_module(source[example]) for source in sources)
        shown = []
        for kind in KINDS:
            text = write_message(ir_of(example), message(kind, size))
            chunks = [text] if whole else [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
            ways = [lambda parser=parser, chunks=chunks: run(parser, chunks) for parser in (before, now)]
            for way in ways:
                way()  # compiles patterns
            calls = [functions_called(way) / len(chunks) for way in ways]
            shown.append(f"{ratio(ways[0], ways[1], rounds):.2f} ({calls[0]:.1f}, {calls[1]:.1f})")
        table.add_row(name, *shown)
    return table


def import_times(sources: Sequence[dict[str, str]], rounds: int) -> Table:
    """Return the milliseconds that imports of compiled sources take in fresh interpreters."""
    table = Table("parser", "lines before", "now", "ms of an import before", "now", "ratio")
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, f"{at}.py") for at in range(len(sources))]
            for path, source in zip(paths, sources, strict=True):
                path.write_text(source[example], encoding="utf-8")
            taken = [[_imported(path) for path in paths] for _ in range(rounds)]
        before, now = (statistics.median(times) * 1000 for times in zip(*taken, strict=True))
        lines = [str(source[example].count("\n")) for source in sources]
        table.add_row(example, *lines, f"{before:.2f}", f"{now:.2f}", f"{now / before:.2f}")
    return table


def _imported(path: Path) -> float:
    command = [sys.executable, "-I", "-c", IMPORT, str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    options.add_argument("commit")
    options.add_argument("--size", type=int, default=8, help="kilobytes")
    options.add_argument("--rounds", type=int, default=15)
    given = options.parse_args()
    formats = {example: ir_of(example) for example in EXAMPLES}
    sources = [sources_of(given.commit, formats), {example: parser_of(example) for example in EXAMPLES}]
    console = Console(width=170)
    console.print(import_times(sources, given.rounds))
    for whole in (False, True):
        console.print(speeds(sources, given.size * 1024, given.rounds, whole=whole))


if __name__ == "__main__":
    main()
