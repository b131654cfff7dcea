"""Outputs recorded elsewhere are read as expected, but for those that docs/coverage.md explains one by one."""

from __future__ import annotations

import pytest

from tests.conftest import SHARED
from tests.parser_cache import read_parser
from tests.recorded import read_outputs, run_output

# What is expected of them contradicts the template, other outputs, or the rule that no text is lost.
EXPECTED_OTHERWISE = {
    *("331", "428", "429", "vllm-00335", "vllm-00336", "vllm-00539", "vllm-00601", "vllm-01527", "vllm-01528"),
    *("vllm-02076", "vllm-02240", "vllm-02242"),
}
OUTPUTS = read_outputs() if SHARED.is_dir() else {}


@pytest.mark.skipif(not OUTPUTS, reason="no recorded outputs are next to the project")
@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_outputs_are_read_as_expected(name: str) -> None:
    parser = read_parser(name)
    results = [run_output(parser, output) for output in OUTPUTS[name]]
    found = {result.id: result.difference for result in results if result.difference}
    assert {name: difference for name, difference in found.items() if name not in EXPECTED_OTHERWISE} == {}
    assert {result.id: result.chunked for result in results if result.chunked} == {}
