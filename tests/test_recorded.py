"""Outputs recorded elsewhere are read as expected, but for those that tests/cases/differences.json explains."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ROOT, SHARED
from tests.parser_cache import read_parser
from tests.recorded import read_outputs, run_output

EXPLAINED = json.loads((ROOT / "tests" / "cases" / "differences.json").read_text(encoding="utf-8"))
OUTPUTS = read_outputs() if SHARED.is_dir() else {}


@pytest.mark.skipif(not OUTPUTS, reason="no recorded outputs are next to the project")
@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_outputs_are_read_as_expected(name: str) -> None:
    parser = read_parser(name)
    results = [run_output(parser, output) for output in OUTPUTS[name]]
    found = {result.id: result.difference for result in results if result.difference}
    assert {name: difference for name, difference in found.items() if name not in EXPLAINED} == {}
    assert {result.id: result.chunked for result in results if result.chunked} == {}
