"""Raw values that may contain a part of a marker, and arguments as tags named by keys."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.formats import named
from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading
from tplc.backends.peg.engine import PegEngine

PARAMETERS = "\n<deed>\n<do=get_weather>\n{}</do>\n</deed><:>\n"
CITY = "<with=city>\n{}\n</with>\n<with=days>\n3\n</with>\n"
KEY_VALUES = "\n[ability]get_weather\n{}[/ability][@user@]"
KEYS = "[k]city[/k]\n{}[/v]\n[k]days[/k]\n[v]3[/v]\n"
ELEMENTS = "<city>Oslo</city>\n<days>3</days>\n"
OSLO = '{"city": "Oslo", "days": 3}'
DAMAGED = {
    "a closer twice": ("parameter-tags", CITY.format("Oslo\n</with>"), '{"city": "Oslo\\n</with>", "days": 3}', True),
    "a bracket twice": ("parameter-tags", CITY.format("Oslo\n<"), '{"city": "Oslo\\n<", "days": 3}', True),
    "a bracket before": ("parameter-tags", CITY.format(">Oslo"), '{"city": ">Oslo", "days": 3}', True),
    "backslashes in the closer": (
        "parameter-tags",
        "<with=city>\nOslo\n\\</with\\>\n<with=days>\n3\n</with>\n",
        OSLO,
        False,
    ),
    "a backslash before the closer": (
        "parameter-tags",
        CITY.format("C:\\"),
        '{"city": "C:\\\\", "days": 3}',
        False,
    ),
    "a quoted line": ("parameter-tags", CITY.format("> Oslo"), '{"city": "> Oslo", "days": 3}', False),
    "a number": ("parameter-tags", CITY.format(">5"), '{"city": ">5", "days": 3}', False),
    "a quoted pair": (
        "parameter-tags",
        CITY.format("<with=a>\nb\n</with>"),
        '{"city": "<with=a>\\nb\\n</with>", "days": 3}',
        False,
    ),
    "a closer in a sentence": (
        "parameter-tags",
        CITY.format("a </with> b"),
        '{"city": "a </with> b", "days": 3}',
        False,
    ),
    "no opener": ("key-value-tags", KEYS.format("Oslo"), OSLO, True),
    "a misspelt opener": ("key-value-tags", KEYS.format("{x}Oslo"), '{"city": "{x}Oslo", "days": 3}', True),
    "a call that begins again": (
        "parameter-tags",
        CITY.format('"O",\n<deed>\n<do=get_weather>\n<with=city>\nOslo'),
        '{"city": "\\"O\\",\\n<deed>\\n<do=get_weather>\\n<with=city>\\nOslo", "days": 3}',
        True,
    ),
    "a call that begins again in a line": (
        "key-value-tags",
        KEYS.format("[v]O[ability]get_weather\n[k]city[/k]\n[v]Oslo").replace("[v][v]", "[v]"),
        '{"city": "O[ability]get_weather\\n[k]city[/k]\\n[v]Oslo", "days": 3}',
        True,
    ),
    "a quoted call": (
        "parameter-tags",
        CITY.format("<do=f>\n<with=city>\nOslo\n</with> is it"),
        '{"city": "<do=f>\\n<with=city>\\nOslo\\n</with> is it", "days": 3}',
        False,
    ),
    "other line breaks": (
        "parameter-tags",
        CITY.format("\r\nOslo\r\n"),
        '{"city": "\\r\\nOslo\\r\\n", "days": 3}',
        True,
    ),
    "a list": (
        "key-value-tags",
        '[k]city[/k]\n[v]["a", "b"][/v]\n[k]days[/k]\n[v]3[/v]\n',
        '{"city": "[\\"a\\", \\"b\\"]", "days": 3}',
        False,
    ),
}
TAGGED = {
    "tags": (ELEMENTS, OSLO, False),
    "tags in a line": ("<city>Oslo</city><days>3</days>", OSLO, False),
    "tags in a value": ("<city><b>Oslo</b></city>\n<days>3</days>\n", '{"city": "<b>Oslo</b>", "days": 3}', False),
    "one tag": ("<city>Oslo</city>\n", '{"city": "Oslo"}', False),
}


def check(format_: str, text: str, arguments: str, *, incomplete: bool) -> Any:
    form = named(format_)
    for size in (len(text), 1, 2, 3, 7):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        stream, deltas = read(form.parser, text, TOOLS, chunks)
        for found in (reading(stream), joined(deltas)):
            assert (found[0], [tuple(call) for call in found[2]]) == ("", [("get_weather", arguments)]), size
        assert stream.incomplete == incomplete, size
    parsed = PegEngine(form.ir).read(text, tools=TOOLS)
    assert (dict(parsed.message), parsed.incomplete) == (dict(stream.message), incomplete)
    return stream


@pytest.mark.parametrize(("name", "pairs", "arguments", "incomplete"), DAMAGED.values(), ids=list(DAMAGED))
def test_damaged_value(name: str, pairs: str, arguments: str, incomplete: bool) -> None:
    stream = check(
        name, {"parameter-tags": PARAMETERS}.get(name, KEY_VALUES).format(pairs), arguments, incomplete=incomplete
    )
    assert not incomplete or stream.diagnostics


@pytest.mark.parametrize("around", [("parameter-tags", PARAMETERS), ("key-value-tags", KEY_VALUES)], ids=["1", "2"])
@pytest.mark.parametrize(("pairs", "arguments", "incomplete"), TAGGED.values(), ids=list(TAGGED))
def test_tags_named_by_keys(around: tuple[str, str], pairs: str, arguments: str, incomplete: bool) -> None:
    name, text = around
    assert check(name, text.format(pairs), arguments, incomplete=incomplete).diagnostics
