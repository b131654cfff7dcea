"""Pairs that the value's type opens, before their key: they come back, and every reader reads odd ones alike."""

from __future__ import annotations

from functools import cache

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
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


@pytest.mark.sweep(3)
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
