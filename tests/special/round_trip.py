"""Random texts through the detokenizer, in pieces, with ten tokenizers.  `make round-trip-tokens`.

python -m tests.special.round_trip [--count 10000]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator

from tests.special.tokenizers_of_tests import Made, made, strings
from tplc_runtime.tokens import Detokenizer


def wrong(one: Made, count: int) -> Iterator[tuple[str, str]]:
    """Yield the texts that differ from the tokenizer's own decoding, and the result."""
    rng = random.Random(7)
    for text in strings(count, 2):
        ids, at, pieces = one.encode(text), 0, []
        detokenizer = Detokenizer(one.tokenizer)
        while at < len(ids):
            size = rng.randint(1, 3)
            pieces.append(detokenizer.feed(ids[at : at + size])[0])
            at += size
        found = "".join(pieces) + detokenizer.finish()[0]
        if found != one.decode(ids):
            yield one.decode(ids), found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Random texts through the detokenizer.")
    parser.add_argument("--count", type=int, default=10_000)
    options = parser.parse_args(arguments)
    failing = 0
    for one in made():
        started = time.monotonic()
        found = [*wrong(one, options.count)]
        failing += bool(found)
        same = sum(one.decode(one.encode(text)) == text for text in strings(options.count, 2))
        print(
            f"{one.name}: {options.count - len(found):,} of {options.count:,} as the tokenizer decodes them, "
            f"which is the text itself {same:,} times ({time.monotonic() - started:.0f} s)",
            flush=True,
        )
        for wanted, came in found[:2]:
            print("   ", ascii(wanted), ascii(came))
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
