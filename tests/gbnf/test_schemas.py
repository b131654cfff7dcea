"""JSON Schema keywords: valid values are accepted, invalid ones refused, and inexpressible parts listed."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT, amount
from tests.gbnf.engine import accepts, needs_engine, refused
from tests.gbnf.formats import calls_message, formats, written
from tests.gbnf.tools import tool
from tests.ir_small import ALL as SMALL
from tplc.backends.gbnf import NothingAllowed, grammar
from tplc.backends.gbnf.lint import lint

PLAIN = SMALL["plain"]

CASES = json.loads((ROOT / "tests" / "cases" / "gbnf" / "keywords.json").read_text(encoding="utf-8"))


def made(schema: Any, **options: Any) -> Any:
    return grammar(PLAIN, json_schema=schema, **options)


@needs_engine
@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_keyword(case: dict[str, Any]) -> None:
    found = made(case["schema"])
    assert lint(found.text) == []
    assert [text for text in case["accepted"] if not accepts(found.text, text)] == []
    assert [text for text in case["refused"] if accepts(found.text, text)] == []
    assert [str(entry) for entry in found.not_expressed] == case["not_expressed"]


@needs_engine
def test_long_strings() -> None:
    text = made({"type": "string", "maxLength": 5000}).text
    assert accepts(text, json.dumps("a" * 5000))
    assert not accepts(text, json.dumps("a" * 5001))


@needs_engine
def test_a_response_format_is_taken_by_the_letter() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for others, said in ((True, {}), (False, {"additionalProperties": False})):
        text = made({**schema, **said}).text
        assert accepts(text, '{"a": 3.0}')
        assert not accepts(text, '{"a": 3.5}')
        assert accepts(text, '{"a": 3, "b": 1}') is others


@needs_engine
def test_any_order() -> None:
    schema = {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b"], "additionalProperties": False}
    free = made(schema, any_order=True).text
    for text in ('{"a": 1, "b": 2}', '{"b": 1, "a": 2}', '{"c": 0, "b": 1, "a": 2}', '{"b": 1, "c": 0, "a": 2}'):
        assert accepts(free, text)
    for text in ('{"b": 1}', '{"c": 1, "a": 2}', '{"a": 1, "b": 2, "a": 3}'):
        assert not accepts(free, text)


@needs_engine
def test_formats_are_remarks_on_request() -> None:
    schema = {"type": "string", "format": "date"}
    assert not accepts(made(schema).text, '"tomorrow"')
    assert accepts(made(schema, formats=False).text, '"tomorrow"')


@needs_engine
def test_big_enums_are_tries() -> None:
    values = [f"item-{number:05}" for number in range(5000)]
    text = made({"enum": values}).text
    assert lint(text) == []
    assert len(text) < 60_000
    assert refused(text) is None
    assert accepts(text, '"item-04999"')
    assert not accepts(text, '"item-05000"')


CODE = {"type": "string", "pattern": "^[a-c]{1,3}-[0-9]+$"}
OTHERS = (
    "python-literals",
    "parameter-tags",
    "nested-elements",
    "keyword-calls",
    "string-delimiters",
    "typed-attributes",
)


# Schemas at random, each with values that it allows.


def _schemas() -> st.SearchStrategy[tuple[Any, Any]]:
    words = st.text(st.sampled_from('abcXYZ 09_-é世"\\\n</>'), max_size=6)
    integers = st.tuples(st.integers(-200, 200), st.integers(0, 300)).flatmap(
        lambda pair: st.integers(pair[0], pair[0] + pair[1]).map(
            lambda value: ({"type": "integer", "minimum": pair[0], "maximum": pair[0] + pair[1]}, value)
        )
    )
    texts = st.tuples(st.integers(0, 3), st.integers(3, 8)).flatmap(
        lambda pair: st.text(st.sampled_from('ab é"\\\n<'), min_size=pair[0], max_size=pair[1]).map(
            lambda value: ({"type": "string", "minLength": pair[0], "maxLength": pair[1]}, value)
        )
    )
    scalars = st.one_of(
        integers,
        texts,
        words.map(lambda value: ({"type": "string"}, value)),
        st.booleans().map(lambda value: ({"type": "boolean"}, value)),
        st.just(({"type": ["string", "null"]}, None)),
        st.lists(words, min_size=1, max_size=4, unique=True).map(lambda values: ({"enum": values}, values[0])),
        st.integers(-1000, 1000).map(lambda value: ({"type": "number"}, value / 8)),
        st.from_regex(r"\A[a-c]{1,3}-[0-9]+\Z").map(lambda value: (CODE, value)),
    )
    return st.recursive(scalars, lambda inner: st.one_of(_arrays(inner), _objects(inner)), max_leaves=6)


def _arrays(inner: st.SearchStrategy[tuple[Any, Any]]) -> st.SearchStrategy[tuple[Any, Any]]:
    return st.tuples(inner, st.integers(0, 3)).map(
        lambda pair: ({"type": "array", "items": pair[0][0], "maxItems": 3}, [pair[0][1]] * pair[1])
    )


def _objects(inner: st.SearchStrategy[tuple[Any, Any]]) -> st.SearchStrategy[tuple[Any, Any]]:
    names = st.lists(st.sampled_from(["a", "b", "name", "zip_code", "x-y"]), min_size=1, max_size=3, unique=True)

    def build(names: list[str]) -> st.SearchStrategy[tuple[Any, Any]]:
        members = st.tuples(*(st.tuples(inner, st.booleans(), st.booleans()) for _ in names))

        def together(found: tuple[tuple[tuple[Any, Any], bool, bool], ...]) -> tuple[Any, Any]:
            pairs = list(zip(names, found, strict=True))
            schema = {
                "type": "object",
                "properties": {name: part[0] for name, (part, _, _) in pairs},
                "required": [name for name, (_, required, _) in pairs if required],
                "additionalProperties": False,
            }
            return schema, {name: part[1] for name, (part, required, there) in pairs if required or there}

        return members.map(together)

    return names.flatmap(build)


def _mutations(value: Any) -> list[Any]:
    """Return values that differ a little."""
    found: list[Any] = [None, True, 7, -1000, 0.5, "", "zz", "abc-", [], [None], {}, {"a": None}]
    if isinstance(value, bool) or value is None:
        return found
    if isinstance(value, int | float):
        return [*found, value + 1, value - 1, value + 1000, value * 10 + 3, str(value)]
    if isinstance(value, str):
        return [*found, value + "x", value + "xxxxxxxxx", value[1:], value.upper() + "-"]
    if isinstance(value, list):
        inside = [[item, *value[1:]] for item in _mutations(value[0])] if value else []
        return [*found, [*value, *value, 1], [*value, "q"], [[*value]], [1, 2, 3, 4], *inside[:12]]
    changed = [{**value, name: item} for name in value for item in _mutations(value[name])]
    return [*found, {**value, "extra": 1}, *({k: v for k, v in value.items() if k != name} for name in value), *changed]


@pytest.mark.sweep(1)
@needs_engine
@settings(max_examples=amount(30, sweep=60), deadline=None, suppress_health_check=list(HealthCheck))
@given(_schemas())
def test_random_schemas_in_json(pair: tuple[Any, Any]) -> None:
    schema, value = pair
    found = made(schema)
    assert [entry for entry in found.not_expressed if entry.effect == "looser"] == []
    assert accepts(found.text, json.dumps(value, ensure_ascii=False)), (schema, value)
    assert accepts(found.text, json.dumps(value, ensure_ascii=False, indent=2)), (schema, value)
    validator = jsonschema.Draft202012Validator(schema)
    invalid = [wrong for wrong in _mutations(value) if not validator.is_valid(wrong)]
    assert len(invalid) >= 8
    for wrong in invalid:
        assert not accepts(found.text, json.dumps(wrong, ensure_ascii=False)), (schema, wrong)


@pytest.mark.sweep(6)
@needs_engine
@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=amount(8, sweep=15), deadline=None, suppress_health_check=list(HealthCheck))
@given(_schemas())
def test_random_schemas_in_other_dialects(name: str, pair: tuple[Any, Any]) -> None:
    """Grammar and parser together: a mutated value is refused, or comes back from the parser as a valid one."""
    schema, value = pair
    held = formats()[name]
    tools = [tool("f", {"v": schema}, ("v",))]
    found = grammar(held.ir, tools=tools, tool_choice="required")
    validator = jsonschema.Draft202012Validator(tools[0]["function"]["parameters"])
    tighter = any(entry.effect == "tighter" for entry in found.not_expressed)
    for wrong in [value, *_mutations(value)]:
        text = written(held.ir, calls_message(("f", {"v": wrong})))
        if wrong is value and not tighter and not accepts(found.text, text):
            # Only what the format can't say: it leaves null out.
            read = held.parser.parse(text, tools=tools)["tool_calls"]
            assert [json.loads(call["function"]["arguments"]) for call in read] != [{"v": value}], (schema, text)
        if accepts(found.text, text):
            message = held.parser.parse(text, tools=tools)
            arguments = [json.loads(call["function"]["arguments"]) for call in message["tool_calls"]]
            assert arguments, text
            assert all(map(validator.is_valid, arguments)), (schema, text, arguments)


KEYWORDS = (
    "type enum const properties required additionalProperties patternProperties items prefixItems minItems maxItems "
    "minLength maxLength pattern format minimum maximum exclusiveMinimum multipleOf anyOf oneOf allOf not if then else "
    "$ref $defs contains maxContains uniqueItems minProperties maxProperties propertyNames dependentRequired "
    "dependentSchemas unevaluatedProperties unevaluatedItems nullable $anchor $id dependencies"
).split()
WORDS = (
    "string",
    "object",
    "array",
    "integer",
    "^a+$",
    "(",
    "b$",
    "date",
    "email",
    "#",
    "#/$defs/a",
    "a",
    "\ud800",
    "",
)


def _anything() -> st.SearchStrategy[Any]:
    """Return values under keywords, few of which make sense there."""
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(-3, 9), st.sampled_from([0.5, 1e300]), st.sampled_from(WORDS)
    )
    keys = st.sampled_from([*KEYWORDS, "a", "b"])
    return st.recursive(
        leaves, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4))
    )


@pytest.mark.sweep(1)
@needs_engine
@settings(max_examples=amount(75, sweep=150), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(st.sampled_from(KEYWORDS), _anything(), max_size=5), st.sampled_from(sorted(SMALL)), st.booleans()
)
def test_any_schema_gives_a_grammar_or_a_message(schema: Any, name: str, as_tool: bool) -> None:
    """The result is a grammar that engines read, or an error message, and never anything else."""
    try:
        if as_tool:
            tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
            found = grammar(SMALL[name], tools=tools)
        else:
            found = grammar(SMALL[name], json_schema=schema)
    except NothingAllowed:
        return
    if found.text:
        assert refused(found.text) is None
