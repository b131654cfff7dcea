"""A vocabulary as large as those of models, without a model: single bytes, and short words drawn at random."""

from __future__ import annotations

from functools import cache
from random import Random

SIZE = 128_000
_LETTERS = 'etaoinshrdlucmfwypvbgkjqxz{}":,<|>/_ \n0123456789｜▁é好'


@cache
def vocabulary() -> tuple[bytes, ...]:
    """Return the words; the last one stands for the end of an answer."""
    rng = Random(1)
    found = {bytes([number]): None for number in range(256)}
    while len(found) < SIZE:
        found["".join(rng.choices(_LETTERS, k=rng.randint(2, 10))).encode()] = None
    return tuple(found)
