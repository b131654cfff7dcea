"""Arguments written as indented lines: a recursive macro writes keys and dashes, and scalars as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.backends.parsers import streamed
from tests.independent import TOKENS
from tests.property.report_wild import read_back
from tplc.driver import compile_template, generate
from tplc.errors import UnsupportedTemplate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

MACRO = """\
{%- macro lines(v, by) -%}
{%- if v is mapping and v -%}{%- for k, w in v.items() -%}
{{- '\\n' ~ ' ' * by ~ k ~ ':' ~ lines(w, by + INDENT) -}}{%- endfor -%}
{%- elif v is sequence and v is not string and v -%}{%- for w in v -%}
{{- '\\n' ~ ' ' * by ~ '-' ~ lines(w, by + INDENT) -}}{%- endfor -%}
{%- else -%}{{- ' ' ~ (v | SCALAR) -}}{%- endif -%}
{%- endmacro -%}
"""
TURNS = """\
{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
{{- '<bot>' ~ (m.content or '') -}}
{%- for c in m.tool_calls or [] -%}{{- BEFORE ~ c.function.name ~ BETWEEN -}}
{{- lines(c.function.arguments, FIRST) ~ AFTER -}}{%- endfor -%}
{{- '<eot>' -}}
{%- else -%}{{- '<' ~ m.role ~ '>' ~ m.content ~ '<eot>' -}}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<bot>' -}}{%- endif -%}
"""
ARRANGEMENTS = {
    "in a tag": ("<do>", "\\nwith:", "</do>", 2, 2),
    "in a fence": ("\\n```tool\\nname: ", "\\nargs:", "\\n```", 4, 4),
    "at the start of lines": ("<do>", "|", "\\n</do>", 0, 1),
    "under the name": ("\\n- call ", ":", "\\n.\\n", 4, 2),
    "after a line of dashes": ("<|do|>", "\\n---", "\\n<|/do|>", 0, 3),
}


def source(name: str, scalar: str = "tojson") -> str:
    before, between, after, first, indent = ARRANGEMENTS[name]
    texts = {"BEFORE": f"'{before}'", "BETWEEN": f"'{between}'", "AFTER": f"'{after}'", "FIRST": str(first)}
    text = MACRO.replace("INDENT", str(indent)).replace("SCALAR", scalar) + TURNS
    for word, value in texts.items():
        text = text.replace(word, value)
    return text


def compiled(name: str, scalar: str = "tojson") -> TemplateIR:
    return compile_template(source(name, scalar), name="lines", special_tokens=TOKENS)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_lines_of_any_arrangement_come_back(name: str) -> None:
    ir = compiled(name)
    assert ir.verification.failures == ()
    assert ir.verification.verified
    assert read_back(source(name), ir, readers=True) == ((), ())


@pytest.fixture(scope="module")
def parser() -> Any:
    return load_module(generate(compiled("in a tag"), "python"))


READ: dict[str, object] = {
    '\n  a: 1\n  b: "x"': {"a": 1, "b": "x"},
    "\n  a:\n    - 1\n    -\n      - {}\n      - []\n  b: null": {"a": [1, [{}, []]], "b": None},
    "\n  a:\n  - 1\n  - k: 2\n    l: 3\n  - - 4\n    - 5\n  b: 6": {"a": [1, {"k": 2, "l": 3}, [4, 5]], "b": 6},
    '\n\n    a:\n     b: True\n\n    c: [1, {"d": 2}]\n': {"a": {"b": True}, "c": [1, {"d": 2}]},
    '\n  a: "</do>\\n  b: 2"': {"a": "</do>\n  b: 2"},
    '\n  "a": 3\n  "b c": "q"': {"a": 3, "b c": "q"},
    '\n  k:1: 3\n  a b: "q"\n  x[0]: -5e3': {"k:1": 3, "a b": "q", "x[0]": -5e3},
    ' {"a": 1}': {"a": 1},
    " {}": {},
}


@pytest.mark.parametrize("written", READ)
def test_lines_are_read_in_any_chunks(parser: Any, written: str) -> None:
    text = f"Hi<do>f\nwith:{written}</do><do>g\nwith: {{}}</do>"
    for chunks in ([text], list(text), [text[at : at + 3] for at in range(0, len(text), 3)]):
        calls = [call["function"] for call in streamed(parser, chunks)["tool_calls"]]
        assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [("f", READ[written]), ("g", {})]


ODD: dict[str, object] = {
    "\n  a:\n  b: 2": {"a": None, "b": 2},
    "\n  a: 1\n b: 2": {"a": 1},
    "\n  a: 1\n      b: 2": {"a": 1},
    "\n  a: Oslo": {"a": "Oslo"},
    "\n  a: Oslo, at 3: now \n  b: 2": {"a": "Oslo, at 3: now", "b": 2},
    "\n  a:\n    - the sea\n    - 3 days\n  b: it's": {"a": ["the sea", "3 days"], "b": "it's"},
    "\n  a: 3 # three\n  b: x # y": {"a": 3, "b": "x"},
    "\n  a: True\n  b: None\n  c: 0x10": {"a": True, "b": None, "c": 16},
    "\n  a: Oslo</d": {"a": "Oslo</d"},
    "\n  - 1": {},
}


@pytest.mark.parametrize("written", ODD)
def test_other_lines_are_reported(parser: Any, written: str) -> None:
    reader = parser.StreamParser()
    reader.feed(f"<do>f\nwith:{written}</do>")
    reader.finish()
    (call,) = reader.message["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == ODD[written]
    assert reader.diagnostics
    assert streamed(parser, list(f"<do>f\nwith:{written}</do>")) == reader.message


def test_scalars_without_quotes_are_refused() -> None:
    result = compiled("in a tag", "string").verification
    assert not result.verified
    assert "the template writes lists and objects as indented lines" in result.failures[0]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["peg", "gbnf", "lark", "response_template", "structural_tag"])
def test_targets_without_lines_say_so(target: Any) -> None:
    with pytest.raises(UnsupportedTemplate, match="cannot express that arguments are indented lines"):
        generate(compiled("in a tag"), target)


def test_lines_that_the_output_cuts_are_closed(parser: Any) -> None:
    text = '<do>f\nwith:\n  a: 3\n  b:\n    - the sea\n    - "x"\n  c: null\n</do>'
    for end in range(len(text)):
        reader = parser.StreamParser()
        reader.feed(text[:end])
        reader.finish()
        assert streamed(parser, list(text[:end])) == reader.message
        for call in reader.message["tool_calls"]:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
        if text.index(" 3") < end < text.index("\n</do>"):
            assert reader.incomplete
