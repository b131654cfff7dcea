"""Generated parsers of an earlier version against those of this one: `python -m tests.fuzz.compare`.

    python -m tests.fuzz.compare save ../before            writes the parser and the IR of every example
    python -m tests.fuzz.compare run ../before             reads random outputs with both, and prints where they differ

A change of structure must not change what parsers read.  Run `save` on the commit before the change and `run` after it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.fuzz.formats import Format, formats
from tests.fuzz.outputs import Writer
from tests.fuzz.run import Case, random_case
from tplc.driver import generate, load_ir
from tplc.ir.serialize import dumps
from tplc.verify.artifact import load_module

BATCH = 2000
SHOWN = 8


def save(folder: Path, forms: Sequence[Format]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for form in forms:
        (folder / f"{form.name}.py").write_text(form.source, encoding="utf-8")
        (folder / f"{form.name}.json").write_text(dumps(form.ir), encoding="utf-8")


def pairs_in(folder: Path, only: str) -> list[tuple[Format, ModuleType]]:
    """Each saved format with its parser of today, and the saved parser."""
    known = {form.name: form for form in formats()}
    pairs = []
    for path in sorted(folder.glob("*.json")):
        if only not in path.stem or path.stem not in known:
            continue
        ir = load_ir(path.read_text(encoding="utf-8"))
        source = generate(ir, "python")
        form = replace(known[path.stem], ir=ir, source=source, parser=load_module(source))
        pairs.append((form, load_module(path.with_suffix(".py").read_text(encoding="utf-8"))))
    return pairs


def read(parser: ModuleType, case: Case, chunks: Sequence[str]) -> dict[str, Any]:
    stream = parser.StreamParser(**case.options)
    for chunk in chunks:
        stream.feed(chunk)
    stream.finish()
    diagnostics = [tuple(diagnostic) for diagnostic in stream.diagnostics]
    return {**stream.message, "cut": stream.incomplete, "diagnostics": diagnostics, "trailing": stream.trailing}


def difference(before: ModuleType, case: Case) -> str:
    """What the parsers read differently; "" if nothing."""
    for title, chunks in (("whole", [case.text]), ("in chunks", case.chunks)):
        old, new = read(before, case, chunks), read(case.form.parser, case, chunks)
        if old != new:
            keys = [key for key in old if old[key] != new[key]]
            return "".join(f"\n  {title}, {key}\n    {old[key]!r}\n    {new[key]!r}" for key in keys)
    return ""


def batch(size: int, seed: int) -> tuple[Counter[str], list[str]]:
    found: Counter[str] = Counter()
    shown = []
    writers = [(Writer(form, random.Random(f"{seed} {form.name}")), before) for form, before in _PAIRS]
    for index in range(size):
        writer, before = writers[index % len(writers)]
        case = random_case(writer)
        found["outputs"] += 1
        what = difference(before, case)
        if what:
            found[f"differ in {case.form.name}"] += 1
            shown += [f"{case}{what}"] * (len(shown) < SHOWN)
    return found, shown


_PAIRS: list[tuple[Format, ModuleType]] = []


def run(folder: Path, count: int, seed: int, processes: int, only: str) -> int:
    started = time.monotonic()
    _PAIRS[:] = pairs_in(folder, only)
    total: Counter[str] = Counter()
    sizes = [min(BATCH, count - at) for at in range(0, count, BATCH)]
    seeds = [seed * 1_000_000 + index for index in range(len(sizes))]
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        for found, shown in pool.map(batch, sizes, seeds):
            total += found
            for case in shown[:SHOWN]:
                print(case, flush=True)
    differ = sum(total.values()) - total["outputs"]
    print(f"{len(_PAIRS)} parsers, {total['outputs']:,} outputs, {time.monotonic() - started:.0f} s: {differ:,} differ")
    for name, number in sorted(total.items()):
        print(f"  {name}: {number:,}")
    return 1 if differ else 0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("save", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="examples whose name holds this")
    options = parser.parse_args(arguments)
    if options.action == "run":
        return run(options.folder, options.count, options.seed, options.processes, options.only)
    save(options.folder, [form for form in formats() if options.only in form.name])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
