"""The text of a message as the template would write it: the inverse of parsing.

    {"content": "Hi", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}
    →  Hi<calls><call>{"name": "f", "arguments": {"a": 1}}</call></calls><end>

The order is reasoning, content, calls, end of turn (content after the calls where the template has it there); a
format without reasoning drops it.  Where the template has reasoning after the content, it is there.  Markers are
those of the turn's shape (`ir/forms.py`).

White space that neighbours share is written once: of a marker's leading white space, the longest beginning that the
text before it ends with is left out, provided that text was written by the template too (a marker or the header).
White space of a value is never touched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote

from tplc.errors import BadMessage
from tplc.ir.forms import PARTS, in_form
from tplc.ir.json_text import NotJson, parse_json
from tplc.ir.markers import lead_of, parts_of
from tplc.ir.nodes import (
    CallId,
    Dialect,
    JsonType,
    Layout,
    Lines,
    ObjectArguments,
    PairArguments,
    Replaced,
    SlotKind,
    StringStyle,
    TemplateIR,
    Text,
    Tools,
    ValueStyle,
)
from tplc.ir.word_slots import with_count


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A piece of a written turn: a marker, or the value of a slot."""

    kind: Literal["marker", "reasoning", "content", "name", "id", "index", "count", "arguments"]
    text: str


def write_message(ir: TemplateIR, message: Mapping[str, Any], *, head: str = "") -> str:
    """Return the turn's text after the header.  `head`, the part that the prompt contains, is removed if it matches."""
    return "".join(part.text for part in write_parts(ir, message)).removeprefix(head)


def write_parts(ir: TemplateIR, message: Mapping[str, Any]) -> tuple[WrittenPart, ...]:
    reasoning = (message.get("reasoning_content") or "") if ir.reasoning.mode != "none" else ""
    content = message.get("content") or ""
    calls = message.get("tool_calls") or ()
    ir = in_form(ir, [part for part, has in zip(PARTS, (reasoning, content, calls), strict=True) if has])
    writer = _Writer(ir.turn.header)
    if not ir.reasoning.after_content:
        _write_reasoning(writer, ir, reasoning)
    # After calls inside of reasoning, the rest of the turn follows its end.
    inside = bool(reasoning and calls and ir.reasoning.start.strip() and not ir.reasoning.end)
    calls_first = ir.content.with_calls == "after" or inside
    if calls and calls_first:
        _write_calls(writer, _with_counts(ir, len(calls)), calls)
    _write_content(writer, ir, content, reasoning)
    if ir.reasoning.after_content:
        _write_reasoning(writer, ir, reasoning)
    if calls and not calls_first:
        _write_calls(writer, _with_counts(ir, len(calls)), calls)
    if ir.turn.ends and not writer.is_ended(ir.turn.ends):  # what closes the calls can end the turn as well
        writer.marker(ir.turn.ends[0])
    return tuple(writer.parts)


def _with_counts(ir: TemplateIR, count: int) -> Tools:
    """Return the calls with their number in the texts around them."""
    start, end = (with_count(ir, text, count) for text in (ir.tools.section_start, ir.tools.section_end))
    return replace(ir.tools, section_start=start, section_end=end)


class _Writer:
    """Collects the parts of a turn as it is written."""

    def __init__(self, header: str) -> None:
        self.parts: list[WrittenPart] = []
        self._header = header

    def marker(self, marker: str) -> None:
        if not self.parts and self._header and marker.startswith(self._header):
            # A part that opens with the header, as the first of the turn: the prompt ends with the header already.
            marker = marker.removeprefix(self._header)
        elif all(part.kind == "marker" for part in self.parts[-1:]):
            before = self.parts[-1].text if self.parts else self._header
            space = lead_of(marker)
            shared = next((n for n in range(len(space), 0, -1) if before.endswith(space[:n])), 0)
            marker = marker[shared:]
        if marker:
            self.parts.append(WrittenPart("marker", marker))

    def is_ended(self, ends: Sequence[str]) -> bool:
        """Return whether the turn's last marker ends as one of `ends` does: with the same token in brackets."""
        last = self.parts[-1] if self.parts else None
        tokens = tuple(parts_of(end.strip())[-1] for end in ends if end.strip())
        words = tuple(token for token in tokens if any(map(str.isalnum, token)))
        return last is not None and last.kind == "marker" and last.text.rstrip().endswith(words)

    def value(self, kind: SlotKind | Literal["reasoning", "content"], value: str) -> None:
        if value:
            assert kind != "key" and kind != "type" and kind != "value"  # slots of pairs, never of a call
            self.parts.append(WrittenPart(kind, value))


def _write_reasoning(writer: _Writer, ir: TemplateIR, reasoning: str) -> None:
    if reasoning:
        writer.marker(ir.reasoning.start)
        writer.value("reasoning", escaped(ir.escapes, "reasoning", reasoning))
        writer.marker(ir.reasoning.end)


def _write_content(writer: _Writer, ir: TemplateIR, content: str, reasoning: str) -> None:
    if not content:
        return
    wrapped = ir.content.mode != "wrapped_with_reasoning" or bool(reasoning)
    if wrapped:
        writer.marker(ir.content.start)
    writer.value("content", escaped(ir.escapes, "content", content))
    if wrapped:
        writer.marker(ir.content.end)


def _write_calls(writer: _Writer, tools: Tools, calls: Sequence[Mapping[str, Any]]) -> None:
    if tools.format == "none":
        raise BadMessage("tool_calls", "this template does not write tool calls")
    writer.marker(tools.section_start)
    for index, call in enumerate(calls):
        if index:
            writer.marker(tools.separator)
        _write_call(writer, tools, call, index, len(calls))
    writer.marker(tools.section_end)


def _write_call(writer: _Writer, tools: Tools, call: Mapping[str, Any], index: int, count: int) -> None:
    slots = {
        "name": _name_text(tools, call["function"]["name"]),
        "arguments": write_arguments(tools, _arguments_of(call, index), base=_indentation(tools)),
        "id": call.get("id") or _made_up_id(tools.call_id, index),
        "index": str(tools.index_base + index),
        "count": str(count),
    }
    bare = tools.bare_call and not _arguments_of(call, index)
    for item in tools.bare_call if bare else tools.call:
        if isinstance(item, Text):
            writer.marker(item.text)
        else:
            writer.value(item.kind, slots[item.kind])


def _arguments_of(call: Mapping[str, Any], index: int) -> Mapping[str, Any]:
    arguments = call["function"].get("arguments")
    path = f"tool_calls[{index}].function.arguments"
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments or "{}")
        except NotJson as error:
            raise BadMessage(path, f"is not JSON: {error}") from error
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise BadMessage(path, "is not a JSON object")
    return arguments


def _name_text(tools: Tools, name: str) -> str:
    # Inside a JSON call the name is part of a string, so it is written as one.
    if tools.format == "json_native" and tools.dialect is not None and tools.dialect.in_object.strings:
        return _escaped(name, tools.dialect.in_object.strings[0])
    return tools.written("name", name)


def _made_up_id(call_id: CallId, index: int) -> str:
    return "" if call_id.position == "none" else f"call{index:05}"


def _indentation(tools: Tools) -> int:
    """Return the depth of the line on which the arguments start; pretty-printed values are indented from there."""
    before = ""
    for item in tools.call:
        if not isinstance(item, Text):
            if item.kind == "arguments":
                break
            before += "x"
        else:
            before += item.text
    line = before.rpartition("\n")[2]
    return len(line) - len(line.lstrip(" "))


# Arguments


def write_arguments(tools: Tools, arguments: Mapping[str, Any], *, base: int = 0) -> str:
    assert tools.dialect is not None and tools.arguments is not None
    if isinstance(tools.arguments, ObjectArguments):
        if tools.arguments.lines is not None:
            lines = tools.arguments.lines
            return write_lines(arguments, lines, tools.dialect.in_object, lines.first)
        text = escaped(
            tools.replaced, "value", write_value(tools.dialect, arguments, tools.dialect.in_object, base=base)
        )
        return json.dumps(text, ensure_ascii=False) if tools.arguments.encoded else text
    arguments = {tools.written("key", key): value for key, value in arguments.items()}
    return _write_pairs(tools.dialect, tools.arguments, arguments, tools.replaced)


def write_lines(value: object, lines: Lines, style: ValueStyle, spaces: int) -> str:
    """Return what follows `key:` or `-`: lines with so many spaces before them, or a scalar in the same line."""
    if value and isinstance(value, Mapping):
        rows = [(f"{key}:", item) for key, item in value.items()]
    elif value and isinstance(value, list | tuple):
        rows = [("-", item) for item in value]
    else:
        empty = "{}" if isinstance(value, Mapping) else "[]" if isinstance(value, list | tuple) else ""
        return " " + (empty or _write_scalar(value, style))
    deeper = spaces + lines.indent
    return "".join("\n" + " " * spaces + row + write_lines(item, lines, style, deeper) for row, item in rows)


def escaped(replaced: Sequence[Replaced], slot: str, text: str) -> str:
    """Return a raw value, content or reasoning as the template writes it."""
    texts = {one.char: one.text for one in replaced if one.slot == slot}
    percent = texts.get("%") == "%25"
    return "".join(texts.get(char) or (quote(char) if percent and ord(char) > 127 else char) for char in text)


def _write_pairs(
    dialect: Dialect, pairs: PairArguments, arguments: Mapping[str, Any], replaced: Sequence[Replaced]
) -> str:
    kept = {key: value for key, value in arguments.items() if not _left_out(dialect.top, value)}
    if not kept:
        return pairs.empty
    body = pairs.separator.join(_write_pair(dialect, pairs, key, value, replaced) for key, value in kept.items())
    return pairs.start + body + pairs.end


def _write_pair(
    dialect: Dialect, pairs: PairArguments, key: str, value: object, replaced: Sequence[Replaced] = ()
) -> str:
    text = escaped(replaced, "value", _write_top(dialect, pairs, value))
    text = escaped(replaced, "string" if isinstance(value, str) else "literal", text)
    word, close = type_word(dialect, value)
    slots = {"key": key, "type": word, "value": text + close}
    return _fill(pairs.pair, slots)


def _write_top(dialect: Dialect, pairs: PairArguments, value: object) -> str:
    wrap = dialect.wrap
    if isinstance(value, str) and wrap is not None and _needs_wrap(value, pairs.pair, is_json=wrap.escape == "json"):
        return _quoted(value, wrap)
    return write_value(dialect, value, dialect.top, pairs=pairs)


def _needs_wrap(text: str, pair: Layout, *, is_json: bool) -> bool:
    """Return whether a raw string needs its wrapper: it starts like a marker, spans lines, or has outer white space; if
    that is JSON, any white space or quotes."""
    if is_json and any(char.isspace() or char in '"\\' for char in text):
        return True
    openers = {item.text.strip()[:1] for item in pair if isinstance(item, Text) and item.text.strip()}
    return text != text.strip() or "\n" in text or "&" in text or any(opener in text for opener in openers)


def _fill(layout: Layout, slots: Mapping[str, str]) -> str:
    return "".join(item.text if isinstance(item, Text) else slots[item.kind] for item in layout)


def type_word(dialect: Dialect, value: object) -> tuple[str, str]:
    """Return the word for the value's type, and the text that goes with it after the value."""
    words = {word.type: (word.word, word.close) for word in dialect.types}
    kind, none = json_type(value), ("", "")
    return words.get(kind, words.get("number", none) if kind == "integer" else none)


def json_type(value: object) -> JsonType:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


# Values


def write_value(
    dialect: Dialect,
    value: object,
    style: ValueStyle,
    *,
    pairs: PairArguments | None = None,
    base: int = 0,
    nested: bool = False,
) -> str:
    """Return one value in `style`; inside a list or an object, the dialect decides.

    `pairs` is the layout of nested elements, `base` the indentation of the line that the value starts on.
    """
    deeper = base + (dialect.indent or 0)
    if isinstance(value, Mapping):
        if dialect.elements is not None and pairs is not None:
            return "".join(
                _write_pair(dialect, pairs, key, item) for key, item in value.items() if not _left_out(style, item)
            )
        inner = style if nested else dialect.in_object
        strings = style.strings or inner.strings
        members = [
            _key(key, style, strings) + style.colon + write_value(dialect, item, inner, base=deeper, nested=True)
            for key, item in value.items()
            if not _left_out(inner, item)
        ]
        separators = style.object_open, style.object_separator, style.object_close
        return _enclosed(members, *separators, indent=dialect.indent, base=base)
    if isinstance(value, list | tuple):
        if dialect.elements is not None and pairs is not None:
            opened, closed = dialect.elements.item_open, dialect.elements.item_close
            return "".join(opened + write_value(dialect, item, style, pairs=pairs) + closed for item in value)
        inner = style if nested else dialect.in_list
        items = [write_value(dialect, item, inner, base=deeper, nested=True) for item in value]
        separators = style.list_open, style.list_separator, style.list_close
        return _enclosed(items, *separators, indent=dialect.indent, base=base)
    return _write_scalar(value, style)


def _enclosed(items: list[str], opened: str, separator: str, closed: str, *, indent: int | None, base: int) -> str:
    if indent is None or not items:
        return opened + separator.join(items) + closed
    line = "\n" + " " * (base + indent)
    return opened + line + (separator.rstrip() + line).join(items) + "\n" + " " * base + closed


def _write_scalar(value: object, style: ValueStyle) -> str:
    if value is None:
        return style.null or ""
    if isinstance(value, bool):
        return style.true if value else style.false
    if isinstance(value, str):
        return _quoted(value, _quoting(value, style.strings)) if style.strings else value
    return json.dumps(value)


def _quoting(text: str, strings: tuple[StringStyle, ...]) -> StringStyle:
    """Return the usual quotes, or the other ones if the text contains the usual quote (as Python's repr chooses)."""
    usual, *others = strings
    if usual.close in text:
        return next((other for other in others if other.close not in text), usual)
    return usual


def _key(key: str, style: ValueStyle, strings: tuple[StringStyle, ...]) -> str:
    """Return a key, quoted like the strings in the object, even if the object itself is among raw text."""
    if all(string.open != style.key_open for string in strings):
        return style.key_open + key + style.key_close
    return _quoted(key, _quoting(key, strings))


def _left_out(style: ValueStyle, value: object) -> bool:
    return value is None and style.null is None


def _quoted(text: str, style: StringStyle) -> str:
    return style.open + _escaped(text, style) + style.close


def _escaped(text: str, style: StringStyle) -> str:
    if style.escape == "none":
        return text
    if style.escape == "json":
        return json.dumps(text, ensure_ascii=style.ascii)[1:-1]
    # A double quote in front makes repr choose single quotes, so only those are escaped; the style's are what counts.
    body = (ascii if style.ascii else repr)('"' + text)[2:-1].replace("\\'", "'")
    return body.replace(style.close, "\\" + style.close)
