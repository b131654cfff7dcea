"""White space after reasoning that depends on the shape of the turn, and calls that begin with their name after a
header of several marks: they come back in every chunking."""

from __future__ import annotations

from itertools import product

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CALL, CONTENT, TURNS, calls, pairs
from tests.learn.test_idioms import REASONING as REASONS
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR
from tplc.ir.own_markers import own_markers

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


OPENERS = ("Call: ", "<do>", "\\nCall: ")
BEFORE_CONTENT = ("<done>\\nThought: ", "<done><say>", "<done>")
BOTH = "{%- if m.tool_calls %}{{- '@OPEN@' }}@CALLS@{{- '@WITH@' ~ m.content if m.content else '<done>' }}{%- else %}"


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("opener", "before"), [*product(OPENERS, BEFORE_CONTENT)])
def test_content_after_calls_whose_closer_depends_on_it(opener: str, before: str) -> None:
    """No format contains a text that the template was rendered with, and a call without arguments is one."""
    one = "{{- ('; ' if not loop.first else '') ~ c.function.name ~ '(' }}"
    one += pairs("{{- (', ' if not loop.first else '') ~ k ~ '=' ~ (v | tojson) }}") + "{{- ')' }}"
    turn = BOTH + "{{- m.content ~ '<done>' }}{%- endif %}"
    for name, text in {"OPEN": opener, "CALLS": calls(one), "WITH": before}.items():
        turn = turn.replace(f"@{name}@", text)
    ir = reads_back(TURNS.replace("@MACROS@", "").replace("@TURN@", turn))
    assert not any("zq" in text for text in own_markers(ir))


AFTER_CONTENT = {"<|then|>": "<|just|>", "\\n\\nNow: ": "Now: "}
SECTIONED = {
    "objects": """{{- '{"n": "' ~ c.function.name ~ '", "a": ' ~ (c.function.arguments | tojson) ~ '}' }}""",
    "arguments in parentheses": "{{- c.function.name ~ '(' ~ (c.function.arguments | tojson) ~ ')' }}",
    "brackets": "{{- '[' ~ c.function.name ~ ' ' ~ (c.function.arguments | tojson) ~ ']' }}",
}


@pytest.mark.sweep(11)
@pytest.mark.parametrize(
    ("after", "separator", "reasons", "one"),
    [*product(AFTER_CONTENT, ("<|nx|>", ", ", "\\n"), ("", REASONS), SECTIONED)],
)
def test_calls_of_which_only_the_section_is_opened_and_otherwise_after_content(
    after: str, separator: str, reasons: str, one: str
) -> None:
    opened = f"{{{{- '{after}' if m.content else '{AFTER_CONTENT[after]}' }}}}"
    section = opened + calls(f"{{{{- '{separator}' if not loop.first }}}}" + SECTIONED[one]) + "{{- '<|fin|>' }}"
    turn = reasons + CONTENT + "{%- if m.tool_calls %}" + section + "{%- endif %}"
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
