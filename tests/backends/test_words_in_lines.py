"""Markers that are words, quoted inside a line: they count only where the template writes them.

Verification tries them, so a format whose parser cut a thought at such a quote would not verify.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.tools import NOTHING
from tests.property.every_reader import EveryReader
from tplc.backends.gbnf import grammar
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR
from tplc.ir.write import write_message
from tplc.lower import lower
from tplc.lower.interpret import interpret
from tplc.verify.battery import battery

TURN = (
    "{% for m in messages %}{% if m.role != 'assistant' %}{{ '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}"
    "{% else %}{{ '<|bot|>' }}PARTS{{ '<|end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|bot|>{% endif %}"
)
CALLS = (
    "{% for c in m.tool_calls or [] %}{{ '\nDo: ' ~ c.function.name ~ '\nWith: ' ~ c.function.arguments | tojson }}"
    "{% endfor %}"
)
FORMATS = {
    "words": ("'Thought: '", "'\nFinal Answer: '"),
    "no opener": ("''", "'\nFinal Answer: '"),
    "a heading": ("'## Thinking\n'", "'\n\n## Answer\n'"),
    "a rule": ("''", "'\n\n---\n\n'"),
    "indented": ("'  Thoughts:\n    '", "'\n  Answer:\n    '"),
}
# What is quoted, and whether it is the marker, by the text around it.
PLACES = {
    "in a line": ("I write {} here.", False),
    "at the end of a line": ("I write {}\nand more.", False),
    "in a line of its own": ("I write\n{}\nand more.", True),
    "indented in a line of its own": ("I write\n   {} and more.", True),
    "in a line, then as marker": ("I write {} here\n{} and more {} here", True),
}
CALL = {"id": None, "type": "function", "function": {"name": "now", "arguments": "{}"}}


@cache
def format_of(kind: str) -> tuple[TemplateIR, EveryReader]:
    start, end = FORMATS[kind]
    reasoning = f"{{% if m.reasoning_content %}}{{{{ {start} ~ m.reasoning_content ~ {end} }}}}{{% endif %}}"
    ir = compile_template(TURN.replace("PARTS", reasoning + "{{ m.content or '' }}" + CALLS), name="words.jinja")
    return ir, EveryReader(ir)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", FORMATS)
def test_verification_quotes_the_words(kind: str) -> None:
    ir, _ = format_of(kind)
    assert ir.verification.failures == ()
    quoted = [case for case in battery(ir) if "in a line" in case.title]
    words = ir.reasoning.end.strip()
    assert kind == "a rule" or [case.shape.calls for case in quoted if words in case.title] == [0, 0, 1]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", FORMATS)
def test_words_end_reasoning_at_the_start_of_a_line(kind: str, place: str) -> None:
    ir, reader = format_of(kind)
    (text, ends), words = PLACES[place], ir.reasoning.end.strip()
    thought = text.replace("{}", words)
    output = f"{ir.reasoning.start}{thought}{ir.reasoning.end}So.<|end|>"
    found = reader.parse(output)
    assert reader.differ == []
    assert (found["reasoning_content"] == thought, found["content"] == "So.") == (not ends, not ends)
    assert words not in found["reasoning_content"] or place != "in a line of its own"
    assert interpret(lower(ir), output, parse_tool_calls=False).message == found


@needs_engine
@pytest.mark.parametrize("kind", ["words", "a heading"])
def test_grammars_let_thoughts_quote_the_words(kind: str) -> None:
    ir, _ = format_of(kind)
    made = grammar(ir, tools=[NOTHING], tool_choice="required").text
    start, end = ir.reasoning.start, ir.reasoning.end
    call = write_message(ir, {"content": None, "tool_calls": [CALL]}).removesuffix(ir.turn.ends[0]).lstrip()
    assert accepts(made, f"{start}I write {end.strip()} and {start.strip()} here.{end}{call}")
    assert not accepts(made, f"{start}I write {end.strip()} here.\n{call}")
