"""Convert the IR to JSON and back.

    Tools(call=(Text("<call>"), Slot("name"), …), arguments=PairArguments(…))
    →  {"call": ["<call>", {"slot": "name"}, …], "arguments": {"kind": "pairs", …}}

The fields and types of the nodes say how: there is no second list of them to keep in step.  Tuples of (name, value)
pairs become JSON objects, other tuples lists.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tplc.errors import BadIR
from tplc.ir import nodes
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.nodes import IR_VERSION, Layout, ObjectArguments, PairArguments, Slot, TemplateIR, Text
from tplc.ir.visible import visible

OLDEST_IR_VERSION = 2
ARGUMENT_KINDS: dict[str, type[ObjectArguments] | type[PairArguments]] = {
    "object": ObjectArguments,
    "pairs": PairArguments,
}


def dumps(ir: TemplateIR) -> str:
    """Write an IR as the text of a file.  Lists of messages are left out: they belong to the report of a verification,
    and may be longer than all of the format."""
    data = to_dict(ir)
    data["verification"].pop("excused")
    data["verification"].pop("needs_tools")
    if not ir.verification.not_read:
        data["verification"].pop("not_read")
    if not ir.verification.refused_by_grammars:
        data["verification"].pop("refused_by_grammars")
    return visible(json.dumps(data, ensure_ascii=False, indent=2)) + "\n"


def loads(text: str) -> TemplateIR:
    try:
        data = parse_json(text)
    except NotJson as error:
        problem = f"JSON ({error})" if error.line is not None else f"JSON that can be read: this {error}"
        raise BadIR("", problem) from error
    return from_dict(data)


def to_dict(ir: TemplateIR) -> dict[str, Any]:
    data = _encode(ir, TemplateIR)
    # The version comes first: readers of the file need it before anything else.
    return {"version": data.pop("version"), **data}


def from_dict(data: object) -> TemplateIR:
    if not isinstance(data, Mapping):
        raise BadIR("", "a JSON object", _shown(data))
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise BadIR("version", "the IR version, a whole number", _shown(version))
    if not OLDEST_IR_VERSION <= version <= IR_VERSION:
        raise BadIR("version", _known_version(version, data), _shown(version))
    ir: TemplateIR = _decode_node(data, TemplateIR, "")
    return ir


def _known_version(version: int, data: Mapping[str, object]) -> str:
    """Return what to do about an IR of another version: learn the format again, which is easier than a conversion."""
    made = data.get("provenance")
    name = made.get("name") if isinstance(made, Mapping) else None
    template = f"the template {_shown(name)}" if isinstance(name, str) else "the template"
    again = f"compile {template} again, tplc compile TEMPLATE -o ir.json"
    todo = f"an earlier tplc wrote this: {again}" if version < OLDEST_IR_VERSION else "a later tplc wrote this: update"
    return f"IR version {IR_VERSION} ({todo})"


# Encoding


def _encode(value: Any, kind: Any) -> Any:
    if kind == Layout:
        return [item.text if isinstance(item, Text) else {"slot": item.kind} for item in value]
    if isinstance(value, ObjectArguments | PairArguments):
        name = next(name for name, node in ARGUMENT_KINDS.items() if isinstance(value, node))
        members = _encode_node(value)
        return {"kind": name, **{key: item for key, item in members.items() if key != "lines" or item is not None}}
    if dataclasses.is_dataclass(value):
        return _encode_node(value)
    if isinstance(value, tuple):
        if _is_mapping(kind):
            return {key: _encode(item, _pair_value(kind)) for key, item in value}
        return [_encode(item, item_kind) for item, item_kind in zip(value, _item_kinds(kind, len(value)), strict=True)]
    return value


def _encode_node(node: Any) -> dict[str, Any]:
    node_type: Any = type(node)
    return {name: _encode(getattr(node, name), kind) for name, kind in _fields(node_type).items()}


# Decoding: every function takes the JSON value, the type it should have, and the path that an error names.


def _decode(value: Any, kind: Any, path: str) -> Any:
    if kind is Any:  # Json: any value is valid
        return value
    if kind == Layout:
        return _decode_layout(value, path)
    if kind in (str, int, bool):
        return _decode_scalar(value, kind, path)
    if dataclasses.is_dataclass(kind):
        return _decode_node(value, kind, path)
    origin = get_origin(kind)
    if origin is Literal:
        if value not in get_args(kind):
            raise BadIR(path, "one of " + ", ".join(map(json.dumps, get_args(kind))), _shown(value))
        return value
    if origin is tuple:
        return _decode_tuple(value, kind, path)
    assert origin in (Union, UnionType), kind
    if value is None and type(None) in get_args(kind):
        return None
    members = [member for member in get_args(kind) if member is not type(None)]
    if set(members) == set(ARGUMENT_KINDS.values()):
        return _decode_arguments(value, path)
    assert len(members) == 1, kind
    return _decode(value, members[0], path)


def _decode_scalar(value: Any, kind: type, path: str) -> Any:
    if type(value) is not kind:
        expected = {str: "a string", int: "a whole number", bool: "true or false"}[kind]
        raise BadIR(path, expected, _shown(value))
    return value


def _decode_layout(value: Any, path: str) -> Layout:
    if not isinstance(value, list):
        raise BadIR(path, 'a list of strings and {"slot": KIND}', _shown(value))
    return tuple(_decode_layout_item(item, f"{path}[{index}]") for index, item in enumerate(value))


def _decode_layout_item(item: Any, path: str) -> Text | Slot:
    if isinstance(item, str):
        return Text(item)
    if isinstance(item, Mapping) and set(item) == {"slot"}:
        return Slot(_decode(item["slot"], nodes.SlotKind, f"{path}.slot"))
    raise BadIR(path, 'a string or {"slot": KIND}', _shown(item))


def _decode_arguments(value: Any, path: str) -> ObjectArguments | PairArguments:
    if not isinstance(value, Mapping) or value.get("kind") not in [*ARGUMENT_KINDS]:
        raise BadIR(path, 'an object with "kind": "object" or "pairs"', _shown(value))
    fields = {key: item for key, item in value.items() if key != "kind"}
    node: ObjectArguments | PairArguments = _decode_node(fields, ARGUMENT_KINDS[value["kind"]], path)
    return node


def _decode_node(value: Any, node: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise BadIR(path, "an object", _shown(value))
    fields = _fields(node)
    unknown = sorted(set(value) - set(fields))
    if unknown:
        raise BadIR(_join(path, unknown[0]), "one of the members " + ", ".join(fields), "an unknown one")
    for field in dataclasses.fields(node):
        if field.name not in value and field.default is dataclasses.MISSING:
            raise BadIR(_join(path, field.name), "a value", "none")
    return node(**{name: _decode(value[name], fields[name], _join(path, name)) for name in fields if name in value})


def _decode_tuple(value: Any, kind: Any, path: str) -> tuple[Any, ...]:
    if _is_mapping(kind):
        if not isinstance(value, Mapping):
            raise BadIR(path, "an object", _shown(value))
        return tuple((key, _decode(item, _pair_value(kind), _join(path, key))) for key, item in value.items())
    if not isinstance(value, list):
        raise BadIR(path, "a list", _shown(value))
    kinds = _item_kinds(kind, len(value))
    if len(kinds) != len(value):
        raise BadIR(path, f"a list of {len(kinds)}", _shown(value))
    return tuple(_decode(item, kinds[index], f"{path}[{index}]") for index, item in enumerate(value))


# Reading the types of the nodes


@cache
def _fields(node: Any) -> dict[str, Any]:
    # Json is a recursive alias that get_type_hints cannot resolve further; as Any it passes through unchanged.
    return get_type_hints(node, {**vars(nodes), "Json": Any})


def _is_mapping(kind: Any) -> bool:
    """Return whether the type is tuple[tuple[str, X], ...]: (name, value) pairs."""
    args = get_args(kind)
    pair = get_args(args[0])
    return get_origin(args[0]) is tuple and len(pair) == 2 and pair[0] is str and pair[1] is not Ellipsis


def _pair_value(kind: Any) -> Any:
    return get_args(get_args(kind)[0])[1]


def _item_kinds(kind: Any, count: int) -> tuple[Any, ...]:
    if get_origin(kind) in (Union, UnionType):
        kind = next(member for member in get_args(kind) if member is not type(None))
    args = get_args(kind)
    return (args[0],) * count if args[-1] is Ellipsis else args


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."
