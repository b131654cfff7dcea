"""Parts that aren't parsed stay in the content unchanged: parse_reasoning=False, parse_tool_calls=False."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tplc.driver import compile_template, generate
from tplc.verify import Artifact, load_artifact

REASONING = "<musing>\nTwo things.\n</musing>\n\n"
CALLS = '\n<fn>\n{"name": "look", "arguments": {"at": "<fn>"}}\n</fn>\n<fn>\n{"name": "see", "arguments": {}}\n</fn>'
OUTPUT = f"{REASONING}Wait.{CALLS}<~/~>\n"


@pytest.fixture(scope="module")
def parser() -> Artifact:
    source = (ROOT / "examples" / "tagged-json" / "template.jinja").read_text(encoding="utf-8")
    return load_artifact(generate(compile_template(source, name="tagged-json.jinja"), "python"))


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("reasoning", "calls", "content", "thought", "names"),
    [
        (True, True, "Wait.", "Two things.", ["look", "see"]),
        (False, True, f"{REASONING}Wait.", None, ["look", "see"]),
        (True, False, f"Wait.{CALLS}", "Two things.", []),
        (False, False, f"{REASONING}Wait.{CALLS}", None, []),
    ],
)
def test_what_is_not_parsed_stays(
    parser: Artifact, reasoning: bool, calls: bool, content: str, thought: str | None, names: list[str]
) -> None:
    options = {"parse_reasoning": reasoning, "parse_tool_calls": calls}
    message = parser.parse(OUTPUT, tools=None, prompt=None, **options)
    got = [call["function"]["name"] for call in message["tool_calls"]]
    assert (message["content"], message["reasoning_content"], got) == (content, thought, names)
    assert parser.stream is not None
    stream = parser.stream(tools=None, prompt=None, **options)
    for character in OUTPUT:
        stream.feed(character)
    stream.finish()
    assert stream.message == message


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ("```\n[1]\n```\n<~/~>\n", "[1]"),
        ('  {"a": "```"}', '  {"a": "```"}'),
        ('```json\n{"a": "`"', '{"a": "`"'),
        ("``` no fence", "``` no fence"),
        # So much white space is waited for, in one piece or in many.
        (" " * 300 + "```json\n[1]\n```", " " * 300 + "```json\n[1]\n```"),
        ("```json\n[1]" + " " * 300 + "```", "[1]" + " " * 47),
        ("```", "```"),
        ("", ""),
    ],
)
def test_json_content_loses_its_fence(parser: Artifact, output: str, content: str) -> None:
    message = parser.parse(output, tools=None, prompt=None, json_content=True)
    assert message["content"] == content
    assert parser.stream is not None
    stream = parser.stream(tools=None, prompt=None, json_content=True)
    deltas = [delta for character in output for delta in stream.feed(character)] + stream.finish()
    assert stream.message == message
    assert "".join(delta.get("content", "") for delta in deltas) == content
