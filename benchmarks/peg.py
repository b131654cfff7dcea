"""Measure the PEG engine in thousands of characters a second, by kind and size of output: `python -m benchmarks.peg`.

content   reasoning   JSON arguments   raw arguments, of 1, 10 and 100 KB; and texts that could be slow, up to 1 MB
"""

from __future__ import annotations

import json
import random
import time

from tests.fuzz.formats import named
from tplc.backends.peg.engine import SIZE_LIMIT, InputTooDeep, PegEngine

SIZES = (1_000, 10_000, 100_000)
WORDS = "the rain in Oslo will last until Tuesday and then it may snow again on the hills".split()
TRAPS = (
    "<musing>",
    "<fn>",
    '<fn>{"name"',
    '<fn>\n{"a": 1, ',
    "</fn>",
    "</musing>\n\n",
    "<",
    "{",
    "\n   ",
    "\n<fn>\n",
    '<fn>{"name": "f", "arguments": {"a": "',
    "a\\",
)


def prose(size: int) -> str:
    rng = random.Random(size)
    text = ""
    while len(text) < size:
        text += " ".join(rng.choices(WORDS, k=12)) + rng.choice([". ", ".\n\n", ", "])
    return text[:size]


def arguments(size: int) -> dict[str, object]:
    rows: list[object] = []
    while len(json.dumps(rows)) < size:
        rows += [
            {"city": word, "days": len(word), "on": True, "tags": [word, "x"], "note": prose(60)} for word in WORDS
        ]
    return {"rows": rows}


def outputs(size: int) -> dict[str, tuple[str, str]]:
    """Return the format and the text of each kind of output."""
    call = {"name": "f", "arguments": arguments(size)}
    return {
        "content": ("tagged-json", prose(size)),
        "reasoning": ("tagged-json", f"<musing>\n{prose(size)}\n</musing>\n\nYes."),
        "JSON arguments": ("tagged-json", f"<fn>\n{json.dumps(call)}\n</fn>"),
        "raw arguments": ("key-value-tags", f"[ability]f\n[k]text[/k]\n[v]{prose(size)}[/v]\n[/ability]"),
    }


def seconds(engine: PegEngine, text: str) -> float:
    engine.parse("warm")
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        engine.parse(text)
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    engines = {name: PegEngine(named(name).ir) for name in ("tagged-json", "key-value-tags")}
    print("thousands of characters a second" + "".join(f"{size // 1000:>8} KB" for size in SIZES))
    for kind in outputs(1):
        figures = []
        for size in SIZES:
            name, text = outputs(size)[kind]
            figures.append(len(text) / seconds(engines[name], text) / 1000)
        print(f"{kind:<32}" + "".join(f"{figure:>11,.0f}" for figure in figures))
    print("\ntexts that could be slow: seconds for 100 KB and for 1 MB (linear: ten times as many)")
    for trap in TRAPS:
        times = []
        for size in (100_000, SIZE_LIMIT):
            text = (trap * (size // len(trap) + 1))[:size]
            started = time.perf_counter()
            try:
                engines["tagged-json"].parse(text)
                times.append(f"{time.perf_counter() - started:8.2f}")
            except InputTooDeep:
                times.append("too deep")
        print(f"{trap!r:<48}{times[0]:>10}{times[1]:>10}")


if __name__ == "__main__":
    main()
