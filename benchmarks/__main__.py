"""Time generated parsers: `make bench`, or `make bench ARGS="--sizes 2,16 --rounds 3"`.

Every class of output is cut into chunks and fed; the floor is a function called once for each chunk that only returns
[{"content": chunk}].  The caller of either looks at each delta.  Results go to build/bench as JSON and as a plot.
"""

from __future__ import annotations

import argparse
import json
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.clock import medians
from benchmarks.compiling import compile_table, compiles
from benchmarks.grid import grid_tables
from benchmarks.outputs import JSON_FORMAT, TAGGED_FORMAT, Timed, outputs, parser_of
from benchmarks.peer import peer_parser
from benchmarks.plot import write_plot
from benchmarks.start import start_table, starts

WHOLE = 0
PARTS = "outputs,grid,start,compile"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: seconds for the whole output, and those of the floor and of the peer."""

    output: str
    size: int
    chunk: int
    characters: int
    deltas: int
    seconds: float
    floor: float
    peer: float | None

    @property
    def per_thousand(self) -> float:
        return self.seconds / self.characters * 1e9


def main() -> None:
    options = _options()
    console = Console(width=150)
    if "outputs" in options.parts:
        _outputs(options, console)
    if "grid" in options.parts:
        for size in options.sizes:
            for table in grid_tables(size * 1024, options.rounds):
                console.print(table)
    if "start" in options.parts:
        console.print(start_table(starts()))
    if "compile" in options.parts:
        console.print(compile_table(list(compiles())))


def _outputs(options: argparse.Namespace, console: Console) -> None:
    modules = {name: _module(name) for name in (JSON_FORMAT, TAGGED_FORMAT)}
    rows = []
    for size in options.sizes:
        for name, timed in outputs(size * 1024).items():
            for chunk in options.chunks:
                row = _measured(name, size, chunk, timed, modules[timed.format], options.rounds)
                rows.append(row)
                print(f"{name}, {size} KB, chunks of {chunk or 'all'}: {row.per_thousand:.1f} µs", file=sys.stderr)
    whole = _whole_call(outputs(64 * 1024)["JSON: one long string"], modules[JSON_FORMAT], options.rounds)
    dense = _whole_call(outputs(64 * 1024)["JSON: numbers and names"], modules[JSON_FORMAT], options.rounds)
    for table in (_times(rows), _growth(rows, options.sizes)):
        console.print(table)
    console.print(f"whole parse of a 64 KB call, one string: {whole:.2f} × (json.loads of its arguments + a find)")
    console.print(f"whole parse of a 64 KB call, numbers and names: {dense:.2f} × the same")
    _save(options.out, rows, {"one long string": whole, "numbers and names": dense})


def _options() -> argparse.Namespace:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--sizes", type=numbers, default=[2, 16, 64, 256], help="kilobytes: 2,16,64,256")
    parser.add_argument("--chunks", type=numbers, default=[1, 4, 64, WHOLE], help="characters, 0 for all: 1,4,64,0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", default=PARTS, help=f"what to measure: {PARTS}")
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    return parser.parse_args()


def _module(name: str) -> types.ModuleType:
    module = types.ModuleType(name.replace("-", "_"))
    sys.modules[module.__name__] = module
    exec(compile(parser_of(name), f"{name}.py", "exec"), module.__dict__)
    return module


def _measured(name: str, size: int, chunk: int, timed: Timed, module: types.ModuleType, rounds: int) -> Row:
    text = timed.text
    chunks = [text[i : i + chunk] for i in range(0, len(text), chunk)] if chunk else [text]
    parser = module.StreamParser()
    deltas = sum(len(parser.feed(piece)) for piece in chunks) + len(parser.finish())

    def parse() -> object:
        return _consumed(module.StreamParser().feed, chunks)

    functions: dict[str, Callable[[], object]] = {"ours": parse, "floor": lambda: _consumed(_floor, chunks)}
    peer = peer_parser(timed.format) if size <= 64 and chunk == 4 else None
    if peer is not None:
        functions["peer"] = lambda: peer(chunks)
    taken = medians(functions, rounds)
    return Row(name, size, chunk, len(text), deltas, taken["ours"], taken["floor"], taken.get("peer"))


def _consumed(feed: Callable[[str], list[dict[str, Any]]], chunks: Sequence[str]) -> int:
    count = 0
    for chunk in chunks:
        for _ in feed(chunk):
            count += 1
    return count


def _floor(chunk: str) -> list[dict[str, Any]]:
    return [{"content": chunk}]


def _whole_call(timed: Timed, module: types.ModuleType, rounds: int) -> float:
    """Return how many times longer parsing takes than json.loads of the arguments and a find."""

    def least() -> object:
        return timed.text.find("\0"), [json.loads(arguments) for arguments in timed.arguments]

    taken = medians({"ours": lambda: module.parse(timed.text), "least": least}, rounds * 20)
    return taken["ours"] / taken["least"]


def _times(rows: Sequence[Row]) -> Table:
    table = Table("output", "size", "chunks", "µs per 1,000 characters", "deltas per second", "× floor", "peer ×")
    for row in rows:
        table.add_row(
            row.output,
            f"{row.size} KB",
            str(row.chunk or "whole"),
            f"{row.per_thousand:.1f}",
            f"{row.deltas / row.seconds:,.0f}",
            f"{row.seconds / row.floor:.2f}" if row.chunk else "",
            f"{row.peer / row.seconds:.0f}" if row.peer else "",
        )
    return table


def _growth(rows: Sequence[Row], sizes: Sequence[int]) -> Table:
    """Return the cost of four times the length."""
    table = Table("output", "chunks", *(f"{small} → {large} KB" for small, large in pairwise(sizes)))
    for name, chunk in dict.fromkeys((row.output, row.chunk) for row in rows):
        times = {row.size: row for row in rows if (row.output, row.chunk) == (name, chunk)}
        ratios = []
        for small, large in pairwise(sizes):
            longer = times[large].characters / times[small].characters
            ratios.append(f"{times[large].seconds / times[small].seconds:.1f} for {longer:.1f}")
        table.add_row(name, str(chunk or "whole"), *ratios)
    return table


def _save(folder: Path, rows: Sequence[Row], whole: dict[str, float]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    results = [
        {
            "output": row.output,
            "kilobytes": row.size,
            "chunk": row.chunk,
            "characters": row.characters,
            "deltas": row.deltas,
            "microseconds_per_1000_characters": round(row.per_thousand, 2),
            "times_floor": round(row.seconds / row.floor, 3),
            "peer_times": round(row.peer / row.seconds, 1) if row.peer else None,
        }
        for row in rows
    ]
    text = json.dumps({"rows": results, "whole_call_times_json_loads": whole}, indent=2)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    chunk = 4 if any(row.chunk == 4 for row in rows) else rows[0].chunk
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row.chunk == chunk:
            curves.setdefault(row.output, []).append((row.size * 1024, row.seconds * 1000))
    if len(next(iter(curves.values()))) > 1:
        write_plot(folder / "time.svg", curves, f"Time to parse, in chunks of {chunk} characters")


if __name__ == "__main__":
    main()
