"""References of JSON Schema documents lead to the right place, in malformed documents too."""

from __future__ import annotations

from typing import Any

import pytest

from tplc.grammars.schema.document import Document, Unresolved

SCHEMA: dict[str, Any] = {
    "$id": "http://a.example/outer.json",
    "items": [{"type": "null"}, {"$anchor": "second", "const": 2}],
    "$defs": {
        "a/b": {"const": "a/b"},
        "m~n": {"const": "m~n"},
        "inner": {"$id": "inner.json", "$defs": {"c": {"const": "c"}}},
        "-1": {"const": "a name"},
    },
}
LEADS = {
    "#": "#",
    "": "#",
    "outer.json": "#",
    "http://a.example/outer.json#/items/0": "#/items/0",
    "#second": "#/items/1",
    "#/$defs/a~1b": "#/$defs/a~1b",
    "#/%24defs/m~0n": "#/$defs/m~0n",
    "inner.json#/$defs/c": "#/$defs/inner/$defs/c",
    "#/$defs/inner/$defs/c": "#/$defs/inner/$defs/c",
    "#/$defs/-1": "#/$defs/-1",
}


@pytest.mark.parametrize("reference", LEADS)
def test_a_reference_leads_to_a_path(reference: str) -> None:
    document = Document(SCHEMA)
    assert document.resolve(reference, document.root.resolver).path == LEADS[reference]


@pytest.mark.parametrize(
    "reference",
    ["#third", "#/items/2", "#/items/-1", "#/items/x", "#/$defs/a", "other.json", "http://[", "//[", "#/$id/x"],
)
def test_a_reference_that_leads_nowhere(reference: str) -> None:
    document = Document(SCHEMA)
    with pytest.raises(Unresolved) as error:
        document.resolve(reference, document.root.resolver)
    assert str(error.value) == f"{reference} is not in this schema"


@pytest.mark.parametrize(
    "schema",
    [
        True,
        "text",
        [1],
        {"$id": 5},
        {"$id": "http://["},
        {"$id": "http://a/", "$defs": {"a": {"$id": "http://[", "$ref": "//["}}},
        {"$anchor": 1, "$dynamicAnchor": []},
        {"properties": [1], "items": [1, True], "allOf": {}, "not": 3},
    ],
)
def test_what_is_no_schema_has_a_root(schema: Any) -> None:
    document = Document(schema)
    assert document.resolve("#", document.root.resolver).schema is document.root.schema


def test_a_schema_in_many_places_is_read_once() -> None:
    schema: Any = {"type": "string"}
    for _ in range(200):
        schema = {"allOf": [schema, schema]}
    assert Document(schema).dynamic("x") == 0


def test_a_deep_schema() -> None:
    schema: Any = {"$anchor": "deep"}
    for _ in range(5_000):  # five times what Python's recursion allows
        schema = {"not": schema}
    document = Document(schema)
    assert document.resolve("#deep", document.root.resolver).schema == {"$anchor": "deep"}
