r"""When a lazy grammar takes over.

    "<calls>"                                a word: the first part of the opener that no prose holds
    (?:[\s\S]*?(?:\n|</r>))?\s*(\{"name": "(?:f|g)"[\s\S]*)      where the opener is nothing but JSON: at the start of a
                                             line, or after the reasoning, and with a tool's name

    ">>>f\n"                                 words with the tools' names, where the opener has no letters, or a call
                                             may follow content in the middle of a line

`pattern_full` is matched against everything written so far; the grammar reads from its first group on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tplc.grammars.request.openers import CallMarkers, opener_begun
from tplc.ir.nodes import Json, Layout, Slot, Text
from tplc.lower import Acceptor
from tplc.lower.layouts import text_at

TriggerType = Literal["word", "token", "pattern", "pattern_full"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """`token` is the id of a trigger of type token; `value` is its text then."""

    type: TriggerType
    value: str
    token: int | None = None

    def to_json(self) -> dict[str, Json]:
        made: dict[str, Json] = {"type": self.type, "value": self.value}
        return made if self.token is None else {**made, "token": self.token}


@dataclass(frozen=True, slots=True)
class Takeover:
    """Where calls begin, with any one of the texts: "word", anywhere; "start", at the beginning of the
    answer, after white space; "line", also at the start of a line, or right after one of the texts `before`."""

    kind: Literal["word", "start", "line"]
    opener: str
    names: tuple[str, ...] = ()  # with what is after a name
    before: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(self.opener + name for name in self.names) or (self.opener,)


def takeovers(
    acceptor: Acceptor, markers: CallMarkers, names: Iterable[str], head: str, before: Iterable[str], *, index: int = 0
) -> tuple[Takeover, ...]:
    """Return the places where a lazy grammar takes over.  `head`: the part of the turn that is in the prompt; if it
    begins an opener, the rest of the opener triggers.  `before`: texts that may come directly before calls, together
    with the format's own; `index`: the number of the first call."""
    begun, mark = opener_begun(markers, head), markers.mark
    opener = markers.first.lstrip()
    starts = [start.text.strip() for start in (*acceptor.reasoning_starts, *acceptor.content_starts)]
    if mark is not None and any(start.startswith(mark) for start in starts):
        # The mark alone opens another part.  If the whole opener does so too, only a tool's name opens a call.
        mark = None if any(start.startswith(opener) for start in starts) else opener
    if mark is not None and len(begun) < len(mark) and not begun:
        return (Takeover("word", mark),)
    before_name, is_named = _before_name(markers.call, index)
    after = text_at(markers.call, markers.call.index(Slot("name")) + 1)[:1] if is_named else ""
    called = tuple(before_name + name * is_named + after for name in names)
    found: list[Takeover] = []
    if begun:
        found.append(Takeover("start", opener[len(begun) :], called))
    if mark is not None:
        found.append(Takeover("word", mark))
    elif markers.bare and not (markers.in_line and re.match(r"\W", opener)):
        # An opener that begins with a letter could be the end of a word inside a line.
        ends = (text.strip() for text in (*acceptor.reasoning_ends[:1], *acceptor.content_ends[:1], *before))
        found.append(Takeover("line", opener, called, tuple(dict.fromkeys(ends))))
    else:
        found += [Takeover("word", opener + name) for name in called]
    return tuple(found)


def _before_name(call: Layout, index: int) -> tuple[str, bool]:
    """Return the text between the opener and the name of the first call, and whether it is known up to the name."""
    text = ""
    for item in call:
        if isinstance(item, Slot) and item.kind != "index":
            return text, item.kind == "name"
        text += item.text if isinstance(item, Text) else str(index)
    return text, False


def triggers(found: Iterable[Takeover]) -> tuple[Trigger, ...]:
    return tuple(dict.fromkeys(map(_trigger, found)))


def _trigger(takeover: Takeover) -> Trigger:
    if takeover.kind == "word":
        return Trigger("word", takeover.opener)
    called = "|".join(map(_escaped, takeover.names))
    call = rf"({_escaped(takeover.opener)}(?:{called})[\s\S]*)"
    if takeover.kind == "start":
        return Trigger("pattern_full", rf"[ \t\r\n]*{call}")
    before = "|".join(["\\n", *map(_escaped, takeover.before)])
    return Trigger("pattern_full", rf"(?:[\s\S]*?(?:{before}))?[ \t\r\n]*{call}")


def fires_at(found: Iterable[Trigger], text: str) -> int | None:
    """Return where the grammar would start reading `text`; None if no trigger fires."""
    places = []
    for trigger in found:
        if trigger.type in ("word", "token"):
            places.append(text.find(trigger.value))
        else:
            match = (
                re.fullmatch(trigger.value, text) if trigger.type == "pattern_full" else re.search(trigger.value, text)
            )
            places.append(-1 if match is None else match.start(match.lastindex or 0))
    return min((place for place in places if place >= 0), default=None)


def _escaped(text: str) -> str:
    """Return the text as a pattern that means the same in Python and ECMAScript."""
    special = re.sub(r"([\\^$.|?*+()\[\]{}/])", r"\\\1", text)
    return special.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
