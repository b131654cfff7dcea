"""Measure where the time of a compile goes: `python -m benchmarks.compiling`.

Of the templates in ../shared when they are there, else of the examples: starting the worker, the renders while the
format is learned and while it is verified (each a question to the worker and its answer), and what tplc does itself.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.example_case import load_examples
from tplc.driver import learn_format, verify_ir
from tplc.errors import TplcError
from tplc.render import Renderer

CORPUS = Path(__file__).resolve().parent.parent.parent / "shared" / "templates"


class TimedRenderer(Renderer):
    """Counts the seconds that answers take."""

    seconds = 0.0

    def render(self, *arguments: Any, **variables: Any) -> str:
        started = time.perf_counter()
        try:
            return super().render(*arguments, **variables)
        finally:
            self.seconds += time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class Compile:
    """Seconds of each part; the sum is the whole compile."""

    name: str
    renders: int
    parts: dict[str, float] = field(hash=False)

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())


def compiles() -> Iterator[Compile]:
    for name, source, special_tokens in _templates():
        try:
            yield _timed(name, source, special_tokens)
        except TplcError:
            continue  # what does not compile is reported by `make coverage`


def _templates() -> Iterator[tuple[str, str, dict[str, str]]]:
    if CORPUS.is_dir():
        for path in sorted(CORPUS.glob("*.jinja")):
            yield path.stem, path.read_bytes().decode(), {}
    else:
        for example in load_examples():
            yield example.name, example.source, example.special_tokens


def _timed(name: str, source: str, special_tokens: dict[str, str]) -> Compile:
    started = time.perf_counter()
    renderer = TimedRenderer(source, name=name, special_tokens=special_tokens)
    with renderer:
        renderer.render([{"role": "user", "content": "Hi"}])
        ready = time.perf_counter()
        renderer.seconds = 0.0
        ir = learn_format(renderer, name=name, source_text=source, special_tokens=special_tokens)
        learned, in_learning = time.perf_counter(), renderer.seconds
        verify_ir(ir, renderer)
        verified, in_verifying = time.perf_counter(), renderer.seconds - in_learning
        parts = {
            "start the worker": ready - started,
            "renders to learn from": in_learning,
            "learning": learned - ready - in_learning,
            "renders to verify with": in_verifying,
            "verifying": verified - learned - in_verifying,
        }
        return Compile(name, renderer.count, parts)


def compile_table(timed: Sequence[Compile]) -> Table:
    table = Table("part of a compile", "median, ms", "share of all")
    everything = sum(compile.seconds for compile in timed)
    for part in timed[0].parts:
        median = statistics.median(compile.parts[part] for compile in timed)
        share = sum(compile.parts[part] for compile in timed) / everything
        table.add_row(part, f"{median * 1000:.0f}", f"{share:.0%}")
    table.add_row("all", f"{statistics.median(compile.seconds for compile in timed) * 1000:.0f}", "")
    return table


if __name__ == "__main__":
    from rich.console import Console

    measured = list(compiles())
    slowest = max(measured, key=lambda compile: compile.seconds)
    Console(width=110).print(compile_table(measured))
    print(f"{len(measured)} templates; the slowest, {slowest.name}: {slowest.seconds:.2f} s, {slowest.renders} renders")
