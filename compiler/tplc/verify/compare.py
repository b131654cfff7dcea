"""What a parser made of a turn, against the message that was rendered.

Case(calls=(Call("f", (("a", 42),)),))  against  a call of f with {"a": "42"}
→  Difference("call 1, argument a", 42, "42")
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tplc.ir.markers import common_prefix
from tplc.ir.nodes import Json, TemplateIR, ValueStyle
from tplc.ir.write import json_type
from tplc.messages import Call
from tplc.verify.battery import Case, id_of

_ABSENT = object()
ID = "id"
NAME = "name of a tool"
_LONGEST = 200  # characters of a value that is shown whole
_BEFORE_DIFFERENCE = 20  # characters of a long text that are shown before what differs


@dataclass(frozen=True, slots=True)
class Difference:
    """`where` in the message, and what was `expected` and `got` there, as text."""

    where: str
    expected: str
    got: str
    kind: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, got {self.got}"


def difference(ir: TemplateIR, case: Case, message: Mapping[str, Any], *, earlier: int = 0) -> Difference | None:
    """Return the first difference; None if the message came back. So many calls are `earlier` in the conversation."""
    for name, expected in (("reasoning_content", case.reasoning), ("content", case.content)):
        got = message.get(name) or ""
        if got != expected:
            kind = "content or reasoning" if not got or not expected else _kind(expected, got)
            return Difference(name, *_shown_both(expected, got), kind)
    calls = message.get("tool_calls") or []
    if len(calls) != len(case.calls):
        return Difference("tool_calls", f"{len(case.calls)} calls", f"{len(calls)} calls", "number of calls")
    for index, (call, got) in enumerate(zip(case.calls, calls, strict=True)):
        found = _call_difference(ir, call, got, earlier + index)
        if found is not None:
            return found
    return None


def _call_difference(ir: TemplateIR, call: Call, got: Mapping[str, Any], index: int) -> Difference | None:
    where = f"call {index + 1}"
    if got["function"]["name"] != call.name:
        return Difference(f"{where}, name", _shown(call.name), _shown(got["function"]["name"]), NAME)
    if ir.tools.call_id.position != "none" and got.get("id") != id_of(ir, call, index):
        return Difference(f"{where}, id", _shown(id_of(ir, call, index)), _shown(got.get("id")), ID)
    try:
        arguments = json.loads(got["function"]["arguments"])
    except json.JSONDecodeError:
        arguments = None
    if not isinstance(arguments, dict):
        return _difference(f"{where}, arguments", dict(call.arguments), got["function"]["arguments"])
    expected = dict(call.arguments)
    for key in [*expected, *(key for key in arguments if key not in expected)]:
        wanted, found = expected.get(key, _ABSENT), arguments.get(key, _ABSENT)
        if wanted is _ABSENT or found is _ABSENT or not same(wanted, found):
            return _difference(f"{where}, argument {key}", wanted, found)
    return None


def same(first: object, second: object) -> bool:
    """Return whether two JSON values are equal: 1 equals 1.0, but not true."""
    if json_type(first) in ("integer", "number") and json_type(second) in ("integer", "number"):
        return first == second
    if json_type(first) != json_type(second):
        return False
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second


def _difference(where: str, expected: object, got: object) -> Difference:
    return Difference(where, *_shown_both(expected, got), _kind(expected, got))


def _kind(first: object, second: object) -> str:
    """Return what differs between two values that have the same render."""
    if first is _ABSENT or second is _ABSENT:
        return " or ".join(sorted({_type(first), _type(second)}))
    if isinstance(first, str) and isinstance(second, str):
        return "outer white space" if first.strip() == second.strip() else "text"
    if isinstance(first, dict) and isinstance(second, dict):
        for key in [*first, *(key for key in second if key not in first)]:
            if not same(first.get(key, _ABSENT), second.get(key, _ABSENT)):
                return _kind(first.get(key, _ABSENT), second.get(key, _ABSENT))
    if isinstance(first, list) and isinstance(second, list):
        for one, other in zip(first, second, strict=False):
            if not same(one, other):
                return _kind(one, other)
        return "length of a list"
    return " or ".join(sorted({_type(first), _type(second)}))


def _type(value: object) -> str:
    return "absent" if value is _ABSENT else json_type(value)


def _shown(value: object) -> str:
    text = "nothing" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[:160] + "…" + text[-30:]


def _shown_both(expected: object, got: object) -> tuple[str, str]:
    """Return both values as `_shown` does, of two long texts without most of what they begin with alike."""
    if isinstance(expected, str) and isinstance(got, str) and min(len(expected), len(got)) > _LONGEST:
        alike = len(common_prefix(expected, got)) - _BEFORE_DIFFERENCE
        if alike > 0:
            expected, got = "…" + expected[alike:], "…" + got[alike:]
    return _shown(expected), _shown(got)


def as_message(ir: TemplateIR, case: Case) -> dict[str, Any]:
    """Return the message that a parser should make of a case."""
    calls = [
        {
            "id": id_of(ir, call, index),
            "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
        }
        for index, call in enumerate(case.calls)
    ]
    return {"content": case.content, "reasoning_content": case.reasoning, "tool_calls": calls}


def as_case(title: str, message: Mapping[str, Any], *, ids: bool = False) -> Case | None:
    """Return the parsed message as a case that can be rendered again; None if its arguments aren't an object.  `ids`:
    with the ids that were read, which every call must have."""
    calls: list[Call] = []
    for got in message.get("tool_calls") or []:
        try:
            arguments = json.loads(got["function"]["arguments"])
        except json.JSONDecodeError:
            return None
        if not isinstance(arguments, dict) or (ids and got.get("id") is None):
            return None
        calls.append(Call(got["function"]["name"], tuple(arguments.items()), got.get("id") if ids else None))
    return Case(title, message.get("reasoning_content") or "", message.get("content") or "", tuple(calls))


def with_texts(ir: TemplateIR, case: Case, read: Case) -> Case:
    """Return what was read, with the case's own texts in the place of values that raw text of them spells.

    Without a schema, nothing distinguishes the text `42` from the number, where the template writes both the same.
    """
    dialect = ir.tools.dialect
    if dialect is None or dialect.top.strings or len(case.calls) != len(read.calls):
        return read
    pairs = zip(case.calls, read.calls, strict=True)
    style = dialect.top
    return replace(read, calls=tuple(replace(got, arguments=_with_texts(call, got, style)) for call, got in pairs))


def _with_texts(call: Call, got: Call, style: ValueStyle) -> tuple[tuple[str, Json], ...]:
    texts = dict(call.arguments)
    found = ((key, value, texts.get(key)) for key, value in got.arguments)
    return tuple(
        (key, text if isinstance(text, str) and _reads_as(text, value, style) else value) for key, value, text in found
    )


def same_message(case: Case, other: Case) -> bool:
    """Return whether two cases are the same message, ids apart."""
    return (case.reasoning, case.content, len(case.calls)) == (
        other.reasoning,
        other.content,
        len(other.calls),
    ) and all(
        one.name == two.name and same(dict(one.arguments), dict(two.arguments))
        for one, two in zip(case.calls, other.calls, strict=True)
    )


def _reads_as(text: str, value: Json, style: ValueStyle) -> bool:
    if isinstance(value, bool) or value is None:
        return text == (style.null if value is None else style.true if value else style.false)
    try:
        return same(json.loads(text), value)
    except json.JSONDecodeError:
        return False


def fits(case: Case, tools: Sequence[Mapping[str, Json]]) -> bool:
    """Return whether the calls of a case have arguments of the types that the tools' schemas ask for."""
    functions: list[Any] = [tool["function"] for tool in tools]
    asked = {function["name"]: function["parameters"] for function in functions}
    return all(
        call.name in asked and _fits(dict(call.arguments), {"type": "object", **asked[call.name]})
        for call in case.calls
    )


def _fits(value: Json, schema: Mapping[str, Any]) -> bool:
    if "anyOf" in schema:
        return any(_fits(value, option) for option in schema["anyOf"])
    kind = json_type(value)
    if schema.get("type", kind) != kind and not (schema["type"] == "number" and kind == "integer"):
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return all(key in known and _fits(item, known[key]) for key, item in value.items())
    if isinstance(value, list):
        return all(_fits(item, schema["items"]) for item in value) if "items" in schema else not value
    return True
