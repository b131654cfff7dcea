"""The same bytes under every hash seed: compiled twice in new processes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT, amount
from tplc.driver import TARGETS

NAMES = ["parameter-tags", "channels", "tagged-json", "string-delimiters"][: amount(1, sweep=4)]
PROGRAM = """
import hashlib, sys
from tests.example_case import EXAMPLES, load_example
from tplc.driver import TARGETS, GrammarOptions, compile_template, generate
for name in sys.argv[1:]:
    example = load_example(EXAMPLES / name)
    ir = compile_template(example.source, special_tokens=example.special_tokens)
    for target in TARGETS:
        text = generate(ir, target, GrammarOptions(tuple(example.tools or ()), tool_choice="required"))
        print(name, target, hashlib.sha256(text.encode()).hexdigest())
"""


def artifacts(seed: str) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *NAMES],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    assert result.stderr == ""
    return result.stdout.splitlines()


@pytest.mark.sweep(1)
def test_two_hash_seeds_give_the_same_artifacts() -> None:
    first = artifacts("1")
    assert len(first) == len(TARGETS) * len(NAMES)
    assert all(len(line.split()[-1]) == hashlib.sha256().digest_size * 2 for line in first)
    assert artifacts("2") == first
