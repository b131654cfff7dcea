"""Measure five formats by six kinds of output: `python -m benchmarks.grid --size 64`, a part of `make bench`.

Of each cell the time of 4-character chunks in µs per 1,000 characters, how many times the floor that is, and how
many functions are called for a chunk, which is the same on every machine.  `--native`: how many times faster the same
parser is that mypyc compiled.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.clock import functions_called, medians
from benchmarks.outputs import ir_of, parser_of, prose
from benchmarks.peer import peer_parser
from tplc.ir.write import write_message
from tplc.native import compile_native, extension_of
from tplc.verify.artifact import load_module

FORMATS = {
    "JSON in tags": "tagged-json",
    "parameter tags": "parameter-tags",
    "headers with recipients": "addressed-parts",
    "strings with own quotes": "string-delimiters",
    "calls as in Python": "keyword-calls",
}
KINDS = ("content", "reasoning", "long string", "20 calls", "small calls", "numbers")
CHUNK = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """Seconds of ours, of the floor, of the peer (None: it has no such format) and of ours compiled (None: it was not
    asked for), and functions called a chunk."""

    characters: int
    ours: float
    floor: float
    peer: float | None
    native: float | None
    calls: float

    def __str__(self) -> str:
        peer = f", peer {self.peer / self.ours:.1f}" if self.peer else ""
        native = f", native {self.ours / self.native:.1f}" if self.native else ""
        return f"{self.ours / self.characters * 1e9:.0f} ({self.ours / self.floor:.1f} ×{peer}{native})"


def message(kind: str, size: int) -> dict[str, Any]:
    """Return a message of about `size` characters."""
    text = prose(size)
    if kind == "content":
        return {"role": "assistant", "content": text}
    if kind == "reasoning":
        return {"role": "assistant", "reasoning_content": text, "content": "Done."}
    arguments: list[dict[str, object]] = {
        "long string": [{"text": text}],
        "20 calls": [{"text": text[: max(20, size // 20 - 60)], "n": i} for i in range(20)],
        "small calls": [{"a": i, "city": "Oslo"} for i in range(size // 64)],
        "numbers": [{"rows": [{"id": i, "name": f"row {i}", "ok": True, "size": i / 8} for i in range(size // 56)]}],
    }[kind]
    calls = [{"id": "call00001", "type": "function", "function": {"name": "write", "arguments": a}} for a in arguments]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def cells(size: int, rounds: int, *, native: bool = False) -> Iterator[tuple[str, str, Cell]]:
    for name, example in FORMATS.items():
        module = load_module(parser_of(example))
        compiled = _compiled(example) if native else None
        for kind in KINDS:
            text = write_message(ir_of(example), message(kind, size))
            chunks = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
            yield name, kind, _measured(module, compiled, example, chunks, rounds)


def _compiled(example: str) -> ModuleType:
    name = example.replace("-", "_") + "_native"
    with TemporaryDirectory() as folder:
        path = Path(extension_of(str(Path(folder, f"{name}.py"))))
        path.write_bytes(compile_native(parser_of(example), f"{name}.py"))
        spec = spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def _measured(module: ModuleType, native: ModuleType | None, example: str, chunks: Sequence[str], rounds: int) -> Cell:
    functions: dict[str, Callable[[], object]] = {
        "ours": lambda: _fed(module.StreamParser().feed, chunks),
        "floor": lambda: _fed(_floor, chunks),
    }
    if native is not None:
        functions["native"] = lambda: _fed(native.StreamParser().feed, chunks)
    peer = peer_parser(example)
    if peer is not None:
        functions["peer"] = lambda: peer(chunks)
    calls = functions_called(functions["ours"]) / len(chunks)
    taken = medians(functions, rounds)
    characters = sum(map(len, chunks))
    return Cell(characters, taken["ours"], taken["floor"], taken.get("peer"), taken.get("native"), calls)


def _fed(feed: Callable[[str], list[dict[str, Any]]], chunks: Sequence[str]) -> int:
    count = 0
    for chunk in chunks:
        for _ in feed(chunk):
            count += 1
    return count


def _floor(chunk: str) -> list[dict[str, Any]]:
    return [{"content": chunk}]


def grid_tables(size: int, rounds: int, *, native: bool = False) -> tuple[Table, Table]:
    """Return the tables of times, and of functions called for a chunk."""
    times = Table(f"{size // 1024} KB: µs per 1,000 characters (× floor)", *KINDS)
    calls = Table("functions called for a chunk", *KINDS)
    rows: dict[str, list[Cell]] = {}
    for name, _, cell in cells(size, rounds, native=native):
        rows.setdefault(name, []).append(cell)
    for name, found in rows.items():
        times.add_row(name, *map(str, found))
        calls.add_row(name, *(f"{cell.calls:.1f}" for cell in found))
    return times, calls


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.grid")
    options.add_argument("--size", type=int, default=64, help="kilobytes")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--native", action="store_true", help="also the parsers that mypyc compiled (a minute more)")
    given = options.parse_args()
    for table in grid_tables(given.size * 1024, given.rounds, native=given.native):
        Console(width=150).print(table)


if __name__ == "__main__":
    main()
