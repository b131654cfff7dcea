"""Formats in addition to the examples': the PEG reads what their templates render, and broken outputs as the parsers
do."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.backends.parsers import streamed
from tests.fuzz.formats import Format
from tests.peg.agreement import engine_of, messages_agree, mutations_agree
from tests.raw_lines import OWN, source_of
from tplc.driver import learn_format, open_renderer, verify_ir

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
# Words at the beginning of lines say what comes: nothing but the line's end is between reasoning and a call.
LINES = """
{%- for m in messages %}{{ '[' ~ m.role ~ ']\n' }}
{%- if m.reasoning_content %}{{ 'Thought: ' ~ m.reasoning_content ~ '\n' }}{% endif %}
{%- if m.content %}{{ 'Answer: ' ~ m.content ~ '\n' }}{% endif %}
{%- for c in m.tool_calls or [] %}
{{- 'Action: ' ~ c.function.name ~ '\nInput: ' ~ c.function.arguments | tojson ~ '\n' }}
{%- endfor %}{{ '[end]\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '[assistant]\n' }}{% endif %}"""
ID_FIRST = AFTER.replace(
    "CALL",
    "{{ '<|call:' ~ c.id ~ '|>' ~ c.function.name ~ '<|with|>' ~ c.function.arguments | tojson ~ '<|called|>' }}",
).replace("<end>", "<|end|>")
NAME_FIRST = AFTER.replace(
    "CALL", """{{ '<call of="' ~ c.function.name ~ '">' ~ c.function.arguments | tojson ~ '</call>' }}"""
).replace("<end>", "<|end|>")
# A single character opens a call: only the name of a tool makes it one.
SIGN = AFTER.replace("CALL", "{{ '@' ~ c.function.name ~ ' ' ~ c.function.arguments | tojson ~ '@end' }}")
TAGS = AFTER.replace(
    "CALL",
    "{{ '<do:' ~ c.function.name ~ '>' }}{%- for k, v in c.function.arguments.items() %}{{ '<' ~ k ~ '>' ~ v ~ '</' ~ k"
    " ~ '>' }}{% endfor %}{{ '</do:' ~ c.function.name ~ '>' }}",
).replace("<end>", "<|end|>")


def source_of_reproduction(name: str) -> str:
    path = Path(__file__).parent.parent / "cases" / "reproductions" / f"{name}.jinja"
    return path.read_text(encoding="utf-8")


SOURCES = {
    "tags": TAGS,
    "sign": SIGN,
    "name first": NAME_FIRST,
    "lines": LINES,
    "id first": ID_FIRST,
    # Content after a line end that belongs to the call.
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
    # The closer of a call begins like an object.
    "braces": AFTER.replace(
        "CALL",
        "{{ '{{do}}\\n' ~ c.function.name ~ '\\n' }}{%- for k, v in c.function.arguments.items() %}"
        "{{ k ~ ': ' ~ v | tojson ~ '\\n' }}{%- endfor %}{{ '{{/do}}\\n' }}",
    ),
    # Calls that only the whole call shows, with slots after the arguments and before them.
    **{name: source_of_reproduction(name) for name in ("array-after-content", "numbers-after-content")},
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
    return Format(name, ir, (), [])


@pytest.mark.sweep(18)
@pytest.mark.parametrize("name", SOURCES)
def test_what_the_template_renders(name: str) -> None:
    with open_renderer(SOURCES[name], name=name) as renderer:
        verified = verify_ir(form(name).ir, renderer, target="peg").verification
    assert verified.failures == ()
    assert verified.verified


@pytest.mark.sweep(18)
@pytest.mark.parametrize("name", SOURCES)
def test_messages_agree(name: str) -> None:
    tally = messages_agree([form(name)])
    assert tally.unexplained == []
    assert tally.same == tally.outputs > 20


@pytest.mark.sweep(22)
@pytest.mark.parametrize("name", SOURCES)
def test_mutations_agree(name: str) -> None:
    assert mutations_agree([form(name)], 100).unexplained == []


LOOK = {"name": "look", "arguments": '{"days": 2}'}


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("braces", "{{do}}\nlook\n{{/do}}\n<end>", (None, None, [{"name": "look", "arguments": "{}"}])),
        ("lines", 'Thought: Hm.\nAction: look\nInput: {"days": 2}\n[end]\n', ("Hm.", None, [LOOK])),
        ("lines", 'Thought: Hm,\nAction: look\nInput: {"days": 2}', ("Hm,", None, [LOOK])),
        ("lines", 'Thought: Hm.\nAnswer: So.\nAction: look\nInput: {"days": 2}\n[end]\n', ("Hm.", "So.", [LOOK])),
        # The text between a name and its arguments may be missing.
        ("lines", 'Answer: So.\nAction: look\n {"days": 2}\n[end]\n', (None, "So.", [LOOK])),
        # Calls begin lines, and have their arguments.
        ("lines", "Thought: An Action: look\nAnswer: So.\n[end]\n", ("An Action: look", "So.", [])),
        ("lines", "Thought: One.\nAction: look at it\nand two.\nAnswer: So.\n[end]\n",
         ("One.\nAction: look at it\nand two.", "So.", [])),
        # The turn's end is in no id, though it ends as what opens an id does.
        ("id first", "Write <|call: and a name.<|end|>\n", (None, "Write <|call: and a name.", [])),
        ("id first", "Write <|call: and <|call:7|>look<|with|>{\"days\": 2}<|called|><|end|>",
         (None, "Write <|call: and ", [LOOK])),
        ("sign", 'To @all {"days": 1}@end<end>', (None, 'To @all {"days": 1}@end', [])),
        ("sign", 'To @look {"days": 2}@end<end>', (None, "To ", [LOOK])),
        ("tags", "Use <do:NAME> to call.<|end|>", (None, "Use <do:NAME> to call.", [])),
        ("tags", "See<do:it></do:it><do:look><days>2</days></do:look><|end|>",
         (None, "See", [{"name": "it", "arguments": "{}"}, LOOK])),
        # A name that is no tool's is followed by its arguments, or by the end of the call.
        ("name first", 'Write <call of="NAME">ARGS</call> then.<|end|>',
         (None, 'Write <call of="NAME">ARGS</call> then.', [])),
        ("name first", 'So: <call of="it">\n\n<call of="look">{"days": 2}</call><|end|>',
         (None, 'So: <call of="it">\n\n', [LOOK])),
        ("name first", '<call of="see"></call>So.<|end|>', (None, "So.", [{"name": "see", "arguments": "{}"}])),
        ("name first", '<call of="see"><|end|>', (None, None, [{"name": "see", "arguments": "{}"}])),
    ],
)  # fmt: skip
def test_what_is_read(name: str, text: str, read: tuple[str | None, str | None, list[dict[str, str]]]) -> None:
    parser, tools = form(name).parser, [{"type": "function", "function": {"name": "look"}}]
    for message in (
        parser.parse(text, tools=tools),
        streamed(parser, list(text), tools=tools),
        engine_of(form(name)).read(text, tools=tools).message,
    ):
        calls = [call["function"] for call in message["tool_calls"]]
        assert (message["reasoning_content"], message["content"], calls) == read
