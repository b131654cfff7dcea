"""The scripts for CI in docs/ci.md and in the repository run, on a current manifest and on an outdated one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import quick
from tests.conftest import ROOT
from tests.documents import read_blocks

yaml = pytest.importorskip("yaml")
MANIFEST = '[models.hut]\nsource = "hut.jinja"\noutputs = ["hut.py"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tplc.toml").write_text(MANIFEST)
    template = ROOT / "examples" / "plain-chat" / "template.jinja"
    (tmp_path / "hut.jinja").write_bytes(template.read_bytes())
    return tmp_path


def shell(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env={**os.environ, "PATH": quick.path(), **environment}, capture_output=True, text=True,
    )  # fmt: skip


def documented(file: str) -> Any:
    blocks = read_blocks((ROOT / "docs" / "ci.md").read_text(encoding="utf-8"))
    return yaml.safe_load(next(block.text for block in blocks if block.file == file))


def checks(script: str, project: Path, missing: str, **environment: str) -> None:
    """Assert that `script` reports a missing output, and accepts what was built."""
    without = shell(script, project, **environment)
    assert (without.returncode, without.stdout) == (1, missing), without.stderr
    assert shell("tplc build", project).returncode == 0
    assert shell(script, project, **environment).returncode == 0


def test_gitlab(project: Path) -> None:
    job = documented(".gitlab-ci.yml")["tplc"]
    install, *commands = job["script"]
    assert install.startswith("pip install ")
    checks("\n".join(commands), project, "hut.py: missing: tplc build writes it\n")
    assert (project / job["artifacts"]["reports"]["junit"]).read_text().startswith("<?xml")


def test_the_action(project: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    workflow = documented(".github/workflows/tplc.yml")
    used = next(step for step in workflow["jobs"]["check"]["steps"] if step["uses"].startswith("OWNER/tplc@"))
    assert used["with"].keys() <= action["inputs"].keys()
    assert all(re.search(r"@v\d", step["uses"]) for step in action["runs"]["steps"] if "uses" in step)
    install, check = (step["run"] for step in action["runs"]["steps"] if "run" in step)
    assert shlex.split(install)[:5] == ["python", "-I", "-m", "pip", "install"]
    said = "::error file=hut.py::hut: missing: tplc build writes it\n"
    checks(check, project, said, MANIFEST=used["with"]["manifest"], MODELS="hut")


def test_the_hooks(project: Path) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entries = {hook["id"]: hook["entry"] for hook in hooks}
    (repository,) = documented(".pre-commit-config.yaml")["repos"]
    for hook in repository["hooks"]:
        checks(entries[hook["id"]], project, "hut.py: missing: tplc build writes it\n")
