"""Openers of calls that begin with the end of the turn, as where each call is a message of its own."""

from __future__ import annotations

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tplc.driver import compile_template

SOURCE = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{{ '<|assistant|>\n' ~ (m.content or '') }}"
    "{% for c in m.tool_calls or [] %}"
    "{{ '<|done|>\n<|call:' ~ c.function.name ~ '|>\n' ~ c.function.arguments | tojson }}"
    "{% endfor %}{{ '<|done|>\n' }}"
    "{% else %}{{ '<|' ~ m.role ~ '|>\n' ~ m.content ~ '<|done|>\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)


def test_an_end_before_another_turn_is_no_opener() -> None:
    ir = compile_template(SOURCE, name="messages.jinja")
    assert ir.verification.failures == ()
    reader = EveryReader(ir)
    for rest in ("", "<|done|>", "<|done|>\n", "<|done|>\n<|user|>\nMore?"):
        assert reader.parse("Yes." + rest)["content"] == "Yes."
    found = reader.parse('Yes.<|done|>\n<|call:f|>\n{"a": 1}<|done|>\n<|user|>\n')
    assert (found["content"], [call["function"]["name"] for call in found["tool_calls"]]) == ("Yes.", ["f"])
    assert reader.differ == []


LINES = SOURCE.replace("'<|done|>\n<|call:' ~ c.function.name ~ '|>\n'", "'\n== ' ~ c.function.name ~ ' ==\n'").replace(
    "tojson }}", "tojson ~ '\n== end ==' }}"
)


def test_a_piece_of_a_closer_that_opens_calls_is_an_opener() -> None:
    ir = compile_template(LINES, name="lines.jinja")
    assert ir.verification.failures == ()
    reader = EveryReader(ir)
    call = '\n== {} ==\n{{"a": 1}}\n== end =='
    found = reader.parse("Yes." + call.format("f") + call.format("g") + "<|done|>\n")
    assert (found["content"], [one["function"]["name"] for one in found["tool_calls"]]) == ("Yes.", ["f", "g"])
    assert reader.differ == []


def test_a_price_before_a_call_is_content() -> None:
    pair = pairs("{{- ' --' ~ k ~ ' ' ~ (v | tojson) }}")
    source = source_of(CONTENT + calls("{{- '\\n$ ' ~ c.function.name }}" + pair))
    ir = compile_template(source, name="shell.jinja", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    reader, tools = EveryReader(ir), [{"type": "function", "function": {"name": "f"}}]
    for content in ("$5", "$5.", "It is\n$5", "$a"):
        found = reader.parse(f"{content}\n$ f --a 1<|e|>", tools=tools)
        assert (found["content"], [call["function"]["name"] for call in found["tool_calls"]]) == (content, ["f"])
    assert reader.differ == []
