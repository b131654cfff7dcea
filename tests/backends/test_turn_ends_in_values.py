"""Words that end a turn, without the white space that the template writes before them, are text in an open value.

x=ask the user: why     where the turn ends with "\\nuser:"  →  {"x": "ask the user: why"}
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

import pytest

from tests.backends.parsers import streamed
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template, generate
from tplc.verify.artifact import load_module

# What opens a turn of a role, and so ends the turn before it.
HEADERS = {
    "role and colon": ("ROLE: ", "user:"),
    "title": ("Turn of ROLE: ", "Turn of user:"),
    "dash": ("- ROLE - ", "- user -"),
}
# The opener and the closer of a call, and the text before each value's key.
CALLS = {
    "tags": ("<fn>\nname=", "\n</fn>", "\n"),
    "indented": ("<fn>\nname=", "\n</fn>", "\n  "),
    "brackets": ("[[fn: ", "\n]]", "\n"),
}
TEMPLATE = (
    "{% for m in messages %}{{ 'HEADER'.replace('ROLE', m.role) }}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}OPEN{{ c.function.name }}"
    "{% for k, v in c.function.arguments.items() %}PAIR{{ k }}={{ v }}{% endfor %}CLOSE{% endfor %}"
    "{% else %}{{ m.content }}{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'HEADER'.replace('ROLE', 'assistant') }}{% endif %}"
)


@cache
def format_of(header: str, call: str) -> tuple[ModuleType, PegEngine]:
    opened, closed, pair = (f"{{{{ {text!r} }}}}" for text in CALLS[call])
    source = TEMPLATE.replace("HEADER", HEADERS[header][0]).replace("OPEN", opened).replace("CLOSE", closed)
    ir = compile_template(source.replace("PAIR", pair), name="lines.jinja")
    assert ir.verification.failures == ()
    assert f"\n{HEADERS[header][1]}" in ir.turn.ends
    return load_module(generate(ir, "python")), PegEngine(ir)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("call", CALLS)
def test_the_words_of_an_end_are_text_in_a_value(header: str, call: str) -> None:
    parser, engine = format_of(header, call)
    opened, closed, pair = CALLS[call]
    end = HEADERS[header][1]
    for value in (f"before {end} after", end, f"{end}{end} x", f"a {end}"):
        output = f"{opened}f{pair}x={value}{pair}y=1{closed}\n"
        found = parser.parse(output)
        assert [one["function"]["arguments"] for one in found["tool_calls"]] == [f'{{"x": "{value}", "y": 1}}']
        assert engine.parse(output) == found
        for size in (1, 3):
            assert streamed(parser, [output[at : at + size] for at in range(0, len(output), size)]) == found


@pytest.mark.sweep(4)
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("call", CALLS)
def test_the_end_as_it_is_written_ends_an_open_value(header: str, call: str) -> None:
    parser, engine = format_of(header, call)
    opened, _, pair = CALLS[call]
    output = f"{opened}f{pair}x=one\n{HEADERS[header][1]}"
    found = parser.parse(output)
    assert [one["function"]["arguments"] for one in found["tool_calls"]] == ['{"x": "one"}']
    assert (found["content"], engine.parse(output)) == (None, found)
    assert streamed(parser, list(output)) == found
