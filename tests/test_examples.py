"""The examples: their generated files are current, and their parsers read the recorded outputs.

`make examples` regenerates examples/*/out and examples/parsers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.example_case import (
    PARSERS,
    SHARED_RUNTIME,
    STANDALONE,
    Example,
    Output,
    committed_parser,
    generated_parser,
    load_examples,
)
from tplc.driver import GrammarOptions, compile_template, generate, require_verified, shared_runtime
from tplc.ir.nodes import TemplateIR
from tplc.lower import lower, printed
from tplc.render import Renderer

EXAMPLES = load_examples()
OUTPUTS = [(example, output) for example in EXAMPLES for output in example.outputs]
NAMES = [example.name for example in EXAMPLES]
Golden = Callable[[Path, str], None]


@cache
def compiled(name: str) -> TemplateIR:
    example = named(name)
    return compile_template(example.source, name="template.jinja", special_tokens=example.special_tokens)


def named(name: str) -> Example:
    return next(example for example in EXAMPLES if example.name == name)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 14
    assert [example.name for example in EXAMPLES if not example.outputs] == []


@pytest.mark.parametrize("name", NAMES)
def test_example_is_verified(name: str) -> None:
    require_verified(compiled(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_is_current(name: str, golden: Golden) -> None:
    golden(ROOT / "tests" / "cases" / "lower" / f"{name}.txt", printed(lower(compiled(name))))


@pytest.mark.parametrize("name", NAMES)
def test_prompt_is_current(name: str, golden: Golden) -> None:
    example = named(name)
    golden(example.out / "prompt.txt", prompt_of(example, example.variables[0]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("file", "target"), [("ir.json", "json"), ("grammar.peg", "peg")])
def test_generated_file_is_current(name: str, file: str, target: Any, golden: Golden) -> None:
    golden(named(name).out / file, generate(compiled(name), target))


@pytest.mark.parametrize("name", NAMES)
def test_parser_is_current(name: str, golden: Golden) -> None:
    golden(named(name).parser, generated_parser(named(name), compiled(name)))


def test_runtime_is_current(golden: Golden) -> None:
    golden(SHARED_RUNTIME, shared_runtime())


def test_every_committed_parser_belongs_to_an_example() -> None:
    assert {*NAMES} >= STANDALONE
    committed = {*(example.parser for example in EXAMPLES), SHARED_RUNTIME}
    assert {*PARSERS.glob("*.py"), *PARSERS.parent.glob("*/out/parser.py")} == committed


INDEX = PARSERS.parent / "README.md"
ENTRY = re.compile(r"- \[`(?P<name>[\w-]+)`\]\((?P=name)/template\.jinja\): (?P<what>\S.*\.)")


def test_index_is_current(golden: Golden) -> None:
    """Every folder has an entry: a line written by hand, and a line that shows an output."""
    above, heading, entries = INDEX.read_text(encoding="utf-8").partition("## Formats\n")
    found = [match for line in entries.splitlines() if (match := ENTRY.fullmatch(line))]
    assert [match["name"] for match in found] == NAMES
    shown = "".join(f"{match[0]}\n  {shown_output(named(match['name']))}\n" for match in found)
    golden(INDEX, f"{above}{heading}{entries.partition('- [')[0]}{shown}")


def shown_output(example: Example) -> str:
    """Returns the first output with a call, or the first one, as inline code."""
    with_call = [output for output in example.outputs if output.message["tool_calls"] and not output.incomplete]
    chosen = next((output for output in with_call if output.title.endswith("call")), [*example.outputs, *with_call][-1])
    fence = "`" * (1 + max(map(len, re.findall("`+", chosen.text)), default=0))
    text = chosen.text.strip().replace("\n", "↵")
    space = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{space}{text}{space}{fence}"


@pytest.mark.parametrize("name", NAMES)
def test_grammar_is_current(name: str, golden: Golden) -> None:
    example = named(name)
    golden(example.out / "grammar.gbnf", generate(compiled(name), "gbnf", GrammarOptions(tuple(example.tools or ()))))


@pytest.mark.parametrize(("example", "output"), OUTPUTS, ids=lambda value: getattr(value, "name", None) or value.title)
def test_output_is_parsed(example: Example, output: Output) -> None:
    parser = committed_parser(example.name)
    prompt = prompt_of(example, output.variables)
    message = parser.parse(output.text, tools=example.tools, prompt=prompt)
    assert meant(message) == meant(output.message)
    assert all(isinstance(call["function"]["arguments"], dict) for call in meant(message)["tool_calls"])
    machine = parser.StreamParser(tools=example.tools, prompt=prompt)
    for character in output.text:
        machine.feed(character)
    machine.finish()
    assert machine.message == message
    assert machine.incomplete == output.incomplete


def meant(message: dict[str, Any]) -> dict[str, Any]:
    """Return the message with arguments as values: a parser passes JSON on with its original spacing."""
    calls = [
        {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def prompt_of(example: Example, variables: dict[str, Any]) -> str:
    with Renderer(example.source, special_tokens=example.special_tokens) as renderer:
        return renderer.render(example.messages, tools=example.tools, add_generation_prompt=True, **variables)
