"""Compare generated parsers of another commit with those of this one: `python -m tests.fuzz.compare --against COMMIT`.

    python -m tests.fuzz.compare --against HEAD --count 100000
    31 parsers, 100,000 outputs, 310 s: 0 differ

A change of structure must not change what parsers read.  Both parsers are generated from the IRs that this commit has.
They read the same mutated outputs, whole and in chunks: with copies in between, text after the end, JSON content, and
through `parse` and `parse_many`.  `--collected` adds the formats of the templates in ../shared.  `--finished` is for
changes of when deltas come: it compares only what finished parsers say.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from types import ModuleType
from typing import Any

from benchmarks.earlier import sources_of
from tests.fuzz.__main__ import chosen
from tests.fuzz.formats import Format
from tests.fuzz.outputs import Writer
from tests.fuzz.run import Case, random_case
from tplc.verify.artifact import load_module

BATCH = 2000
SHOWN = 6


def parsers_of(commit: str, forms: Sequence[Format]) -> list[ModuleType]:
    """Return the parsers that the commit generates from the formats."""
    sources = sources_of(commit, {form.name: form.ir for form in forms})
    return [load_module(sources[form.name]) for form in forms]


@dataclass(frozen=True, slots=True)
class Use:
    """How a caller uses the parser, in addition to the options of the case."""

    json_content: bool
    looks: bool  # at the message, between chunks
    copies_at: int  # the chunk after which a copy continues; -1: none
    feeds_late: bool
    batch: bool
    tools_as: str  # for parse_many: tools, JSON text, or text that isn't JSON
    finished: bool  # only what the finished parser says counts

    @staticmethod
    def random(rng: random.Random, *, finished: bool) -> Use:
        chance = rng.random
        copies_at = rng.randrange(6) if chance() < 0.3 else -1
        tools_as = rng.choice(["tools", "JSON", "broken"])
        return Use(chance() < 0.15, chance() < 0.2, copies_at, chance() < 0.3, chance() < 0.2, tools_as, finished)


def read(parser: ModuleType, case: Case, chunks: Sequence[str], use: Use) -> list[Any]:
    """Return all that the parser returns for these chunks."""
    stream = parser.StreamParser(**{**case.options, **({"json_content": True} if use.json_content else {})})
    found = [_state(stream)]
    for at, chunk in enumerate(chunks):
        found.append(stream.feed(chunk))
        if use.looks:
            found.append(_state(stream))
        if at == use.copies_at:
            stream, other = copy.copy(stream), stream
            found += [other.feed("<x>" + chunk), other.finish(), _state(other)]
    last = stream.finish()
    found = [_state(stream)] if use.finished else [*found, last, _state(stream)]
    if use.feeds_late:
        found += [stream.feed("late"), stream.finish(), stream.feed(""), stream.feed("r"), _state(stream)]
    return found


def read_at_once(parser: ModuleType, case: Case, use: Use) -> list[Any]:
    prompt, tools = case.options.get("prompt"), case.options.get("tools")
    if case.form.ir.tools.format == "none":
        tools = None  # they are not read
    elif use.tools_as != "tools":
        tools = json.dumps(tools) if use.tools_as == "JSON" else "["
    texts = [case.text, None, case.text]
    try:
        rows = parser.parse_many(texts, tools=tools, prompts=prompt)
    except (AttributeError, IndexError, TypeError, ValueError):  # of tools that are no list of tools
        rows = "refused"
    return [rows, parser.parse(case.text, **case.options)]


def _state(stream: Any) -> object:
    diagnostics = [tuple(diagnostic) for diagnostic in stream.diagnostics]
    return stream.message, stream.incomplete, diagnostics, stream.trailing


def difference(before: ModuleType, case: Case, use: Use) -> str:
    """Return what the parsers read differently; "" if nothing."""
    ways: list[Callable[[ModuleType], list[Any]]] = [
        lambda parser: read(parser, case, [case.text], use),
        lambda parser: read(parser, case, case.chunks, use),
    ]
    ways += [lambda parser: read_at_once(parser, case, use)] * use.batch
    for way in ways:
        for old, new in zip(way(before), way(case.form.parser), strict=True):
            if old != new:
                return f"\n  {use}\n  before {old!r}\n  now    {new!r}"
    return ""


def batch(size: int, seed: int, finished: bool) -> tuple[Counter[str], list[str]]:
    found: Counter[str] = Counter()
    shown: list[str] = []
    rng = random.Random(seed)
    writers = [(Writer(form, random.Random(f"{seed} {form.name}")), before) for form, before in _PAIRS]
    rng.shuffle(writers)  # a batch may be smaller than the number of formats
    for index in range(size):
        writer, before = writers[index % len(writers)]
        case = random_case(writer)
        found["outputs"] += 1
        what = difference(before, case, Use.random(rng, finished=finished))
        if what:
            found[f"differ in {case.form.name}"] += 1
            shown += [f"{case}{what}"] * (len(shown) < SHOWN)
    return found, shown


_PAIRS: list[tuple[Format, ModuleType]] = []


def compare(count: int, seed: int, processes: int, *, finished: bool) -> int:
    """Print where the parsers in _PAIRS differ; return how often they do."""
    started, left = time.monotonic(), SHOWN
    total: Counter[str] = Counter()
    sizes = [min(BATCH, count - at) for at in range(0, count, BATCH)]
    seeds = [seed * 1_000_000 + index for index in range(len(sizes))]
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        for found, shown in pool.map(batch, sizes, seeds, [finished] * len(sizes)):
            total += found
            for case in shown[:left]:
                print(case, flush=True)
            left -= len(shown[:left])
    differ = sum(total.values()) - total["outputs"]
    print(f"{len(_PAIRS)} parsers, {total['outputs']:,} outputs, {time.monotonic() - started:.0f} s: {differ:,} differ")
    for name, number in sorted(total.items()):
        print(f"  {name}: {number:,}")
    return differ


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--against",
        required=True,
        metavar="COMMIT",
        help="the commit whose parsers are right, such as $(git merge-base HEAD main)",
    )
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="formats whose name holds this")
    parser.add_argument("--collected", action="store_true", help="with the formats of the templates in ../shared")
    parser.add_argument("--finished", action="store_true", help="compare only what finished parsers say")
    options = parser.parse_args(arguments)
    forms = chosen(options.only, collected=options.collected)
    _PAIRS[:] = zip(forms, parsers_of(options.against, forms), strict=True)
    return 1 if compare(options.count, options.seed, options.processes, finished=options.finished) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
