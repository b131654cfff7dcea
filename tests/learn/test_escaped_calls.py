r"""Calls of which a filter escapes a part, or all: `{"name": "f", "arguments": {&#34;a&#34;: 1}}` comes back, and half
an escape gives the same call however it is cut.
"""

from __future__ import annotations

import json
import random
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import streamed
from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, GATHERED, calls, pairs, source_of
from tests.property.report_wild import read_back
from tplc.driver import compile_template, generate
from tplc.errors import UnsupportedTemplate
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.verify.artifact import load_module

FILTERS = {
    "markup": "| e",
    "percent codes": "| urlencode",
    "quotes and what begins their escape": "| replace('&', '&amp;') | replace('\"', '&quot;')",
}
ARGUMENTS = "(c.function.arguments | tojson FILTER)"
CALL = "{'name': c.function.name, 'arguments': c.function.arguments}"
IN_OBJECT = '\'{"name": "\' ~ c.function.name ~ \'", "arguments": \' ~ ' + ARGUMENTS + " ~ '}'"
CALLS = {
    "arguments in an object": calls("{{- '<call>' }}{{- " + IN_OBJECT + " }}{{- '</call>' }}"),
    "arguments in an object on a line": calls("{{- '\\n' }}{{- " + IN_OBJECT + " }}"),
    "arguments below the name as a key": calls(
        "{{- '<call>{\"' ~ c.function.name ~ '\": ' }}{{- " + ARGUMENTS + " }}{{- '}</call>' }}"
    ),
    "arguments in a list of objects": (
        "{%- if m.tool_calls %}{{- '<calls>[' }}"
        + calls("{{- " + IN_OBJECT + " }}{{- ', ' if not loop.last }}")
        + "{{- ']</calls>' }}{%- endif %}"
    ),
    "calls": calls("{{- '<call>' }}{{- (" + CALL + " | tojson FILTER) }}{{- '</call>' }}"),
    "a list of calls": (
        GATHERED.replace("m.tool_calls", "m.tool_calls or []").replace("@", CALL)
        + "{%- endfor %}{%- if all.calls %}{{- '<calls>' ~ (all.calls | tojson FILTER) ~ '</calls>' }}{%- endif %}"
    ),
    "values that aren't strings": calls(
        "{{- '<call ' ~ c.function.name ~ '>' }}"
        + pairs("{{- '<p ' ~ k ~ '>' }}{{- v if v is string else (v | tojson FILTER) }}{{- '</p>' }}")
        + "{{- '</call>' }}"
    ),
    "JSON in attributes": calls(
        "{{- '<call ' ~ c.function.name }}"
        + pairs("{{- ' ' ~ k ~ '=\"' ~ (v | tojson FILTER) ~ '\"' }}")
        + "{{- '/>' }}"
    ),
}
VALUE = "x < y & \"q\" 'é' %C3 </call> }"
MESSAGE = {
    "content": "So: <b>",
    "tool_calls": [
        {"function": {"name": "f", "arguments": {"a": VALUE, "b": [1, None, {"k": "\\ \n"}]}}},
        {"function": {"name": "g", "arguments": {}}},
    ],
}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}}}
    for name in "fg"
]
INSERTED = ["&", "&#3", '"', "%", "%2", "%C3", "%E4%B8", "{", "}", "</call>", "\n", "<", "x", "&quot;", "%22%FF"]


def source(form: str, kind: str) -> str:
    return source_of(CONTENT + CALLS[form]).replace("FILTER", FILTERS[kind])


@cache
def format_of(form: str, kind: str) -> tuple[TemplateIR, ModuleType]:
    ir = compile_template(source(form, kind), name="escaped.jinja", special_tokens=TOKENS)
    return ir, load_module(generate(ir, "python"))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("form", CALLS)
def test_escaped_calls_come_back(form: str, kind: str) -> None:
    ir, parser = format_of(form, kind)
    assert ir.verification.failures == ()
    assert not {one.slot for one in ir.tools.replaced}.isdisjoint({"value", "literal"})
    assert read_back(source(form, kind), ir, readers=True) == ((), ())
    for tools in (None, TOOLS):
        message = parser.parse(write_message(ir, MESSAGE), tools=tools)
        assert message["content"] == MESSAGE["content"]
        assert [arguments_of(call) for call in message["tool_calls"]] == [
            call["function"]["arguments"] for call in MESSAGE["tool_calls"]
        ]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("form", CALLS)
def test_broken_escapes_give_the_same_however_they_are_cut(form: str, kind: str) -> None:
    ir, parser = format_of(form, kind)
    rng, output = random.Random(form + kind), write_message(ir, MESSAGE)
    for _ in range(40):
        text = output
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text = rng.choice([text[:at], text[:at] + text[at + 2 :], text[:at] + rng.choice(INSERTED) + text[at:]])
            text = text or output
        for tools in (None, TOOLS):
            whole = parser.parse(text, tools=tools)
            for size in (1, 3):
                chunks = [text[at : at + size] for at in range(0, len(text), size)]
                assert streamed(parser, chunks, tools=tools) == whole, text


def test_a_name_after_escaped_arguments_is_refused_with_the_reason() -> None:
    call = "'{\"arguments\": ' ~ " + ARGUMENTS + " ~ ', \"name\": \"' ~ c.function.name ~ '\"}'"
    text = CONTENT + calls("{{- '<call>' }}{{- " + call + " }}{{- '</call>' }}")
    with pytest.raises(UnsupportedTemplate, match="the name of a call comes after its arguments"):
        compile_template(source_of(text).replace("FILTER", "| e"), name="escaped.jinja", special_tokens=TOKENS)


@pytest.mark.parametrize(
    ("output", "content", "expected"),
    [
        # JSON without any escape, with another closer in a string
        ('<call>{"name": "f", "arguments": {"a": "b"}}</call>', None, ['{"a": "b"}']),
        # the closer is missing, or comes too early
        ('<call>{"name": "f", "arguments": {&#34;a&#34;: 1}', None, ['{"a": 1}']),
        ('<call>{"name": "f", "arguments": {&#34;a&#34;: &#34;b</call>so', "so", ['{"a": "b"}']),
        ('<call>{"name": "f", "arguments": so}</call>', "so", ["{}"]),
    ],
)
def test_arguments_end_with_their_object_or_a_marker(output: str, content: str | None, expected: list[str]) -> None:
    _, parser = format_of("arguments in an object", "markup")
    message = parser.parse(output)
    assert message["content"] == content
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == expected
    assert streamed(parser, list(output)) == message


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("'<p ' ~ k ~ '>' ~ @ ~ '</p>'", "(v | tojson | e)"),
        ("'<' ~ k ~ '>' ~ @ ~ '</' ~ k ~ '>'", "(v | tojson | replace('<', '\\u003c'))"),
        ("'&' ~ k ~ '=' ~ @ ~ '&'", "(v | tojson | urlencode)"),
        ("' ' ~ k ~ '=\\'' ~ @ ~ '\\''", "(v | tojson | replace('\\'', '&#39;'))"),
    ],
)
def test_json_up_to_a_closer_with_a_character_that_is_escaped_comes_back(pair: str, value: str) -> None:
    call = (
        "{{- '<call ' ~ c.function.name ~ '>' }}"
        + pairs("{{- " + pair.replace("@", value) + " }}")
        + "{{- '</call>' }}"
    )
    text = source_of(CONTENT + calls(call))
    ir = compile_template(text, name="escaped.jinja", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    assert read_back(text, ir, readers=True) == ((), ())
    message = load_module(generate(ir, "python")).parse(write_message(ir, MESSAGE))
    assert arguments_of(message["tool_calls"][0]) == MESSAGE["tool_calls"][0]["function"]["arguments"]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        # without quotes, or with single ones; a comma too many; without escapes; up to a missing end
        ('<call f a="so &amp; so"/>', '{"a": "so & so"}'),
        ('<call f a="&#39;so&#39;"/>', '{"a": "so"}'),
        ('<call f a="[1, 2,]"/>', '{"a": [1, 2]}'),
        ("<call f a=\"{'b': None}\"/>", '{"a": {"b": null}}'),
        ('<call f a="&#34;so', '{"a": "so"}'),
        ('<call f a="[1, &#34;so', '{"a": [1, "so"]}'),
    ],
)
def test_other_json_in_attributes_is_repaired(output: str, expected: str) -> None:
    _, parser = format_of("JSON in attributes", "markup")
    message = parser.parse(output)
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == [expected]
    assert streamed(parser, list(output)) == message


def test_escaped_arguments_are_passed_on_as_they_come() -> None:
    _, parser = format_of("arguments in an object", "markup")
    stream = parser.StreamParser()
    deltas = stream.feed('<call>{"name": "f", "arguments": {&#34;a&#34;: &#34;so &lt; lo')
    arguments = [call["function"].get("arguments", "") for delta in deltas for call in delta.get("tool_calls", ())]
    assert "".join(arguments) == '{"a": "so < lo'


def arguments_of(call: Any) -> Any:
    return json.loads(call["function"]["arguments"])
