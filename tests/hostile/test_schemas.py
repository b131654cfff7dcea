"""Tools whose schemas branch into each other: every path that walks them ends soon, with any result.

In addition to references that all lead to the same schema, there are branches that are all written out, all different,
and all that multiply.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.example_case import EXAMPLES, standalone_parser
from tests.fuzz.formats import Format, with_source
from tests.ir_small import ALL as SMALL
from tplc.backends.gbnf import grammar
from tplc.backends.peg.engine import grammar_for
from tplc.driver import load_ir
from tplc.errors import TplcError
from tplc.ir.nodes import TemplateIR
from tplc.observe.findings import violation
from tplc.serving import ChatTemplate
from tplc.targets.structural_tag import structural_tag

SECONDS = 5  # of the processor, for what would take hours
UNIONS = ("anyOf", "oneOf", "allOf")
Schema = dict[str, Any]


def referred(union: str, depth: int, wide: int) -> Schema:
    """Return a schema with wide ** depth paths that all lead to one schema."""
    root: Schema = {"$defs": {"d0": {"type": "string"}}, "$ref": f"#/$defs/d{depth}"}
    for level in range(1, depth + 1):
        root["$defs"][f"d{level}"] = {union: [{"$ref": f"#/$defs/d{level - 1}"} for _ in range(wide)]}
    return root


def written(union: str, depth: int, wide: int) -> Schema:
    """Return the same schema without references."""
    inner: Schema = {"type": "integer"}
    for _ in range(depth):
        inner = {union: [inner] * wide}
    return inner


def distinct(union: str, wide: int) -> Schema:
    """Return a schema of wide * wide objects, each with another member."""
    rows = [[{"type": "object", "properties": {f"p{i}-{j}": {}}} for i in range(wide)] for j in range(wide)]
    return {union: [{union: row} for row in rows]}


def product(wide: int, many: int) -> Schema:
    """Return a schema of wide ** many combinations."""
    rows = [[{"type": "object", "required": [f"p{i}-{j}"]} for i in range(wide)] for j in range(many)]
    return {"allOf": [{"anyOf": row} for row in rows]}


def chained(length: int) -> Schema:
    links: Schema = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(length)}
    return {"$defs": {**links, f"d{length}": {"type": "integer"}}, "$ref": "#/$defs/d0"}


def circle(union: str, wide: int) -> Schema:
    inner = [{"type": "object", "properties": {"a": {"$ref": "#"}}} for _ in range(wide)]
    return {union: [{"$ref": "#"}, *inner, {"items": {"$ref": "#"}}]}


def deep(union: str, depth: int) -> Schema:
    inner: Schema = {"type": "integer"}
    for _ in range(depth):
        inner = {union: [inner]}
    return inner


SCHEMAS: dict[str, Schema] = {
    "product": product(6, 5),
    "chained": chained(5000),
    **{f"{union}: referred": referred(union, 5, 64) for union in UNIONS},
    **{f"{union}: written": written(union, 2, 64) for union in UNIONS},
    **{f"{union}: distinct": distinct(union, 14) for union in UNIONS},
    **{f"{union}: circle": circle(union, 12) for union in UNIONS},
    **{f"{union}: deep": deep(union, 400) for union in UNIONS},
}


def tools_with(schema: Schema) -> list[dict[str, Any]]:
    """Return tools with the schema in an argument, and in place of all arguments."""
    of_argument = {"type": "object", "properties": {"city": schema}, "$defs": schema.get("$defs", {})}
    return [
        {"type": "function", "function": {"name": "get_forecast", "parameters": of_argument}},
        {"type": "function", "function": {"name": "send_note", "parameters": schema}},
    ]


def example(name: str) -> Format:
    outputs = tuple(
        path.read_text(encoding="utf-8") for path in sorted(Path(EXAMPLES / name / "outputs").glob("*.txt"))
    )
    return with_source(Format(name, ir_of(name), outputs, []), standalone_parser(name))


def ir_of(name: str) -> TemplateIR:
    return load_ir((EXAMPLES / name / "out" / "ir.json").read_text(encoding="utf-8"))


PARSED = (
    "parameter-tags",
    "nested-elements",
    "bare-keyword-calls",
    "typed-attributes",
    "key-value-tags",
    "cdata-values",
)


def parsers(tools: list[dict[str, Any]]) -> None:
    for name in PARSED:
        form = example(name)
        for text in form.outputs:
            assert form.parser.parse(text, tools=tools)["role"] == "assistant"


def grammars(tools: list[dict[str, Any]]) -> None:
    for form in ("json-calls", "nested"):
        assert grammar(SMALL[form], tools=tools, tool_choice="required").text


def response_formats(tools: list[dict[str, Any]]) -> None:
    assert grammar(SMALL["plain"], json_schema=tools[1]["function"]["parameters"]).text


def structural_tags(tools: list[dict[str, Any]]) -> None:
    ir = ir_of("tagged-json")
    assert structural_tag(ir, grammar(ir, tools=tools, tool_choice="required"), parallel=True)


def pegs(tools: list[dict[str, Any]]) -> None:
    assert grammar_for(ir_of("parameter-tags"), tools)


def requests(tools: list[dict[str, Any]]) -> None:
    source = (EXAMPLES / "tagged-json" / "template.jinja").read_text(encoding="utf-8")
    request = {"messages": [{"role": "user", "content": "Hello."}], "tools": tools, "tool_choice": "required"}
    with ChatTemplate(source, ir=ir_of("tagged-json")) as template:
        assert template.prepare(request).grammar


def recorded(tools: list[dict[str, Any]]) -> None:
    """Arguments that a schema doesn't allow are reported; those of a schema that takes too long are not."""
    parameters = tools[1]["function"]["parameters"]
    for arguments in ('{"city": 1}', "[1, 2]"):
        problem = violation(arguments, parameters)
        assert problem == "" or problem.startswith("the object: not what ")


WALKS = (recorded, parsers, grammars, response_formats, structural_tags, pegs, requests)


@pytest.mark.sweep(59)
@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.__name__)
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_walked_soon(name: str, walk: Callable[[list[dict[str, Any]]], None]) -> None:
    tools = tools_with(SCHEMAS[name])
    started = time.process_time()
    try:
        walk(tools)
    except TplcError as error:
        assert str(error)
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("scheme", ["file", "http"])
def test_no_schema_is_fetched(scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pattern of a stranger's schema is matched either, and no part is trusted that claims another dialect."""
    (tmp_path / "x.json").write_text('{"type": "string"}')
    monkeypatch.setattr("urllib.request.urlopen", lambda *given, **named: pytest.fail("fetched"))
    assert violation('{"a": 1}', {"$ref": f"{scheme}://{tmp_path}/x.json"}) == ""
    slow = {"type": "string", "pattern": "^(a+)+$"}
    assert violation(json.dumps({"a": "a" * 60 + "b"}), {"properties": {"a": slow}}) == ""
    keys = {"patternProperties": {"^(a+)+$": {"type": "string"}}, "additionalProperties": False}
    assert violation(json.dumps({"a" * 60 + "b": 1}), keys) == ""
    other = {"$schema": "https://json-schema.org/draft/2020-12/schema", **slow}
    assert violation(json.dumps({"a": "a" * 60 + "b"}), {"properties": {"a": other}}) == ""
    assert violation('{"a": 1}', {"properties": {"a": other}}) == "a: not what type allows"
    assert violation('{"a": ' + "[" * 100_000, {}) == ""
