"""The bound on a grammar's size: a part beyond it is approximated, and listed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.backends.parsers import ir_of
from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.tools import tool
from tests.ir_small import ALL as SMALL
from tplc.backends.gbnf import GrammarNotExact, GrammarTooLarge, grammar
from tplc.grammars.schema.report import Report
from tplc.grammars.schema.shapes import StringShape
from tplc.grammars.schema.strings import Texts, language

JSON = ir_of("tagged-json")
MOST = 20_000
SMALL_TOOL = tool("turn", {"degrees": {"type": "integer", "minimum": 0, "maximum": 359}}, ("degrees",))
HOSTILE: dict[str, Any] = {
    "many values": {"enum": [f"{number * 7919 % 100_003:05}-{number}" for number in range(20_000)]},
    "many names": {"type": "object", "properties": {f"name-{number}": {"type": "boolean"} for number in range(2000)}},
    "huge pattern": {"type": "string", "pattern": "^(" + "|".join(f"x{number}y+" for number in range(5000)) + ")$"},
    "counted names": {
        "type": "object",
        "properties": {f"n{number}": {"enum": list(range(number, number + 9))} for number in range(300)},
        "minProperties": 5,
    },
}


@pytest.mark.sweep(4)
@needs_engine
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_tool_falls_back_alone(what: str) -> None:
    tools = [tool("flood", {"it": HOSTILE[what]}, ("it",)), SMALL_TOOL]
    made = grammar(JSON, tools=tools, tool_choice="required", most_characters=MOST)
    assert len(made.text) < MOST + 1000
    assert [str(entry) for entry in made.not_expressed if entry.keyword == "parameters"] == [
        "flood: #: parameters: any object: the grammar would have more than 20,000 characters (looser)"
    ]
    assert "# Not expressed: flood: #: parameters: any object" in made.text
    with pytest.raises(GrammarNotExact, match="flood: #: parameters: any object"):
        grammar(JSON, tools=tools, tool_choice="required", most_characters=MOST, strict=True)
    turn = grammar(JSON, tools=[SMALL_TOOL], tool_choice="required").text
    rule = next(line for line in turn.splitlines() if line.startswith("turn-arguments ::="))
    assert rule in made.text.splitlines()


@needs_engine
def test_a_hostile_response_format_falls_back_to_any_value() -> None:
    schema = {"type": "array", "items": {"enum": [f"{number * 7919 % 100_003:05}" for number in range(3000)]}}
    made = grammar(SMALL["plain"], json_schema=schema, most_characters=MOST)
    assert [str(entry) for entry in made.not_expressed] == [
        "#: schema: any value: the grammar would have more than 20,000 characters (looser)"
    ]
    assert accepts(made.text, '["x"]')
    assert not accepts(made.text, '["x"')
    whole = grammar(SMALL["plain"], json_schema=schema)
    assert whole.not_expressed == ()
    assert not accepts(whole.text, '["x"]')


def test_as_few_as_it_takes_and_the_largest_first() -> None:
    sizes = {"huge": 270, "small": 3, "large": 180, "medium": 30}
    tools = [tool(name, {f"{name}-{n}": {} for n in range(size)}, ()) for name, size in sizes.items()]
    whole = len(grammar(JSON, tools=tools).text)
    for most, expected in ((whole, []), (whole // 2, ["huge"]), (whole // 4, ["huge", "large"])):
        made = grammar(JSON, tools=tools, most_characters=most)
        assert [entry.tool for entry in made.not_expressed] == expected


def test_a_bound_that_nothing_keeps() -> None:
    with pytest.raises(GrammarTooLarge, match=r"and may have 100: offer fewer tools, or allow more \(--max-size"):
        grammar(JSON, tools=[SMALL_TOOL], most_characters=100)


class Compared(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str(self) == str(other)

    __hash__ = str.__hash__


def test_values_are_not_searched_for_one_another() -> None:
    """With as many comparisons as pairs, 20,000 values would take seconds."""
    values = tuple(Compared(f"v{number}") for number in range(100))
    assert language(StringShape(values=values), Report(), "#") == Texts(values)
    assert Compared.times <= 2 * len(values)
