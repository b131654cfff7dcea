"""Measure the cost of a tool's schema for each argument of a small call: `python -m benchmarks.schemas`.

One call of three short arguments is parsed with the tools and without them, whole and in chunks of four characters.
Processor time is the median of interleaved rounds; functions called are the same on every machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.clock import functions_called, medians
from benchmarks.outputs import ir_of, parser_of
from tplc.ir.write import write_message
from tplc.verify.artifact import load_module

# Formats that write each argument by itself: its value is read as the schema says.
FORMATS = (
    "parameter-tags",
    "typed-attributes",
    "key-value-tags",
    "string-delimiters",
    "nested-elements",
    "cdata-values",
)
CHUNK = 4
ARGUMENTS = {"city": "Oslo", "days": 3, "metric": True}
TYPES = {"city": {"type": "string"}, "days": {"type": "integer"}, "metric": {"type": "boolean"}}
TOOLS = [
    {"type": "function", "function": {"name": "forecast", "parameters": {"type": "object", "properties": TYPES}}},
]


def small_call(example: str) -> str:
    call = {"id": "callid000", "type": "function", "function": {"name": "forecast", "arguments": ARGUMENTS}}
    return write_message(ir_of(example), {"role": "assistant", "content": None, "tool_calls": [call]})


def reader(module: ModuleType, text: str, chunk: int, tools: Sequence[Any] | None) -> Callable[[], object]:
    """Return a function that parses a text as a server does; `chunk` 0: as a whole."""
    pieces = [text[at : at + chunk] for at in range(0, len(text), chunk)] if chunk else []

    def stream() -> object:
        parser = module.StreamParser(tools=tools)
        for piece in pieces:
            parser.feed(piece)
        return parser.finish()

    return stream if chunk else lambda: module.parse(text, tools=tools)


def ratio_of_functions(module: ModuleType, text: str, chunk: int) -> float:
    """Return how many times as many functions are called with tools as without."""
    counts = []
    for tools in (TOOLS, None):
        run = reader(module, text, chunk, tools)
        run()  # what is made once for a tool is not counted
        counts.append(functions_called(run))
    return counts[0] / counts[1]


def ratio_of_times(module: ModuleType, text: str, chunk: int, rounds: int) -> float:
    """Return how many times as long it takes with tools as without."""

    def often(tools: Sequence[Any] | None) -> Callable[[], object]:
        run = reader(module, text, chunk, tools)
        return lambda: [run() for _ in range(200)]

    taken = medians({"with": often(TOOLS), "without": often(None)}, rounds)
    return taken["with"] / taken["without"]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.schemas")
    options.add_argument("--rounds", type=int, default=9)
    rounds = options.parse_args().rounds
    table = Table("with tools ÷ without", "whole: time", "functions", f"chunks of {CHUNK}: time", "functions")
    for example in FORMATS:
        module, text = load_module(parser_of(example)), small_call(example)
        ratios = []
        for chunk in (0, CHUNK):
            ratios += [ratio_of_times(module, text, chunk, rounds), ratio_of_functions(module, text, chunk)]
        table.add_row(example, *(f"{ratio:.2f}" for ratio in ratios))
    Console().print(table)


if __name__ == "__main__":
    main()
