"""The scripts of examples/training print what they say, each where what it needs is installed (TRL: `make servers`)."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPTS = {
    "with_transformers": "transformers",
    "rollout": "transformers",
    "with_trl": "trl",
    "with_sft": "trl",
    "turns": "transformers",
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name: str, golden: Callable[[Path, str], None], tmp_path: Path) -> None:
    if importlib.util.find_spec(SCRIPTS[name]) is None:
        pytest.skip(f"{SCRIPTS[name]} is not installed")
    command = [
        sys.executable,
        str(ROOT / "examples" / "training" / f"{name}.py"),
        str(ROOT / "examples" / "tagged-json"),
    ]
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Members come in another order from version to version.
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
    shown = [json.dumps(json.loads(line), sort_keys=True, ensure_ascii=False) for line in lines]
    golden(ROOT / "tests" / "cases" / "training" / f"{name}.jsonl", "\n".join(shown) + "\n")
