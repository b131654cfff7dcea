"""White space after reasoning that depends on the shape of the turn, and calls that begin with their name after a
header of several marks: they come back in every chunking."""

from __future__ import annotations

from itertools import product

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CALL, CONTENT, TURNS, calls
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR

REASONING = "{%- if m.reasoning_content %}{{- '@OPEN@' ~ m.reasoning_content ~ '@CLOSE@' }}{%- endif %}"
LEAD = "{%- if m.content %}{{- '@WITH@' if m.tool_calls else '@ALONE@' }}{%- endif %}"
CLOSERS = {"its own line": "\\n</think>\\n", "directly": "</think>", "an empty line": "</think>\\n\\n"}
LEADS = {"a line end": ("\\n", ""), "two": ("\\n\\n", "\\n"), "a space": (" ", ""), "none": ("", "\\n")}
CALLS = {
    "tags": calls(CALL),
    "an object": "{%- if m.tool_calls %}{{- {'calls': m.tool_calls} | tojson }}{%- endif %}",
}
HEADERS = ("<|a|>", "<|a|><|b|>", "\\nBot: <|b|>", "\\nBot: effort=low|>", "[A] [B]", "A: x> ")
AFTER_NAME = {"a line end": "\\n", "a space": " "}


def reads_back(source: str) -> TemplateIR:
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    assert read_back(source, ir, readers=True) == ((), ())
    return ir


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("closer", "lead", "one"), [*product(CLOSERS, LEADS, CALLS)])
def test_space_after_reasoning_by_shape(closer: str, lead: str, one: str) -> None:
    texts = {"OPEN": "<think>", "CLOSE": CLOSERS[closer], "WITH": LEADS[lead][0], "ALONE": LEADS[lead][1]}
    turn = REASONING + LEAD + CONTENT + CALLS[one]
    for name, text in texts.items():
        turn = turn.replace(f"@{name}@", text)
    reads_back(TURNS.replace("@MACROS@", "").replace("@TURN@", turn))


@pytest.mark.sweep(8)
@pytest.mark.parametrize(("header", "after_name"), [*product(HEADERS, AFTER_NAME)])
def test_names_after_a_header(header: str, after_name: str) -> None:
    again = "{%- if m.content or not loop.first %}{{- '<|e|>" + header + "' }}{%- endif %}"
    call = again + "{{- c.function.name ~ '" + AFTER_NAME[after_name] + "' ~ (c.function.arguments | tojson) }}"
    source = TURNS.replace("@MACROS@", "").replace("@TURN@", CONTENT + calls(call)).replace('"<|a|>"', f"'{header}'")
    ir = reads_back(source)
    assert ir.turn.header == header.replace("\\n", "\n")


def test_every_reader_reads_leads_alike() -> None:
    turn = REASONING.replace("@OPEN@", "<think>").replace("@CLOSE@", "</think>\\n")
    turn += LEAD.replace("@WITH@", "\\n").replace("@ALONE@", "") + CONTENT + calls(CALL)
    readers = EveryReader(reads_back(TURNS.replace("@MACROS@", "").replace("@TURN@", turn)))
    text = "<think>So.</think>\n\nNow: <call f>{}</call><|e|>"
    assert readers.parse(text)["content"] == "Now: "
    assert readers.parse("<think>So.</think>\nNow\n\nthen.<|e|>")["content"] == "Now\n\nthen."
    assert readers.differ == []
