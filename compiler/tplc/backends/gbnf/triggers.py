r"""When a lazy grammar takes over.

    "<calls>"                                a word: the first part of the opener that no prose holds
    (?:[\s\S]*?(?:\n|</r>))?\s*(\{"name": "(?:f|g)"[\s\S]*)      where the opener is nothing but JSON: at the start of a
                                             line, or behind the reasoning, and with a tool's name

`pattern_full` is matched against everything written so far; the grammar reads from its first group on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tplc.backends.gbnf.openers import Markers
from tplc.ir.nodes import TemplateIR, Text

TriggerType = Literal["word", "pattern", "pattern_full"]


@dataclass(frozen=True, slots=True)
class Trigger:
    type: TriggerType
    value: str


def triggers(ir: TemplateIR, markers: Markers, names: Iterable[str]) -> tuple[Trigger, ...]:
    if markers.mark is not None:
        return (Trigger("word", markers.mark),)
    opener = _escaped(markers.first.lstrip())
    following = markers.call[1] if len(markers.call) > 1 else None
    behind = _escaped(following.text[:1]) if isinstance(following, Text) else ""
    called = "|".join(_escaped(name) for name in names)
    ends = [_escaped(text) for text in (ir.reasoning.end.strip(), ir.content.end.strip()) if text]
    before = "|".join(["\\n", *dict.fromkeys(ends)])
    return (Trigger("pattern_full", rf"(?:[\s\S]*?(?:{before}))?[ \t\r\n]*({opener}(?:{called}){behind}[\s\S]*)"),)


def fires_at(found: Iterable[Trigger], text: str) -> int | None:
    """Where the grammar would start reading `text`; None when no trigger fires."""
    places = []
    for trigger in found:
        if trigger.type == "word":
            places.append(text.find(trigger.value))
        else:
            match = (
                re.fullmatch(trigger.value, text) if trigger.type == "pattern_full" else re.search(trigger.value, text)
            )
            places.append(-1 if match is None else match.start(match.lastindex or 0))
    return min((place for place in places if place >= 0), default=None)


def _escaped(text: str) -> str:
    """The text as a pattern that Python and ECMAScript read alike."""
    special = re.sub(r"([\\^$.|?*+()\[\]{}/])", r"\\\1", text)
    return special.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
