"""The properties of one output under one parser.

    check(format, "<call>{", {}, ["<ca", "ll>{"])  →  []      or what is broken: [Broken("stream", "…")]

raised   nothing raises, whole or in chunks
stream   the message of the chunks, and what their deltas add up to, is the message of the whole
json     the arguments of every call are a JSON object; a call begins with its name and without arguments
lost     every character is accounted for (`account.py` says how)
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.fuzz.account import traced_run
from tests.fuzz.formats import Format

Property = Literal["raised", "stream", "json", "lost"]
PROPERTIES: tuple[Property, ...] = ("raised", "stream", "json", "lost")


@dataclass(frozen=True, slots=True)
class Broken:
    property: Property
    detail: str


@dataclass(frozen=True, slots=True)
class Checked:
    broken: tuple[Broken, ...]
    calls: int


def check(form: Format, text: str, options: Mapping[str, Any], chunks: Sequence[str]) -> Checked:
    if "prompt" in options and not options.get("echo"):
        # Of a call that the prompt began, only the rest of its arguments is in the message.
        checked = _check(form, text, options, chunks, json_too=False)
        return checked if checked.broken else _check(form, text, {**options, "echo": True}, [text])
    return _check(form, text, options, chunks)


def _check(
    form: Format, text: str, options: Mapping[str, Any], chunks: Sequence[str], *, json_too: bool = True
) -> Checked:
    try:
        whole, lost = traced_run(form, text, options)
    except Exception:  # noqa: BLE001  that anything at all is raised is what is looked for
        return Checked((Broken("raised", traceback.format_exc()),), 0)
    calls = whole.message["tool_calls"]
    broken = [Broken("lost", what) for what in lost]
    if json_too:
        given = _is_utf8(text + (options.get("prompt") or ""))
        broken += [Broken("json", what) for call in calls if (what := _bad_arguments(call, given))]
    broken += _in_chunks(form, text, options, chunks)
    return Checked(tuple(broken), len(calls))


def _in_chunks(form: Format, text: str, options: Mapping[str, Any], chunks: Sequence[str]) -> list[Broken]:
    """Compare with the whole text without a trace: that sends text of the prompt that is pending through the states."""
    try:
        whole = form.parser.StreamParser(**options)
        whole.feed(text)
        whole.finish()
        stream = form.parser.StreamParser(**options)
        deltas = [delta for chunk in chunks for delta in stream.feed(chunk)] + stream.finish()
        notes = stream.diagnostics, whole.diagnostics  # some are found only now
    except Exception:  # noqa: BLE001
        return [Broken("raised", traceback.format_exc())]
    try:
        added = accumulate(deltas)
    except ValueError as error:
        return [Broken("json", str(error))]
    return [
        Broken("stream", f"{title}\n  in chunks {one!r}\n  as whole  {other!r}")
        for title, one, other in (
            ("message", stream.message, whole.message),
            ("deltas", added, _plain(whole.message)),
            ("incomplete", stream.incomplete, whole.incomplete),
            ("diagnostics", *notes),
        )
        if one != other
    ]


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bad_arguments(call: Mapping[str, Any], must_be_utf8: bool) -> str:
    text = call["function"]["arguments"]
    if must_be_utf8 and not _is_utf8(text):
        return f"arguments {text!r} are no UTF-8"
    try:
        # Integers stay text: Python refuses to read those of more than 4,300 digits.
        value = json.loads(text, parse_int=str, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return f"arguments {text!r}: {error}"
    return "" if isinstance(value, dict) else f"arguments {text!r} are no object"


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def accumulate(deltas: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a client of the stream puts together. Raise ValueError for deltas that no client would understand."""
    texts = {"content": "", "reasoning_content": ""}
    calls: list[dict[str, Any]] = []
    for delta in deltas:
        for kind in texts:
            texts[kind] += delta.get(kind, "")
        for part in delta.get("tool_calls", ()):
            function = part.get("function", {})
            if part["index"] == len(calls):
                if part.get("type") != "function" or not function["name"] or function["arguments"]:
                    raise ValueError(f"a call begins with {part!r}")
                calls.append({"id": part["id"], "name": function["name"], "arguments": ""})
            elif part["index"] != len(calls) - 1 or "name" in function:
                raise ValueError(f"{part!r} after call {len(calls) - 1}")
            elif "id" in part:
                calls[-1]["id"] = part["id"]
            calls[-1]["arguments"] += function.get("arguments", "")
    return {**texts, "tool_calls": calls}


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = [{"id": call["id"], **call["function"]} for call in message["tool_calls"]]
    return {
        "content": message["content"] or "",
        "reasoning_content": message["reasoning_content"] or "",
        "tool_calls": calls,
    }
