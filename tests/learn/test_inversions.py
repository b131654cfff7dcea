"""Calls in notations that change or surround values are learned and verify, if a careful person could read them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.independent import TOKENS, messages, round_trip
from tests.property.report_wild import further_messages
from tplc.driver import Target, compile_template, generate
from tplc.errors import UnsupportedTemplate
from tplc.verify.artifact import load_module

TURN = """\
{%- for m in messages %}{%- if m.role == "assistant" %}{{- "<|a|>" + (m.content or "") }}\
{%- if m.tool_calls %}{{- "@OPEN@" }}{%- for c in m.tool_calls %}@CALL@{%- endfor %}{{- "@CLOSE@" }}{%- endif %}\
{{- "<|e|>" }}{%- else %}{{- "<|" + m.role + "|>" + m.content + "<|e|>" }}{%- endif %}{%- endfor %}\
{%- if add_generation_prompt %}{{- "<|a|>" }}{%- endif %}@LAST@
"""
RAW, VALUE = "(v if v is string else v | tojson)", "(v | tojson)"


def pairs(before: str, after: str, value: str, *, join: str = "") -> str:
    """Return the pairs of a call's arguments as Jinja, with `before` and `after` around the value."""
    joined = f'{{%- if not loop.first %}}{{{{- "{join}" }}}}{{%- endif %}}' if join else ""
    written = f"{{{{- {before} ~ {value} ~ {after} }}}}"
    return f"{{%- for k, v in c.function.arguments.items() %}}{joined}{written}{{%- endfor %}}"


def name(before: str, after: str) -> str:
    return f'{{{{- "{before}" ~ c.function.name ~ "{after}" }}}}'


def close(text: str) -> str:
    return f'{{{{- "{text}" }}}}'


# What opens the section, one call, and what closes the section.
CALLS = {
    "terminator after each raw pair": (
        "",
        name("<|call|>", "<|in|>") + pairs('k ~ "<|eq|>"', '"<|,|>"', RAW) + close("<|/call|>"),
        "",
    ),
    "expressions": ("(begin", name(" (", "") + pairs('" :" ~ k ~ " "', '""', VALUE) + close(")"), ")"),
    "raw expressions": ("(begin", name(" (", "") + pairs('" :" ~ k ~ " "', '""', RAW) + close(")"), ")"),
    "raw values between bars": ("", name("[use]", " ") + pairs('k ~ "="', '""', RAW, join=" | ") + close("[/use]"), ""),
    "options": ("", name("[use]", "") + pairs('" -" ~ k ~ "="', '""', RAW) + close("[/use]"), ""),
    **{
        f"values through {filter}": (
            "",
            name("<call>", "|") + pairs('"<|p|>" ~ k ~ "="', '"<|/p|>"', f"({RAW} | {filter})") + close("</call>"),
            "",
        )
        for filter in ("e", "urlencode", "replace('\"', '&quot;')", "replace('\n', '\n    ')")
    },
    "attributes through e": (
        "",
        name("<call ", "") + pairs("' ' ~ k ~ '=\"'", "'\"'", f"({RAW} | e)") + close("/>"),
        "",
    ),
    "lists": ("", name("(tool: ", "") + pairs('" (" ~ k ~ " "', '")"', VALUE) + close(")"), ""),
}


def template_with(call: str, *, opened: str = "", closed: str = "", last: str = "") -> str:
    """Return a template that writes a call so, between these texts of its section, and `last` at its end."""
    source = TURN
    for place, text in {"@OPEN@": opened, "@CALL@": call, "@CLOSE@": closed, "@LAST@": last}.items():
        source = source.replace(place, text)
    return source


def source_of(kind: str, last: str = "") -> str:
    opened, call, closed = CALLS[kind]
    return template_with(call, opened=opened, closed=closed, last=last)


def wrong_messages(source: str, message: dict[str, Any] | None = None) -> tuple[str, ...]:
    """Return the independent messages that come back differently; the template must verify."""
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    parser = load_module(generate(ir, "python"))
    asked = [message] if message else [*messages(ir.reasoning.key), *further_messages(ir.reasoning.key)]
    return round_trip(source, ir, parser, asked).wrong


@pytest.mark.sweep(5)
@pytest.mark.parametrize("kind", CALLS)
def test_messages_come_back(kind: str) -> None:
    assert wrong_messages(source_of(kind)) == ()


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", ["raw expressions", "options", "terminator after each raw pair"])
def test_the_grammar_of_the_parser_verifies(kind: str) -> None:
    assert compile_template(source_of(kind), name="t", target="peg").verification.failures == ()


@pytest.mark.parametrize("target", ["peg", "response_template"])
def test_a_target_that_cannot_express_escapes_says_so(target: Target) -> None:
    with pytest.raises(UnsupportedTemplate) as caught:
        generate(compile_template(source_of("values through e"), name="t"), target)
    what = "a response template" if target == "response_template" else "the PEG"
    reason = f'{what} cannot express that "\\"" is written "&#34;" in values: use the generated parser'
    assert str(caught.value) == f"t: {reason}"


def test_a_token_at_the_very_end_follows_the_end_of_the_turn() -> None:
    """It isn't part of the calls' closer, so nothing after the turn is content."""
    source = source_of("lists", last="{%- if not add_generation_prompt %}{{- eos_token }}{%- endif %}")
    ir = compile_template(source, name="t")
    assert (ir.verification.failures, ir.tools.section_end, ir.turn.ends[0]) == ((), "", "<|e|>")
    parser = load_module(generate(ir, "python"))
    message = parser.parse('(tool: look (q "a"))<|e|><other~>')
    assert (message["content"], len(message["tool_calls"])) == (None, 1)


def test_a_value_goes_on_over_what_is_no_call_of_a_tool() -> None:
    source = source_of("raw expressions")
    parser = load_module(generate(compile_template(source, name="t"), "python"))
    text = "(begin (set :x 1) (ping))"
    assert [call["function"] for call in parser.parse(text)["tool_calls"]] == [
        {"name": "set", "arguments": '{"x": 1}'},
        {"name": "ping", "arguments": "{}"},
    ]
    tools = [{"type": "function", "function": {"name": "set", "parameters": {"properties": {"x": {}}}}}]
    assert [call["function"] for call in parser.parse(text, tools=tools)["tool_calls"]] == [
        {"name": "set", "arguments": '{"x": "1) (ping"}'}
    ]
