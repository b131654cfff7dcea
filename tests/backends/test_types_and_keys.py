"""A type that the template writes wins over the schema, and keys that are not words are read by the schema; parser, in
any chunking, and PEG."""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import streamed
from tests.independent import TOKENS
from tests.learn.test_inversions import RAW, VALUE, close, name, pairs, template_with
from tests.learn.test_inverted_calls import WRAPPED
from tests.property.report_wild import read_back
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template, generate
from tplc.verify.artifact import load_module

WORDS = "{{- 'str' if v is string else 'bool' if v is boolean else 'num' if v is number else 'json' }}"
ATTRIBUTES = (
    "{%- for k, v in c.function.arguments.items() %}<p={{- k }} type=" + WORDS + ">{{- " + RAW + " }}</p>{%- endfor %}"
)
TYPED = {
    "type words": name("<call>", "|") + ATTRIBUTES + close("</call>"),
    "texts around values": WRAPPED["tags in a tag"],
}
KEYED = {
    "bars": name("[use]", " ") + pairs('k ~ "="', '""', RAW, join=" | ") + close("[/use]"),
    "options": name("[use]", "") + pairs('" -" ~ k ~ "="', '""', RAW) + close("[/use]"),
    "tags": name("<call>", "|") + pairs("'<p=' ~ k ~ '>'", "'</p>'", RAW) + close("</call>"),
    "keywords": name("<call>", "(") + pairs('k ~ "="', '""', VALUE, join=", ") + close(")</call>"),
    "spaces": name("<call>(", "") + pairs('" :" ~ k ~ " "', '""', VALUE) + close(")</call>"),
    "lines": name("[use]", "\\n") + pairs('"%" ~ k ~ " "', '"\\n"', RAW) + close("[/use]"),
    "terminators": name("[use]", "\\n") + pairs('k ~ " = "', '" ;;\\n"', RAW) + close("[/use]"),
}
KEYS = ("a b", "k:1", "x[0]", "1st", "a/b", "ключ", "")


@cache
def format_of(call: str) -> tuple[ModuleType, PegEngine]:
    ir = compile_template(template_with(call), name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    return load_module(generate(ir, "python")), PegEngine(ir)


def arguments_of(call: str, text: str, schemas: dict[str, Any]) -> str:
    """Return the arguments of the only call, on which all readings agree."""
    parser, engine = format_of(call)
    parameters = {"type": "object", "properties": schemas}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    [called] = parser.parse(text, tools=tools)["tool_calls"]
    assert [called] == streamed(parser, list(text), tools=tools)["tool_calls"]
    [other] = engine.parse(text, tools=tools)["tool_calls"]
    assert other["function"] == called["function"]
    return str(called["function"]["arguments"])


@pytest.mark.parametrize(
    ("word", "text", "schema", "value"),
    [
        ("str", "5", "integer", "5"),
        ("str", "true", "boolean", "true"),
        ("num", "5", "string", 5),
        ("num", "1", "boolean", 1),
        ("bool", "true", "string", True),
        ("json", "[1]", "string", [1]),
    ],
)
def test_a_type_word_wins_over_the_schema(word: str, text: str, schema: str, value: Any) -> None:
    output = f"<call>f|<p=a type={word}>{text}</p></call>"
    assert json.loads(arguments_of(TYPED["type words"], output, {"a": {"type": schema}})) == {"a": value}


@pytest.mark.parametrize(
    ("wrapper", "text", "schema", "value"),
    [("str", "5", "integer", "5"), ("str", "true", "boolean", "true"), ("lit", "5", "string", 5)],
)
def test_texts_around_a_value_win_over_the_schema(wrapper: str, text: str, schema: str, value: Any) -> None:
    output = f"<call>f|<p=a><{wrapper}>{text}</{wrapper}></p></call>"
    assert json.loads(arguments_of(TYPED["texts around values"], output, {"a": {"type": schema}})) == {"a": value}


NUMBERS = ("5", "-7", "0", "2.5", "-0.0", "1e+21", "1.5e-07", "12345678901234567890", "100000.0")
TEXTS = ("-0", "1e5", "1E5", "1.50", "0.0000001", "1e21", "1e999", "007", "1_000", "+3")


@pytest.mark.parametrize("text", [*NUMBERS, *TEXTS])
@pytest.mark.parametrize("kind", ["bars", "tags"])
def test_without_a_schema_a_number_is_as_the_template_writes_it(kind: str, text: str) -> None:
    """Of two messages that could be meant, it is the one with this very render."""
    whole = {"bars": f"[use]f q={text}[/use]", "tags": f"<call>f|<p=q>{text}</p></call>"}[kind]
    assert arguments_of(KEYED[kind], whole, {}) == (f'{{"q": {text}}}' if text in NUMBERS else f'{{"q": "{text}"}}')
    assert arguments_of(KEYED[kind], whole, {"q": {"type": "number"}}) != f'{{"q": "{text}"}}'


@pytest.mark.sweep(15)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("kind", KEYED)
def test_keys_of_the_schema_are_keys(kind: str, key: str) -> None:
    if not key and kind in ("spaces", "lines"):
        pytest.skip("white space ends no empty key")
    first, between, last = {
        "bars": ("[use]f q=one two", " | ", "[/use]"),
        "options": ("[use]f -q=one two", " -", "[/use]"),
        "tags": ("<call>f|<p=q>one two</p>", "<p=", "</call>"),
        "keywords": ('<call>f(q="one two"', ", ", ")</call>"),
        "spaces": ('<call>(f :q "one two"', " :", ")</call>"),
        "lines": ("[use]f\n%q one two\n", "%", "\n[/use]"),
        "terminators": ("[use]f\nq = one two ;;\n", "", " ;;\n[/use]"),
    }[kind]
    written = {"tags": f"{key}>x</p>", "keywords": f'{key}="x"', "spaces": f'{key} "x"', "lines": f"{key} x"}
    pair = written.get(kind, f"{key} = x" if kind == "terminators" else f"{key}=x")
    found = arguments_of(KEYED[kind], first + between + pair + last, {"q": {"type": "string"}, key: {"type": "string"}})
    assert json.loads(found) == {"q": "one two", key: "x"}


@pytest.mark.parametrize("key", [" a", "a ", 'a\\"', "\\n", "a\\\\"])
def test_quoted_keys_keep_what_they_end_with(key: str) -> None:
    call = name("<call>", " ") + "{{- c.function.arguments | tojson }}" + close("</call>")
    found = arguments_of(call, f'<call>f {{"{key}": 1}}</call>', {})
    assert found == f'{{"{key}": 1}}'


@pytest.mark.sweep(3)
@pytest.mark.parametrize("mark", ".-/:")
def test_a_form_by_the_name_of_the_tool_comes_back_or_is_reported(mark: str) -> None:
    parts = f"{{%- set parts = c.function.name.split('{mark}') %}}{{%- if parts | length == 2 %}}"
    parts += '{{- "server=" ~ parts[0] ~ " tool=" ~ parts[1] }}{%- else %}{{- "tool=" ~ c.function.name }}{%- endif %}'
    source = template_with(
        close("<call ") + parts + close(">") + "{{- c.function.arguments | tojson }}" + close("</call>")
    )
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    if ir.verification.verified:
        assert read_back(source, ir) == ((), ())
    else:
        assert ir.verification.failures[0].startswith("cause: calls of some names are written in another form: ")


@pytest.mark.sweep(4)
@pytest.mark.parametrize("mark", ".-/:")
def test_a_name_that_never_comes_back_is_not_excused_as_text(mark: str) -> None:
    # As text, a call that isn't read is the same text: what all calls of such names are read as.
    parts = f'c.function.name.split("{mark}")'
    split = f'{{%- if "{mark}" in c.function.name %}}{{{{- "<call by=" ~ {parts} | first ~ " of=" ~ {parts} | last }}}}'
    split += '{%- else %}{{- "<call of=" ~ c.function.name }}{%- endif %}'
    source = template_with(split + close(">") + "{{- c.function.arguments | tojson }}" + close("</call>"))
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures[0].startswith("cause: calls of some names are written in another form: ")
