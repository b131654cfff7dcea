r"""Calls that are one object: where it is in the layout, and which of its members are the call's slots.

"<call>" {"name": NAME, "arguments": ARGUMENTS} "</call>"
→  before "<call>", fields ("name",) and ("arguments",), after "</call>"

A call whose name comes after its arguments is one as well, although its layout says no more than texts and slots.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from tplc.ir.markers import without_space
from tplc.ir.nodes import Layout, Slot, SlotKind, Text, Tools, ValueStyle
from tplc.ir.spellings import spelling_of
from tplc.lower.call_form import NAME_IS_KEY
from tplc.lower.layouts import merged, text_at
from tplc.lower.lexemes import exact
from tplc_runtime.values import Reader, Style

Path = tuple[str, ...]
Fields = tuple[tuple[Path, str], ...]
_MARK = "\x7f"
# What APIs call the arguments of a call, and of a tool.
ARGUMENTS = ("arguments", "parameters")
# And what models do.
OTHER_ARGUMENTS = ("args", "input", "params", "kwargs")
WRAPPER = "function"  # and what they put both into


@dataclass(frozen=True, slots=True)
class CallObject:
    """A call that is one object. `before`: the text and slots before the object's opening."""

    before: Layout
    opened: str
    fields: Fields
    after: str


def object_of(tools: Tools) -> CallObject | None:
    """Return the object that makes up a call; None if the call isn't one, or if name and arguments are written in a
    row."""
    opened = opening_of(tools)
    if tools.json is not None:
        return CallObject((Text(tools.json.prefix),), opened, _declared_fields(tools), tools.json.suffix)
    kinds = [item.kind for item in tools.call if isinstance(item, Slot)]
    if "arguments" not in kinds or "name" in kinds[: kinds.index("arguments")] or tools.replacements("value"):
        return None  # with escapes in a part of it, it is an object only once they are undone
    return _object_in(tools, opened)


def opening_of(tools: Tools) -> str:
    """Return the text that opens an object of the dialect."""
    return (tools.dialect.in_object.object_open.strip() if tools.dialect else "") or "{"


def _declared_fields(tools: Tools) -> Fields:
    json_fields = tools.json
    assert json_fields is not None
    if json_fields.name_is_key:
        return NAME_IS_KEY
    known = [(json_fields.name, "name"), (json_fields.arguments, "arguments")]
    known += [(json_fields.id or (), "id"), (json_fields.index or (), "index")]
    known += [(path, "constant") for path, _ in json_fields.constants]
    paths = [path for path, _ in known]
    own = json_fields.arguments
    others = [(*own[:-1], name) for name in (*ARGUMENTS, *OTHER_ARGUMENTS) if own]  # where models write them
    known += [(path, "arguments") for path in others if path not in paths]
    return tuple((path, role) for path, role in known if path)


def wrapped_fields(fields: Fields) -> Fields:
    """Return the paths of a call whose members are inside the member "function", as APIs have them."""
    roles = {path[0]: role for path, role in fields if len(path) == 1}
    if (
        roles.get("name") != "name"
        or "arguments" not in map(roles.get, ARGUMENTS)
        or WRAPPER in {p[0] for p, _ in fields}
    ):
        return ()
    return tuple(((WRAPPER, key), role) for key, role in roles.items() if role in ("name", "arguments"))


def _object_in(tools: Tools, opened: str) -> CallObject | None:
    """Return the first object of the dialect in the call's text; None if it doesn't contain name and arguments."""
    assert tools.dialect is not None
    written, names = _written(merged(tools.call), tools.dialect.in_object)
    facts = spelling_of(tools.dialect.in_object, also_python=True)
    style = Style(facts.strings, dict(facts.words), facts.punctuation)
    start = written.find(opened)
    while start >= 0:
        reader = Reader((style, style, style))
        stop = reader.read(written, start, True)
        if not reader.want and not reader.repair:
            fields = tuple(_fields(json.loads(reader.take())))
            if {"name", "arguments"} <= {role for _, role in fields}:
                return CallObject(_layout(written[:start], names), opened, fields, written[stop:])
        start = written.find(opened, start + 1)
    return None


def _written(layout: Sequence[Text | Slot], style: ValueStyle) -> tuple[str, Mapping[str, SlotKind]]:
    """Return the layout as one text, with a name of its own for each slot."""
    names = {f"{_MARK}{kind}{_MARK}": kind for kind in get_args(SlotKind)}
    open_close = (style.strings[0].open, style.strings[0].close) if style.strings else ("", "")
    quoted = {"arguments": f"{_MARK}arguments{_MARK}".join(open_close)}
    texts = (
        item.text if isinstance(item, Text) else quoted.get(item.kind, f"{_MARK}{item.kind}{_MARK}") for item in layout
    )
    return "".join(texts), names


def _layout(text: str, names: Mapping[str, SlotKind]) -> Layout:
    parts = re.split(f"({_MARK}[a-z]+{_MARK})", text)
    return merged(tuple(Slot(names[part]) if part in names else Text(part) for part in parts))


def _fields(members: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(members, dict):
        for key, value in members.items():
            yield from _fields(value, (*path, key))
    else:
        role = members.strip(_MARK) if isinstance(members, str) and members[:1] == _MARK else ""
        yield path, role if role in ("name", "arguments", "id", "index") else "constant"


def object_head(tools: Tools) -> tuple[str, str] | None:
    """Return a pattern for a call's object up to the name, and the text from the end of the name to the inside of the
    arguments; None unless the name comes before the arguments, in plain JSON."""
    if tools.json is None:
        return None
    assert tools.dialect is not None
    paths = {"name": tools.json.name, "id": tools.json.id or (), "arguments": tools.json.arguments}
    layout = merged(tools.call)
    order = [item.kind for item in layout if isinstance(item, Slot)]
    before = order[: order.index("arguments")]
    flat = all(len(paths.get(kind, ())) == 1 for kind in (*before, "arguments"))
    plain = all(string.open == '"' and string.escape == "json" for string in tools.dialect.in_object.strings)
    to_arguments = text_at(layout, layout.index(Slot("arguments")) - 1)
    plain = plain and flat and without_space(to_arguments) == f'","{paths["arguments"][0]}":'
    if not plain or before[-1:] != ["name"] or tools.dialect.in_object.object_open != "{":
        return None
    text = r'"\s*:\s*"(?P<{}>[^"\\\x00-\x1f]*)"'
    fields = ['"' + exact(paths[kind][0]) + text.replace("{}", kind) for kind in before]
    return r"\{\s*" + r"\s*,\s*".join(fields), to_arguments[1:] + "{"
