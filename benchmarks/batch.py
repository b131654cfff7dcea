"""Measure the cost of rows: a plain loop of `parse`, `parse_many`, tables, and files of more and more rows with
their memory.

    python -m benchmarks.batch [--rows 20000] [--engine pyarrow]

Ratios are to the plain loop, of processor time, medians of interleaved rounds.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from tplc.batch import Columns, RowParser
from tplc.batch.engines import choose_engine
from tplc.batch.run import plan
from tplc.verify.artifact import load_module

PARSER = Path(__file__).resolve().parent.parent / "examples" / "tagged-json" / "out" / "parser.py"
CALL = '<fn>\n{"name": "get_forecast", "arguments": {"city": "Oslo", "days": 2, "note": "%s"}}\n</fn>'
TEXT = "<musing>\n" + "They want a forecast, and a note. " * 6 + "\n</musing>\n\nI look it up.\n" + CALL + "\n" + CALL
ROUNDS = 5


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--rows", type=int, default=20_000)
    options.add_argument("--engine", default="pyarrow")
    options.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.child:
        run_file(given.child, given.engine)
        return
    compare(given.rows)
    for rows in (10_000, 100_000, 1_000_000):
        if rows <= 10 * given.rows:
            subprocess.run([sys.executable, "-m", "benchmarks.batch", "--child", str(rows), "--engine", given.engine])


def text(number: int) -> str:
    return TEXT % ("x" * (number % 200), number)


def compare(rows: int) -> None:
    source = PARSER.read_text(encoding="utf-8")
    module, read = load_module(source), RowParser({"": source}, Columns("text"))
    texts = [text(number) for number in range(rows)]
    table = pa.table({"text": texts})
    ways: dict[str, Callable[[], object]] = {
        "plain loop of parse": lambda: [module.parse(text) for text in texts],
        "parse_many": lambda: module.parse_many(texts),
        "tables of 1,000": lambda: [read(table.slice(start, 1000)) for start in range(0, rows, 1000)],
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time()
            way()
            spent[name].append(time.process_time() - start)
    floor = statistics.median(spent["plain loop of parse"])
    for name, seconds in spent.items():
        median = statistics.median(seconds)
        print(f"{name:<22}{rows / median:>9,.0f} rows a second of processor{median / floor:>7.2f} ×")


def run_file(rows: int, engine: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        with parquet.ParquetWriter(path, pa.schema([("text", pa.string())])) as writer:
            for start in range(0, rows, 10_000):
                writer.write_table(pa.table({"text": [text(number) for number in range(start, start + 10_000)]}))
        read = RowParser({"": PARSER.read_text(encoding="utf-8")}, Columns("text"))
        start_time = time.monotonic()
        job = plan(read, choose_engine(engine), str(path), str(Path(folder, "o.parquet")), force=False, resume=False)
        summary = job.run()
        seconds = time.monotonic() - start_time
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{engine}, {summary.rows:>9,} rows {summary.rows / seconds:>9,.0f} a second, at most {peak:,.0f} MB")


if __name__ == "__main__":
    main()
