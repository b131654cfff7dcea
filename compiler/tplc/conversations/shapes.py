"""Replace the texts of a conversation by words; the rest is its shape.

    {"role": "assistant", "content": "Oslo is wet.", "tool_calls": [… "name": "rain", "arguments": {"days": "two"}]}
    →  {"role": "assistant", "content": "w0z", "tool_calls": [… "name": "w1z", "arguments": {"w2z": "w3z"}]}

Conversations of one shape are written alike, so what one render of the shape shows holds for all of them.  A text that
holds a phrase which the template compares texts with keeps it: "<why>Hm</why>Yes" → "<why>w0z</why>w1z".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tplc.ir.nodes import Json
from tplc.messages import REASONING_KEYS

# How names and ids are replaced.  `apart`: a different word in each place.  `linked`: one word for all places of a name
# or id, for templates that look calls up by their ids.  `kept`: names, ids and arguments stay, for templates that look
# into ids.
Identifiers = Literal["apart", "linked", "kept"]
SlotKind = Literal["content", "reasoning", "name", "id", "key", "argument"]
# Members of a message that are names for something: equal texts stay equal.
_IDENTIFIERS = ("name", "id", "tool_call_id")
_REASONING = tuple(key for key in REASONING_KEYS if ":" not in key)
_REASONING_PARTS = tuple(key.partition(":")[2] for key in REASONING_KEYS if ":" in key)
_DIGITS = 5
_ID = 4 + _DIGITS
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class WordSlot:
    """A text of a message that a word stands for.  `call` is the index of its call in the message, if it is in one.

    `message` is None for a name or an id that occurs in several.  Words with one `source` are pieces of one text.
    `written` is what the messages have in its place, where that is more than the word.
    """

    message: int | None
    kind: SlotKind
    text: str
    call: int | None = None
    is_number: bool = False
    written: str = ""
    source: int = -1


@dataclass(frozen=True, slots=True)
class StandInWords:
    """The words for one template: they occur neither in its source nor in what is kept of a conversation."""

    stem: str
    number: int

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(rf"({self.stem}[0-9]{{{_DIGITS}}}(?:z|w*)|{self.number}[0-9]{{{_DIGITS}}}(?:\.25)?)")

    def text(self, index: int) -> str:
        return f"{self.stem}{index:0{_DIGITS}}z"

    def id(self, index: int, length: int) -> str:
        """Return a word of this length (nine or more), because templates may require one."""
        return f"{self.stem}{index:0{_DIGITS}}".ljust(length, "w")

    def whole(self, index: int) -> int:
        return int(f"{self.number}{index:0{_DIGITS}}")


def choose_words(*avoided: str) -> StandInWords:
    text = "\n".join(avoided)
    lowered = text.lower()
    stem = next(stem for a in "vxkjqz" for b in "ouiea" for c in "kxjvzq" if (stem := f"{a}{b}{c}u") not in lowered)
    number = next(number for number in range(83917, 99999, 7) if str(number) not in text)
    return StandInWords(stem, number)


@dataclass(slots=True)
class ConversationShape:
    """`messages` with words; `slots` says what each word stands for."""

    messages: list[dict[str, Json]]
    slots: dict[str, WordSlot] = field(default_factory=dict)


def shape_of(
    messages: Sequence[Mapping[str, Json]],
    words: StandInWords,
    phrases: re.Pattern[str] | None,
    identifiers: Identifiers,
) -> ConversationShape:
    return _Shaping(words, phrases, identifiers).shape(messages)


class _Shaping:
    def __init__(self, words: StandInWords, phrases: re.Pattern[str] | None, identifiers: Identifiers) -> None:
        self.words = words
        self.phrases = phrases
        self.identifiers = identifiers
        self.slots: dict[str, WordSlot] = {}
        self.linked: dict[tuple[SlotKind, str], str] = {}
        self.at = 0
        self.call: int | None = None

    def shape(self, messages: Sequence[Mapping[str, Json]]) -> ConversationShape:
        made: list[dict[str, Json]] = []
        for self.at, message in enumerate(messages):
            made.append({key: self.member(key, value) for key, value in message.items()})
        return ConversationShape(made, self.slots)

    def member(self, key: str, value: Json) -> Json:
        if not value:
            return value
        if isinstance(value, str):
            if key == "content":
                return self.text(value, "content")
            if key in _REASONING:
                return self.text(value, "reasoning")
            if key in _IDENTIFIERS:
                return self.identifier(value, "name" if key == "name" else "id")
        elif isinstance(value, list):
            if key == "content":
                return [self.part(part) for part in value]
            if key == "tool_calls":
                return [self.one_call(index, call) for index, call in enumerate(value)]
        return value

    def part(self, part: Json) -> Json:
        if isinstance(part, str):
            return self.text(part, "content")
        if not isinstance(part, dict):
            return part
        kinds: dict[str, SlotKind] = {"text": "content", **dict.fromkeys(_REASONING_PARTS, "reasoning")}
        return {
            key: self.text(value, kinds[key]) if key in kinds and isinstance(value, str) else value
            for key, value in part.items()
        }

    def one_call(self, index: int, call: Json) -> Json:
        if not isinstance(call, dict) or self.identifiers == "kept":
            return call
        self.call = index
        made = {key: self.call_member(key, value) for key, value in call.items()}
        self.call = None
        return made

    def call_member(self, key: str, value: Json) -> Json:
        if key == "function" and isinstance(value, dict):
            return {name: self.call_member(name, item) for name, item in value.items()}
        if key == "arguments":
            return self.argument_text(value) if isinstance(value, str) else self.argument(value)
        if key in _IDENTIFIERS and isinstance(value, str):
            return self.identifier(value, "name" if key == "name" else "id")
        return value

    def argument_text(self, text: str) -> Json:
        """Return JSON text of arguments, encoded again, as a template may read it."""
        try:
            value = json.loads(text)
        except ValueError:
            return self.text(text, "argument")
        if not isinstance(value, dict) or not value:
            return text
        # One word stands for all of the text, braces included.
        word = self.new(text, "argument")
        written = json.dumps({word: word})
        self.slots[word] = replace(self.slots[word], written=written)
        return written

    def argument(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value, "argument")
        if isinstance(value, list):
            return [self.argument(item) for item in value]
        if isinstance(value, dict):
            return {self.key(key): self.argument(item) for key, item in value.items()}
        return self.number(value) if type(value) in (int, float) else value

    def key(self, key: str) -> str:
        return self.new(key, "key") if key.strip() else key

    def number(self, value: Json) -> Json:
        stands: float = self.words.whole(len(self.slots)) + (0.25 if isinstance(value, float) else 0)
        self.slots[str(stands)] = WordSlot(self.at, "argument", json.dumps(value), self.call, is_number=True)
        return stands

    def identifier(self, text: str, kind: SlotKind) -> str:
        if self.identifiers == "kept" or not text.strip():
            return text
        if kind == "id" and (len(text) < _ID or not _PLAIN_ID.fullmatch(text)):
            return text
        word = self.linked.get((kind, text)) if self.identifiers == "linked" else None
        if word is None:
            word = self.words.id(len(self.slots), len(text)) if kind == "id" else self.words.text(len(self.slots))
            self.slots[word] = WordSlot(self.at, kind, text, self.call)
            self.linked[kind, text] = word
        elif self.slots[word].message != self.at:
            self.slots[word] = replace(self.slots[word], message=None)
        return word

    def text(self, text: str, kind: SlotKind) -> str:
        """Return the text with a word for each piece between its phrases."""
        if not text or text.isspace():
            return text
        if self.phrases is None:
            return self.new(text, kind)
        source = len(self.slots)
        pieces = self.phrases.split(text)
        # Odd pieces are phrases.
        return "".join(
            piece if index % 2 or not piece or piece.isspace() else self.new(piece, kind, source)
            for index, piece in enumerate(pieces)
        )

    def new(self, text: str, kind: SlotKind, source: int = -1) -> str:
        word = self.words.text(len(self.slots))
        self.slots[word] = WordSlot(self.at, kind, text, self.call, source=source)
        return word


def phrase_pattern(phrases: Sequence[str]) -> re.Pattern[str] | None:
    if not phrases:
        return None
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(f"({'|'.join(map(re.escape, longest))})")


def texts_of(value: Any) -> list[str]:
    """Return all texts in a message, at any depth."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() if key != "role" for text in texts_of(item)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in texts_of(item)]
    return []
