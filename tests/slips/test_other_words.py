"""Markers with another word or another form of it, and other parts of headers: fences, attributes."""

from __future__ import annotations

import json
from functools import cache
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
{%- if m.reasoning_content %}{{- '<ponder>' + m.reasoning_content + '</ponder>' }}{% endif %}
{%- if m.content %}{{ m.content }}{% endif %}
{%- if m.tool_calls %}CALLS{%- endif %}
{{- '[end]' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]' }}{% endif %}"""
EACH = "{%- for c in m.tool_calls %}"
PAIR = "{%- for k, v in c.function.arguments.items() %}"
CALLS = {
    "section": "{{- '\\n<|x|calls>\\n' }}"
    + EACH
    + "{{- '<|x|do name=\"' + c.function.name + '\">\\n' }}"
    + PAIR
    + "{{- '<|x|with name=\"' + k + '\" text=\"' + ('true' if v is string else 'false') + '\">' }}"
    + "{{- (v if v is string else v | tojson) + '</|x|with>\\n' }}{%- endfor %}"
    + "{{- '</|x|do>\\n' }}{%- endfor %}{{- '</|x|calls>' }}",
    "header": EACH
    + "{{- '[[call]]' + c.function.name + '[[with]]' + c.function.arguments | tojson + '[[over]]' }}{%- endfor %}",
}
WRITTEN = """
<|x|calls>
<|x|do name="get_weather">
<|x|with name="city" text="true">Oslo</|x|with>
<|x|with name="days" text="false">3</|x|with>
</|x|do>
<|x|do name="get_time">
<|x|with name="zone" text="true">CET</|x|with>
<|x|with name="exact" text="false">true</|x|with>
</|x|do>
</|x|calls>"""
WEATHER = ["get_weather", {"city": "Oslo", "days": 3}]
BOTH = [WEATHER, ["get_time", {"zone": "CET", "exact": True}]]
OSLO = '{"city": "Oslo", "days": 3}'


@cache
def ir_of(calls: str) -> TemplateIR:
    return compile_template(TEMPLATE.replace("CALLS", CALLS[calls]))


@cache
def parser_of(calls: str) -> ModuleType:
    return load_module(generate(ir_of(calls), "python"))


def check(calls: str, text: str) -> tuple[str, str, list[list[object]], bool, list[str]]:
    """Return content, reasoning, calls, `incomplete` and codes, which are the same in any chunks and for the PEG."""
    parser = parser_of(calls)
    whole, _ = read(parser, text, TOOLS)
    for size in (1, 3, 7):
        stream, deltas = read(parser, text, TOOLS, [text[at : at + size] for at in range(0, len(text), size)])
        assert joined(deltas) == reading(stream) == reading(whole), size
        assert (stream.diagnostics, stream.incomplete) == (whole.diagnostics, whole.incomplete), size
    parsed = PegEngine(ir_of(calls)).read(text, tools=TOOLS)
    assert (parsed.message, parsed.incomplete) == (whole.message, whole.incomplete)
    content, reasoning, found = reading(whole)
    codes = [note.code for note in whole.diagnostics]
    return content, reasoning, [[name, json.loads(given)] for name, given in found], whole.incomplete, codes


@pytest.mark.parametrize("text", [WRITTEN, f"I look.{WRITTEN}", f"<ponder>Hm.</ponder>I look.{WRITTEN}"])
def test_section_may_have_another_word(text: str) -> None:
    content, _, calls, incomplete, codes = check("section", text.replace("|x|calls", "|x|task_list") + "[end]")
    assert (content, calls, incomplete) == ("I look." * ("look" in text), BOTH, False)
    assert codes == ["marker_spelled_otherwise", "left_over"]


def test_tag_of_another_kind_stays_text() -> None:
    content, _, calls, *_ = check("section", f"<b>{WRITTEN}[end]")
    assert (content, calls) == ("<b>", BOTH)


@pytest.mark.parametrize("before", ["", "I look."])
@pytest.mark.parametrize("value", ["Oslo", "a </with b", "1 < 2"])
def test_attributes_of_pairs_may_be_there_without_the_prefix(before: str, value: str) -> None:
    text = f"{before}{WRITTEN}[end]".replace("|x|", "").replace("Oslo", value)
    content, _, calls, incomplete, codes = check("section", text)
    first = ["get_weather", {"city": value, "days": 3}]
    assert (content, calls, incomplete) == (before, [first, BOTH[1]], False)
    assert codes


@pytest.mark.parametrize("header", ["function[[with]]get_weather\n", "function get_weather\n", "get_weather\n"])
@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```\n"])
def test_fence_may_follow_another_header(header: str, fence: str) -> None:
    text = f"[[call]]{header}{fence.replace('{}', OSLO)}[[over]][end]"
    content, _, calls, incomplete, _ = check("header", text)
    assert (content, calls, incomplete) == ("", [WEATHER], False)


@pytest.mark.parametrize(
    "text", ["<pondering>Hm.</pondering>Hi.", "<ponder>Hm.</pondering>Hi.", "<Ponders>Hm.</ponder>Hi."]
)
def test_words_around_reasoning_may_end_otherwise(text: str) -> None:
    content, reasoning, calls, incomplete, codes = check("header", f"{text}[end]")
    assert (content, reasoning, calls, incomplete) == ("Hi.", "Hm.", [], False)
    assert set(codes) == {"marker_spelled_otherwise"}


@pytest.mark.parametrize(
    "text", ["<ponderous>Hm.", "I saw <pondering> there.", "<ponder>See </pondering> it.</ponder>"]
)
def test_other_words_stay_text(text: str) -> None:
    content, reasoning, *_ = check("header", f"{text}[end]")
    assert content + reasoning == text.removeprefix("<ponder>").removesuffix("</ponder>")


def test_a_section_may_come_again_with_another_word() -> None:
    text = WRITTEN.replace("<|x|calls>", "<|x|calls>\n<|x|docalls>", 1)
    codes = ["marker_spelled_otherwise", "calls_opened_twice"]
    assert check("section", text + "[end]") == ("", "", BOTH, False, codes)
