"""Words that open calls or reasoning, written again as content or reasoning: they are text, and nothing is dropped."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import calls, pairs, source_of
from tests.property.every_reader import EveryReader
from tplc.driver import compile_template
from tplc.ir.write import write_message

OPENERS = (
    "!run ",
    "run: ",
    "Tool: ",
    "TOOL_CALL ",
    "### Call: ",
    "**Call:** ",
    "@tool ",
    "@",
    "$",
    "=> ",
    "BEGIN\\n",
    "Call:\\n",
)
CALLS = {
    "an object": "{{- '@' ~ c.function.name ~ ' ' ~ (c.function.arguments | tojson) ~ '\\n' }}",
    "keywords": "{{- '@' ~ c.function.name ~ '(' }}"
    + pairs("{{- ', ' if not loop.first }}{{- k ~ '=' ~ (v | tojson) }}")
    + "{{- ')' }}",
    "raw pairs": "{{- '@' ~ c.function.name ~ '\\n' }}"
    + pairs("{{- '<' ~ k ~ '>' ~ (v if v is string else v | tojson) ~ '</' ~ k ~ '>\\n' }}"),
}
# What the template writes around content and before calls.
CONTENTS = {
    "a line before calls": "{{- m.content or '' }}{%- if m.tool_calls %}{{- '\\n' }}{%- endif %}",
    "nothing before calls": "{{- m.content or '' }}",
    "a marker before content": "{%- if m.content %}{{- '<say>' ~ m.content ~ '\\n' }}{%- endif %}",
}
THOUGHTS = {
    "words": ("Thought: ", "\\n"),
    "words on lines": ("Thinking:\\n", "\\nDone thinking.\\n"),
    "capital letters": ("BEGIN_THOUGHT\\n", "\\nEND_THOUGHT\\n"),
    "a heading": ("### Thought\\n", "\\n### Answer\\n"),
    "before a marker": ("Thought: ", "<|t|>"),
}
LOOK = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {"q": "a b"}}}
NOW = {"id": "call00002", "type": "function", "function": {"name": "now", "arguments": {}}}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {"q": {}}}}}
    for name in ("look", "now")
]


def repeated(opener: str) -> list[str]:
    """Return texts that are the opener's word, or contain it at an end."""
    word = opener.replace("\\n", "").strip()
    return [word, f"{word} {word}", f"So {word}", f"{word} so", f"So\n{word}"]


def essence(message: dict[str, Any]) -> tuple[str, str, list[str]]:
    names = [call["function"]["name"] for call in message["tool_calls"]]
    return (message["content"] or "").strip(), (message["reasoning_content"] or "").strip(), names


CASES = [*product(OPENERS, CALLS, CONTENTS)]
# A word directly before the same one is another word.
CASES = [case for case in CASES if not (case[0][0].isalnum() and case[2] == "nothing before calls")]


@pytest.mark.sweep(7)
@pytest.mark.parametrize(("opener", "call", "content"), CASES)
def test_content_of_an_opener_before_calls(opener: str, call: str, content: str) -> None:
    source = source_of(CONTENTS[content] + calls(CALLS[call].replace("'@'", f"'{opener}'")))
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    if not ir.verification.verified:
        pytest.skip(ir.verification.failures[0])
    readers, wrong = EveryReader(ir), []
    # Without tools, a call counts at the start of a line only, and any word is a name.
    offered = (TOOLS, None) if content != "nothing before calls" else (TOOLS,)
    for text, made, tools in product(repeated(opener), ([LOOK], [NOW], [LOOK, NOW]), offered):
        if text.endswith(" so") and (tools is None or call == "raw pairs" or content == "nothing before calls"):
            continue
        turn = write_message(ir, {"role": "assistant", "content": text, "tool_calls": made})
        want = (text, "", [one["function"]["name"] for one in made])
        got = essence(readers.parse(turn, tools=tools))
        if got != want:
            wrong.append((turn, "tools" if tools else "", got))
    assert (wrong, readers.differ) == ([], [])


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("kind", "answer"), [*product(THOUGHTS, ("", "Answer: "))])
def test_reasoning_of_its_own_opener(kind: str, answer: str) -> None:
    opened, closed = THOUGHTS[kind]
    source = source_of(
        f"{{%- if m.reasoning_content %}}{{{{- '{opened}' ~ m.reasoning_content ~ '{closed}' }}}}{{%- endif %}}"
        f"{{%- if m.content %}}{{{{- '{answer}' ~ m.content }}}}{{%- endif %}}"
    )
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    if not ir.verification.verified:
        pytest.skip(ir.verification.failures[0])
    readers, wrong = EveryReader(ir), []
    for text in repeated(opened):
        turn = write_message(ir, {"role": "assistant", "content": "It is.", "reasoning_content": text})
        got = essence(readers.parse(turn))
        if got != ("It is.", text, []):
            wrong.append((turn, got))
    assert (wrong, readers.differ) == ([], [])


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", THOUGHTS)
@pytest.mark.parametrize("call", CALLS)
def test_content_that_begins_like_reasoning(kind: str, call: str) -> None:
    """After what opens content, words that open reasoning are content."""
    opened, closed = THOUGHTS[kind]
    source = source_of(
        f"{{%- if m.reasoning_content %}}{{{{- '{opened}' ~ m.reasoning_content ~ '{closed}' }}}}{{%- endif %}}"
        f"{{%- if m.content %}}{{{{- 'Answer: ' ~ m.content ~ '\\n' }}}}{{%- endif %}}"
        + calls(CALLS[call].replace("'@'", "'<|call|>'"))
    )
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    if not ir.verification.verified:
        pytest.skip(ir.verification.failures[0])
    readers, wrong = EveryReader(ir), []
    for text, thought, made in product(repeated(opened), ("", "So."), ([], [LOOK], [LOOK, NOW])):
        given = {"role": "assistant", "content": text, "reasoning_content": thought, "tool_calls": made}
        turn = write_message(ir, given)
        got = essence(readers.parse(turn, tools=TOOLS))
        if got != (text, thought, [one["function"]["name"] for one in made]):
            wrong.append((turn, got))
    assert (wrong, readers.differ) == ([], [])
