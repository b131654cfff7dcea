"""Calls in another form, before an end of the turn that consists of words or of punctuation, as prose does."""

from __future__ import annotations

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, GATHERED, calls, source_of
from tests.property.every_reader import EveryReader
from tests.slips.bases import TOOLS
from tplc.driver import compile_template

OSLO = '{"city": "Oslo, User: x", "days": 3}'
NAME = '"name": "get_weather"'
FORMS = {
    "bare keys": '{"calls": [{name: "get_weather", arguments: {city: "Oslo, User: x", days: 3}}]}',
    "doubled braces": f'{{"calls": [{{{{{NAME}, "arguments": {{{OSLO}}}}}}}]}}',
    "another key": f'{{"calls": [{{"function": "get_weather", "arguments": {OSLO}}}]}}',
    "a quote missing": f'{{"calls": [{{"name": "get_weather, "arguments": {OSLO}}}]}}',
    "single quotes": "{\"calls\": [{'name': 'get_weather', 'arguments': {'city': 'Oslo, User: x', 'days': 3}}]}",
    "no list": f'{{"calls": {{{NAME}, "arguments": {OSLO}}}}}',
    "no section": f'{{{NAME}, "arguments": {OSLO}}}]}}',
    "a call alone": f'{{{NAME}, "arguments": {OSLO}}}',
    "another wrapper": f'{{"tool_calls": [{{{NAME}, "arguments": {OSLO}}}]}}',
}
ENDS = ("\nUser: ", "User: ", "「橋湖舟 ", "~ over ~", "\n---\n", "<|e|>")


@pytest.mark.sweep(6)
@pytest.mark.parametrize("end", ENDS)
def test_calls_in_another_form_come_back(end: str) -> None:
    one = "{'name': c.function.name, 'arguments': c.function.arguments}"
    turn = GATHERED.replace("@", one) + """{%- endfor %}{{- '{"calls": ' ~ (all.calls | tojson) ~ '}' }}"""
    source = source_of(CONTENT + "{%- if m.tool_calls %}" + turn + "{%- endif %}")
    ir = compile_template(source.replace("<|e|>", end.replace("\n", "\\n")), name="t", special_tokens=TOKENS)
    assert (ir.verification.verified, ir.turn.ends) == (True, (end,))
    readers = EveryReader(ir)
    for form, text in FORMS.items():
        message = readers.parse(text + end, tools=TOOLS)
        found = [call["function"] for call in message["tool_calls"]]
        assert (message["content"], found) == (None, [{"name": "get_weather", "arguments": OSLO}]), form
    assert readers.differ == []


NAMED = {
    "as it is": "get_weather",
    "another separator": "get-weather",
    "other letters": "getWeather",
}


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("end", ["<|e|>", "<|e", "<|pad|>", ""])
def test_calls_that_begin_with_their_name_come_back(name: str, end: str) -> None:
    one = "{{- c.function.name ~ '\\n' ~ (c.function.arguments | tojson) }}{{- '<|e|><|a|>' if not loop.last }}"
    turn = CONTENT + "{{- '<|e|><|a|>' if m.content and m.tool_calls }}" + calls(one)
    ir = compile_template(source_of(turn), name="t", special_tokens={**TOKENS, "pad_token": "<|pad|>"})
    assert ir.verification.verified
    readers = EveryReader(ir)
    message = readers.parse(f"{name}\n{OSLO}{end}", tools=TOOLS)
    found = [call["function"] for call in message["tool_calls"]]
    assert (message["content"], found) == (None, [{"name": "get_weather", "arguments": OSLO}])
    assert readers.differ == []
