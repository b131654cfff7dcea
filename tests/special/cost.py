"""Measure the cost of distinguishing tokens: content in chunks of four characters, with ranges and without.

python -m tests.special.cost
"""

from __future__ import annotations

import time
from types import ModuleType

from tests.backends.parsers import parser_for
from tests.servers.answers import ir_of
from tests.special.fed import Ranges, with_tokens

NAMES = ("tagged-json", "parameter-tags", "channels")
TEXT = "The answer is here and it goes on with plain words, of which there are many. " * 60
CHUNKS = [TEXT[at : at + 4] for at in range(0, len(TEXT), 4)]
TIMES = 400


def seconds(parser: ModuleType, special: Ranges | None) -> float:
    feed = parser.StreamParser().feed
    started = time.perf_counter()
    if special is None:
        for chunk in CHUNKS:
            feed(chunk)
    else:
        for chunk in CHUNKS:
            feed(chunk, special=special)
    return time.perf_counter() - started


def main() -> None:
    for name in NAMES:
        parser = parser_for(with_tokens(ir_of(name)))
        tried = [(seconds(parser, None), seconds(parser, ())) for _ in range(TIMES)]
        text, ranges = (min(times) / len(CHUNKS) * 1e9 for times in zip(*tried, strict=True))
        print(f"{name}: {text:.0f} ns a chunk without ranges, {ranges:.0f} ns with them ({ranges / text - 1:+.1%})")


if __name__ == "__main__":
    main()
