"""Content and reasoning that a template escapes come back, and half an escape is text.

The parser in any chunking, the PEG and the interpreter of states.
"""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.backends.parsers import streamed
from tests.independent import TOKENS
from tests.learn.test_idioms import source_of
from tests.property.every_reader import EveryReader
from tplc.backends.peg.engine import PegEngine
from tplc.driver import compile_template, generate
from tplc.errors import UnsupportedTemplate
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.lower import lower
from tplc.lower.interpret import interpret
from tplc.verify.artifact import load_module

TEMPLATE = (
    "{% for m in messages %}{{ '<|' ~ m.role ~ '|>' }}"
    "{% if m.role != 'assistant' %}{{ m.content }}{% else %}"
    "{% if m.reasoning_content %}<why>{{ m.reasoning_content THOUGHT }}</why>{% endif %}"
    "{% if m.content %}{{ m.content CONTENT }}{% endif %}"
    "{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}"
    "{% endif %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
FILTERS = {
    "markup": "| e",
    "markup twice": "| e | e",
    "one character": "| replace('<', '&lt;')",
    "percent codes": "| urlencode",
    "indented": "| indent(3)",
    "indented from the first line": "| indent(2, first=True)",
    "JSON strings": "| tojson",
    "quotes": "| replace('\\\\', '\\\\\\\\') | replace('\"', '\\\\\"')",
    "markup and an indent": "| e | indent",
}
PARTS = {"content": ("", "X"), "reasoning": ("X", ""), "both": ("X", "X")}
TEXTS = (
    "plain",
    "a < b & \"c\" > 'd'",
    '&amp; &lt; &#34; %41 %25 \\n \\\\ \\"',
    "one\n  two\n\n    three\nfour",
    '&&&& %%%% \\\\\\\\ ""',
    "Tromsø, 世界 🎉",
    "ends with &am",
    "100 %",
    "back\\",
)
# Outputs that no template writes: halves of escapes, before markers and where the output ends.
OUTPUTS = (
    "a&am",
    "a&amp",
    "a&am<|end|>",
    'x &lt;&am<call>{"name": "f", "arguments": {}}</call>p; y&l<|end|>',
    "<why>&am</why>p; %4",
    "<why>a%C3</why>%A9 %E4%B8",
    "a\n ",
    "a\n   b\n\n   c\n \n  <|end|>",
    '"a\\',
    '<why>"a\\</why>"n\\"<|end|>',
    "&amp;amp;lt; &#3",
    "%22%FF%41 %C0%80 %ED%A0%80",  # with bytes that are no character
)
CALL = {"id": None, "type": "function", "function": {"name": "f", "arguments": '{"a": "x < y"}'}}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}}]


@cache
def format_of(kind: str, part: str) -> tuple[TemplateIR, ModuleType, PegEngine]:
    thought, content = (FILTERS[kind] if filtered else "" for filtered in PARTS[part])
    source = TEMPLATE.replace("THOUGHT", thought).replace("CONTENT", content)
    ir = compile_template(source, name="escaped.jinja")
    return ir, load_module(generate(ir, "python")), PegEngine(ir)


@pytest.mark.sweep(24)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", FILTERS)
def test_escaped_texts_come_back(kind: str, part: str) -> None:
    ir, parser, engine = format_of(kind, part)
    assert ir.verification.failures == ()
    assert {one.slot for one in ir.escapes} == ({"content", "reasoning"} if part == "both" else {part})
    for text in TEXTS:
        for message in _messages(text):
            output = write_message(ir, message)
            found = parser.parse(output, tools=TOOLS)
            if kind != "one character" or "&lt;" not in text:  # which is written like `<`
                assert _texts(found) == _texts(message)
            assert engine.parse(output, tools=TOOLS) == found
            for size in (1, 2, 3):
                assert streamed(parser, _chunks(output, size), tools=TOOLS) == found


@pytest.mark.sweep(34)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", FILTERS)
def test_half_an_escape_is_text_however_it_is_cut(kind: str, part: str) -> None:
    ir, parser, engine = format_of(kind, part)
    for output in OUTPUTS:
        whole = parser.parse(output, tools=TOOLS)
        assert engine.parse(output, tools=TOOLS) == whole, output
        for size in (1, 2, 3, 5):
            assert streamed(parser, _chunks(output, size), tools=TOOLS) == whole, output
        kept = parser.parse(output, parse_tool_calls=False)
        assert _texts(interpret(lower(ir), output, parse_tool_calls=False).message) == _texts(kept), output


@pytest.mark.parametrize(
    ("content", "escaped"), [("a & b", "a &amp; b"), ("&amp;", "&amp;amp;")], ids=["a character", "an escape"]
)
def test_a_message_is_written_as_the_template_writes_it(content: str, escaped: str) -> None:
    ir, _, _ = format_of("markup", "content")
    assert write_message(ir, {"content": content}) == f"{escaped}<|end|>"


def test_a_target_that_cannot_undo_it_says_so() -> None:
    ir, _, _ = format_of("markup", "content")
    with pytest.raises(UnsupportedTemplate, match=r"a response template cannot .* in content or reasoning"):
        generate(ir, "response_template")


def test_text_that_is_escaped_in_some_turns_only_is_refused_with_the_reason() -> None:
    source = TEMPLATE.replace("THOUGHT", "").replace(
        "m.content CONTENT", "(m.content | e) if m.tool_calls else m.content"
    )
    ir = compile_template(source, name="escaped.jinja")
    assert ir.escapes == ()
    assert ir.verification.failures[0].startswith("cause: the template escapes HTML in content: ")


def _messages(text: str) -> list[dict[str, Any]]:
    return [
        {"content": text},
        {"content": text, "reasoning_content": text},
        {"content": text, "tool_calls": [CALL]},
        {"content": text, "reasoning_content": text, "tool_calls": [CALL, CALL]},
    ]


def _chunks(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _texts(message: Any) -> tuple[str, str, int]:
    return message.get("content") or "", message.get("reasoning_content") or "", len(message.get("tool_calls") or ())


JSON_TURNS = {
    "content first": "{'content': m.content or ''}",
    "another key": "{'say': m.content or ''}",
    "another member before it": "{'kind': 'answer', 'text': m.content or ''}",
}
# Content as a JSON string, with calls directly after it: what opens them after no content begins with quotes.
CONTENT_AS_STRING = (
    "{{- (m.content or '') | tojson }}{%- for c in m.tool_calls or [] %}"
    "{{- OPEN ~ c.function.name ~ ' ' ~ (c.function.arguments | tojson) ~ CLOSE }}{%- endfor %}"
)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("turn", JSON_TURNS)
def test_content_of_a_json_turn_may_end_like_the_turn(turn: str) -> None:
    source = source_of(
        f"{{%- set turn = {JSON_TURNS[turn]} %}}"
        "{%- if m.tool_calls %}{%- set turn = dict(turn, calls=m.tool_calls) %}{%- endif %}{{- turn | tojson }}"
    )
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    readers, first = EveryReader(ir), JSON_TURNS[turn].partition(": m.")[0].replace("'", '"')
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    for content in ('{"k": "v"}', '"}', 'a"', "\\", '\\"}', '\\\\"}', 'x "} y', '", "calls": [', 'it "} "}'):
        for calls in ("", ', "calls": ' + json.dumps([call])):
            message = readers.parse(f"{first}: {json.dumps(content)}{calls}}}<|e|>")
            assert message["content"] == content
            assert len(message["tool_calls"]) == bool(calls)
            interpreted = interpret(lower(ir), f"{first}: {json.dumps(content)}{calls}}}<|e|>").message
            assert interpreted["content"] == content
    assert readers.differ == []


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("opened", "closed"), [("<do>", "</do>"), ("\n[call] ", "\n"), ("~~", ";\n")])
def test_content_as_a_json_string_may_end_like_what_opens_calls(opened: str, closed: str) -> None:
    source = CONTENT_AS_STRING.replace("OPEN", json.dumps(opened)).replace("CLOSE", json.dumps(closed))
    ir = compile_template(source_of(source), name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    readers, calls = EveryReader(ir), f'{opened}f {{"a": 1}}{closed}'
    for content in ('So "', '"', "\\", '\\"', 'x "" y', f'""{opened}f', f'"{opened}', 'b\n""', '""'):
        for text in (json.dumps(content), json.dumps(content) + calls):
            message = readers.parse(text + "<|e|>")
            assert message["content"] == content
            assert len(message["tool_calls"]) == text.endswith(calls)
            if opened.strip() not in content:  # what only begins like a call is more than the interpreter defines
                assert interpret(lower(ir), text + "<|e|>").message["content"] == content
    assert readers.differ == []
