"""Help after a failed verification names a marker that exists, and following it makes the template verify."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tplc
from tests.backends.parsers import NAMES, ir_of
from tplc.ir.nodes import Tolerance
from tplc.ir.tolerances import check_tolerances, tolerances_from
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


@pytest.mark.sweep(5)
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


# Some messages have another text in place of a marker: those with two arguments or more, or with long content.
TEMPLATE = """\
{%- for message in messages %}{{- '[' + message.role + ']' }}
{%- if message.reasoning_content %}{%- set is_long = message.content and message.content|length > 20 %}
{{- WHY + message.reasoning_content + HOW }}{%- endif %}
{{- message.content or '' }}
{%- for call in message.tool_calls or [] %}{%- set f = call.function %}{%- set is_long = f.arguments|length > 1 %}
{{- OPEN + f.name + BETWEEN + (f.arguments|tojson) + CLOSE }}
{%- endfor %}{{- '[end]\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]' }}{%- endif %}
"""
MARKERS = {"WHY": "<why>", "HOW": "</why>", "OPEN": "<do>", "BETWEEN": "<with>", "CLOSE": "</do>"}


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("place", "rendered"),
    [
        ("WHY", "<how>"),
        ("HOW", "</how>"),
        ("OPEN", "<DO>"),
        ("BETWEEN", "<and>"),
        ("CLOSE", "</DO>"),
        ("CLOSE", "</done>"),
    ],
)
def test_help_that_is_followed_makes_the_template_verify(place: str, rendered: str) -> None:
    template = TEMPLATE
    for name, marker in MARKERS.items():
        written = f"('{rendered}' if is_long else '{marker}')" if name == place else f"'{marker}'"
        template = template.replace(name, written)
    ir = tplc.compile_template(template)
    (line,) = [line for line in ir.verification.failures if line.startswith("help: ")]
    given, _, file = line.partition(" in FILE ")
    assert given == "help: if the model writes what is rendered: --tolerances FILE, and"
    declared = json.loads(file)
    named = {"kind": "variant", "marker": MARKERS[place], "text": rendered}
    assert declared == {"tolerances": [{**named, "reason": "the template writes it in some messages"}]}
    tolerances = tolerances_from(declared, "help")
    assert tplc.compile_template(template, tolerances=tolerances).verification.verified
