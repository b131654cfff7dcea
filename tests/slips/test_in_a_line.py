"""Calls with a slip inside a line, where their opener is like prose: they are calls if nothing else follows them."""

from __future__ import annotations

import json
import re
import time
from functools import cache
from types import ModuleType

import pytest

from tests.slips.bases import TOOLS
from tests.slips.measure import read
from tests.slips.test_bare_calls import ARGUMENTS, CALLS, KEYWORDS, ONE, PAIRS, in_chunks
from tests.slips.test_near_forms import OSLO, TEMPLATE
from tplc import compile_template
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate
from tplc.ir.nodes import TemplateIR
from tplc.verify.artifact import load_module

FORMATS = {
    "object": CALLS["object"].replace("[[call]]", "").replace("[[over]]", ""),
    "list": CALLS["list"].replace("[[calls]]", ""),
    "keywords": CALLS["keywords"].replace("[[calls]]", ""),
}
# Calls that a closer ends, and whose opener consists of words: with an id before the name, and with pairs.
CLOSED = {
    "lines": "{{- 'call on\\nid: a1\\nname: ' + call.function.name + '\\nargs: ' + call.function.arguments | tojson }}"
    "{{- '\\ncall off' }}",
    "pairs": CALLS["pairs"],
}
CLOSED_CALLS = {
    "lines": f"call on\nid: a1\nname: get_weather\nargs: {ARGUMENTS}\ncall off",
    "pairs": f"Calling:{PAIRS}",
}
SLIPS = [
    ("lines", "get_weather", "functions.get_weather"),
    ("lines", "get_weather", "get-weather"),
    ("lines", "get_weather", '"get_weather"'),
    ("lines", '"city":', "city:"),
    ("lines", "3}", "3,}"),
    ("lines", ARGUMENTS, f"\n```json\n{ARGUMENTS}\n```\n"),
    ("lines", ARGUMENTS, json.dumps(ARGUMENTS)),
    ("pairs", "get_weather", "GET_WEATHER"),
    ("pairs", "Calling:", "Calling:\n"),
    ("pairs", '"Oslo"', "'Oslo'"),
    ("pairs", '[city]"Oslo"[/city][days]3[/days]', ARGUMENTS),
    ("pairs", "Calling:", "Calling:Calling:"),
]
CHANGES = {
    "a namespace": ("get_weather", "functions.get_weather"),
    "another spelling": ("get_weather", "getWeather"),
    "a key without quotes": ('"city":', "city:"),
    "a key with one quote": ('"city":', '"city:'),
    "a name without its key's quotes": ('"name"', "name"),
    "another key of the name": ('"name"', '"tool"'),
    "another key of the arguments": ('"arguments"', '"args"'),
    "a comma too many": ("3}", "3,}"),
    "no comma": (", ", " "),
    "a comment": (", ", ", // as asked\n"),
    "single quotes": ('"', "'"),
    "typographic quotes": ('"Oslo"', "“Oslo”"),
    "escaped quotes": ('"', '\\"'),
    "doubled braces": ("{", "{{"),
    "white space": ("get_weather", " get_weather"),
}
SENTENCES = ("Let me look.", "See [1], {a} and [this](x): ", "A {list} of\nlines: ")
OPENED = {"object": ONE, "list": f"[{ONE}]", "keywords": f"[{KEYWORDS}]"}
NO_KEYWORDS = ("a comment", "no comma", "escaped quotes")  # nothing like these is a keyword call


def changed(call: str, change: str) -> str:
    old, new = CHANGES[change]
    return call.replace("}", "}}").replace(old, new) if new == "{{" else call.replace(old, new)


CASES = [
    (name, change)
    for name, call in OPENED.items()
    for change, (old, _) in CHANGES.items()
    if old in call and not (name == "keywords" and change in NO_KEYWORDS)
]


@cache
def ir_of(name: str) -> TemplateIR:
    return compile_template(TEMPLATE.replace("CALL", (FORMATS | CLOSED)[name]))


@cache
def parser_of(name: str) -> ModuleType:
    return load_module(generate(ir_of(name), "python"))


@pytest.mark.parametrize(("name", "change"), CASES)
def test_call_with_a_slip_is_a_call_inside_a_line(name: str, change: str) -> None:
    for sentence in SENTENCES:
        text = f"{sentence}{changed(OPENED[name], change)}[end]"
        stream, found = in_chunks(parser_of(name), text, TOOLS)
        assert found[0].strip() == sentence.strip(), text
        assert [(called, json.loads(given)) for called, given in found[2]] == [OSLO], text
        parsed = PegEngine(ir_of(name)).read(text, tools=TOOLS)
        assert (parsed.message, parsed.incomplete) == (stream.message, stream.incomplete), text


@pytest.mark.parametrize(("name", "old", "new"), SLIPS)
def test_closed_call_with_a_slip_is_a_call_inside_a_line(name: str, old: str, new: str) -> None:
    call = CLOSED_CALLS[name].replace(old, new)
    closer = call[call.rindex("\ncall" if name == "lines" else ".calling") :]
    for text, count in ((call, 1), (call.removesuffix(closer) + CLOSED_CALLS[name], 2), (call + call, 2)):
        stream, found = in_chunks(parser_of(name), f"Let me look.{text}[end]", TOOLS)
        assert found[0].strip() == "Let me look.", text
        assert [(called, json.loads(given)) for called, given in found[2]] == [OSLO] * count, text
        parsed = PegEngine(ir_of(name)).read(f"Let me look.{text}[end]", tools=TOOLS)
        assert (parsed.message, parsed.incomplete) == (stream.message, stream.incomplete), text
    others = (f"{call} is a call.", re.sub("(?i)weather", "rain", call), call.removesuffix(closer) + "!")
    for text in others if CLOSED_CALLS[name] not in call else ():
        stream, found = in_chunks(parser_of(name), f"Let me look.{text}[end]", TOOLS)
        assert found == (f"Let me look.{text}", "", []), text
        assert PegEngine(ir_of(name)).read(f"Let me look.{text}[end]", tools=TOOLS).message == stream.message


@pytest.mark.parametrize(("name", "change"), CASES[::3])
@pytest.mark.parametrize("after", [" is a call.", ".", "\nIt looks like this."])
def test_text_after_it_makes_it_text(name: str, change: str, after: str) -> None:
    text = f"Let me look. {changed(OPENED[name], change)}{after}"
    stream, found = in_chunks(parser_of(name), text + "[end]", TOOLS)
    assert found == (text, "", [])
    assert PegEngine(ir_of(name)).read(text + "[end]", tools=TOOLS).message == stream.message


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("get_weather", "look_up"),
        ("days", "nights"),
        ("days", "days: 3, nights"),
        ("3", "three"),
        ("3", "3, more: 1"),
        ("Oslo", "x" * 5000),
    ],
)
def test_what_no_tool_allows_is_text(name: str, old: str, new: str) -> None:
    text = "Let me look. " + OPENED[name].replace('"city"', "city").replace("get_weather(", "functions.get_weather(")
    text = text.replace(old, new)
    stream, found = in_chunks(parser_of(name), text + "[end]", TOOLS)
    assert found == (text, "", [])
    assert PegEngine(ir_of(name)).read(text + "[end]", tools=TOOLS).message == stream.message


@pytest.mark.parametrize("name", FORMATS)
def test_without_tools_it_is_text(name: str) -> None:
    for change in ("a namespace", "single quotes"):
        text = f"Let me look. {changed(OPENED[name], change)}"
        _, found = in_chunks(parser_of(name), text + "[end]", None)
        assert found == (text, "", [])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", [*FORMATS, *CLOSED])
def test_many_texts_like_calls_are_read_in_linear_time(name: str) -> None:
    times = []
    for count in (500, 2000):
        text = f"So {(OPENED | CLOSED_CALLS)[name].replace('city', 'town')} " * count
        start = time.process_time()
        read(parser_of(name), text, TOOLS, [text[at : at + 50] for at in range(0, len(text), 50)])
        times.append(time.process_time() - start)
    assert times[1] < 8 * times[0]
