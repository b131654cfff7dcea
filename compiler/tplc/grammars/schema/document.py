"""One JSON Schema document: where its references lead.

    {"$ref": "#/$defs/a~1b"}  →  the schema under "$defs", "a/b", and its path "#/$defs/a~1b"

Embedded resources (`$id`) and anchors count; nothing outside the document is fetched.  Up to draft 7 nothing beside
`$ref` counts; `$schema` says which draft it is, and without it a later one is taken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from tplc.ir.nodes import Json

_IN_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
_IN_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_SINGLE = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_DEEPEST = 200
_DRAFT = re.compile(r"https?://json-schema\.org/draft-0[3-7]/schema#?\Z")


class Unresolved(Exception):
    """A reference that leads nowhere in the document."""


@dataclass(frozen=True, slots=True)
class Place:
    """A schema, the path to it, and the URI that its references are relative to.

    `around`: that URI without the schema's own `$id`; `ref_alone`: nothing beside `$ref` counts.
    """

    schema: Json
    path: str
    base: str
    around: str = ""
    ref_alone: bool = False

    def member(self, *tokens: str | int) -> Place:
        schema: Any = self.schema
        path = self.path
        for token in tokens:
            schema = schema[token]
            path = f"{path}/{_escaped(str(token))}"
        alone = self.ref_alone and isinstance(schema, dict) and "$ref" in schema
        return Place(schema, path, self.base if alone else _base(schema, self.base), self.base, self.ref_alone)


class Document:
    def __init__(self, schema: Json) -> None:
        draft = schema.get("$schema") if isinstance(schema, dict) else None
        self.ref_alone = isinstance(draft, str) and _DRAFT.match(draft) is not None
        self._any_draft = draft is None
        self.root = Place(schema, "#", _base(schema, ""), "", self.ref_alone)
        self._resources: dict[str, Place] = {"": self.root, self.root.base: self.root}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._dynamic: dict[str, int] = {}
        self._indexed = False

    def dynamic(self, anchor: str) -> int:
        """How many schemas have this dynamic anchor."""
        self._find_names()
        return self._dynamic.get(anchor, 0)

    def resolve(self, reference: str, base: str) -> Place:
        self._find_names()
        uri, fragment = urldefrag(urljoin(base, reference))
        resource = self._resources.get(uri)
        if resource is None:
            raise Unresolved(f"{reference} is not in this schema")
        fragment = unquote(fragment)
        if not fragment.startswith("/"):
            if not fragment:
                return resource
            if (resource.base, fragment) not in self._anchors:
                raise Unresolved(f"{reference} is not in this schema")
            return self._anchors[resource.base, fragment]
        place = resource
        for token in fragment[1:].split("/"):
            place = _step(place, token.replace("~1", "/").replace("~0", "~"), reference)
        return place

    def is_ambiguous(self, reference: str, place: Place) -> bool:
        """Whether it depends on the draft, which nobody said, where a reference leads."""
        if not self._any_draft or place.base == place.around:
            return False
        try:
            return self.resolve(reference, place.around).schema is not self.resolve(reference, place.base).schema
        except Unresolved:
            return False

    def _find_names(self) -> None:
        # Most schemas refer to nothing, and need no look at all their parts.
        if not self._indexed:
            self._indexed = True
            self._index(self.root, 0)

    def _index(self, place: Place, depth: int) -> None:
        schema = place.schema
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return
        if isinstance(schema.get("$id"), str) and not (self.ref_alone and "$ref" in schema):
            self._resources.setdefault(place.base, place)
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(keyword)
            if isinstance(anchor, str):
                self._anchors.setdefault((place.base, anchor), place)
        dynamic = schema.get("$dynamicAnchor")
        if isinstance(dynamic, str):
            self._dynamic[dynamic] = self._dynamic.get(dynamic, 0) + 1
        for inner in subschemas(place):
            self._index(inner, depth + 1)


def subschemas(place: Place) -> list[Place]:
    schema = place.schema
    assert isinstance(schema, dict)
    found = []
    for keyword in _IN_MAPS:
        held = schema.get(keyword)
        if isinstance(held, dict):
            found += [place.member(keyword, name) for name in held]
    for keyword in _IN_LISTS:
        held = schema.get(keyword)
        if isinstance(held, list):
            found += [place.member(keyword, index) for index in range(len(held))]
    return found + [place.member(keyword) for keyword in _SINGLE if isinstance(schema.get(keyword), dict)]


def _step(place: Place, token: str, reference: str) -> Place:
    schema = place.schema
    if isinstance(schema, dict) and token in schema:
        return place.member(token)
    if isinstance(schema, list) and token.isascii() and token.isdigit() and int(token) < len(schema):
        return place.member(int(token))
    raise Unresolved(f"{reference} is not in this schema")


def _base(schema: Json, base: str) -> str:
    identifier = schema.get("$id") if isinstance(schema, dict) else None
    return urldefrag(urljoin(base, identifier))[0] if isinstance(identifier, str) else base


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")
