"""Markers in which a word differs from turn to turn: the place of the word is a slot.

"<why effort=medium>", "medium" or any word  →  "<why effort=" WORD_SLOT ">"
"<calls 3>", the number of calls             →  with_count(ir, "<calls 3>", 2) = "<calls 2>"
"""

from __future__ import annotations

import re
from dataclasses import replace

from tplc.ir.markers import is_distinctive, is_ordinary, is_unmistakable
from tplc.ir.nodes import Captured, TemplateIR, Text
from tplc_runtime.scanner import PLAIN_WORD, WORD_SLOT

WORD = PLAIN_WORD.pattern.partition("{")[0]  # one of its characters
_BEFORE = re.compile(r"\S\S")  # what a marker begins with, before its slot


def could_hold_any_word(captured: Captured) -> bool:
    """Return whether a marker is still recognisable if any word is in the place of this text: once, after at least two
    characters of the marker and before another one, in a marker that is like nothing in a text, or that opens calls."""
    whole = captured.whole.strip()
    if not re.fullmatch(rf"{WORD}+", captured.text) or len(_places(captured, whole)) != 1:
        return False
    before, after = _around(captured, whole)
    # An opener of calls made of ordinary words counts only before a whole call.
    counted = captured.by == "calls" and captured.marker == "tools.section_start"
    known = (is_unmistakable(whole) and not is_ordinary(whole)) or counted
    ended = re.match(rf"(?!{WORD})", after) is not None and bool(after)
    begun = len(before) > 1 if counted else _BEFORE.match(before) is not None
    return known and ended and begun and is_distinctive(before + after)


def slotted_markers(ir: TemplateIR) -> dict[str, str]:
    """Map markers without outer white space to the same with a slot."""
    found: dict[str, str] = {}
    for captured in ir.captured:
        whole = captured.whole.strip()
        if captured.any_word and whole not in found:
            found[whole] = WORD_SLOT.join(_around(captured, whole))
    return found


def slotted_heads(ir: TemplateIR) -> tuple[str, ...]:
    """Return the heads of prompts, each followed by the same with a slot if a word in it differs."""
    slotted = slotted_markers(ir)
    found: list[str] = []
    for head in ir.turn.heads:
        found += [head, *(head.replace(marker, text) for marker, text in slotted.items() if marker in head)]
    return tuple(dict.fromkeys(found))


def with_count(ir: TemplateIR, marker: str, count: int) -> str:
    """Return a marker with the number of calls in the place of the number with which it was learned."""
    for captured in ir.captured:
        whole = captured.whole.strip()
        if captured.any_word and captured.by == "calls" and whole and whole in marker:
            return marker.replace(whole, str(count).join(_around(captured, whole)))
    return marker


def before_slot(marker: str) -> str:
    """Return the text of a marker before its slot; all of it if it has none."""
    return marker.partition(WORD_SLOT)[0]


def with_slots(ir: TemplateIR) -> TemplateIR:
    """Return the format with slots in its markers, for grammars: they read the texts that are written here."""
    slotted = slotted_markers(ir)
    if not slotted:
        return ir

    def of(text: str) -> str:
        core = text.strip()
        return text.replace(core, slotted[core]) if core in slotted else text

    call = tuple(Text(of(item.text)) if isinstance(item, Text) else item for item in ir.tools.call)
    tools = replace(
        ir.tools,
        call=call,
        section_start=of(ir.tools.section_start),
        section_end=of(ir.tools.section_end),
        separator=of(ir.tools.separator),
    )
    forms = tuple(replace(form, text=of(form.text)) for form in ir.forms)
    reasoning = replace(ir.reasoning, start=of(ir.reasoning.start), end=of(ir.reasoning.end))
    content = replace(ir.content, start=of(ir.content.start), end=of(ir.content.end))
    return replace(ir, reasoning=reasoning, content=content, tools=tools, forms=forms, captured=())


def _places(captured: Captured, whole: str) -> list[re.Match[str]]:
    more = r"\d" if captured.text.isdecimal() else WORD
    return [*re.finditer(rf"(?<!{more}){re.escape(captured.text)}(?!{more})", whole)]


def _around(captured: Captured, whole: str) -> tuple[str, str]:
    place = _places(captured, whole)[0]
    return whole[: place.start()], whole[place.end() :]
