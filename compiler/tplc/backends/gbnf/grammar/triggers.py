r"""When a lazy grammar takes over.

    "<calls>"                                a word: the first part of the opener that no prose holds
    (?:[\s\S]*?(?:\n|</r>))?\s*(\{"name": "(?:f|g)"[\s\S]*)      where the opener is nothing but JSON: at the start of a
                                             line, or behind the reasoning, and with a tool's name

    ">>>f\n"                                 words with the tools' names, where the opener has no letters

`pattern_full` is matched against everything written so far; the grammar reads from its first group on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tplc.backends.gbnf.grammar.openers import Markers, opener_begun
from tplc.lower import Acceptor
from tplc.lower.layouts import text_at

TriggerType = Literal["word", "pattern", "pattern_full"]


@dataclass(frozen=True, slots=True)
class Trigger:
    type: TriggerType
    value: str


def triggers(acceptor: Acceptor, markers: Markers, names: Iterable[str], head: str) -> tuple[Trigger, ...]:
    """`head`: what the prompt holds of the turn; where that begins an opener, the rest of it triggers."""
    begun = opener_begun(markers, head)
    opener = markers.first.lstrip()
    if markers.mark is not None and len(begun) < len(markers.mark) and not begun:
        return (Trigger("word", markers.mark),)
    behind = text_at(markers.call, 1)[:1]
    called = "|".join(_escaped(name + behind) for name in names)
    found: list[Trigger] = []
    if begun:
        found.append(Trigger("pattern_full", rf"[ \t\r\n]*({_escaped(opener[len(begun) :])}(?:{called})[\s\S]*)"))
    if markers.mark is not None:
        found.append(Trigger("word", markers.mark))
    elif markers.bare:
        ends = [_escaped(text.strip()) for text in (*acceptor.reasoning_ends[:1], *acceptor.content_ends[:1])]
        before = "|".join(["\\n", *dict.fromkeys(ends)])
        call = rf"({_escaped(opener)}(?:{called})[\s\S]*)"
        found.append(Trigger("pattern_full", rf"(?:[\s\S]*?(?:{before}))?[ \t\r\n]*{call}"))
    else:
        found += [Trigger("word", opener + name + behind) for name in names]
    return tuple(found)


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
