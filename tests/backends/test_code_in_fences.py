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
