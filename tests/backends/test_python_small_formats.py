"""Small formats, one rule of the generated parsers each: what is read, whole and one character at a time."""

from __future__ import annotations

import itertools
import json
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import parser_for, reported, streamed
from tplc.driver import learn_format, open_renderer
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message

# Around the calls of a message: `calls` writes them, content follows.
TURNS = """
{%%- for m in messages %%}{{ '<' ~ m.role ~ '>' }}{%% if m.tool_calls %%}%s{%% endif %%}
{{- (m.content or '') ~ '<end>' }}{%% endfor %%}
{%%- if add_generation_prompt %%}{{ '<assistant>' }}{%% endif %%}"""

SECTION = TURNS % (
    "{{ '<calls>' }}{% for c in m.tool_calls %}"
    "{{- '[' ~ c.function.name ~ ' ' ~ c.function.arguments | tojson ~ ']' }}{% endfor %}{{ '</calls>\\n' }}"
)
LINES = TURNS % (
    "{{ '<calls>' }}{% for c in m.tool_calls %}{{ '\\n' if not loop.first }}{{ c.function.name ~ '(' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ (', ' if not loop.first else '') ~ k ~ '=' ~ v | tojson }}"
    "{%- endfor %}{{ ')' }}{% endfor %}{{ '</calls>' }}"
)
RAW = TURNS % (
    "{{ '[' }}{% for c in m.tool_calls %}{{ ', ' if not loop.first }}{{ c.function.name ~ '(' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ (', ' if not loop.first else '') ~ k ~ '=' ~ v }}"
    "{%- endfor %}{{ ')' }}{% endfor %}{{ ']' }}"
)
TOUCHING = RAW.replace("(', ' if not loop.first else '') ~ k ~ '=' ~ v }}", "k ~ '=' ~ v | tojson }}")
BARE = TURNS % (
    '{% for c in m.tool_calls %}{{ \'{"kind": "call", "name": "\' ~ c.function.name ~ \'", "arguments": \' ~ '
    "c.function.arguments | tojson ~ '}' }}{% endfor %}"
)
WRAPPED = TURNS % (
    "{% for c in m.tool_calls %}{{ '<call ' ~ c.function.name ~ '>' }}"
    "{%- for k, v in c.function.arguments.items() %}"
    "{{- '<' ~ k ~ '>' ~ ('<![' ~ v ~ ']!>' if v is string and '\\n' in v else v) ~ '</' ~ k ~ '>' }}"
    "{%- endfor %}{{ '</call>' }}{% endfor %}"
)
CLOSED = TURNS % (
    "{% for c in m.tool_calls %}{{ '<call>' ~ c.function.name ~ '(' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ (', ' if not loop.first else '') ~ k ~ '=' ~ v | tojson }}"
    "{%- endfor %}{{ ')\\n</call>' }}{% endfor %}"
)
# Values end where the line does: the next begins like a list's item, or indented.
ITEMS = TURNS % (
    "{% for c in m.tool_calls %}{{ '## call ' ~ c.function.name ~ '\\n' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ '- ' ~ k ~ ' = ' ~ v ~ '\\n' }}{% endfor %}{% endfor %}"
)
INDENTED = TURNS % (
    "{% for c in m.tool_calls %}{{ '<call>\\nuse: ' ~ c.function.name ~ '\\nwith:\\n' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ '  ' ~ k ~ ': ' ~ v ~ '\\n' }}{% endfor %}"
    "{{- '</call>' }}{% endfor %}"
)
ATTRIBUTES = TURNS % (
    "{% for c in m.tool_calls %}{{ '\\n<use id=\"' ~ c.id ~ '\" tool=\"' ~ c.function.name ~ '\"' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ ' ' ~ k ~ \"='\" ~ v ~ \"'\" }}{% endfor %}"
    "{{- '/>' }}{% endfor %}"
)
INVISIBLE = TURNS % (
    "{% for c in m.tool_calls %}{{ '\u2063call\u2064' ~ c.function.name ~ '\ue000' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ '\ue001' ~ k ~ '\ue002' ~ v ~ '\ue003end' }}{% endfor %}"
    "{{- '\u2063end\u2064' }}{% endfor %}"
)
# The arguments follow the name directly; values, or calls, end at the beginning of the next one.
TOKENS = TURNS % (
    "{% for c in m.tool_calls %}{{ '<|use|>' ~ c.function.name }}"
    "{%- for k, v in c.function.arguments.items() %}{{ '<|key|>' ~ k ~ '<|is|>' ~ v }}{% endfor %}"
    "{{- '<|used|>' }}{% endfor %}"
)
OPTIONS = TURNS % (
    "{{ '%%run\\n' }}{% for c in m.tool_calls %}{{ '> ' ~ c.function.name }}"
    "{%- for k, v in c.function.arguments.items() %}{{ ' --' ~ k ~ '=' ~ v | tojson }}{% endfor %}"
    "{{- '\\n' }}{% endfor %}{{ '%%\\n' }}"
).replace("%%", "%")
KEY_FIRST = TURNS % (
    "{% for c in m.tool_calls %}{{ '<call>' ~ c.function.name ~ '\n' }}"
    "{%- for k, v in c.function.arguments.items() %}{{ '<' ~ k ~ '>\n' ~ v ~ '\n' ~ k ~ ' done;\n' }}{% endfor %}"
    "{{- '</call>' }}{% endfor %}"
)
DEEP = TURNS % (
    "{% for c in m.tool_calls %}{{ '\n' ~ ' ' * 24 ~ '<call>' ~ c.function.name ~ '\n'"
    " ~ c.function.arguments | tojson ~ '</call>' }}{% endfor %}"
)
FORMATS = {
    "invisible": INVISIBLE,
    "tokens": TOKENS,
    "options": OPTIONS,
    "key first": KEY_FIRST,
    "deep": DEEP,
    "items": ITEMS,
    "indented": INDENTED,
    "attributes": ATTRIBUTES,
    "closed": CLOSED,
    "section": SECTION,
    "lines": LINES,
    "raw": RAW,
    "touching": TOUCHING,
    "bare": BARE,
    "wrapped": WRAPPED,
}

STRINGS = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": STRINGS}}]


@cache
def ir_of(name: str) -> TemplateIR:
    with open_renderer(FORMATS[name], name=name) as renderer:
        return learn_format(renderer, name=name, source_text=FORMATS[name])


@cache
def parser(name: str) -> ModuleType:
    return parser_for(ir_of(name))


def read(name: str, text: str, tools: Any = None) -> tuple[str | None, list[tuple[str, Any]]]:
    """Return content and calls: the same for every chunking."""
    whole = streamed(parser(name), [text], tools=tools)
    assert streamed(parser(name), list(text), tools=tools) == whole
    calls = [call["function"] for call in whole["tool_calls"]]
    return whole["content"], [(call["name"], json.loads(call["arguments"])) for call in calls]


@pytest.mark.parametrize(
    ("name", "text", "content", "calls"),
    [
        # White space of the last closer is not content, any more is.
        ("section", '<calls>[f {"a": 1}]</calls>\nYes.<end>', "Yes.", [("f", {"a": 1})]),
        ("section", '<calls>[f {"a": 1}]</calls>\n\nYes.<end>', "\nYes.", [("f", {"a": 1})]),
        # Only white space separates calls.
        ("lines", '<calls>f(a="x", b=-1)\ng(b=2)</calls><end>', None, [("f", {"a": "x", "b": -1}), ("g", {"b": 2})]),
        ("lines", '<calls>f(a="x")</calls>g(b=2)<end>', "g(b=2)", [("f", {"a": "x"})]),
        # Nothing separates arguments.
        ("touching", '[f(a="x"b=10c=trued=nulle=2.5e+3)]<end>', None,
         [("f", {"a": "x", "b": 10, "c": True, "d": None, "e": 2500.0})]),
        # A distinctive closer ends a bare word, before any text.
        ("closed", "<call>f(a=true)\n</call>Yes (so).<end>", "Yes (so).", [("f", {"a": True})]),
        ("closed", "<call>f(a=1, b=-2)\n</call><call>g(b=null)\n</call>Yes.<end>", "Yes.",
         [("f", {"a": 1, "b": -2}), ("g", {"b": None})]),
        # A member of the call that is always the same.
        ("bare", '{"kind": "call", "name": "f", "arguments": {"a": 1}}<end>', None, [("f", {"a": 1})]),
        ("bare", '{"kind": "apple"}<end>', '{"kind": "apple"}', []),
        # What closes a wrapped value repeats the key.
        ("wrapped", "<call f><a><![x\n</a>]!></a><b>y</b></call><end>", None, [("f", {"a": "x\n</a>", "b": "y"})]),
        ("wrapped", "<call f><a><![x]!>\n</a><b>y</b></call><end>", None, [("f", {"a": "x", "b": "y"})]),
    ],
)  # fmt: skip
def test_what_is_read(name: str, text: str, content: str | None, calls: list[tuple[str, Any]]) -> None:
    assert read(name, text) == (content, calls)


@pytest.mark.parametrize(
    "value",
    ["San Francisco, CA (USA)", "  both ends  ", "a, c=d", "[1, 2]", "f(x))", "line\n", "1, 2"],
)
def test_punctuation_in_raw_values_ends_nothing(value: str) -> None:
    assert read("raw", f"[f(a={value}, b=y)]<end>", TOOLS) == (None, [("f", {"a": value, "b": "y"})])
    assert read("raw", f"[f(a={value}), f(b=y)]<end>", TOOLS) == (None, [("f", {"a": value}), ("f", {"b": "y"})])


@pytest.mark.parametrize("value", ["x", "two words", "-1", "<|", "a<|used", "<|key|>"])
def test_a_key_ends_where_the_first_text_after_keys_begins(value: str) -> None:
    text = f"<|use|>f<|key|>a<|is|>{value}<|key|>b<|is|>y<|used|><|use|>f<|key|>b<|is|>z<|used|><end>"
    assert read("tokens", text, TOOLS) == (None, [("f", {"a": value, "b": "y"}), ("f", {"b": "z"})])


@pytest.mark.parametrize("value", [2, -1.5, True, None, "x", "\n> f --a=1", [1], {"b": 2}])
def test_what_opens_the_next_call_ends_one_that_nothing_closes(value: object) -> None:
    call = f"> f --a={json.dumps(value)}\n"
    for second, calls in (("> g\n", [("g", {})]), ("> g --b=2\n", [("g", {"b": 2})]), ("", [])):
        expected = (None, [("f", {"a": value}), *calls, ("f", {"a": value})])
        assert read("options", f"%run\n{call}{second}{call}%\n<end>") == expected
    stream = parser("options").StreamParser()
    stream.feed(f"%run\n{call}> g\n> g --b=2\n%\n<end>")
    stream.finish()
    assert reported(stream) == []


def test_an_end_early_in_a_long_piece_is_found() -> None:
    pieces = ["[f(a=x", "y", f", b={'lorem ' * 50}ipsum", ")]<end>"]
    assert streamed(parser("raw"), pieces, tools=TOOLS) == streamed(parser("raw"), ["".join(pieces)], tools=TOOLS)


@pytest.mark.parametrize("value", ["Oslo", "a = b", "  both ends  ", "two\nlines", "a line's end\n", "- x", "[1, 2]"])
def test_a_line_ends_a_value_only_before_what_may_follow(value: str) -> None:
    expected = [("f", {"a": value, "b": "y"}), ("f", {"a": value})]
    items = f"## call f\n- a = {value}\n- b = y\n## call f\n- a = {value}\n<end>"
    assert read("items", items, TOOLS) == (None, expected)
    call = f"<call>\nuse: f\nwith:\n  a: {value}\n  b: y\n</call><call>\nuse: f\nwith:\n  a: {value}\n</call><end>"
    assert read("indented", call, TOOLS) == (None, expected)


def test_what_is_not_indented_is_no_argument() -> None:
    text = "<call>\nuse: f\nwith:\n  a: x\nb: y\n  b: z\n</call><end>"
    assert read("indented", text) == (None, [("f", {"a": "x\nb: y", "b": "z"})])


def test_what_closes_ends_a_line_that_does_not_end() -> None:
    assert read("indented", "<call>\nuse: f\nwith:\n  a: x</call>\n<end>") == (None, [("f", {"a": "x"})])
    assert read("items", "## call f\n- a = x\n- b = y<end>") == (None, [("f", {"a": "x", "b": "y"})])


def test_a_quote_ends_a_value_before_the_next_call() -> None:
    text = """\n<use id="1" tool="f" a='it's' b='y'/>\n<use id="2" tool="f" a='x'/><end>"""
    assert read("attributes", text) == (None, [("f", {"a": "it's", "b": "y"}), ("f", {"a": "x"})])


@pytest.mark.sweep(14)
@pytest.mark.parametrize("text", ["lorem ipsum dolor sit amet " * 16, "lorem, (ipsum) = 'dolor'; - <sit> [amet] " * 9])
@pytest.mark.parametrize("name", FORMATS)
def test_long_values_in_long_chunks(name: str, text: str) -> None:
    """The end of a value is found in a chunk of any length, however much text follows it."""
    function = {"name": "f", "arguments": {"a": "x", "b": text, "c": "y"}}
    calls = [{"id": "abcdefghi", "type": "function", "function": function}] * 2
    output = write_message(ir_of(name), {"role": "assistant", "content": None, "tool_calls": calls})
    whole = streamed(parser(name), [output])
    for first in range(0, 200, 3):
        for size in (3, 40, 170, 330, 900):
            cuts = [0, *range(first, len(output), size), len(output)]
            assert streamed(parser(name), [output[i:j] for i, j in itertools.pairwise(cuts)]) == whole


@pytest.mark.parametrize(
    ("name", "start"), [("items", "## call f\n- a = x"), ("indented", "<call>\nuse: f\nwith:\n  a: x")]
)
def test_what_ends_the_turn_ends_a_value_at_once(name: str, start: str) -> None:
    whole = streamed(parser(name), [start + "y<end>"])
    assert streamed(parser(name), [start, "y", "<", "end>"]) == streamed(parser(name), [start, "y<end>"]) == whole


def test_text_after_the_output_was_finished_is_reported() -> None:
    stream = parser("raw").StreamParser(tools=TOOLS)
    stream.feed("[f(a=x, b=y")
    stream.finish()
    message = stream.message
    assert (stream.feed("z)]"), stream.feed(""), stream.finish(), stream.message) == ([], [], [], message)
    assert reported(stream)[-1] == (11, "text after the output was finished")
