"""Run a million rows of all examples through one process and through Ray: equal, in flat memory, even if workers are
killed.

    make million ARGS="--rows 10000"

Rows of every format, one in a hundred damaged, with nulls, hostile tools, a row of 5 MB, a file without rows and a
beginning without calls, go through the command line.  Memory is the sum over all processes, shared pages counted once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from tests.example_case import Example, load_examples, standalone_parser
from tplc.batch.columns import FLAT
from tplc.verify.artifact import load_module

FILES = 10
GROUP = 10_000  # rows of one group of a file
LARGE = 5_000_000
SCHEMA = pa.schema([("id", pa.int64()), ("model", pa.string()), ("tools", pa.string()), ("text", pa.string())])
HOSTILE_TOOLS = ("{", "[" * 100_000, "7", '[null, {"function": 5}]', '{"a": 1}', "", '[{"name": {}, "parameters": []}]')
WORDS = (
    "They want a forecast and a note of it so I look first at both of them before I say more about any of it ".split()
)


def main() -> None:
    given = _options()
    work = Work(Path(given.folder), given.workers)
    work.write_parsers()
    sizes = [size for size in (10_000, 100_000, 1_000_000) if size < given.rows] + [given.rows]
    for size in sizes:
        work.write_rows(size)
        for engine in ("pyarrow", "ray"):
            print(work.run(size, engine), flush=True)
        print(f"{'':9} one process and Ray: {work.compared(size, 'pyarrow', 'ray')}", flush=True)
    print(f"{'':9} one process and the loop: {work.compared_with_loop(sizes[-1])} of its first file", flush=True)
    some = min(100_000, given.rows)
    work.run(some, "ray", out="killed", kill="worker")
    print(f"{'':9} a worker killed: {work.compared(some, 'pyarrow', 'killed')}", flush=True)
    work.run(some, "pyarrow", out="broken", kill="run")
    whole = len(list(work.out(some, "broken").glob("[!.]*.parquet")))
    work.run(some, "pyarrow", out="broken", resume=True)
    print(f"{'':9} the run killed with {whole} files whole, and resumed: {work.compared(some, 'pyarrow', 'broken')}")
    print(f"{'':9} a worker starts with {work.worker_start():.2f} s of processor, Ray in {work.ray_start():.1f} s")


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="make million")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--folder", default="build/million")
    return options.parse_args()


# Rows


def texts_of(examples: Sequence[Example], draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield endlessly: a format, its tools as JSON, and an output of some hundred characters."""
    known = [(one.name, json.dumps(one.tools), output.text) for one in examples for output in one.outputs]
    while True:
        name, tools, text = draw.choice(known)
        gaps = [gap.start() for gap in re.finditer(r"(?<=[a-z]) (?=[a-z])", text)]
        if gaps:
            at = draw.choice(gaps)
            text = f"{text[:at]} {' '.join(draw.choices(WORDS, k=draw.randrange(200)))} {text[at + 1 :]}"
        yield name, tools, text


def rows(count: int) -> Iterator[tuple[int, str | None, str | None, str | None]]:
    draw = random.Random(count)
    examples = load_examples()
    texts = texts_of(examples, draw)
    for number in range(count):
        name, tools, text = next(texts)
        if number < min(2 * 1000, count // 4):
            text = "Nothing is called here."
        elif number == count // 2:
            name, text = "tagged-json", f'<fn>\n{{"name": "look", "arguments": {{"at": "{"x" * LARGE}"}}}}\n</fn>'
        elif draw.random() < 0.01:
            text = text[: draw.randrange(len(text) + 1)] + draw.choice(["", "{", "</", "\x00", "\u2028", "<fn>" * 50])
        chance = draw.random()
        yield (
            number,
            name if chance > 0.001 else draw.choice([None, "nobody"]),
            tools if chance < 0.99 else draw.choice(HOSTILE_TOOLS),
            None if 0.5 < chance < 0.51 else text,
        )


# Runs


@dataclass(frozen=True, slots=True)
class Ran:
    engine: str
    rows: int
    characters: int
    seconds: float
    whole: float
    processor: float
    peak: float

    def __str__(self) -> str:
        size = self.characters / 1e6
        rates = f"{self.rows / self.seconds:,.0f} rows and {size / self.seconds:.1f} MB a second"
        each = f"{self.processor:.0f} s of processor, {self.processor / self.rows * 1e6:.0f} µs a row"
        return (
            f"{self.engine:<9}{self.rows:>10,} rows, {size:,.0f} MB: {rates}, {self.whole:.0f} s in all, "
            f"{each}, {self.processor / size * 1000:.0f} s a GB, memory at most {self.peak:,.0f} MB"
        )


class Work:
    """The folder with the rows of each size, and what each run made of them."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.workers = folder, workers

    def write_parsers(self) -> None:
        (self.folder / "parsers").mkdir(parents=True, exist_ok=True)
        for example in load_examples():
            path = self.folder / "parsers" / f"{example.name}.py"
            path.write_text(standalone_parser(example.name), encoding="utf-8")

    def rows_of(self, size: int) -> Path:
        return self.folder / f"rows-{size}"

    def out(self, size: int, name: str) -> Path:
        return self.folder / f"out-{size}-{name}"

    def write_rows(self, size: int) -> None:
        place = self.rows_of(size)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        parquet.write_table(SCHEMA.empty_table(), place / "empty.parquet")
        found = rows(size)
        each = -(-size // FILES)
        for number in range(FILES):
            with parquet.ParquetWriter(place / f"{number}.parquet", SCHEMA) as writer:
                for start in range(0, each, GROUP):
                    group = list(islice(found, min(GROUP, each - start)))
                    columns = zip(*group, strict=True) if group else [[]] * len(SCHEMA)
                    writer.write_table(pa.table([list(column) for column in columns], schema=SCHEMA))

    def run(self, size: int, engine: str, *, out: str = "", kill: str = "", resume: bool = False) -> Ran | None:
        target = self.out(size, out or engine)
        if not resume:
            shutil.rmtree(target, ignore_errors=True)
        command = [sys.executable, "-m", "tplc", "parse", str(self.folder / "parsers"), str(self.rows_of(size))]
        command += ["--column", "text", "--parser-column", "model", "--tools-column", "tools", "-o", str(target)]
        command += ["--engine", engine, "--json"]
        command += ["--jobs", str(self.workers)] if engine == "ray" else []
        command += ["--resume"] if resume else []
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        watch = Watch(process.pid)
        if kill:
            _wait(lambda: process.poll() is not None or len(list(target.glob("[!.]*.parquet"))) > FILES // 3)
            assert process.returncode is None, f"{engine} ended before it could be killed: {process.returncode}"
            # A run is a process and those that it started; of a worker the others continue.
            for pid in watch.family() if kill == "run" else [watch.worker()]:
                os.kill(pid, 9)
        printed, _ = process.communicate()
        watch.done()
        if kill == "run":
            return None
        assert process.returncode == 0, f"{engine} failed: {process.returncode}"
        report = json.loads(printed)
        seconds = report["seconds"]
        whole = time.monotonic() - start
        return Ran(engine, report["rows"], report["characters"], seconds, whole, watch.processor, watch.peak)

    def compared(self, size: int, first: str, second: str) -> str:
        """Compare row by row, files and order included; return a text such as "equal, 10,000 rows"."""
        places = [self.out(size, name) for name in (first, second)]
        names = [sorted(path.name for path in place.iterdir()) for place in places]
        assert names[0] == names[1], names
        count = 0
        for name in names[0]:
            one, other = (parquet.read_table(place / name) for place in places)
            assert one.equals(other, check_metadata=True), f"{places[1] / name} is another"
            source = parquet.read_table(self.rows_of(size) / name)
            assert one.select(source.column_names).equals(source), f"{places[1] / name} has other rows"
            count += one.num_rows
        assert count == size, f"{count} rows of {size}"
        return f"equal, {count:,} rows"

    def compared_with_loop(self, size: int) -> str:
        """Return the rows that a plain loop of parsers, one output at a time, returns for the first file."""
        modules = {
            one.name: load_module((self.folder / "parsers" / f"{one.name}.py").read_text(encoding="utf-8"))
            for one in load_examples()
        }
        table = parquet.read_table(self.out(size, "pyarrow") / "0.parquet")
        for row in table.to_pylist():
            found = {name: row[name] for name in FLAT}
            if row["text"] is None:
                assert found == dict.fromkeys(FLAT), row
            elif row["model"] in modules:
                [expected] = modules[row["model"]].parse_many([row["text"]], tools=row["tools"])
                message = modules[row["model"]].parse(row["text"], tools=_tools(row["tools"]))
                assert found == expected and found["content"] == message["content"], row
            else:
                assert found["content"] == row["text"], row
        return f"equal, all {table.num_rows:,}"

    def worker_start(self) -> float:
        """Return the seconds until a worker has returned its first table: its imports, and all parsers made."""
        code = (
            "import sys, pathlib, pyarrow; from tplc.batch import Columns, RowParser\n"
            "parsers = {p.stem: p.read_text(encoding='utf-8') for p in pathlib.Path(sys.argv[1]).glob('*.py')}\n"
            "RowParser(parsers, Columns('t', parser='m'))(pyarrow.table({'t': ['Hi.'], 'm': ['tagged-json']}))"
        )
        before = _processor_of_children()
        subprocess.run([sys.executable, "-c", code, str(self.folder / "parsers")], check=True)
        return _processor_of_children() - before

    def ray_start(self) -> float:
        start = time.monotonic()
        subprocess.run([sys.executable, "-c", "from tplc.cluster import start_ray; start_ray()"], check=True)
        return time.monotonic() - start


def _processor_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tools(text: str | None) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def _wait(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 600
    while not ready():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.02)


class Watch:
    """Watches the memory and the time of a process and all that it started, twice a second."""

    def __init__(self, pid: int) -> None:
        self.pid, self.peak, self._ended = pid, 0.0, threading.Event()
        self._spent: dict[int, float] = {}
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            family = self.family()
            self.peak = max(self.peak, sum(map(_memory, family)))
            self._spent |= {pid: spent for pid in family if (spent := _spent(pid))}

    @property
    def processor(self) -> float:
        """Return the seconds of processor time up to the last look."""
        return sum(self._spent.values())

    def done(self) -> None:
        self._ended.set()
        self._thread.join()

    def family(self) -> list[int]:
        children: dict[int, list[int]] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                status = _read(entry / "stat").rpartition(")")[2].split()
                if status:
                    children.setdefault(int(status[1]), []).append(int(entry.name))
        found = [self.pid]
        for pid in found:
            found += children.get(pid, [])
        return found

    def worker(self) -> int:
        """Return a process that works on rows."""
        found: list[int] = []

        def at_work() -> bool:
            found[:] = [pid for pid in self.family() if re.match(r"ray::Map", _read(Path(f"/proc/{pid}/cmdline")))]
            return bool(found)

        _wait(at_work)
        return found[0]


def _memory(pid: int) -> float:
    match = re.search(r"^Pss:\s+(\d+) kB", _read(Path(f"/proc/{pid}/smaps_rollup")), re.MULTILINE)
    return int(match[1]) / 1024 if match else 0.0


def _spent(pid: int) -> float:
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it ended
        return ""


if __name__ == "__main__":
    main()
