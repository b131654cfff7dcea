"""Chat templates of random design compile verified, or are reported as ambiguous (`make random` tries 500)."""

from __future__ import annotations

import pytest

from tests.property.report_random import compile_random


@pytest.mark.sweep(26)
@pytest.mark.parametrize("seed", range(50))
def test_random_template(seed: int) -> None:
    outcome = compile_random(seed)
    assert outcome.right, outcome
