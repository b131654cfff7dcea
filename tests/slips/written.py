"""Cut an answer, as the template writes it, into pieces with their kinds.

    pieces_of(ir, {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]})
    →  Piece("section_start", "<calls>"), Piece("before_name", "<call>", call=0), Piece("name", "f", call=0), …

Only the IR's texts are used, no parser; the pieces in a row are what `write_message` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tplc.ir.forms import PARTS, in_form
from tplc.ir.nodes import PairArguments, Slot, TemplateIR, Text, Tools
from tplc.ir.write import type_word, write_arguments, write_message, write_value
from tplc.lower.layouts import merged


@dataclass(frozen=True, slots=True)
class Piece:
    """`kind`: reasoning_start, reasoning, reasoning_end, content_start, content, content_end, section_start,
    section_end, separator, opener (a call's first text), between (a text between its slots), closer (its last), name,
    id, index, arguments (an object), args_start, args_separator, args_end, args_empty, pair_open, key, key_end, type,
    value, pair_close, turn_end."""

    kind: str
    text: str
    call: int = -1
    key: str = ""

    @property
    def core(self) -> str:
        return self.text.strip()


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def pieces_of(ir: TemplateIR, message: Mapping[str, Any], *, head: str = "") -> list[Piece] | None:
    """Return the pieces of an answer; None if they aren't what the format writes."""
    writer = _Writer(ir.turn.header)
    reasoning, content = message.get("reasoning_content") or "", message.get("content") or ""
    calls = message.get("tool_calls") or ()
    form = in_form(ir, [part for part, has in zip(PARTS, (reasoning, content, calls), strict=True) if has])

    def write_calls() -> None:
        writer.marker("section_start", form.tools.section_start)
        for at, call in enumerate(calls):
            if at:
                writer.marker("separator", form.tools.separator)
            _write_call(writer, form.tools, call["function"]["name"], call["function"]["arguments"], at)
        writer.marker("section_end", form.tools.section_end)

    def write_reasoning() -> None:
        if reasoning:
            writer.marker("reasoning_start", form.reasoning.start)
            writer.value("reasoning", reasoning)
            writer.marker("reasoning_end", form.reasoning.end)

    if not form.reasoning.after_content:
        write_reasoning()
    if calls and form.content.with_calls == "after":
        write_calls()
    if content:
        wrapped = form.content.mode != "wrapped_with_reasoning" or bool(reasoning)
        writer.marker("content_start", form.content.start if wrapped else "")
        writer.value("content", content)
        writer.marker("content_end", form.content.end if wrapped else "")
    if form.reasoning.after_content:
        write_reasoning()
    if calls and form.content.with_calls != "after":
        write_calls()
    written, pieces = write_message(ir, message), writer.pieces
    if text_of(pieces) != written:  # else what closes the calls ends the turn as well
        writer.marker("turn_end", form.turn.ends[0] if form.turn.ends else "")
        if text_of(pieces) != written:
            return None
    return _without_head(pieces, head)


def _without_head(pieces: list[Piece], head: str) -> list[Piece]:
    left = head if text_of(pieces).startswith(head) else ""
    found = []
    for piece in pieces:
        cut = min(len(left), len(piece.text))
        left = left[cut:]
        if piece.text[cut:]:
            found.append(Piece(piece.kind, piece.text[cut:], piece.call, piece.key))
    return found


class _Writer:
    def __init__(self, header: str) -> None:
        self.pieces: list[Piece] = []
        self._header, self._marker = header, True

    def marker(self, kind: str, text: str, call: int = -1, key: str = "", *, shares: bool = True) -> None:
        if not self.pieces and self._header and text.startswith(self._header):
            text = text.removeprefix(self._header)
        elif self._marker and shares:
            before = text_of(self.pieces) or self._header
            space = text[: len(text) - len(text.lstrip())]
            shared = next((n for n in range(len(space), 0, -1) if before.endswith(space[:n])), 0)
            text = text[shared:]
        if text:
            self.pieces.append(Piece(kind, text, call, key))
            self._marker = True

    def value(self, kind: str, text: str, call: int = -1, key: str = "") -> None:
        if text:
            self.pieces.append(Piece(kind, text, call, key))
            self._marker = False


def _write_call(writer: _Writer, tools: Tools, name: str, arguments: Mapping[str, Any], at: int) -> None:
    slots = {"name": tools.written("name", name), "index": str(tools.index_base + at)}
    slots["id"] = "" if tools.call_id.position == "none" else f"call{at:05}"
    layout = tools.call
    last = max(index for index, item in enumerate(layout) if isinstance(item, Slot))
    first = min(index for index, item in enumerate(layout) if isinstance(item, Slot))
    for index, item in enumerate(layout):
        if isinstance(item, Text):
            kind = "opener" if index < first else "closer" if index > last else "between"
            writer.marker(kind, item.text, at)
        elif item.kind != "arguments":
            writer.value(item.kind, slots[item.kind], at)
        else:
            _write_arguments(writer, tools, arguments, at)


def _write_arguments(writer: _Writer, tools: Tools, arguments: Mapping[str, Any], at: int) -> None:
    dialect, pairs = tools.dialect, tools.arguments
    assert dialect is not None
    if not isinstance(pairs, PairArguments):
        return writer.value("arguments", write_arguments(tools, arguments, base=_indentation(tools)), at)
    if not arguments:
        return writer.value("args_empty", pairs.empty, at)
    writer.value("args_start", pairs.start, at)
    layout = merged(pairs.pair)
    place = layout.index(Slot("value"))
    for index, (key, value) in enumerate(arguments.items()):
        if index:
            writer.value("args_separator", pairs.separator, at, key)
        for part, item in enumerate(layout):
            if isinstance(item, Text):
                kind = "pair_open" if part == 0 else "pair_close" if part > place else "key_end"
                writer.value(kind, item.text, at, key)
            elif item.kind == "type":
                writer.value("type", type_word(dialect, value)[0], at, key)
            elif item.kind == "key":
                writer.value("key" if part < place else "key_again", key, at, key)
            else:
                text = write_value(dialect, value, dialect.top, pairs=pairs) + type_word(dialect, value)[1]
                writer.value("value", text, at, key)
    writer.value("args_end", pairs.end, at)
    return None


def _indentation(tools: Tools) -> int:
    before = "".join(item.text if isinstance(item, Text) else "x" for item in tools.call[: _at(tools)])
    line = before.rpartition("\n")[2]
    return len(line) - len(line.lstrip(" "))


def _at(tools: Tools) -> int:
    return tools.call.index(Slot("arguments"))
