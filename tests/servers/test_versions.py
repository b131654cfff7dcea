"""The versions in docs/servers.md: what the servers' packages require."""

from __future__ import annotations

from importlib import metadata

import pytest

from tests.conftest import ROOT

LIBRARIES = ("transformers", "llguidance", "xgrammar")


@pytest.mark.parametrize(("server", "title"), [("vllm", "vLLM"), ("sglang", "SGLang")])
def test_the_documented_requirements_are_those_of_the_package(server: str, title: str) -> None:
    try:
        version, required = metadata.version(server), metadata.requires(server) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{title} is not there: make servers")
    lines = (ROOT / "docs" / "servers.md").read_text(encoding="utf-8").splitlines()
    [row] = [line for line in lines if line.startswith(f"| {title} {version} |")]
    _, _, documented, tested, _ = (cell.strip() for cell in row.split("|"))
    known = {}
    for requirement in required:
        text = requirement.partition(";")[0].replace(" ", "")
        for library in LIBRARIES:
            if text.startswith((f"{library}<", f"{library}=", f"{library}>")):
                known[library] = next(part for part in text.removeprefix(library).split(",") if part[0] in "<=")
    assert documented == ", ".join(library + known[library] for library in LIBRARIES)
    assert tested == ", ".join(f"{library} {metadata.version(library)}" for library in LIBRARIES)
