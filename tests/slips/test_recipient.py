"""A recipient in a header without the constant prefix that the template writes before names."""

from __future__ import annotations

import json

import pytest

from tests.slips.measure import joined, read, reading
from tplc import compile_template
from tplc.driver import generate
from tplc.verify.artifact import load_module

TEMPLATE = """
{%- for message in messages %}
    {{- '<<' + message.role }}
    {%- if message.tool_calls %}
        {%- set call = message.tool_calls[0].function %}
        {{- ' to=ns.' + call.name + '<work>' + (call.arguments | tojson) + '<call>' }}
    {%- else %}
        {{- '<say>' + (message.content or '') + '<end>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<<assistant' }}{%- endif %}
"""


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        (' to=ns.tide<work>{"at": 1}<call>', "", [("tide", {"at": 1})]),
        (' to=sea.tide<work>{"at": 1}<call>', "", [("sea.tide", {"at": 1})]),
        ("<say>Set it to=5, then go.<end>", "Set it to=5, then go.", []),
    ],
)
def test_recipient(text: str, content: str, calls: list[object]) -> None:
    parser = load_module(generate(compile_template(TEMPLATE), "python"))
    for size in (len(text), 1, 3):
        stream, deltas = read(parser, text, None, [text[at : at + size] for at in range(0, len(text), size)])
        assert joined(deltas) == reading(stream)
        found = [(name, json.loads(arguments)) for name, arguments in reading(stream)[2]]
        assert (reading(stream)[0], found) == (content, calls)
