"""A message is excused if it came back as another one with the same render; nothing else excuses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.excused import check_pairs, templates
from tplc import driver
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR, Verification
from tplc.verify import Artifact, load_artifact, verify

# What a call of the template below is, and whether it writes reasoning.
TURNS = (
    "{%- for m in messages %}{%- if m.role == 'assistant' %}{{- '<|a|>' }}"
    "{%- if m.tool_calls %}{{- BEFORE }}{%- for c in m.tool_calls %}CALL{%- endfor %}"
    "{%- else %}REASONING{{- m.content or '' }}{%- endif %}{{- '<|e|>' }}"
    "{%- else %}{{- '<|' + m.role + '|>' + m.content + '<|e|>' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|a|>' }}{%- endif %}"
)
REASONING = "{%- if m.reasoning_content %}{{- '<think>' + m.reasoning_content + '</think>' }}{%- endif %}"
PAIRS = (
    "{{- '<call name=\"' ~ c.function.name ~ '\">' }}{%- for k, v in c.function.arguments.items() %}"
    "{{- '<arg name=\"' ~ k ~ '\">' ~ VALUE ~ '</arg>' }}{%- endfor %}{{- '</call>' }}"
)


def template(value: str, *, reasoning: bool, before: str = "''", call: str = PAIRS) -> str:
    text = TURNS.replace("CALL", call).replace("VALUE", value).replace("BEFORE", before)
    return text.replace("REASONING", REASONING if reasoning else "")


@pytest.mark.sweep(6)
@pytest.mark.parametrize("reasoning", [False, True], ids=["without reasoning", "with reasoning"])
@pytest.mark.parametrize(
    "value", ["((v if v is string else v | tojson) | replace('4', '44'))", "((v | tojson) | replace('1', '11'))"]
)
def test_reasoning_excuses_no_wrong_arguments(value: str, *, reasoning: bool) -> None:
    """Messages that have calls and no text are neither content nor reasoning."""
    result = driver.compile_template(template(value, reasoning=reasoning), name="hole.jinja").verification
    assert not result.verified
    assert result.messages > result.passed


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("('\"' ~ (v | urlencode) ~ '\"' if v is string else v | tojson)", "the template percent-encodes in values: "),
        ("('\"' ~ (v | e) ~ '\"' if v is string else v | tojson)", "the template escapes HTML in values: "),
    ],
)
def test_a_refusal_names_the_transformation(value: str, cause: str) -> None:
    found = driver.compile_template(template(value, reasoning=True), name="changed.jinja").verification.failures
    assert found[0].startswith("cause: " + cause)


NAMED = '{"name": "\' ~ c.function.name ~ \'", "arguments": \' ~ (c.function.arguments | tojson | FILTER) ~ \'}'


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (NAMED.replace("FILTER", "lower"), "writes small letters"),
        (NAMED.replace("FILTER", "replace('+', ' ')"), 'writes "+" as " "'),
        ("' ~ (c.function | tojson | lower) ~ '", "writes small letters"),
        ("' ~ (c.function | tojson | replace('+', ' ')) ~ '", 'writes "+" as " "'),
    ],
    ids=["arguments in small letters", "arguments without +", "all in small letters", "all without +"],
)
def test_a_refusal_names_what_changes_all_arguments(call: str, cause: str) -> None:
    source = template("v", reasoning=False, call="{{- '<call>" + call + "</call>' }}")
    found = driver.compile_template(source, name="changed.jinja").verification
    assert not found.verified
    assert found.failures[0].startswith(f"cause: the template {cause} in arguments: ")


def test_a_form_that_is_chosen_by_the_name_is_found_out() -> None:
    call = (
        "{%- set n = c.function.name.split('.') %}{{- '<call ' ~ ('server=\"' ~ n[0] ~ '\" tool=\"' ~ n[1] "
        "if n | length > 1 else 'tool=\"' ~ n[0]) ~ '\">' ~ (c.function.arguments | tojson) ~ '</call>' }}"
    )
    found = driver.compile_template(template("v", reasoning=False, call=call), name="dots.jinja").verification
    assert not found.verified
    assert found.failures[0].startswith(
        "cause: calls of some names are written in another form: files.first, files-second, files/third in "
    )


@pytest.mark.parametrize(
    ("changed", "first", "second"),
    [
        ("replace('-', '_')", '"search-all.documents_', '"search_all.documents_'),
        ("replace('.', '_')", '"search-all.documents_', '"search-all_documents_'),
    ],
)
def test_names_that_are_written_alike_are_listed(changed: str, first: str, second: str) -> None:
    """Only the tools distinguish the two names."""
    call = "{{- '<call ' ~ (c.function.name | CHANGED) ~ '>' ~ (c.function.arguments | tojson) ~ '</call>' }}"
    source = template("v", reasoning=False, call=call.replace("CHANGED", changed))
    found = driver.compile_template(source, name="names.jinja")
    assert found.verification.verified
    (listed,) = found.verification.ambiguities
    assert listed.kind == "name of a tool"
    assert listed.first.startswith(first)
    assert listed.second.startswith(second)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("name", "key", "cause"),
    [
        ("", " | replace('-', '_')", 'writes "-" as "_" in keys: "by-key" is written "by_key"'),
        ("", " | lower", 'writes small letters in keys: "listOf" is written "listof"'),
        (" | replace('/', '::')", "", 'writes "/" as "::" in names: "files/third" is written "files::third"'),
    ],
)
def test_changed_names_and_keys_are_found_out(name: str, key: str, cause: str) -> None:
    call = PAIRS.replace("c.function.name", f"(c.function.name{name})").replace("~ k ~", f"~ (k{key}) ~")
    source = template("(v if v is string else v | tojson)", reasoning=False, call=call)
    found = driver.compile_template(source, name="changed.jinja").verification
    assert not found.verified
    assert found.failures[0] == f"cause: the template {cause}"


@pytest.mark.sweep(4)
@pytest.mark.parametrize("char", ["$", "--", "**", "!!", "é"])
def test_text_that_is_written_alike_is_listed(char: str) -> None:
    """Where the difference is in a long text, it is what the report shows."""
    value = f"(v | replace('{char}', '+') if v is string else v | tojson)"
    found = driver.compile_template(template(value, reasoning=False), name="alike.jinja").verification
    assert found.verified
    (listed,) = [one for one in found.ambiguities if one.kind == "text"]
    assert char in listed.first[:60]
    assert listed.second.startswith(listed.first[: listed.first.index(char)])
    assert "string: a long text, and long names" in [one.title for one in found.excused]


def test_messages_that_need_the_tools_are_listed() -> None:
    """Without tools, raw text that spells a value of another type is that value."""
    source = template("(v if v is string else v | tojson)", reasoning=False)
    found = driver.compile_template(source, name="raw.jinja").verification
    assert found.verified
    titles = {one.title: one.kind for one in found.needs_tools}
    assert titles["string: a number in it"] == "integer or string"
    number = next(one for one in found.needs_tools if one.title == "string: a number in it")
    asked, read = (one["tool_calls"][0]["function"]["arguments"]["value"] for one in (number.message, number.other))
    assert (asked, read) == ("42", 42)
    assert '">42</arg>' in number.render


def run(source: str, parse: Any) -> tuple[TemplateIR, Verification]:
    ir = driver.compile_template(source, name="pairs.jinja")
    with driver.open_renderer(source, name="pairs.jinja") as renderer:
        return ir, verify(ir, Artifact(parse, None), renderer)


def test_no_kind_of_turn_is_excused_as_a_whole() -> None:
    """A parser that reads calls after content as text can read messages with the same render, but never such a turn."""
    source = template("(v | tojson)", reasoning=False, before="(m.content or '')")
    good = load_artifact(driver.generate(driver.compile_template(source, name="pairs.jinja"), "python"))

    def parse(text: str, **keywords: Any) -> Mapping[str, Any]:
        message = good.parse(text, **keywords)
        if message["content"] and message["tool_calls"]:
            return {**message, "content": text.partition("<|e|>")[0], "tool_calls": []}
        return message

    ir, result = run(source, parse)
    assert ir.verification.verified
    assert not result.verified
    titles = [found.split(":")[0] for found in result.failures[1:]]
    assert [title for title in titles if not title.startswith("random")] == [
        "content and one call",
        "content and two calls",
        "content and three calls",
        "content and one call after a tool's result",
    ]
    assert result.excused == ()


def test_every_excused_message_is_listed_with_the_other_and_the_render() -> None:
    """The template trims content, so that white space around it is in no render."""
    source = (
        "{%- for m in messages %}{{- '<|' + m.role + '|>' + m.content | trim + '<|e|>' }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
    )
    ir = driver.compile_template(source, name="trimmed.jinja")
    good = load_artifact(driver.generate(ir, "python"))

    def parse(text: str, **keywords: Any) -> Mapping[str, Any]:
        message = good.parse(text, **keywords)
        return {**message, "content": message["content"] + " "} if message["content"] == "42" else message

    with driver.open_renderer(source, name="trimmed.jinja") as renderer:
        result = verify(ir, Artifact(parse, None), renderer)
    assert result.verified
    assert (result.messages, result.passed) == (ir.verification.messages - 1, ir.verification.passed - 1)
    (spaced,) = ir.verification.excused
    assert (spaced.title, spaced.kind) == ("content: outer white space", "outer white space")
    excused, last = result.excused
    assert last == spaced
    assert (excused.title, excused.kind) == ("content: a number", "outer white space")
    assert excused.message == {"role": "assistant", "content": "42"}
    assert excused.other == {"role": "assistant", "content": "42 "}
    assert excused.render == "42<|e|>"


ENDS = (
    "{%- for m in messages %}{%- if m.role == 'assistant' %}{{- '<|a|>' }}"
    "{%- if m.tool_calls %}{%- for c in m.tool_calls %}{{- '<act>' ~ c.function.name ~ ' ' ~ "
    "(c.function.arguments | tojson) ~ '</act>' }}{%- endfor %}CALLS_END"
    "{%- else %}{{- '<say>' + m.content + '</say>' }}{%- endif %}"
    "{%- else %}{{- '<|' + m.role + '|>' + m.content + '<|e|>' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|a|>' }}{%- endif %}"
)


@pytest.mark.parametrize(
    ("calls_end", "ends"), [("{{- '<|stop|>' }}", ["<|stop|>"]), ("", ["<|user|>", "<|tool|>"])], ids=str
)
def test_the_ends_of_all_shapes_are_learned(calls_end: str, ends: list[str]) -> None:
    """Turns of calls end differently from turns of content; if nothing ends them, the next header does."""
    ir = driver.compile_template(ENDS.replace("CALLS_END", calls_end), name="ends.jinja")
    assert ir.verification.failures == ()
    assert ir.turn.ends == ("</say>", *ends)
    parser = load_artifact(driver.generate(ir, "python"))
    message = parser.parse(f'<act>f {{"a": 1}}</act>{ends[0]}<|user|>more')
    assert (message["content"], len(message["tool_calls"])) == (None, 1)


def test_an_end_that_is_not_known_is_read_as_content_and_found_out() -> None:
    source = ENDS.replace("CALLS_END", "{{- '<|stop|>' }}")
    ir = driver.compile_template(source, name="ends.jinja")
    blind = replace(ir, turn=replace(ir.turn, ends=ir.turn.ends[:1]))
    with driver.open_renderer(source, name="ends.jinja") as renderer:
        result = verify(blind, driver.generate(blind, "python"), renderer)
    assert not result.verified
    failures = [line for line in result.failures if not line.startswith(("cause: ", "help: "))]
    assert failures[0].startswith('one call: one call never comes back: expected "", got "<|stop|>"; ')


@pytest.mark.sweep(6)
@pytest.mark.parametrize("path", templates(every=37), ids=lambda path: path.stem)
def test_plain_jinja_renders_every_pair_alike(path: Path) -> None:
    try:
        checked = check_pairs(path.read_bytes().decode("utf-8"), path.stem)
    except TplcError as error:
        pytest.skip(str(error))
    assert checked.different == ()
