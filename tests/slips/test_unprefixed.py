"""Markers without the text that all markers of the arguments begin with."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from types import ModuleType

import pytest

from tests.slips.bases import TOOLS
from tests.slips.measure import joined, read, reading
from tplc import compile_template
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

TEMPLATE = """{%- for m in messages %}
{{- '[' + m.role + ']' }}
{%- if m.content %}{{ m.content }}{% endif %}
{%- if m.tool_calls %}{{- '\\n<PREFIXcalls>\\n' }}
{%- for c in m.tool_calls %}{{- '<PREFIXdo name="' + c.function.name + '">\\n' }}
{%- for k, v in c.function.arguments.items() %}
{{- '<PREFIXwith name="' + k + '">' + (v if v is string else v | tojson) + '</PREFIXwith>\\n' }}
{%- endfor %}{{- '</PREFIXdo>\\n' }}{%- endfor %}{{- '</PREFIXcalls>' }}{%- endif %}
{{- '[end]' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]' }}{% endif %}"""
PREFIXES = ("~MARK~", "x:", "|ml|", "]ml[<")  # without the last, a tag is the end of its own
WRITTEN = """
<PREFIXcalls>
<PREFIXdo name="get_weather">
<PREFIXwith name="city">Oslo</PREFIXwith>
<PREFIXwith name="days">3</PREFIXwith>
</PREFIXdo>
<PREFIXdo name="get_time">
<PREFIXwith name="zone">CET</PREFIXwith>
<PREFIXwith name="exact">true</PREFIXwith>
</PREFIXdo>
</PREFIXcalls>[end]"""
CALLS = [["get_weather", {"city": "Oslo", "days": 3}], ["get_time", {"zone": "CET", "exact": True}]]
CLOSERS = [at for at in range(len(WRITTEN)) if WRITTEN.startswith("</PREFIX", at)]
SUBSETS = [set(CLOSERS), *({one} for one in CLOSERS), *(set(pair) for pair in combinations(CLOSERS, 2))]


@cache
def ir_of(prefix: str) -> TemplateIR:
    return compile_template(TEMPLATE.replace("PREFIX", prefix))


@cache
def parser_of(prefix: str) -> ModuleType:
    return load_module(generate(ir_of(prefix), "python"))


def check(prefix: str, text: str) -> tuple[str, list[list[object]], bool]:
    """Return the content, the calls, and `incomplete`, which are the same in any chunks and for the PEG."""
    parser = parser_of(prefix)
    whole, _ = read(parser, text, TOOLS)
    for size in (1, 3, 7):
        stream, deltas = read(parser, text, TOOLS, [text[at : at + size] for at in range(0, len(text), size)])
        assert joined(deltas) == reading(stream) == reading(whole), size
        assert (stream.diagnostics, stream.incomplete) == (whole.diagnostics, whole.incomplete), size
    parsed = PegEngine(ir_of(prefix)).read(text, tools=TOOLS)
    assert (parsed.message, parsed.incomplete) == (whole.message, whole.incomplete)
    content, _, calls = reading(whole)
    return content, [[name, json.loads(arguments)] for name, arguments in calls], whole.incomplete


@pytest.mark.sweep(61)
@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("places", SUBSETS, ids=str)
def test_closers_without_their_prefix(prefix: str, places: set[int]) -> None:
    text = WRITTEN
    for at in sorted(places, reverse=True):
        text = text[: at + 2] + text[at + 8 :]
    content, calls, incomplete = check(prefix, text.replace("PREFIX", prefix))
    assert (content.strip(), calls, incomplete) == ("", CALLS, False)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    "value", ["a</with>b", "</with>\n</do>\n</calls>", "</with>", "x</with>\n<with name='days'>1</with>", "</do>"]
)
def test_values_may_contain_such_closers(prefix: str, value: str) -> None:
    text = WRITTEN.replace("Oslo", value).replace("PREFIX", prefix)
    _, calls, incomplete = check(prefix, text)
    assert (calls, incomplete) == ([["get_weather", {"city": value, "days": 3}], CALLS[1]], False)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("text", ["It is </do> two.", "</calls>", "Use </with> here.\n</do>\n</calls>"])
def test_content_may_contain_such_closers(prefix: str, text: str) -> None:
    assert check(prefix, f"{text}[end]")[:2] == (text, [])


# Which markers lack their prefix: both of each kind, or the opener alone.
UNPREFIXED = {
    "all": ("<PREFIX", "</PREFIX"),
    "all but the section's": ("<PREFIXdo", "</PREFIXdo", "<PREFIXwith", "</PREFIXwith"),
    "section": ("<PREFIXcalls", "</PREFIXcalls"),
    "opener of the section": ("<PREFIXcalls",),
    "calls": ("<PREFIXdo", "</PREFIXdo"),
    "openers of calls": ("<PREFIXdo",),
    "arguments": ("<PREFIXwith", "</PREFIXwith"),
}


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("markers", UNPREFIXED.values(), ids=UNPREFIXED)
def test_openers_without_their_prefix(prefix: str, markers: tuple[str, ...]) -> None:
    text = WRITTEN
    for marker in markers:
        text = text.replace(marker, marker.replace("PREFIX", ""))
    content, calls, incomplete = check(prefix, text.replace("PREFIX", prefix))
    assert (content.strip(), calls, incomplete) == ("", CALLS, False)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("first", [1, 2, 3])
def test_some_arguments_without_their_prefix_are_not_lost_silently(prefix: str, first: int) -> None:
    lines = WRITTEN.split("PREFIXwith name")
    text = "PREFIXwith name".join(lines[: first + 1]).rstrip()
    text += "with name" + "with name".join(lines[first + 1 :]).replace("PREFIXwith", "with")
    _, calls, incomplete = check(prefix, text.replace("PREFIX", prefix))
    assert calls == CALLS or incomplete


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("text", ['It is <do name="f"> two.', "<calls>\n<do>", 'Use <with name="city"> here.'])
def test_content_may_contain_such_openers(prefix: str, text: str) -> None:
    assert check(prefix, f"{text}[end]")[:2] == (text, [])
