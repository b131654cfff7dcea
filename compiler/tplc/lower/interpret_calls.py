r"""Read one call as the template writes it: the plain definition of the states call, arguments and pair.

    read_call(calls, "<call>f\n{"a": 1}</call>", 6)  →  InterpretedCall("f", None, {"a": 1}, end=16)

A call that is written in any other way is a matter of tolerances, which are not defined here: NotAsWritten is raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tplc.ir.nodes import Text
from tplc.ir.spellings import Spelling
from tplc.lower.call_form import CallForm, PairForm, SlotEnd
from tplc.lower.lexemes import Lexemes, lexemes_of
from tplc.lower.pairs import between_pairs, ends_of_value
from tplc.lower.values import style_of
from tplc_runtime.second import distinct
from tplc_runtime.values import Reader, is_usual_number

NAME = re.compile(r"[\w./:-]+")
# Where nothing says which type a raw value has, it is what it reads as.
WORDS = ("true", "false", "null")
AMBIGUOUS = re.compile(r"[\[{\"'+.0-9-]|[nN](?:a[nN]|one)|[iI]nf|[tT]rue|[fF]alse|[nN]ull")


class NotAsWritten(Exception):
    """The text is not written as the template writes it, so this definition says nothing about it."""


@dataclass(frozen=True, slots=True)
class InterpretedCall:
    name: str
    call_id: str | None
    arguments: dict[str, object]
    end: int


def read_call(calls: CallForm, text: str, pos: int) -> InterpretedCall:
    """Read the slots and the arguments of a call whose opener ends at `pos`."""
    if calls.arguments.encoded or calls.replaced or calls.arguments.escapes or calls.arguments.lines is not None:
        raise NotAsWritten
    slots, pos = read_slots(calls.header, text, pos)
    if calls.object.fields:
        # The opener, or the end of the last slot, may include the opening of the object.
        return _object_call(calls, text, pos - len(calls.object.opener) * text.endswith(calls.object.opener, 0, pos))
    if calls.pairs is None:
        arguments, pos = _value(calls.arguments.styles, text, _skip_space(text, pos))
    else:
        arguments, pos = _pairs(calls.pairs, calls.arguments.styles, text, pos)
    if not isinstance(arguments, dict) or not slots.get("name"):
        raise NotAsWritten
    identity = "".join(item.text if isinstance(item, Text) else slots[item.kind] for item in calls.call_id)
    return InterpretedCall(slots["name"], identity if calls.call_id else slots.get("id"), arguments, pos)


def read_slots(slots: Sequence[SlotEnd], text: str, pos: int) -> tuple[dict[str, str], int]:
    """Return the texts up to the first marker that ends each slot, and the position after the last marker."""
    found: dict[str, str] = {}
    for slot in slots:
        ends = lexemes_of([("suffix", slot.suffixes), ("next", slot.nexts)])
        start = _skip_space(text, pos)
        match = re.compile(ends.find, re.DOTALL).search(text, start)
        stop = min((at for char in slot.stops if (at := text.find(char, start)) >= 0), default=len(text))
        if match is not None and match.start() <= stop:
            value, pos = text[start : match.start()], match.end() if _kind(ends, match) == "suffix" else match.start()
        else:
            value, pos = text[start:stop], stop + (slot.kind == "key")
        value = value.strip()
        if pos >= len(text) or not NAME.fullmatch(value) or found.setdefault(slot.kind, value) != value:
            raise NotAsWritten
    return found, pos


def _object_call(calls: CallForm, text: str, pos: int) -> InterpretedCall:
    """call = "{" (key ":" value)* "}", whose members are the name, the arguments and the id."""
    members, end = _value(calls.arguments.styles, text, _skip_space(text, pos))
    if not isinstance(members, dict):
        raise NotAsWritten
    if calls.object.name_is_key:
        found: dict[str, object] = dict(zip(("name", "arguments"), next(iter(members.items()), ()), strict=False))
        is_known = len(members) == 1
    else:
        found = {role: _member(members, calls.object.path_of(role)) for _, role in calls.object.fields}
        is_known = set(members) <= {path[0] for path, _ in calls.object.fields}
    name, arguments, call_id = found.get("name"), found.get("arguments"), found.get("id")
    if not (is_known and isinstance(name, str) and NAME.fullmatch(name) and isinstance(arguments, dict)):
        raise NotAsWritten
    return InterpretedCall(name, None if call_id is None else str(call_id), arguments, end)


def _member(value: object, path: Sequence[str]) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _value(styles: tuple[Spelling, Spelling, Spelling] | None, text: str, pos: int) -> tuple[object, int]:
    """Read one value of the dialect, which ends by itself."""
    if styles is None:
        raise NotAsWritten
    top, in_list, in_object = map(style_of, styles)
    reader = Reader((top, in_list, in_object))
    end = reader.read(text, pos, True)
    if reader.want or reader.repair:
        raise NotAsWritten
    try:
        return json.loads(reader.take(), object_pairs_hook=distinct), end
    except ValueError as error:
        raise NotAsWritten from error


def _pairs(
    pairs: PairForm, styles: tuple[Spelling, Spelling, Spelling] | None, text: str, pos: int
) -> tuple[dict[str, object], int]:
    """arguments = (pair | separator)* end"""
    rewritten = pairs.value.wrap or pairs.value.items or pairs.value.types or pairs.value.escapes or pairs.replaced
    if (
        pairs.value.guessed
        or pairs.value_end.around_key
        or pairs.close_like_opener
        or pairs.types_open_pairs
        or rewritten
    ):
        raise NotAsWritten
    between, found = between_pairs(pairs, ()), dict[str, object]()
    while True:
        pos = _skip_space(text, pos)
        match = re.compile(between.find, re.DOTALL).match(text, pos)
        kind = _kind(between, match) if match is not None else ""
        if match is not None and kind in ("end", "next"):
            return found, match.end() if kind == "end" else pos
        if match is not None and kind == "skip":
            pos = match.end()
            continue
        if pairs.opens and (match is None or kind != "pair"):
            raise NotAsWritten
        slots, pos = read_slots(pairs.slots, text, match.end() if match is not None and pairs.opens else pos)
        if "key" not in slots or slots["key"] in found:
            raise NotAsWritten
        key = slots["key"]
        if pairs.value.quoted:
            found[key], pos = _value(styles, text, _skip_space(text, pos))
        else:
            found[key], pos = _raw(pairs, text, pos)


def _raw(pairs: PairForm, text: str, pos: int) -> tuple[object, int]:
    """Read a raw value up to its first closer, after which the next pair or the end of the arguments must come."""
    ends, between = ends_of_value(pairs, ()), between_pairs(pairs, ())
    match = re.compile(ends.find, re.DOTALL).search(text, pos)
    if match is None or match.lastindex is None:
        raise NotAsWritten
    lexeme = ends.all[match.lastindex - 1]
    after = re.compile(between.find, re.DOTALL).match(text, _skip_space(text, match.end()))
    opener = next((slot.suffixes[0] for slot in reversed(pairs.slots) if slot.suffixes), "")
    lead = opener[len(opener.rstrip()) :]
    written, value = text[pos : match.start()], ""
    if after is not None and written.startswith(lead) and written.endswith(lexeme.lead):
        value = written[len(lead) : len(written) - len(lexeme.lead)]
    if not value or value != value.strip():
        raise NotAsWritten
    if value in WORDS or is_usual_number(value):
        return json.loads(value), match.end()
    if AMBIGUOUS.match(value):
        raise NotAsWritten
    return value, match.end()


def _kind(lexemes: Lexemes, match: re.Match[str]) -> str:
    return lexemes.all[(match.lastindex or 1) - 1].kind


def _skip_space(text: str, pos: int) -> int:
    return len(text) - len(text[pos:].lstrip())
