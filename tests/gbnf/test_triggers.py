"""Triggers fire on every rendered call, and on no prose: not on markers' words, tools' names or half markers."""

from __future__ import annotations

import re

import pytest

from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.test_formats import MESSAGES, WITH_CALLS
from tests.gbnf.tools import ALL
from tplc.backends.gbnf import Trigger, fires_at, grammar
from tplc.constrained import without_end
from tplc.driver import compile_template
from tplc.ir.nodes import TemplateIR, Text

# {name} is a tool's name, {word} a word of the markers, {half} the first half of the opener, {tail} its second half.
PROSE = (
    "The weather in Oslo is fine today.",
    "I would use {name} for that.",
    "I called {name}() yesterday and it worked.",
    "{name}",
    "{name} is the tool to use here: it takes a city and a number of days.",
    "To answer I need {name}, then now, and types after that.",
    "{word}",
    "The word {word} has no meaning here.",
    "{word}: an introduction\n\nEvery {word} has a beginning and an end.",
    "Is {word} the same as {name}?",
    "A {word}\n{name}\nof sorts.",
    "{half}",
    "Half of it is {half} and the rest is not.",
    "Lines:\n{half}\n{name}",
    "{half} {half}",
    "{tail}",
    "It ends with {tail} as always.",
    "{tail}{half}",
    "{name}{half}",
    "{tail}\n{name}\n",
    '{{"city": "Oslo"}}',
    'Here is some JSON:\n\n{{"temperature": 12, "name": "Oslo"}}',
    "[1, 2, 3]",
    "A list: [a, b, c] and a call f(x).",
    "f(x) = x + 1",
    "[see the docs]",
    "[link](https://example.org/{name})",
    "def {word}(x):\n    return x",
    "```python\nprint('{name}')\n```",
    "```json\n{{}}\n```",
    "```\n{name}\n```",
    "<b>{name}</b>",
    "a < b and b > c",
    "x <- {name}",
    "# {word}",
    "* {name}\n* now\n* types",
    "1. {word}\n2. {name}",
    "\"{name}\" and '{word}'",
    "{name}: 3",
    "{name} {{",
    "({word})",
    "[{word}",
    "{{{word}",
    "{word} {name} {word}",
    "He said: call {name} now!",
    "user@example.org, {name}@{word}",
    "50% of {word}",
    "{word}_{name}",
    "{word}-{name}-{word}",
    "The end.\n\n{word}\n{name}\n{half}",
)
NO_CALL = {"name": "get_weather", "word": "call", "half": "(", "tail": ")"}
# What stands for a slot in the texts of markers.
NONCHARACTER = re.compile(r"[\ufdd0-\ufdef]|\\u?[fF][dD][dDeE][0-9a-fA-F]")


def _texts(ir: TemplateIR, found: tuple[Trigger, ...], name: str) -> list[str]:
    first = ir.tools.call[0]
    opener = (ir.tools.section_start + (first.text if isinstance(first, Text) else "")).strip()
    marker = next((trigger.value for trigger in found if trigger.type == "word"), opener).split(name)[0].strip()
    words = re.findall(r"[^\W\d_]{3,}", opener) or ["tool"]
    half, tail = marker[: len(marker) // 2], marker[len(marker) // 2 :]
    # Half of a marker of a few characters can't be distinguished from punctuation.
    parts = {"name": name, "word": words[0], "half": half, "tail": tail if len(marker) > 3 else ""}
    # Where the prompt has begun an opener, what is written first is no prose; content has an opener of its own.
    head = ir.turn.prompts[0].head
    before = ir.content.start.removeprefix(head) if head and ir.content.start.startswith(head) else ""
    return [before + text.format(**parts) for text in PROSE]


def test_there_are_fifty() -> None:
    assert len(PROSE) == len(set(PROSE)) == 50


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", WITH_CALLS)
def test_not_on_prose(name: str) -> None:
    ir = formats()[name].ir
    found = grammar(ir, tools=ALL).triggers
    fired = [text for text in _texts(ir, found, "get_weather") if fires_at(found, text) is not None]
    assert fired == [], found


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", WITH_CALLS)
def test_on_every_call(name: str) -> None:
    ir = formats()[name].ir
    found = grammar(ir, tools=ALL).triggers
    for message in MESSAGES:
        text = written(ir, message)
        assert fires_at(found, text) is not None, (found, text)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", WITH_CALLS)
def test_on_calls_after_reasoning_and_content(name: str) -> None:
    ir = formats()[name].ir
    found = grammar(ir, tools=ALL).triggers
    message = calls_message(("get_weather", {"city": "Oslo"}), content="I will look.")
    if ir.reasoning.start or ir.reasoning.mode == "forced_open":
        message["reasoning_content"] = "Where is Oslo?"
    text = written(ir, message)
    if [trigger.type for trigger in found] == ["pattern_full"]:
        # Calls that begin with what any text may hold count at the start of a line.
        text = text.replace("I will look.", "I will look.\n", 1)
    assert fires_at(found, text) is not None, (found, text)


IN_LINE = (
    "{%- for m in messages %}[{{ m.role }}]{{ m.content or '' }}{% for c in m.tool_calls or [] %}CALL{% endfor %}[/]\n"
    "{%- endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)


@pytest.mark.sweep(2)
@needs_engine
@pytest.mark.parametrize(
    "call",
    [
        '{"tool": "{{ c.function.name }}", "input": {{ c.function.arguments | tojson }}}',
        "~{{ c.function.name }}{{ c.function.arguments | tojson }}~",
        "({{ c.function.name }} {{ c.function.arguments | tojson }})",
    ],
)
def test_inside_a_line_where_the_template_writes_calls_directly_after_content(call: str) -> None:
    ir = compile_template(IN_LINE.replace("CALL", call), name="calls in a line")
    found = grammar(ir, tools=ALL)
    text = written(ir, calls_message(("get_weather", {"city": "Oslo"}), content="I look."))
    place = fires_at(found.triggers, text)
    assert place == len("I look.")
    assert accepts(found.text, without_end(ir, text[place:]))
    assert [prose for prose in PROSE if fires_at(found.triggers, prose.format_map(NO_CALL)) is not None] == []


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", WITH_CALLS)
def test_no_place_for_any_word_is_written(name: str) -> None:
    made = grammar(formats()[name].ir, tools=ALL)
    assert [text for text in (made.text, *(one.value for one in made.triggers)) if NONCHARACTER.search(text)] == []
