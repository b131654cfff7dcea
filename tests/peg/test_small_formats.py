"""Formats beside the examples': the PEG reads what their templates render, and broken outputs as the parsers do."""

from __future__ import annotations

from functools import cache

import pytest

from tests.fuzz.formats import Format
from tests.peg.agreement import messages_agree, mutations_agree
from tests.raw_lines import OWN, source_of
from tplc.driver import generate, learn_format, open_renderer, verify_ir
from tplc.verify.artifact import load_module

AFTER = """
{%- for m in messages %}{{ '<' ~ m.role ~ '>' }}
{%- for c in m.tool_calls or [] %}CALL{% endfor %}
{{- (m.content or '') ~ '<end>' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"""
PREFIXES = """
{%- for m in messages %}{{ '<' ~ m.role ~ '>' }}
{%- if m.reasoning_content %}{{ '<<' ~ m.reasoning_content ~ '>>' }}{% endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}{{ '<<<<' ~ c.function.name ~ ' ' ~ c.function.arguments | tojson ~ '>>>>' }}
{%- endfor %}{{ '<end>' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"""
SOURCES = {
    # Content behind a line's end that belongs to the call.
    "line, then content": AFTER.replace(
        "CALL", "{{ '<call>' ~ c.function.name ~ ' ' ~ c.function.arguments | tojson ~ '</call>\\n' }}"
    ),
    "object, then content": AFTER.replace(
        "CALL",
        """{{ '<call>{"name": "' ~ c.function.name ~ '", "arguments": ' }}"""
        "{{- c.function.arguments | tojson ~ '}</call>\\n' }}",
    ),
    "attributes": AFTER.replace(
        "CALL", """{{ '<use tool="' ~ c.function.name ~ '" with=' ~ c.function.arguments | tojson ~ '/>\\n' }}"""
    ),
    "the id is the call's number": AFTER.replace(
        "CALL",
        """{{ '<call name="' ~ c.function.name ~ '" nr="' ~ loop.index ~ '">' }}"""
        "{{- c.function.arguments | tojson ~ '</call>\\n' }}",
    ),
    # The name ends where the arguments begin, and a call with what begins the next one.
    "options": AFTER.replace("{%- for c", "{%- if m.tool_calls %}{{ '%run\\n' }}{% endif %}{%- for c").replace(
        "CALL",
        "{{ '> ' ~ c.function.name }}{%- for k, v in c.function.arguments.items() %}{{ ' --' ~ k ~ '=' ~ v | tojson }}"
        "{%- endfor %}{{ '\\n' if not loop.last else '\\n%\\n' }}",
    ),
    # One opener begins like the other.
    "prefixes": PREFIXES,
    # White space alone ends a value.
    **{name: source_of(name) for name in OWN if name != "words"},
}


@cache
def form(name: str) -> Format:
    source = SOURCES[name]
    with open_renderer(source, name=name) as renderer:
        ir = learn_format(renderer, name=name, source_text=source)
    parser = generate(ir, "python")
    return Format(name, ir, parser, load_module(parser), (), [])


@pytest.mark.parametrize("name", SOURCES)
def test_what_the_template_renders(name: str) -> None:
    with open_renderer(SOURCES[name], name=name) as renderer:
        verified = verify_ir(form(name).ir, renderer, target="peg").verification
    assert verified.failures == ()
    assert verified.verified


@pytest.mark.parametrize("name", SOURCES)
def test_messages_agree(name: str) -> None:
    tally = messages_agree([form(name)])
    assert tally.unexplained == []
    assert tally.same == tally.outputs > 20


@pytest.mark.parametrize("name", SOURCES)
def test_mutations_agree(name: str) -> None:
    assert mutations_agree([form(name)], 100).unexplained == []
