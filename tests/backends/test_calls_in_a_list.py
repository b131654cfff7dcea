"""Keyword calls in one list whose values the template doesn't escape, so that only the text after a value ends it:
calls joined by another separator than the template's, and strings in typographic quotes."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from tests.backends.test_words_that_open_calls import TURN
from tests.fluent import Case, case

# The text around a value, and the values as models write them: the quote that only some templates write.
VALUES = {"raw": ("v | string", "{}"), "quoted": ("'\"' + (v | string) + '\"'", '"{}"')}
JOINS = [", ", "; ", ";", ",\n", "\n", " ", ";\n", "\n\n"]
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {key: {}, "n": {}}}}}
    for name, key in (("look", "q"), ("look_up", "of"))
]


@cache
def _format(values: str) -> Case:
    written = "{{- ', ' if not loop.first }}{{- c.function.name + '(' }}{%- for k, v in c.function.arguments.items() %}"
    written += (
        f"{{{{- (', ' if not loop.first else '') + k + '=' + {VALUES[values][0]} }}}}{{%- endfor %}}{{{{- ')' }}}}"
    )
    return case(TURN.replace("@OPEN@", "[").replace("@CALL@", written).replace("@CLOSE@", "]"))


# White space alone shows a further call only if its arguments are literals.
@pytest.mark.parametrize(
    ("values", "join"), [one for one in product(VALUES, JOINS) if one[0] != "raw" or one[1].strip()]
)
def test_another_separator_joins_calls_of_known_tools(values: str, join: str) -> None:
    a, b = (VALUES[values][1].format(text) for text in ("a, b", "c d"))
    output = _format(values).output(f"[look(q={a}){join}look_up(of={b}){join}look(n={b})]<|e|>").tools(TOOLS)
    output.expect(calls=[("look", {"q": "a, b"}), ("look_up", {"of": "c d"}), ("look", {"n": "c d"})])


@pytest.mark.parametrize("values", VALUES)
def test_a_value_goes_on_over_a_call_of_no_tool(values: str) -> None:
    text = "f(x); g(y)"
    output = _format(values).output(f"[look(q={VALUES[values][1].format(text)})]<|e|>").tools(TOOLS)
    output.expect(calls=[("look", {"q": text})])


@pytest.mark.parametrize("quotes", ["“{}”", "‘{}’"])
def test_typographic_quotes_replace_those_of_the_template(quotes: str) -> None:
    output = _format("quoted").output(f"[look(q={quotes.format('a, b')}, n={quotes.format('c')})]<|e|>").tools(TOOLS)
    output.expect(calls=[("look", {"q": "a, b", "n": "c"})])


def test_typographic_quotes_are_reported_where_the_template_writes_none() -> None:
    stream = _format("raw").engines.parser.StreamParser(tools=TOOLS)
    stream.feed("[look(q=“a, b”)]<|e|>")
    stream.finish()
    assert stream.message["tool_calls"][0]["function"]["arguments"] == '{"q": "“a, b”"}'
    assert [note.code for note in stream.diagnostics] == ["like_a_marker"]
