"""`make fuzz`: python -m tests.fuzz [--count 1000000] [--seed 0] [--processes 2] [--only WORD] [--guided 200000]

`--collected` adds the formats of the templates in ../shared, with the messages of the verification as their outputs.
Then, where atheris is installed (`pip install atheris`), as many outputs that coverage of the parsers guides.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context

from tests.fuzz.formats import Format, formats
from tests.fuzz.run import Counters, fuzz

BATCH = 4000


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Random outputs through the parsers of all examples.")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="examples whose name holds this")
    parser.add_argument("--guided", type=int, default=200_000, help="outputs guided by coverage, with atheris")
    parser.add_argument("--collected", action="store_true", help="with the formats of the templates in ../shared")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    counters = Counters()
    forms = chosen(options.only, collected=options.collected)
    print(f"{len(forms)} parsers, {time.monotonic() - started:.0f} s", flush=True)
    for done in run(options.count, options.seed, options.processes, forms):
        counters.add(done)
        if done.failures or counters.outputs % (25 * BATCH) == 0:
            print(f"{time.monotonic() - started:.0f} s: {counters}", flush=True)
        for failure in done.failures:
            print(failure, flush=True)
    print(f"{len(forms)} parsers, {time.monotonic() - started:.0f} s: {counters}")
    return 1 if counters.broken or not guided(options.guided, options.seed, options.only) else 0


def guided(count: int, seed: int, only: str) -> bool:
    if not count or importlib.util.find_spec("atheris") is None:
        print("outputs guided by coverage: none" + " (atheris is not installed)" * bool(count))
        return True
    command = [sys.executable, "-m", "tests.fuzz.guided", only, f"-runs={count}", f"-seed={seed + 1}", "-max_len=400"]
    return subprocess.run(command, check=False).returncode == 0


def chosen(only: str, *, collected: bool) -> list[Format]:
    forms = list(formats())
    if collected:
        from tests.peg.agreement import collected_formats, written

        for form in collected_formats():
            forms.append(replace(form, outputs=tuple(text for text, _ in written(form.ir))))
    return [form for form in forms if only in form.name]


def run(count: int, seed: int, processes: int, forms: list[Format]) -> Iterator[Counters]:
    batches = [min(BATCH, count - at) for at in range(0, count, BATCH)]
    _FORMS[:] = forms  # before the processes part: they share what is compiled
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        started = [pool.submit(batch, size, seed * 1_000_000 + index) for index, size in enumerate(batches)]
        for future in as_completed(started):
            yield future.result()


_FORMS: list[Format] = []


def batch(size: int, seed: int) -> Counters:
    return fuzz(size, seed=seed, forms=_FORMS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
