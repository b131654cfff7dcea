"""Measure time and memory of outputs that are made to be slow: `make hostile`, which writes docs/hostile.md.

    Hostile("nested lists", "python-literals", ARGUMENTS + "{'a': ", "[")  →  "[run]{'callable': 'f', … [[[[["…

Every class is a beginning and a unit that is repeated to 10 KB, 100 KB, 1 MB and 10 MB.  Time that grows with the
length is the same figure for each thousand characters in all columns.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from benchmarks.outputs import ROOT, ir_of, parser_of
from tplc.ir.write import WrittenPart, write_parts
from tplc.verify.artifact import load_module

REPORT = ROOT / "docs" / "hostile.md"
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
SMALL_CHUNKS_UP_TO = 1_000_000
MEMORY_SIZE = 200_000
PATIENCE = 0.5  # seconds that a tenth may take
CHUNKS = (0, 64, 4)  # 0: as a whole
ARGUMENTS = "\1"  # stands for a call up to its arguments
OPENER = "\2"  # for the first marker of a call
HALF = "\3"  # for that marker without its last character
CALL = "\4"  # for calls: one, without arguments
END = "\5"  # for the turn's end
REASONING = "\6"  # for an empty reasoning block
OBJECT_START = "\7"  # for the beginning of a call that is an object, up to its first bracket


@dataclass(frozen=True, slots=True)
class Hostile:
    title: str
    example: str
    start: str
    unit: str

    def text(self, size: int) -> str:
        start, unit = filled(self.example, self.start), filled(self.example, self.unit)
        return (start + unit * (size // len(unit) + 1))[:size]


OBJECT, RAW, QUOTED, ELEMENTS, DELIMITED, BARE, LITERALS, CHANNELS, OPEN, CDATA = (
    "tagged-json",
    "parameter-tags",
    "keyword-calls",
    "nested-elements",
    "string-delimiters",
    "bare-json",
    "python-literals",
    "channels",
    "forced-open",
    "cdata-values",
)
WRAPPED, NAMED_LAST = "wrapped-content", "name-as-key"

CLASSES = (
    Hostile("one long line", OBJECT, "", "a"),
    Hostile("one long line", OPEN, "", "a"),
    Hostile("empty lines", OBJECT, "", "\n"),
    Hostile("empty lines", OPEN, "", "\n"),
    Hostile("spaces", WRAPPED, "", " "),
    Hostile("spaces before text", RAW, "", " " * 63 + "a"),
    Hostile("NULs", OBJECT, "", "\0"),
    Hostile("NULs in a string", OBJECT, ARGUMENTS + '{"a": "', "\0"),
    Hostile("lone surrogates", OBJECT, ARGUMENTS + '{"a": "', "\ud800"),
    Hostile("half-markers", OBJECT, "", HALF),
    Hostile("half-markers", RAW, "", HALF),
    Hostile("half-markers", CHANNELS, "", HALF),
    Hostile("half-markers", ELEMENTS, "", HALF),
    Hostile("openers that open no call", OBJECT, "", OPENER + " "),
    Hostile("openers that open no call", RAW, "", OPENER + "\n"),
    Hostile("openers that open no call", BARE, "", OPENER + "\n"),
    Hostile("openers that open no call", QUOTED, "", OPENER + "\n"),
    Hostile("a name without end", RAW, OPENER, "a"),
    Hostile("turn ends", OBJECT, "", END),
    Hostile("reasoning blocks", OBJECT, "", REASONING),
    Hostile("tiny calls", OBJECT, "", CALL),
    Hostile("tiny calls", RAW, "", CALL),
    Hostile("tiny calls", CHANNELS, "", CALL),
    Hostile("tiny calls", QUOTED, "", CALL),
    Hostile("nested lists", OBJECT, ARGUMENTS + '{"a": ', "["),
    Hostile("nested lists", LITERALS, ARGUMENTS + "{'a': ", "["),
    Hostile("nested lists", DELIMITED, ARGUMENTS + "{a:", "["),
    Hostile("nested lists in a raw value", RAW, ARGUMENTS + "\n<with=a>\n", "["),
    Hostile("nested objects", OBJECT, ARGUMENTS, '{"a":'),
    Hostile("nested objects, in place of a call", BARE, "", '{"a":'),
    Hostile("closing brackets", OBJECT, ARGUMENTS + '{"a": ', "]}"),
    Hostile("brackets of both kinds", OBJECT, ARGUMENTS + '{"a": ', "[{]}"),
    Hostile("commas", OBJECT, ARGUMENTS + '{"a": [', ","),
    Hostile("a number", OBJECT, ARGUMENTS + '{"a": ', "7"),
    Hostile("a number", RAW, ARGUMENTS + "\n<with=a>\n", "7"),
    Hostile("a number with underscores", LITERALS, ARGUMENTS + "{'a': 1", "_0"),
    Hostile("a word", OBJECT, ARGUMENTS + '{"a": ', "x"),
    Hostile("words without commas", OBJECT, ARGUMENTS + '{"a": [', "x "),
    Hostile("invalid escapes", OBJECT, ARGUMENTS + '{"a": "', "\\q"),
    Hostile("backslashes", LITERALS, ARGUMENTS + "{'a': '", "\\"),
    Hostile("duplicate keys", OBJECT, ARGUMENTS + "{", '"a": 1, '),
    Hostile("members before the name", OBJECT, OBJECT_START, '"a": 1, '),
    Hostile("empty keys", NAMED_LAST, OBJECT_START, '"": {}, '),
    Hostile("unescaped quotes", DELIMITED, ARGUMENTS + '{a:‹"', '"'),
    Hostile("a string without end", QUOTED, ARGUMENTS + "a='", "x, "),
    Hostile("unclosed strings", OBJECT, ARGUMENTS + '{"a": ', '"x" '),
    Hostile("a raw value", RAW, ARGUMENTS + "\n<with=a>\n", "some text\n"),
    Hostile("half-closers in a raw value", RAW, ARGUMENTS + "\n<with=a>\n", "</with"),
    Hostile("closers in a raw value", RAW, ARGUMENTS + "\n<with=a>\n", "</with> x"),
    Hostile("closers in a raw value, and no marker", CDATA, ARGUMENTS + '<arg key="a">', "</arg>"),
    Hostile("pairs without values", RAW, ARGUMENTS, "<with=a>"),
    Hostile("a quoted raw value without end", CDATA, ARGUMENTS + '<arg key="a"><[RAW[', "]RAW]"),
    Hostile("nested elements", ELEMENTS, ARGUMENTS, "^<a>"),
    Hostile("items of elements", ELEMENTS, ARGUMENTS + "^<a>", "^<each>x^</each>"),
)


def filled(example: str, text: str) -> str:
    for sign, marker in _markers(example).items():
        text = text.replace(sign, marker)
    return text


@cache
def _markers(example: str) -> dict[str, str]:
    ir = ir_of(example)
    call = {"id": "call00001", "function": {"name": "f", "arguments": {}}}
    parts = write_parts(ir, {"tool_calls": [call]})
    texts = [part.text for part in parts]
    name = _place(parts, "name")
    opener = "".join(texts[:name]).lstrip()
    return {
        ARGUMENTS: "".join(texts[: _before_arguments(parts)]).lstrip(),
        OPENER: opener,
        HALF: opener.rstrip()[:-1],
        CALL: "".join(texts[: len(texts) - bool(ir.turn.ends)]).lstrip(),
        END: ir.turn.ends[0] if ir.turn.ends else "",
        REASONING: ir.reasoning.start + ir.reasoning.end,
        OBJECT_START: opener[: opener.find("{") + 1],
    }


def _place(parts: Sequence[WrittenPart], kind: str, start: int = 0) -> int:
    return next((at for at in range(start, len(parts)) if parts[at].kind == kind), -1)


def _before_arguments(parts: Sequence[WrittenPart]) -> int:
    at = _place(parts, "arguments")
    # Where no arguments write nothing, they would be after the marker that follows the name.
    return at if at >= 0 else _place(parts, "name") + 2


@cache
def module_of(example: str) -> ModuleType:
    return load_module(parser_of(example))


def chunks_of(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def parse(hostile: Hostile, text: str, chunk: int) -> None:
    module = module_of(hostile.example)
    if chunk:
        parser = module.StreamParser()
        for piece in chunks_of(text, chunk):
            parser.feed(piece)
        parser.finish()
        message = parser.message
    else:
        message = module.parse(text)
    assert message["role"] == "assistant"


def seconds(hostile: Hostile, size: int, chunk: int) -> float:
    """Return the seconds of processor time."""
    text = hostile.text(size)
    started = time.process_time()
    parse(hostile, text, chunk)
    return time.process_time() - started


def peak_bytes(hostile: Hostile, size: int, chunk: int) -> int:
    """Return the most memory that reading the output takes, without the text itself."""
    text = hostile.text(size)
    module_of(hostile.example)
    tracemalloc.start()
    try:
        parse(hostile, text, chunk)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@dataclass(frozen=True, slots=True)
class Row:
    hostile: Hostile
    times: dict[tuple[int, int], float]  # (size, chunk) → seconds
    memory: float  # bytes for each character, at 200 KB in chunks of 64

    def growth(self, chunk: int) -> float:
        """Return how many times longer the largest output takes than a tenth of it."""
        large = max(size for size, cut in self.times if cut == chunk)
        return self.times[large, chunk] / max(self.times[large // 10, chunk], 1e-4)


def measure(hostile: Hostile, sizes: Sequence[int]) -> Row:
    times = {}
    for chunk in CHUNKS:
        for size in sizes:
            known = times.get((size // 10, chunk), 0.0)
            if (chunk != 4 or size <= SMALL_CHUNKS_UP_TO) and known < PATIENCE:
                rounds = 3 if size <= 100_000 else 1
                times[size, chunk] = min(seconds(hostile, size, chunk) for _ in range(rounds))
    return Row(hostile, times, peak_bytes(hostile, MEMORY_SIZE, 64) / MEMORY_SIZE)


def table(rows: Sequence[Row]) -> str:
    columns = [(size, chunk) for chunk in CHUNKS for size in SIZES if any((size, chunk) in row.times for row in rows)]
    titles = [f"{_short(size)}{_cut(chunk)}" for size, chunk in columns]
    titles += [f"×10{_cut(chunk)}" for chunk in CHUNKS]
    lines = [
        f"| output | format | {' | '.join(titles)} | bytes/char |",
        f"|---|---|{'--:|' * (len(titles) + 1)}",
    ]
    for row in rows:
        times = " | ".join(_milliseconds(row.times.get(column)) for column in columns)
        growths = " | ".join(f"{row.growth(chunk):.1f}" for chunk in CHUNKS)
        lines.append(f"| {row.hostile.title} | {row.hostile.example} | {times} | {growths} | {row.memory:.0f} |")
    return "\n".join(lines) + "\n"


def _cut(chunk: int) -> str:
    return f" in {chunk}s" if chunk else ""


def _short(size: int) -> str:
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1000} KB"


def _milliseconds(taken: float | None) -> str:
    if taken is None:
        return "–"
    return f"{taken * 1000:.1f}" if taken < 0.01 else f"{taken * 1000:,.0f}"


def report(rows: Sequence[Row]) -> str:
    worst = {chunk: max(rows, key=lambda row, chunk=chunk: row.growth(chunk)) for chunk in CHUNKS}  # type: ignore[misc]
    growths = ", ".join(
        f"×{row.growth(chunk):.1f} {f'in chunks of {chunk}' if chunk else 'as a whole'} ({row.hostile.title}, "
        f"{row.hostile.example})"
        for chunk, row in worst.items()
    )
    return f"""# Outputs made to hurt

For people who want to know whether an output can make a parser slow. This page shows processor time and memory
for outputs that are made to be slow, up to 10 MB. `make hostile` wrote it.

The cells are milliseconds of processor time. They were measured on one machine on one day, so compare only how they
grow. Each class is a beginning and a unit that is repeated up to the size. "in 64s" means: fed in chunks of 64
characters. "–" means: not measured, because a tenth of it took more than {PATIENCE} seconds. "×10" says how many times
longer the largest size took than a tenth of it. The last column is the most memory taken in addition to the output,
per character of 200 KB in 64s.

Ten times the output should take ten times the time. The largest ratios are
{growths}.
The first steps differ more, in both directions, because small outputs fit into the processor's caches. Ratios above
×13 occur if one chunk makes a million calls or deltas: Python's garbage collector examines all of them several times.

`tests/fuzz/test_linear.py` guards this on every change by counting calls and characters instead of seconds.

{table(rows)}"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Time of outputs that are made to hurt.")
    parser.add_argument("--only", default="", help="classes or formats whose name holds this; nothing is written then")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="in characters")
    parser.add_argument("--output", type=Path, default=REPORT)
    options = parser.parse_args(arguments)
    rows = []
    for hostile in CLASSES:
        if options.only in f"{hostile.title} {hostile.example}":
            rows.append(measure(hostile, [size for size in SIZES if size <= options.largest]))
            growths = ", ".join(f"×{rows[-1].growth(chunk):.1f}" for chunk in CHUNKS)
            print(f"{hostile.title}, {hostile.example}: {growths}", file=sys.stderr, flush=True)
    print(table(rows))
    if not options.only and options.largest == SIZES[-1]:
        options.output.write_text(report(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
