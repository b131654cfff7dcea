"""Classes of formats that `report_wild --readers` found: parser, chunks and PEG read what the template writes alike."""

from __future__ import annotations

import pytest

from tests.backends.parsers import ir_of
from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, KEYWORDS, REASONING, calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tests.property.report_wild import read_back
from tplc.driver import compile_template

WRAPPED = pairs(
    "{{- '<p=' ~ k ~ '>' }}{%- if v is string %}{{- '@str' ~ v ~ 'nostr@' }}"
    "{%- else %}{{- '~lit' ~ (v | tojson) ~ 'lit~' }}{%- endif %}{{- '</p>' }}"
)
ASKED = "{{- '\\nAsk: ' ~ (m.tool_calls | tojson) ~ ' .ask.\\n' }}"
INSIDE = (
    "{%- if m.reasoning_content %}{{- '[WHY]' ~ m.reasoning_content }}{%- if m.tool_calls %}"
    + ASKED
    + "{%- endif %}{{- '\\n[/WHY]' }}{%- endif %}"
    + CONTENT
    + "{%- if m.tool_calls and not m.reasoning_content %}"
    + ASKED
    + "{%- endif %}"
)
CALL = "{{- '<call ' ~ c.function.name ~ '>' ~ (c.function.arguments | tojson) ~ '</call>' }}"
OBJECT = "'{\"name\": \"' ~ c.function.name ~ '\", \"arguments\": ' ~ (c.function.arguments | tojson) ~ '}'"
TURNS = {
    "separators that Python takes for white space": REASONING.replace("<think>", "\\x02why\\x1e\\n[1]").replace(
        "</think>", " \\x1ewhy\\x02"
    )
    + CONTENT
    + calls(CALL),
    "closers of values that begin with a letter": CONTENT
    + calls("{{- '<do ' ~ c.function.name ~ '|' }}" + WRAPPED + "{{- '</do>' }}"),
    "closers after numbers that begin with a dot": CONTENT
    + calls("{{- 'Ask:' ~ c.function.name ~ '|' }}" + KEYWORDS.replace("', '", "'|'") + "{{- '.ask.' }}"),
    "a line before calls inside of reasoning": INSIDE,
    "such separators only around markers and inside of them": CONTENT
    + "{%- if m.tool_calls %}{{- '\\x10go\\x1d\\n\\n' }}{%- endif %}"
    + calls("{{- '\\x10do\\x1e' ~ " + OBJECT + " ~ '\\x1edo\\x10 ' }}"),
    "an opener after content that is a word": CONTENT
    + "{%- if m.tool_calls %}{{- '\\n\\n' if m.content else '<#a:a:calls\\n' }}{%- endif %}"
    + calls("{{- 'call:' ~ c.function.name ~ ' ' ~ (c.function.arguments | tojson) ~ ';' }}"),
    "parentheses in content after calls without an opener": "{%- if m.tool_calls %}{{- '<<run>>\\n' }}"
    + calls("{{- c.function.name ~ '(' }}" + KEYWORDS + "{{- ')\\n' }}")
    + "{{- '<<ran>>\\n' }}{%- endif %}"
    + CONTENT,
    "names after an object that a word opens": CONTENT
    + calls("{{- 'Ask:' ~ (c.function.arguments | tojson) ~ '<!is!>' ~ c.function.name ~ '.ask.' }}"),
    "names with a colon after raw values, before keys with a colon": CONTENT
    + "{%- if m.tool_calls %}{{- '(begin' }}"
    + calls("{{- ' (' ~ c.function.name }}" + pairs("{{- ' :' ~ k ~ ' ' ~ (v | string) }}") + "{{- ')' }}")
    + "{{- ')\\n' }}{%- endif %}",
    "a number before calls of known tools only": CONTENT
    + calls("{{- '@ do @ ' ~ loop.index ~ ' ' ~ " + OBJECT + " ~ '@ no do @' }}"),
}


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_readers_agree(turn: str) -> None:
    source = source_of(turn)
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert (ir.verification.verified, ir.verification.failures) == (True, ())
    assert read_back(source, ir, readers=True) == ((), ())


RUN = '<run name="f">\n<given name="a">x</given>\n</run>'


@pytest.mark.parametrize(
    ("text", "content", "reasoning", "count"),
    [
        # What counts at the start of a line counts after any marker.
        (f" to user:>Hi<:more:><:from assistant to f:>{RUN}<:over:>", "Hi", None, 1),
        (f" to user:>Hi<:more:> to f:>{RUN}<:more:> to f:>{RUN}<:over:>", "Hi", None, 2),
        (
            f" to self:>R<:more:><:from assistant to user:>Hi<:more:><:from assistant to f:>{RUN}<:over:>",
            "Hi",
            "R",
            1,
        ),
    ],
)
def test_calls_after_content_have_a_header_of_their_own(
    text: str, content: str, reasoning: str | None, count: int
) -> None:
    readers = EveryReader(ir_of("addressed-parts"))
    message = readers.parse(text)
    assert readers.differ == []
    found = [call["function"]["arguments"] for call in message["tool_calls"]]
    assert (message["content"], message["reasoning_content"], found) == (content, reasoning, ['{"a": "x"}'] * count)


def test_an_element_may_begin_on_the_next_line() -> None:
    readers = EveryReader(ir_of("nested-elements"))
    message = readers.parse('^<jobs>\n^<job of="f">^<\na>x^</a>^</job>\n^</jobs>^[.]^\n')
    assert readers.differ == []
    assert message["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": "x"}'}
