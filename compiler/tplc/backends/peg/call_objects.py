"""Calls that are one object: where it stands in the layout, and which of its fields are the call's slots.

    "<call>" {"name": NAME, "arguments": ARGUMENTS} "</call>"
    →  CallObject((Text("<call>"),), JsonFields(name=("name",), arguments=("arguments",), …), "</call>")

A call whose name comes after its arguments is one as well, although its layout says no more than texts and slots.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

from tplc.backends.peg.styles import style_of
from tplc.ir.nodes import JsonFields, Layout, Slot, SlotKind, Text, Tools
from tplc.ir.spellings import spelling_of
from tplc_runtime.values import Reader

MARK = "\x7f"


@dataclass(frozen=True, slots=True)
class CallObject:
    """`before`: what stands before the object's opening, slots among it or not."""

    before: Layout
    fields: JsonFields
    after: str


@lru_cache(maxsize=64)
def call_object_of(tools: Tools) -> CallObject | None:
    if tools.json is not None:
        return CallObject((Text(tools.json.prefix),), tools.json, tools.json.suffix)
    kinds = [item.kind for item in tools.call if isinstance(item, Slot)]
    if "name" not in kinds or "arguments" not in kinds or kinds.index("name") < kinds.index("arguments"):
        return None
    return _object_in(tools)


def _object_in(tools: Tools) -> CallObject | None:
    """The first object in the call's text that holds name and arguments."""
    assert tools.dialect is not None
    style = style_of(spelling_of(tools.dialect.in_object, also_python=True))
    written = "".join(_written(item, style.usual) for item in tools.call)
    opened = next(text for text, token in style.tokens.items() if token == "{")
    start = written.find(opened)
    while start >= 0:
        reader = Reader((style, style, style))
        stop = reader.read(written, start, True)
        roles = {} if reader.want or reader.repair else dict(_roles(json.loads(reader.take())))
        if {"name", "arguments"} <= set(roles):
            ids = {role: roles.get(role) for role in ("id", "index")}
            fields = JsonFields("", "", roles["name"], roles["arguments"], ids["id"], ids["index"])
            return CallObject(_layout(written[:start]), fields, written[stop:])
        start = written.find(opened, start + 1)
    return None


def _written(item: Text | Slot, quote: str) -> str:
    if isinstance(item, Text):
        return item.text
    slot = MARK + item.kind + MARK
    return quote + slot + quote if item.kind == "arguments" else slot


def _layout(text: str) -> Layout:
    parts = re.split(f"{MARK}([a-z]+){MARK}", text)
    items = [_slot(part) if index % 2 else Text(part) for index, part in enumerate(parts) if part or index % 2]
    return (*items,)


def _slot(name: str) -> Slot:
    return Slot(next(kind for kind in get_args(SlotKind) if kind == name))


def _roles(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The slots in an object, each with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _roles(inner, (*path, key))
    elif isinstance(value, str) and value[:1] == value[-1:] == MARK:
        yield value.strip(MARK), path
