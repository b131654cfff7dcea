"""Pairs that the value's type opens, before their key: they come back, and every reader reads odd ones alike."""

from __future__ import annotations

import json
from functools import cache

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
from tests.slips.measure import read
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR

TYPE = (
    "{%- set t = 'string' if v is string else 'boolean' if v is boolean else 'number' if v is number"
    " else 'null' if v is none else 'object' if v is mapping else 'array' %}"
)
VALUE = "(v if v is string else v | tojson)"


def call(before: str, pair: str, after: str) -> str:
    return CONTENT + calls(f"{{{{- {before} }}}}" + pairs(TYPE + f"{{{{- {pair} }}}}") + f"{{{{- {after} }}}}")


def element(opened: str, key_end: str, closed: str) -> str:
    """Return the expression of a pair in which `@` is the type."""
    before, after = (f"'{text}'".replace("@", "' ~ t ~ '") for text in (opened, closed))
    return f"{before} ~ k ~ '{key_end}' ~ {VALUE} ~ {after}"


NAMED = "'<call name=\"' ~ c.function.name ~ '\">\\n'"
ARRANGEMENTS = {
    "elements on lines": call(NAMED, element('  <@ name="', '">', "</@>\\n"), "'</call>\\n'"),
    "elements in a line": call("'<do ' ~ c.function.name ~ '>'", element("<@:", ">", "</@>"), "'</do>'"),
    "a type before the key in a tag": call(NAMED, element('<arg type="@" name="', '">', "</arg>\\n"), "'</call>'"),
    "brackets": call("'[use ' ~ c.function.name ~ ']'", element("[@ ", "]", "[/@]"), "'[/use]'"),
    "separated": call(
        "'<do ' ~ c.function.name ~ '>\\n'",
        element("<@=", ">", "</@>") + " ~ (', ' if not loop.last else '')",
        "'</do>'",
    ),
    "calls that begin with a word": call(
        "'\\nRun: ' ~ c.function.name ~ '\\n'", element("<@ ", ">", "</@>\\n"), "'.run.'"
    ),
    "one element for all but strings": call(
        "'<|do|>' ~ c.function.name ~ '<|with|>'",
        f"('<|text|>' if v is string else '<|json|>') ~ k ~ '<|is|>' ~ {VALUE}"
        " ~ ('<|/text|>' if v is string else '<|/json|>')",
        "'<|done|>'",
    ),
}


@cache
def format_of(arrangement: str) -> tuple[str, TemplateIR]:
    source = source_of(ARRANGEMENTS[arrangement])
    return source, compile_template(source, name="t", special_tokens=TOKENS)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_all_types_come_back(arrangement: str) -> None:
    source, ir = format_of(arrangement)
    assert (ir.verification.verified, ir.verification.refused_by_grammars) == (True, "")
    assert read_back(source, ir, readers=True) == ((), ())


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("inside", "arguments"),
    [
        ('<string name="a">5</string>\n<number name="b">5</number>', '{"a": "5", "b": 5}'),
        ('<string name="a">true</string>\n<boolean name="b">true</boolean>', '{"a": "true", "b": true}'),
        ('<string\nname="a">  x\n\n</string>', '{"a": "  x\\n\\n"}'),
        ('<string name="a">x </number> y</string>\n<null name="b">null</null>', '{"a": "x </number> y", "b": null}'),
        ('<array name="a">["</array>"]</array>\n<string name="b c">z</string>', '{"a": ["</array>"], "b c": "z"}'),
        (
            '<string name="a">x <string name="</string>\n<number name="b">5</number>',
            '{"a": "x <string name=\\"", "b": 5}',
        ),
        ('<String name="a">x</String>', '{"a": "x"}'),
        ('<string name="a">x', '{"a": "x"}'),
    ],
)
def test_the_opener_of_a_pair_shows_the_type(inside: str, arguments: str, known: bool) -> None:
    readers = EveryReader(format_of("elements on lines")[1])
    schema = {"type": "object", "properties": {"a": {}, "b": {}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    message = readers.parse(f'<call name="f">\n{inside}\n</call>\n', tools=tools if known else None)
    assert readers.differ == []
    assert [one["function"]["arguments"] for one in message["tool_calls"]] == [arguments]


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
# A call whose pair @ ends in the place of the closer that is named.
DAMAGED = {
    "elements on lines": ('<call name="f">\n  <string name="a">Oslo', '\n  <number name="b">3', "\n</call>\n"),
    "elements in a line": ("<do f><string:a>Oslo", "<number:b>3", "</do>"),
    "brackets": ("[use f][string a]Oslo", "[number b]3", "[/use]"),
    "calls that begin with a word": ("\nRun: f\n<string a>Oslo", "\n<number b>3", "\n.run."),
}
CLOSERS = {"brackets": ("[/string]", "[/number]")}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("arrangement", DAMAGED)
def test_a_missing_closer_and_one_of_another_type_end_a_value(arrangement: str) -> None:
    readers, (first, second, end) = EveryReader(format_of(arrangement)[1]), DAMAGED[arrangement]
    of_text, of_number = CLOSERS.get(arrangement, ("</string>", "</number>"))
    for closed in (("", of_number), (of_number, of_number), (of_text, of_text), (of_text, "")):
        text = first + closed[0] + second + closed[1] + end
        message = readers.parse(text, tools=TOOLS)
        assert [json.loads(one["function"]["arguments"]) for one in message["tool_calls"]] == [{"a": "Oslo", "b": 3}]
        assert readers.differ == []
        stream = read(readers.parser, text, TOOLS)[0]
        assert (bool(stream.diagnostics), stream.incomplete) == (True, "" in closed)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("pair", "text"),
    [
        ("'<arg ' ~ k ~ '>'", "<call f><arg a>Oslo<arg b>3</arg></call>"),
        ("'\n  <arg=' ~ k ~ '>'", "<call f>\n  <arg=a>Oslo\n  <arg=b>3</arg></call>"),
        ("'[arg ' ~ k ~ '] '", "<call f>[arg a] Oslo[arg b] 3</arg></call>"),
    ],
)
def test_the_next_pair_ends_an_unclosed_value_if_its_opener_ends_with_space_or_is_indented(
    pair: str, text: str
) -> None:
    source = source_of(call("'<call ' ~ c.function.name ~ '>'", f"{pair} ~ {VALUE} ~ '</arg>'", "'</call>'"))
    readers = EveryReader(compile_template(source, name="t", special_tokens=TOKENS))
    message = readers.parse(text, tools=TOOLS)
    assert [json.loads(one["function"]["arguments"]) for one in message["tool_calls"]] == [{"a": "Oslo", "b": 3}]
    assert readers.differ == []
    assert read(readers.parser, text, TOOLS)[0].incomplete


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "between",
    [
        "'\"' ~ ('' if v is string else ' json') ~ '>'",
        "'\"' ~ (' raw' if v is string else '') ~ '>'",
        "'\" as ' ~ ('' if v is string else 'number' if v is number else 'json') ~ '>'",
    ],
)
def test_values_of_one_type_may_lack_its_word(between: str) -> None:
    source = source_of(call(NAMED, f"'<arg name=\"' ~ k ~ {between} ~ {VALUE} ~ '</arg>\\n'", "'</call>'"))
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    assert read_back(source, ir, readers=True) == ((), ())
