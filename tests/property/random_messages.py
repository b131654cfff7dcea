"""Messages for a design, and the text that its model would write for them, made without the template.

    Message(reasoning="Hm.", content=None, calls=(Call("f", {"a": 1}, None),))
        →  "<vok>Hm.</vok><zim>f<tra>{"a": 1}</zim>"

Free text is drawn again until no marker begins in it, so that the message is one the format can carry.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from typing import Any

from tests.property.random_design import Calls, Custom, Design, Values


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any]
    id: str


@dataclass(frozen=True, slots=True)
class Message:
    reasoning: str | None
    content: str | None
    calls: tuple[Call, ...]

    def for_template(self, design: Design) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning is not None and design.reasoning:
            key = design.reasoning.key
            if key.startswith("part:"):
                kind = key[len("part:") :]
                parts = [{"type": kind, kind: self.reasoning}]
                message["content"] = parts + ([{"type": "text", "text": self.content}] if self.content else [])
            elif key:
                message[key] = self.reasoning
        if self.calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in self.calls
            ]
        return message

    def expected(self, design: Design) -> dict[str, Any]:
        """Return the message as a parser gives it; ids only if the format has them, arguments as values."""
        carries = design.calls is not None and _has_id(design.calls)
        return {
            "content": self.content,
            "reasoning_content": self.reasoning,
            "tool_calls": [
                {"id": c.id if carries else None, "name": c.name, "arguments": c.arguments} for c in self.calls
            ],
        }

    def tools(self) -> list[dict[str, Any]]:
        """Return declarations that these calls fit."""
        return [
            {"type": "function", "function": {"name": c.name, "description": "", "parameters": schema_of(c.arguments)}}
            for c in self.calls
        ]


def schema_of(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"type": "object", "properties": {k: schema_of(v) for k, v in value.items()}}
    if isinstance(value, list):
        schemas = [schema_of(v) for v in value]
        return {"type": "array", "items": schemas[0]} if schemas else {"type": "array"}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "integer"}
    if isinstance(value, float):
        return {"type": "number"}
    return {"type": ["integer", "null"]} if value is None else {"type": "string"}


def _has_id(calls: Calls) -> bool:
    return ("id",) in calls.layout or any(member.value == ("id",) for member in calls.members)


# What the model writes.


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a turn.  Free text ends where the next marker begins; a value knows its own end."""

    text: str
    kind: str  # "marker", "free", "raw" (a bare argument value), "value"


def turn_text(design: Design, message: Message) -> str:
    """Return the turn as the template renders it, from its header to its end."""
    return "".join(piece.text for piece in turn_pieces(design, message))


def turn_pieces(design: Design, message: Message, *, reasons: bool = False) -> list[Piece]:
    """Return the pieces of a turn. `reasons`: the reasoning is always written, also if it is empty or history drops
    it."""
    pieces: list[Piece] = []
    reasoning = design.reasoning
    header = [] if design.repeat_header else [_marker(design.header)]
    again = [_marker(design.header)] if design.repeat_header else []
    pieces += header
    shows = reasoning is not None and (message.reasoning is not None or reasoning.empty)
    if reasoning and (shows or reasons):
        pieces += [*again, _marker(reasoning.start), _free(message.reasoning or ""), _marker(reasoning.end)]
    content: list[Piece] = []
    if message.content:
        opening, closing = design.content
        wrapped = design.wrapped == "always" or (design.wrapped == "with_reasoning" and message.reasoning is not None)
        content = [*again, _marker(opening if wrapped else ""), _free(message.content)]
        content += [_marker(closing if wrapped else "")]
    calls = _call_pieces(design, message) if design.calls and message.calls else []
    pieces += [*calls, *content] if design.content_place == "after" else [*content, *calls]
    pieces.append(_marker(design.call_end if message.calls else design.end))
    return [piece for piece in pieces if piece.text or piece.kind != "marker"]


def _marker(text: str) -> Piece:
    return Piece(text, "marker")


def _free(text: str) -> Piece:
    return Piece(text, "free")


def _call_pieces(design: Design, message: Message) -> list[Piece]:
    calls = design.calls
    assert calls is not None
    pieces = [_marker(calls.section_start)]
    for number, call in enumerate(message.calls):
        pieces.append(_marker(calls.separator if number else ""))
        pieces.append(_marker(design.header if design.repeat_header else ""))
        if calls.members or calls.name_is_key:
            whole = _call_object(calls, call, number)
            pieces += [_marker(calls.prefix), Piece(written(whole, calls), "value"), _marker(calls.suffix)]
            continue
        for item in calls.layout:
            if isinstance(item, str):
                pieces.append(_marker(item))
            elif item == ("arguments",):
                pieces += _arguments(calls, call.arguments)
            else:
                text = {"name": call.name, "id": call.id, "index": str(number + calls.index_base)}[item[0]]
                pieces.append(Piece(text, "value"))
    return [*pieces, _marker(calls.section_end)]


def _call_object(calls: Calls, call: Call, number: int) -> dict[str, Any]:
    if calls.name_is_key:
        return {call.name: call.arguments}
    tree: dict[str, Any] = {}
    slots: dict[str, Any] = {"name": call.name, "arguments": call.arguments, "id": call.id}
    slots["index"] = number + calls.index_base
    for member in calls.members:
        place = tree
        for key in member.path[:-1]:
            place = place.setdefault(key, {})
        place[member.path[-1]] = member.value if isinstance(member.value, str) else slots[member.value[0]]
    return tree


def _arguments(calls: Calls, arguments: dict[str, Any]) -> list[Piece]:
    if calls.pairs is None:
        return _styled(arguments, calls)
    return [_marker(calls.pairs.start), *_pair_pieces(calls, arguments), _marker(calls.pairs.end)]


def _pair_pieces(calls: Calls, arguments: dict[str, Any]) -> list[Piece]:
    assert calls.pairs is not None
    values, pieces = calls.values, []
    for number, (key, value) in enumerate(arguments.items()):
        pieces.append(_marker(calls.pairs.separator if number else ""))
        for item in calls.pairs.pair:
            if isinstance(item, str):
                pieces.append(_marker(item))
            elif item == ("key",):
                pieces.append(Piece(key, "value"))
            elif item == ("type",):
                pieces.append(Piece(_type_word(values, value), "value"))
            elif values.raw and isinstance(value, str):
                opening, closing = values.wrap if re.search("[<&\n]", value) else ("", "")
                pieces += [_marker(opening), Piece(value, "raw"), _marker(closing)]
            else:
                pieces += _styled(value, calls)
    return pieces


def _type_word(values: Values, value: Any) -> str:
    if values.types == "flag":
        return "yes" if isinstance(value, str) else "no"
    words = {str: "text", bool: "truth", type(None): "nothing", dict: "object", list: "list"}
    return words.get(type(value), "number")


def _styled(value: Any, calls: Calls) -> list[Piece]:
    """Return one value in the design's style; text between the template's own marks is bare."""
    values = calls.values
    if values.nested == "custom" and values.custom:
        return _custom(value, values.custom)
    if values.nested == "elements":
        return _elements(value, calls)
    return [Piece(written(value, calls), "value")]


def written(value: Any, calls: Calls) -> str:
    values = calls.values
    if values.nested == "python":
        return repr(value)
    separators = (",", ":") if values.compact else None
    return json.dumps(value, ensure_ascii=values.ascii, indent=values.indent, separators=separators)


def _custom(value: Any, style: Custom) -> list[Piece]:
    if isinstance(value, str):
        return [_marker(style.quote), Piece(value, "raw"), _marker(style.unquote)]
    if isinstance(value, dict):
        pieces = [_marker(style.object_open)]
        for number, (key, inner) in enumerate(value.items()):
            pieces.append(_marker(style.object_separator if number else ""))
            pieces.append(Piece(style.key_open + key + style.key_close + style.colon, "value"))
            pieces += _custom(inner, style)
        return [*pieces, _marker(style.object_close)]
    if isinstance(value, list):
        pieces = [_marker(style.list_open)]
        for number, inner in enumerate(value):
            pieces.append(_marker(style.list_separator if number else ""))
            pieces += _custom(inner, style)
        return [*pieces, _marker(style.list_close)]
    words = {True: style.true, False: style.false, None: style.null}
    is_word = value is None or isinstance(value, bool)
    return [Piece(words[value] if is_word else json.dumps(value), "value")]


def _elements(value: Any, calls: Calls) -> list[Piece]:
    if isinstance(value, dict):
        return _pair_pieces(calls, {k: v for k, v in value.items() if v is not None})
    if isinstance(value, list):
        opening, closing = calls.values.item
        return [p for v in value for p in (_marker(opening), *_elements(v, calls), _marker(closing))]
    return [Piece(value, "raw")] if isinstance(value, str) else [Piece(json.dumps(value), "value")]


# Drawing messages.

_WORDS = ["the", "of", "snow", "paper", "seven", "Größe", "雪", "listen", "quietly", "so", "a", "12", "3.5", "it's"]
_WORDS += ['"both"', "x<y", "&", "done.", "(see)", "a,", "b;", "c:", "why?"]
_NAMES = ["get_forecast", "send_note", "add", "list_rooms", "a1", "lookUp"]
_KEYS = ["city", "days", "note_text", "k", "flag", "Options", "list2"]
_ODD_KEYS = ["two words", "größe", 'quo"te', "a-b", "x.y", "back\\slash"]


def random_message(design: Design, rng: random.Random, *, reasoning: bool, calls: int) -> Message | None:
    """Return a message of this design with so many calls, or None if the format has none like it."""
    if calls and (design.calls is None or (calls > 1 and design.calls.parallel != "yes")):
        return None
    if reasoning and (design.reasoning is None or (design.reasoning.shown == "with_calls" and not calls)):
        return None
    for _ in range(200):
        with_content = not calls or (design.content_place != "dropped" and rng.random() < 0.5)
        message = Message(
            _text(rng) if reasoning else None,
            _text(rng) if with_content else None,
            tuple(_call(design, rng) for _ in range(calls)),
        )
        if _fits(design, message):
            return message
    return None


def _text(rng: random.Random) -> str:
    words = rng.choices(_WORDS, k=rng.randint(1, 12))
    text = words[0]
    for word in words[1:]:
        text += rng.choice([" ", " ", " ", " ", "\n", "\n\n"]) + word
    return text.capitalize() if rng.random() < 0.5 else text


def _call(design: Design, rng: random.Random) -> Call:
    calls = design.calls
    assert calls is not None
    bare_keys = calls.pairs is not None or calls.values.custom is not None
    keys = rng.sample(_KEYS if bare_keys else _KEYS + _ODD_KEYS, k=rng.randint(0, 4))
    arguments = {key: _value(design, calls, rng, depth=0) for key in keys}
    length = calls.id_length or 9
    return Call(rng.choice(_NAMES), arguments, "".join(rng.choices("abcdefghjkmnpqrstuvwxyz0123456789", k=length)))


def _value(design: Design, calls: Calls, rng: random.Random, depth: int) -> Any:
    kinds = ["text", "text", "integer", "float", "boolean", "null", "list", "object"]
    if calls.values.nested == "elements":
        kinds.remove("null")
    kind = rng.choice(kinds[: 6 if depth > 1 and "null" in kinds else 5 if depth > 1 else len(kinds)])
    if kind == "text":
        return _argument_text(design, calls, rng)
    if kind == "integer":
        return rng.choice([0, 7, -12, 10**12, rng.randint(-999, 999)])
    if kind == "float":
        return rng.choice([0.5, -2.25, 1e-07, 3.0, 1.5e300])
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "null":
        return None
    if kind == "list":
        # One type each: a schema says no more of a list than the type of its items.
        items = [_value(design, calls, rng, depth + 1) for _ in range(rng.randint(0, 3))]
        items = [item for item in items if type(item) is type(items[0])]
        if calls.values.nested == "elements":
            items = items[:1] if any(isinstance(i, dict | list) for i in items) else items
            return items or [1]
        return items
    keys = rng.sample(_KEYS, k=rng.randint(0 if calls.values.nested != "elements" else 1, 3))
    return {key: _value(design, calls, rng, depth + 1) for key in keys}


def _argument_text(design: Design, calls: Calls, rng: random.Random) -> str:
    text = _text(rng)
    escaped = not calls.values.raw and calls.values.custom is None
    if escaped and rng.random() < 0.4:
        # Inside an escaped string a marker is text, and so is all that needs an escape.
        return text + rng.choice([*marks(design), "\\n", '"}]', "'", "\t\r\n", "\u2028", "😀", "</"]) + " end"
    return text


def marks(design: Design) -> list[str]:
    """Return the texts that must not begin in free text: every marker of the turn, and the pieces of a call's
    opening."""
    calls, reasoning = design.calls, design.reasoning
    texts = [design.header, design.end, design.call_end, design.user[0], design.tool[0], design.system[0]]
    texts += [*design.content, *((reasoning.start, reasoning.end) if reasoning else ())]
    if calls:
        layout = [item for item in calls.layout if isinstance(item, str)]
        texts += [calls.section_start, calls.section_end, calls.prefix, calls.suffix, *layout]
        texts += [word for text in (calls.section_start, calls.prefix, *layout[:1]) for word in text.split()]
    return sorted({text.strip() for text in texts if len(text.strip()) > 1})


def _fits(design: Design, message: Message) -> bool:
    if design.calls and design.calls.family.startswith("bare") and message.content and message.content[0] in "[{":
        return False
    pieces = turn_pieces(design, message)
    forbidden = marks(design)
    for number, piece in enumerate(pieces):
        if piece.kind not in ("free", "raw"):
            continue
        after = "".join(p.text for p in pieces[number + 1 :])[:80]
        if piece.kind == "free" and _begins(piece.text, after, forbidden):
            return False
        following = after_marker(pieces, number)
        if piece.kind == "raw" and _begins(piece.text, after, [*forbidden, following]):
            return False
    return True


def after_marker(pieces: list[Piece], number: int) -> str:
    """Return the first distinct part of the text that closes a bare value."""
    for piece in pieces[number + 1 :]:
        if piece.text.strip():
            return piece.text.strip()
    return "\0"


def _begins(text: str, after: str, marks: list[str]) -> bool:
    window = text + after
    return any(-1 < window.find(mark) < len(text) for mark in marks)
