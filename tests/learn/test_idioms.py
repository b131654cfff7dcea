"""Turns as people write them in templates: macros, namespaces, lists printed at once, white space by the shape of the
turn.  They verify, and parser, chunks and PEG read every message alike."""

from __future__ import annotations

import pytest

from tests.independent import TOKENS, round_trip
from tests.property.every_reader import EveryReader
from tests.property.report_wild import further_messages
from tests.slips.bases import TOOLS
from tplc.driver import compile_template
from tplc.errors import UnsupportedTemplate

TURNS = """\
@MACROS@{%- for m in messages %}{%- if m.role == "assistant" %}{{- "<|a|>" }}@TURN@{{- "<|e|>" }}\
{%- else %}{{- "<|" + m.role + "|>" + m.content + "<|e|>" }}{%- endif %}{%- endfor %}\
{%- if add_generation_prompt %}{{- "<|a|>" }}{%- endif %}
"""
CONTENT = "{{- m.content or '' }}"
REASONING = "{%- if m.reasoning_content %}{{- '<think>' + m.reasoning_content + '</think>' }}{%- endif %}"
CALL = "{{- '<call ' ~ c.function.name ~ '>' ~ (c.function.arguments | tojson) ~ '</call>' }}"
GATHERED = "{%- set all = namespace(calls=[]) %}{%- for c in m.tool_calls %}{%- set all.calls = all.calls + [@] %}"
NAMED = "{'name': c.function.name, 'parameters': c.function.arguments}"


def calls(one: str) -> str:
    return "{%- for c in m.tool_calls or [] %}" + one + "{%- endfor %}"


def pairs(one: str) -> str:
    return "{%- for k, v in c.function.arguments.items() %}" + one + "{%- endfor %}"


def bare_or(given: str) -> str:
    return "{%- if c.function.arguments %}" + given + "{%- endif %}"


KEYWORDS = pairs("{{- k ~ '=' ~ (v | tojson) }}{{- ', ' if not loop.last }}")
TYPED = pairs(
    """{{- '<' ~ k ~ ' t="' ~ ('s' if v is string else 'b' if v is boolean else 'n' if v is number else 'o') }}"""
    """{{- '">' }}"""
    "{{- v if v is string else v | tojson }}{{- '</' ~ k ~ '>' }}"
)
LEAD = "{%- if m.content %}{{- ('@' if m.tool_calls else ' ') ~ m.content }}{%- endif %}"
IDIOMS = {
    "a turn as JSON": (
        "{%- set turn = {'content': m.content or ''} %}"
        "{%- if m.tool_calls %}{%- set turn = dict(turn, tool_calls=m.tool_calls) %}{%- endif %}"
        "{{- turn | tojson }}"
    ),
    "typed elements": CONTENT + calls("{{- '<fn ' ~ c.function.name ~ '>' }}" + TYPED + "{{- '</fn>' }}"),
    "symbols, arguments left out": CONTENT
    + calls("{{- '@' ~ c.function.name }}" + bare_or("{{- '{' }}" + KEYWORDS + "{{- '}' }}") + "{{- '@' }}"),
    "symbols, object left out": CONTENT
    + calls("{{- '@' ~ c.function.name }}" + bare_or("{{- ' ' ~ (c.function.arguments | tojson) }}") + "{{- '@' }}"),
    "words, object left out": CONTENT
    + calls(
        "{{- 'fn:' ~ c.function.name }}" + bare_or("{{- ' with ' ~ (c.function.arguments | tojson) }}") + "{{- ';' }}"
    ),
    "a space or a line break before content": LEAD.replace("@", "\\n") + calls(CALL),
    "two leads of one character": LEAD.replace("@", "\\n\\n") + calls(CALL),
    "a list gathered in a namespace": CONTENT
    + "{%- if m.tool_calls %}"
    + GATHERED.replace("@", NAMED)
    + "{%- endfor %}{{- '<tools>\\n' ~ (all.calls | tojson(indent=2)) ~ '\\n</tools>' }}{%- endif %}",
    "all calls printed at once": REASONING
    + CONTENT
    + "{%- if m.tool_calls %}{{- '[CALLS] ' ~ (m.tool_calls | tojson) }}{%- endif %}",
    "arguments as text": CONTENT
    + calls("{{- '<t>' ~ ({'name': c.function.name, 'arguments': c.function.arguments | tojson} | tojson) ~ '</t>' }}"),
    "Python's own words": CONTENT + calls("{{- '<t>' ~ c.function.name ~ '(**' ~ c.function.arguments ~ ')</t>' }}"),
    "a query": CONTENT
    + calls(
        "{{- '<get ' ~ c.function.name ~ '?' }}"
        + pairs("{{- '&' if not loop.first }}{{- k ~ '=' ~ ((v if v is string else v | tojson) | urlencode) }}")
        + "{{- '>' }}"
    ),
    "TOML": CONTENT
    + calls(
        "{{- '[[call]]\\nname = ' ~ (c.function.name | tojson) ~ '\\n' }}"
        + pairs("{{- k ~ ' = ' ~ (v | tojson) ~ '\\n' }}")
    )
    + "{%- if m.tool_calls %}{{- '[end]' }}{%- endif %}",
    "a quoted name": CONTENT
    + calls(
        "{{- '<set ' ~ (c.function.name | tojson) }}" + pairs("{{- ' ' ~ k ~ '=' ~ (v | tojson) }}") + "{{- '/>' }}"
    ),
    "raw attributes": CONTENT
    + calls(
        "{{- '<call ' ~ c.function.name }}"
        + pairs("""{{- ' ' ~ k ~ '="' ~ (v if v is string else v | tojson) ~ '"' }}""")
        + "{{- '/>' }}"
    ),
    "markers by the shape of the turn": "{%- if m.reasoning_content %}{%- if m.tool_calls %}"
    "{{- '<plan>' ~ m.reasoning_content ~ '</plan>' }}{%- else %}"
    "{{- '<think>' ~ m.reasoning_content ~ '</think>' }}{%- endif %}{%- endif %}" + CONTENT + calls(CALL),
}


def source_of(turn: str, macros: str = "") -> str:
    return TURNS.replace("@MACROS@", macros).replace("@TURN@", turn)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("kind", IDIOMS)
def test_idioms_come_back(kind: str) -> None:
    source = source_of(IDIOMS[kind])
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    readers = EveryReader(ir)
    result = round_trip(source, ir, readers, [*further_messages(ir.reasoning.key)])
    assert (result.wrong, readers.differ) == ((), [])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("name | upper", 'the template writes capital letters in names: "findLakes" is written "FINDLAKES"'),
        ("name | title", 'the template writes words with capital letters in names: "findLakes" is written "Findlakes"'),
        ("name | reverse", 'the template reverses the text in names: "findLakes" is written "sekaLdnif"'),
    ],
)
def test_a_refusal_names_the_transformation(change: str, reason: str) -> None:
    with pytest.raises(UnsupportedTemplate) as caught:
        compile_template(
            source_of(CONTENT + calls(CALL.replace("c.function.name", f"(c.function.{change})"))), name="t"
        )
    assert str(caught.value) == f"t: calls cannot be read: {reason}"


LINES = """\
{%- macro y(v, d) -%}
{%- if v is mapping -%}
{%- for k, x in v.items() -%}{{ '\\n' ~ '  ' * d ~ k ~ ':' }}{{ y(x, d + 1) }}{%- endfor -%}
{%- elif v is sequence and v is not string -%}
{%- for x in v -%}{{ '\\n' ~ '  ' * d ~ '-' }}{{ y(x, d + 1) }}{%- endfor -%}
{%- else -%}{{ ' ' ~ (v | tojson) }}{%- endif -%}
{%- endmacro -%}
"""
# Only the generation prompt writes the first opener.
PROMPT_OPENS = source_of(
    "{%- if m.tool_calls %}{%- for c in m.tool_calls %}{{- ('' if loop.first else '<t>') ~ c.function.name }}"
    "{{- '@' ~ (c.function.arguments | tojson) ~ '</t>' }}{%- endfor %}{%- else %}{{- m.content }}{%- endif %}"
).replace('{{- "<|a|>" }}{%- endif %}\n', '{{- "<|a|><t>" }}{%- endif %}\n')
NO_PARSER = {
    "a turn as JSON if it has calls": (
        source_of(
            "{%- if m.tool_calls %}{{- {'content': m.content or '', 'tool_calls': m.tool_calls} | tojson }}"
            "{%- else %}{{- m.content }}{%- endif %}"
        ),
        "cause: the template writes the whole turn as one JSON object: ",
    ),
    "lines": (
        source_of(CONTENT + calls("<t>{{- c.function.name ~ y(c.function.arguments, 1) ~ '\\n</t>' }}"), LINES),
        "cause: the template writes lists and objects as indented lines: [1, 2, 3] is ",
    ),
    "the prompt's opener": (
        PROMPT_OPENS.replace("@", " -> "),
        'cause: the generation prompt opens a call with "<t>", and turns of the history have no such text',
    ),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", NO_PARSER)
def test_a_refusal_names_the_notation(kind: str) -> None:
    source, cause = NO_PARSER[kind]
    failures = compile_template(source, name="t").verification.failures
    assert failures[0].startswith(cause)


def test_calls_whose_opener_the_prompt_writes_come_back_with_tools() -> None:
    ir = compile_template(PROMPT_OPENS.replace("@", " "), name="t")
    assert (ir.verification.verified, ir.verification.failures) == (True, ())
    readers = EveryReader(ir)
    text = 'get_weather {"city": "Oslo", "days": 3}</t><t>get_time {"zone": "CET"}</t><|e|>'
    for prompt in (None, "<|a|><t>"):
        message = readers.parse(text, prompt=prompt, tools=TOOLS)
        assert [call["function"]["name"] for call in message["tool_calls"]] == ["get_weather", "get_time"]
        assert (message["content"], readers.parse("Hi.<|e|>", prompt=prompt, tools=TOOLS)["content"]) == (None, "Hi.")
    assert readers.differ == []


def test_words_before_a_name_are_no_namespace() -> None:
    """Words before a text that only looks like a tool's call stay in the text."""
    ir = compile_template(source_of(IDIOMS["words, object left out"]), name="t")
    tools = [{"type": "function", "function": {"name": "pin", "parameters": {"type": "object", "properties": {}}}}]
    message = EveryReader(ir).parse('Mail: fn:f is one. fn:pin with {"at": "b"};', tools=tools)
    assert (message["content"], len(message["tool_calls"])) == ("Mail: fn:f is one. ", 1)
