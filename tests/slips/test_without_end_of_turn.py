"""Servers cut off the token that ends a turn: calls whose closer contains it are whole without it."""

from __future__ import annotations

from functools import cache
from types import ModuleType

import pytest

from tests.slips.measure import joined, read, reading
from tplc.driver import compile_template, generate
from tplc.verify.artifact import load_module

# As in formats whose answers are parts of one message: what closes the answer is learned with the end of the turn.
TURN = """{%- for m in messages %}{% if m.role == 'assistant' %}[[bot]]
{{- '[[think]]' ~ (m.reasoning_content or '') ~ '[[/think]][[say]]' ~ (m.content or '') ~ '[[/say]]' }}
{%- if m.tool_calls %}[[calls]]
{%- for c in m.tool_calls -%}
[[call]]{{ c.function.name }}[[with]]{{ c.function.arguments | tojson }}[[/call]]
{%- endfor %}SECTION_END{% endif %}END{% else %}[[{{ m.role }}]]{{ m.content }}[[over]]{% endif %}{% endfor %}
{%- if add_generation_prompt %}[[bot]][[think]]{% endif %}"""
# What closes all calls, and what ends every turn after it: the template writes one after the other.
ENDS = {
    "one token": ("[[/calls]]", "[[over]]"),
    "two": ("[[/calls]]", "[[/bot]][[over]]"),
    "after a line": ("\\n[[/calls]]\\n", "[[/bot]]\\n[[over]]"),
}
CALLS = [("find", '{"city": "Oslo"}'), ("now", "{}")]


@cache
def parser_of(name: str) -> ModuleType:
    section_end, end = ENDS[name]
    inside = f"{{{{ '{section_end}' }}}}", f"{{{{ '{end}' }}}}"
    ir = compile_template(TURN.replace("SECTION_END", inside[0]).replace("END", inside[1]), name=name)
    assert ir.verification.verified, ir.verification.failures
    return load_module(generate(ir, "python"))


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("calls", [CALLS[:1], CALLS])
def test_calls_are_whole(name: str, calls: list[tuple[str, str]]) -> None:
    written = "".join(f"[[call]]{tool}[[with]]{given}[[/call]]" for tool, given in calls)
    section_end, end = (text.replace("\\n", "\n") for text in ENDS[name])
    text = f"[[/think]][[say]][[/say]][[calls]]{written}{section_end}{end}".removesuffix("[[over]]").rstrip()
    for size in (len(text), 1, 5):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        stream, deltas = read(parser_of(name), text, None, chunks)
        assert reading(stream) == joined(deltas) == ("", "", [list(call) for call in calls])
        assert not stream.incomplete
    written_so_far = text[: text.rindex("[[/call]]")]
    for cut in (written_so_far, written_so_far + "[[/ca"):
        assert read(parser_of(name), cut, None)[0].incomplete, cut


@pytest.mark.parametrize("name", ENDS)
def test_answers_are_whole(name: str) -> None:
    end = ENDS[name][1].replace("\\n", "\n")
    text = f"[[/think]][[say]]Hi.[[/say]]{end}".removesuffix("[[over]]").rstrip()
    for size in (len(text), 1, 5):
        stream, deltas = read(parser_of(name), text, None, [text[at : at + size] for at in range(0, len(text), size)])
        assert reading(stream) == joined(deltas) == ("Hi.", "", [])
        assert (stream.incomplete, stream.diagnostics) == (False, [])
