"""What help after a failed verification names exists: a tolerance file may name it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.backends.parsers import NAMES, ir_of
from tplc.ir.nodes import Tolerance
from tplc.ir.tolerances import check_tolerances
from tplc.ir.write import write_parts
from tplc.verify.causes import existing_marker

CALLS = [
    {"id": f"callid00{n}", "function": {"name": "look", "arguments": {"at": "it", "days": 2, "all": [1, "a"]}}}
    for n in range(2)
]
MESSAGES: list[dict[str, Any]] = [
    {"role": "assistant", "content": "I look.", "reasoning_content": "Well."},
    {"role": "assistant", "content": None, "tool_calls": CALLS[:1]},
    {"role": "assistant", "content": "I look.", "tool_calls": CALLS},
]


@pytest.mark.parametrize("name", NAMES)
def test_help_names_markers_that_exist(name: str) -> None:
    ir = ir_of(name)
    named = 0
    for message in MESSAGES:
        calls = message.get("tool_calls", [])
        if (calls and ir.tools.format == "none") or (len(calls) > 1 and not ir.tools.parallel):
            continue
        shown = message if ir.reasoning.mode != "none" else {**message, "reasoning_content": None}
        for part in write_parts(ir, shown):
            marker = existing_marker(ir, part.text) if part.kind == "marker" else ""
            if marker:
                named += 1
                check_tolerances(ir, [Tolerance("variant", True, marker, marker + "~", "seen")])
    assert named or not ir.turn.ends[0].strip()
