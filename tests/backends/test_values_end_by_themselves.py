"""Values whose dialect delimits them end by themselves: numbers, literal words, quoted strings, lists, and objects.

Each value precedes everything that may follow it in the call, and before markers whose own closer is missing.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.fluent import Case, Engines
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, learn_format, open_renderer
from tplc.verify.artifact import load_module

TURN = """\
{%- for m in messages %}{%- if m.role == "assistant" %}{{- "<|a|>" + (m.content or "") }}\
{%- if m.tool_calls %}{{- "@OPEN@" }}{%- for c in m.tool_calls %}@CALL@{%- endfor %}{{- "@CLOSE@" }}{%- endif %}\
{{- "<|e|>" }}{%- else %}{{- "<|" + m.role + "|>" + m.content + "<|e|>" }}{%- endif %}{%- endfor %}\
{%- if add_generation_prompt %}{{- "<|a|>" }}{%- endif %}
"""
PAIRS = "{%- for k, v in c.function.arguments.items() %}@PAIR@{%- endfor %}"
KEYWORDS = PAIRS.replace("@PAIR@", '{{- k + "=" + (v | tojson) }}{{- ", " if not loop.last else "" }}')
TAGGED = PAIRS.replace("@PAIR@", '{{- "<|arg:" + k + "|>" + (v | tojson) + "<|/arg|>" }}')
BY_TYPE = """{%- for k, v in c.function.arguments.items() %}{{- '<p name="' + k + '" string="' + \
('true' if v is string else 'false') + '">' + (v if v is string else v | tojson) + '</p>' }}{%- endfor %}"""
FORMATS = {
    "numbered": (
        "\\n```python\\n",
        '{{- "r" ~ loop.index ~ " = " + c.function.name + "(" }}' + KEYWORDS + '{{- ")\\n" }}',
        "```",
    ),
    "keywords": (
        "<|calls|>[",
        '{{- c.function.name + "(" }}' + KEYWORDS + '{{- ")" + (", " if not loop.last else "") }}',
        "]<|/calls|>",
    ),
    "tagged": (
        "",
        '{{- "<|tool:" + c.function.name + "|>" }}' + TAGGED + '{{- "<|end:" + c.function.name + "|>" }}',
        "",
    ),
    "named": (
        "",
        '{{- "<tool " + c.function.name + ">" + (c.function.arguments | tojson) + "</tool " + c.function.name + ">" }}',
        "",
    ),
    "types": ("", '{{- "<call " + c.function.name + ">" }}' + BY_TYPE + '{{- "</call>" }}', ""),
}
VALUES = [("1", 1), ("-2.5", -2.5), ("true", True), ("null", None), ('"a, b) c"', "a, b) c"), ("[1, 2]", [1, 2])]


@cache
def case(kind: str) -> Case:
    opened, call, closed = FORMATS[kind]
    source = TURN.replace("@OPEN@", opened).replace("@CALL@", call).replace("@CLOSE@", closed)
    with open_renderer(source, name=kind) as renderer:
        ir = learn_format(renderer, name=kind, source_text=source)
    return Case(Engines(ir, load_module(generate(ir, "python")), PegEngine(ir)))


FOLLOWED = {
    "numbered": [
        ("\n```python\nr1 = f(x=@)\nr2 = g(y=@)\n```", False),
        ("\n```python\nr1 = f(x=@,)\nr2 = g(y=@)\n```", False),
    ],
    "keywords": [
        ("<|calls|>[f(x=@), g(y=@)]<|/calls|>", False),
        ("<|calls|>[f(x=@,), g(y=@,)]\n<|/calls|>", False),
        ("<|calls|>[f(x=@ ) , g(y=@)]\n\n<|/calls|><|e|>", False),
    ],
    "tagged": [
        ("<|tool:f|><|arg:x|>@<|end:f|><|tool:g|><|arg:y|>@<|/arg|><|end:g|>", False),
        ("<|tool:f|><|arg:x|>@<|tool:g|><|arg:y|>@<|end:g|>", False),
    ],
    "named": [('<tool f>{"x": @</tool f><tool g>{"y": @}</tool g>', False)],
}


@pytest.mark.parametrize("kind", FOLLOWED)
@pytest.mark.parametrize("written, value", VALUES)
def test_a_value_ends_by_itself(kind: str, written: str, value: object) -> None:
    for text, incomplete in FOLLOWED[kind]:
        ids = [("r1",), ("r2",)] if kind == "numbered" else [(), ()]
        calls = [("f", {"x": value}, *ids[0]), ("g", {"y": value}, *ids[1])]
        case(kind).output(text.replace("@", written)).expect(calls=calls, incomplete=incomplete)


@pytest.mark.parametrize("kind", ["keywords", "tagged"])
def test_more_than_a_number_is_text(kind: str) -> None:
    text = {"keywords": "<|calls|>[f(x=3 days)]<|/calls|>", "tagged": "<|tool:f|><|arg:x|>3 days<|/arg|><|end:f|>"}
    case(kind).output(text[kind]).expect(calls=[("f", {"x": "3 days"})])


@pytest.mark.parametrize("wanted", ["string", "integer", "boolean"])
def test_a_type_that_is_written_wins_over_the_schema(wanted: str) -> None:
    parameters = {"type": "object", "properties": {"x": {"type": wanted}, "y": {"type": wanted}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    text = '<call f><p name="x" string="true">5</p><p name="y" string="false">5</p></call>'
    case("types").output(text).tools(tools).expect(calls=[("f", {"x": "5", "y": 5})])


RAW = {
    "keys in lines": (
        "",
        '{{- "<f " + c.function.name + ">\\n" }}'
        + PAIRS.replace("@PAIR@", '{{- k + ": " + (v if v is string else v | tojson) + "\\n" }}')
        + '{{- "</f>" }}',
        "",
    ),
    "raw keywords": (
        "<|calls|>",
        '{{- c.function.name + "(" }}'
        + PAIRS.replace("@PAIR@", '{{- k ~ "=" ~ v }}{{- ", " if not loop.last else "" }}')
        + '{{- ")" }}',
        "<|/calls|>",
    ),
}
FORMATS.update(RAW)
ODD_KEYS = ["a b", "k:1", "x[0]", "", "n(m)"]
LINES, KEYWORD = "<f f>\ns: one\n@: u v\nn: 1\n</f>", "<|calls|>f(s=one, @=u v, n=1)<|/calls|>"


@pytest.mark.parametrize("key", ODD_KEYS)
@pytest.mark.parametrize("kind, text", [("keys in lines", LINES), ("raw keywords", KEYWORD)])
def test_keys_of_the_schema_that_are_no_words_are_keys(kind: str, text: str, key: str) -> None:
    types = {"s": "string", key: "string", "n": "integer"}
    parameters = {"type": "object", "properties": {name: {"type": kind} for name, kind in types.items()}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    case(kind).output(text.replace("@", key)).tools(tools).expect(calls=[("f", {"s": "one", key: "u v", "n": 1})])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("value", ["'celsius'", "'a, b'", "'it\\'s)'"])
def test_a_string_in_quotes_ends_before_a_key_that_the_schema_has_not(value: str) -> None:
    parameters = {"type": "object", "properties": {"unit": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    text = f"<|calls|>f(unit={value}, data=[1, 2, 3])<|/calls|>"
    read = value[1:-1].replace("\\'", "'")
    case("raw keywords").output(text).tools(tools).expect(calls=[("f", {"unit": read, "data": [1, 2, 3]})])
