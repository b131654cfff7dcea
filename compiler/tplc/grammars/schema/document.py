"""Find where the references of a JSON Schema document lead.

    {"$ref": "#/$defs/a~1b"}  →  the schema under "$defs", "a/b", and its path "#/$defs/a~1b"

The library `referencing` follows them: through embedded resources (`$id`) and anchors, and never out of the document.
What it learns here is where schemas stand, in any draft and in documents that are no good schemas.  Up to draft 7
nothing next to `$ref` counts; `$schema` says which draft it is, and without it a later one is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from referencing import Anchor, Registry, Resource, Specification
from referencing.exceptions import Unresolvable

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
_DRAFT = re.compile(r"https?://json-schema\.org/draft-0[3-7]/schema#?\Z")

Resolver: TypeAlias = Any  # the library gives its own no name
# An index that Python knows and JSON pointers do not.
_FROM_THE_END = re.compile(r"/-[0-9]+(?![^/])")


class Unresolved(Exception):
    """A reference that leads nowhere in the document."""


@dataclass(frozen=True, slots=True)
class Subschema:
    """A schema of the document, the path to it, and what its references are resolved by.

    `around` resolves them without the schema's own `$id`; `ref_alone`: nothing next to `$ref` counts.
    """

    schema: Json
    path: str
    resolver: Resolver
    around: Resolver
    ref_alone: bool = False

    def member(self, *tokens: str | int) -> Subschema:
        schema: Any = self.schema
        path = self.path
        for token in tokens:
            schema = schema[token]
            path = f"{path}/{_escaped(str(token))}"
        resolver = self.resolver.in_subresource(_resource(schema, self.ref_alone)) if _id(schema) else self.resolver
        return Subschema(schema, path, resolver, self.resolver, self.ref_alone)


class Document:
    def __init__(self, schema: Json) -> None:
        draft = schema.get("$schema") if isinstance(schema, dict) else None
        self.ref_alone = isinstance(draft, str) and _DRAFT.match(draft) is not None
        self._any_draft = draft is None
        self._schemas: dict[int, Any] = {}
        resource = _resource(schema, self.ref_alone, self._new_schemas)
        outer = Registry().with_resource("", resource).crawl().resolver()
        self.root = Subschema(schema, "#", outer.in_subresource(resource), outer, self.ref_alone)

    def _new_schemas(self, schema: Any) -> list[Any]:
        """Return the schemas directly inside one, each once; a generated schema may contain the same object in many
        places."""
        found = {id(inner): inner for inner in _schemas_in(schema) if id(inner) not in self._schemas}
        self._schemas |= found
        return list(found.values())

    @cached_property
    def _paths(self) -> dict[int, str]:
        """Return the path of each container."""
        found: dict[int, str] = {}
        waiting: list[tuple[Any, str]] = [(self.root.schema, "#")]
        while waiting:
            value, path = waiting.pop()
            if isinstance(value, (dict, list)) and id(value) not in found:
                found[id(value)] = path
                members = value.items() if isinstance(value, dict) else enumerate(value)
                waiting += [(member, f"{path}/{_escaped(str(token))}") for token, member in members]
        return found

    def dynamic(self, anchor: str) -> int:
        """Return the number of schemas with this dynamic anchor."""
        schemas = {id(self.root.schema): self.root.schema, **self._schemas}.values()
        return sum(isinstance(schema, dict) and schema.get("$dynamicAnchor") == anchor for schema in schemas)

    def resolve(self, reference: str, resolver: Resolver) -> Subschema:
        """Raises Unresolved."""
        try:
            found = resolver.lookup(reference)
        except (Unresolvable, ValueError, TypeError) as error:  # an index that is no number; a step into a text
            raise Unresolved(f"{reference} is not in this schema") from error
        path = self._paths.get(id(found.contents), f"#{reference.partition('#')[2]}")
        if any(token not in path for token in _FROM_THE_END.findall(reference)):
            raise Unresolved(f"{reference} is not in this schema")
        return Subschema(found.contents, path, found.resolver, found.resolver, self.ref_alone)

    def is_ambiguous(self, reference: str, node: Subschema) -> bool:
        """Return whether the target of a reference depends on the draft, and the draft is not declared."""
        if not self._any_draft or node.resolver is node.around:
            return False
        try:
            inner, outer = (self.resolve(reference, resolver) for resolver in (node.resolver, node.around))
        except Unresolved:
            return False
        return inner.schema is not outer.schema


# Facts about schemas that the library needs


def _resource(
    schema: Json, ref_alone: bool, subschemas: Callable[[Any], Iterable[Any]] = lambda _: ()
) -> Resource[Any]:
    specification: Specification[Any] = Specification(
        name="JSON Schema",
        id_of=_id_alone if ref_alone else _id,
        subresources_of=subschemas,
        anchors_in=_anchors,
        maybe_in_subresource=lambda segments, resolver, subresource: resolver.in_subresource(subresource),
    )
    return Resource(schema, specification)


def _id(schema: Any) -> str | None:
    identifier = schema.get("$id") if isinstance(schema, dict) else None
    try:
        return urlsplit(identifier)._replace(fragment="").geturl() if isinstance(identifier, str) else None
    except ValueError:  # no URI
        return None


def _id_alone(schema: Any) -> str | None:
    return None if isinstance(schema, dict) and "$ref" in schema else _id(schema)


def _anchors(specification: Specification[Any], schema: Any) -> Iterator[Anchor[Any]]:
    for keyword in ("$dynamicAnchor", "$anchor"):
        name = schema.get(keyword) if isinstance(schema, dict) else None
        if isinstance(name, str):
            yield Anchor(name, specification.create_resource(schema))


def _schemas_in(schema: Any) -> Iterator[Any]:
    if not isinstance(schema, dict):
        return
    for keyword in _IN_MAPS + _IN_LISTS + _SINGLE:
        value = schema.get(keyword)
        inner: Iterable[Any] = ()
        if isinstance(value, dict):
            inner = value.values() if keyword in _IN_MAPS else (value,) if keyword in _SINGLE else ()
        elif isinstance(value, list) and keyword in _IN_LISTS:
            inner = value
        yield from (one for one in inner if isinstance(one, dict))


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")
