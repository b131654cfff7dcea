"""Many outputs at once, by a generated parser: a row for each, the same as one by one."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest

from tests.example_case import Example, committed_parser, load_examples

EXAMPLES = load_examples()
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"properties": {"at": {"type": "string"}}}}}]


def row_of(module: ModuleType, text: str, **keywords: Any) -> dict[str, Any]:
    """Return a row made by hand, with the parser of one output."""
    stream = module.StreamParser(**keywords)
    stream.feed(text)
    stream.finish()
    calls = [{"id": call["id"], **call["function"]} for call in stream.message["tool_calls"]]
    return {
        "content": stream.message["content"],
        "reasoning_content": stream.message["reasoning_content"],
        "tool_calls": calls,
        "incomplete": stream.incomplete,
        "diagnostics": [one._asdict() for one in stream.diagnostics],
    }


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_rows_are_what_single_outputs_give(example: Example) -> None:
    module = committed_parser(example.name)
    texts = [output.text for output in example.outputs]
    texts += [text[: len(text) // 2] for text in texts]
    prompt = example.out.joinpath("prompt.txt").read_text(encoding="utf-8")
    for keywords in ({}, {"tools": example.tools}, {"prompt": prompt}):
        expected = [row_of(module, text, **keywords) for text in texts]
        many = {"prompts" if name == "prompt" else name: value for name, value in keywords.items()}
        assert module.parse_many(texts, **many) == expected


def test_null_gives_null_and_nothing_gives_nothing() -> None:
    module = committed_parser(EXAMPLES[0].name)
    assert module.parse_many([]) == []
    assert module.parse_many([None, "Hi.", None]) == [None, row_of(module, "Hi."), None]


def test_tools_and_prompts_of_each_row() -> None:
    example = next(one for one in EXAMPLES if one.name == "parameter-tags")
    module, text = committed_parser(example.name), next(o.text for o in example.outputs if o.message["tool_calls"])
    name = module.parse(text)["tool_calls"][0]["function"]["name"]
    typed = {"type": "function", "function": {"name": name, "parameters": {"additionalProperties": {"type": "string"}}}}
    rows = module.parse_many([text] * 4, tools=[None, [typed], json.dumps([typed]), json.dumps(TOOLS)])
    assert rows == [row_of(module, text, tools=tools) for tools in (None, [typed], [typed], TOOLS)]
    assert rows[1] == rows[2] != rows[0]
    assert module.parse_many([text] * 2, tools=json.dumps([typed])) == [rows[1]] * 2
    prompts = [module.GENERATION_PROMPTS[0], None]
    assert module.parse_many([text] * 2, prompts=prompts) == [row_of(module, text, prompt=prompt) for prompt in prompts]


def test_tools_that_are_not_json_are_reported_and_lose_nothing() -> None:
    module = committed_parser(EXAMPLES[0].name)
    [row] = module.parse_many(["Hi."], tools=["{"])
    problem = "the tools are not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    assert row == {**row_of(module, "Hi."), "diagnostics": [{"offset": 0, "text": problem, "code": "tools_not_read"}]}
