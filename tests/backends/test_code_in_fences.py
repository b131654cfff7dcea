"""Calls in a fence with a language: other code in such a fence is content, unless it calls a tool."""

from __future__ import annotations

from itertools import product

import pytest

from tests.independent import TOKENS
from tests.learn.test_idioms import CONTENT, pairs, source_of
from tests.property.every_reader import EveryReader
from tplc.driver import compile_template
from tplc.ir.write import write_message

LANGUAGES = ("python", "tool_code", "json", "js", "call")
CALLS = {
    "keywords": "{{- c.function.name ~ '(' }}"
    + pairs("{{- ', ' if not loop.first }}{{- k ~ '=' ~ (v | tojson) }}")
    + "{{- ')' }}",
    "an object in parentheses": "{{- c.function.name ~ '(' ~ (c.function.arguments | tojson) ~ ')' }}",
    "an object": "{{- c.function.name ~ ' ' ~ (c.function.arguments | tojson) }}",
}
CODE = (
    "def f(x):\n    return {'a': [x]}",
    "print(1)",
    "print('a', 2)",
    "x = f(a=1)",
    "import os\n\nos.listdir('.')",
    '{"a": [1, 2]}',
    "if a:\n    b()",
    "let f = () => {};",
    "a: 1\n- b = 2",
)
LOOK = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {"q": "a b"}}}
TOOL = {"type": "object", "properties": {"q": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "look", "description": "It.", "parameters": TOOL}}]


@pytest.mark.sweep(14)
@pytest.mark.parametrize(("language", "call"), [*product(LANGUAGES, CALLS)])
def test_code_in_the_fence_of_calls(language: str, call: str) -> None:
    source = source_of(
        f"{CONTENT}{{%- if m.tool_calls %}}{{{{- '\\n```{language}\\n' }}}}{{%- for c in m.tool_calls %}}"
        f"{{{{- '\\n' if not loop.first }}}}{CALLS[call]}{{%- endfor %}}{{{{- '\\n```' }}}}{{%- endif %}}"
    )
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    readers, wrong = EveryReader(ir), []
    for code, before, made in product(CODE, ("", "So:\n"), ([], [LOOK])):
        text = f"{before}```{language}\n{code}\n```"
        turn = write_message(ir, {"role": "assistant", "content": text, "tool_calls": made})
        message = readers.parse(turn, tools=TOOLS)
        names = [each["function"]["name"] for each in message["tool_calls"]]
        if ((message["content"] or "").strip(), names) != (text, ["look"] * len(made)):
            wrong.append((turn, message["content"], names))
    assert (wrong, readers.differ) == ([], [])


OPENERS = {"a fence that names a language": ("\\n```sh\\n$ ", "\\n```"), "a marker": ("<run>", "</run>")}
CONTENTS = ("So:\n```python\nprint(1)\n```", "```\na\n```", "```python\na\n```\n\n```sh\nb\n```", "a\n```sh", "a\n```")


@pytest.mark.sweep(7)
@pytest.mark.parametrize(("opener", "content"), [*product(OPENERS, CONTENTS)])
def test_code_at_the_end_of_an_output_keeps_its_fence(opener: str, content: str) -> None:
    """Servers return outputs without the end of the turn.  A fence that code needs opens no call."""
    start, end = OPENERS[opener]
    call = f"{{{{- '{start}' ~ c.function.name ~ ' ' ~ (c.function.arguments | tojson) ~ '{end}' }}}}"
    source = source_of(f"{CONTENT}{{%- for c in m.tool_calls or [] %}}{call}{{%- endfor %}}")
    ir = compile_template(source, name="t", special_tokens=TOKENS)
    assert ir.verification.failures == ()
    readers = EveryReader(ir)
    is_cut = content.count("```") % 2 and opener != "a marker"
    message = readers.parse(content, tools=TOOLS)
    assert (message["content"], readers.differ) == ("a" if is_cut else content, [])
