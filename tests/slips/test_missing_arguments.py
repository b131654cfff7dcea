"""An argument that is required, but has another name or is in the text of another, makes the message incomplete."""

from __future__ import annotations

import json
import re

import pytest

from tests.example_case import load_examples
from tests.fuzz.formats import Format, named
from tests.parser_cache import learn_text
from tests.slips.bases import TOOLS
from tests.slips.measure import answers, joined, read, reading
from tests.slips.written import text_of
from tplc.backends.peg.engine import PegEngine
from tplc.driver import generate, tolerate
from tplc.verify.artifact import load_module

NAMES = tuple(example.name for example in load_examples())
# Names of arguments that the schema lacks: in other case, with a character that isn't visible.
RENAMED = ("Days", "d\u200bays")


def _chunked(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _call(form: Format) -> str:
    found = [text_of(answer.pieces) for name, answer in answers(form.ir) if name == "call"]
    return found[0] if found else ""


@pytest.mark.parametrize("key", RENAMED)
@pytest.mark.parametrize("name", NAMES)
def test_renamed_argument_makes_the_message_incomplete(name: str, key: str) -> None:
    form = named(name)
    text, count = re.subn(r"\bdays\b", key, _call(form))
    if not count:
        pytest.skip("the format has no calls")
    streams = [read(form.parser, text, TOOLS, _chunked(text, size)) for size in (len(text), 1, 5)]
    for stream, deltas in streams:
        assert joined(deltas) == reading(stream) == reading(streams[0][0])
        assert stream.incomplete
        assert stream.diagnostics
    assert PegEngine(form.ir).read(text, tools=TOOLS).incomplete


@pytest.mark.parametrize("name", NAMES)
def test_all_arguments_make_a_complete_message(name: str) -> None:
    form = named(name)
    text = _call(form)
    if not text:
        pytest.skip("the format has no calls")
    stream, _ = read(form.parser, text, TOOLS)
    assert (stream.incomplete, stream.diagnostics) == (False, [])


@pytest.mark.parametrize("key", ["days", "note"])
def test_argument_that_is_not_required_may_be_missing(key: str) -> None:
    tools = json.loads(json.dumps(TOOLS))
    tools[0]["function"]["parameters"]["required"] = ["city"]
    text = f'<fn>\n{{"name": "get_weather", "arguments": {{"city": "Oslo", "{key}": 3}}}}\n</fn>'
    stream, _ = read(named("tagged-json").parser, text, tools)
    assert not stream.incomplete


OBJECT_WITH_ID = """{%- for m in messages %}{%- if m.role == 'assistant' %}{{- '<a>' ~ (m.content or '') }}
{%- for c in m.tool_calls or [] %}{{- '[do]' ~ {'name': c.function.name, 'arguments': c.function.arguments, 'id': c.id}
| tojson }}{%- endfor %}{{- '<z>' }}{%- else %}{{- '<' ~ m.role ~ '>' ~ m.content }}{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{{- '<a>' }}{%- endif %}"""
IDENTITY = ', "id": "call00000"}<z>'


@pytest.mark.parametrize("stray", ["{", "{ ", "{,", "{;"])
@pytest.mark.parametrize("tool", ["list_all", "get_weather"])
def test_member_after_arguments_without_a_brace_is_read_the_same_in_chunks(tool: str, stray: str) -> None:
    parser = load_module(generate(tolerate(learn_text("object-with-id", OBJECT_WITH_ID, None)), "python"))
    text = f'[do]{{"name": "{tool}", "arguments": {stray}{IDENTITY}'
    whole, _ = read(parser, text, TOOLS)
    assert whole.incomplete
    for size in (1, 2, 7):
        stream, deltas = read(parser, text, TOOLS, _chunked(text, size))
        assert joined(deltas) == reading(stream) == reading(whole)
        assert (stream.incomplete, stream.diagnostics) == (whole.incomplete, whole.diagnostics)


# Where the name ends only at an object: other text after it may as well be prose, or part of the name.
ENDS_AT_OBJECT = {"forced-open", "recipient-lines", "string-delimiters"}


@pytest.mark.parametrize("given", ["[]", "null", '""'])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ENDS_AT_OBJECT])
def test_no_object_where_none_is_needed(name: str, given: str) -> None:
    form = named(name)
    found = [text_of(answer.pieces) for base, answer in answers(form.ir) if base == "nothing given"]
    text = found[0] if found else ""
    if text.count("{}") != 1:
        pytest.skip("the format writes no object for a call without arguments")
    text = text.replace("{}", given)
    streams = [read(form.parser, text, TOOLS, _chunked(text, size)) for size in (len(text), 1, 5)]
    for stream, deltas in streams:
        assert joined(deltas) == reading(stream) == reading(streams[0][0])
        (call,) = stream.message["tool_calls"]
        assert (call["function"]["arguments"], stream.message["content"] or "") == ("{}", "")
        assert not stream.incomplete
    assert PegEngine(form.ir).read(text, tools=TOOLS).message == streams[0][0].message
