"""Cut and join layouts: the texts around their slots.

(Text("<call>"), Text("<name>"), Slot("name"))  →  (Text("<call><name>"), Slot("name"))
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from tplc.ir.nodes import Layout, Part, Slot, SlotKind, TemplateIR, Text
from tplc_runtime.scanner import ANY_WORD

LANGUAGE_OF_FENCE = re.compile(r"(?<=```)[\w-]+(?=[^\S\n]*\n)")


def merged(layout: Layout) -> tuple[Text | Slot, ...]:
    """Return the layout with neighbouring texts joined and empty ones left out."""
    items: list[Text | Slot] = []
    for item in layout:
        if isinstance(item, Text) and items and isinstance(items[-1], Text):
            items[-1] = Text(items[-1].text + item.text)
        elif not isinstance(item, Text) or item.text:
            items.append(item)
    return tuple(items)


def text_at(layout: Sequence[Text | Slot], index: int) -> str:
    """Return the text at that place; "" if a slot or nothing is there."""
    item = layout[index] if 0 <= index < len(layout) else None
    return item.text if isinstance(item, Text) else ""


def text_after(layout: Sequence[Text | Slot], kind: SlotKind) -> str:
    """Return the text directly after the first slot of this kind; "" if there is none, or no such slot."""
    at = next((index for index, item in enumerate(layout) if item == Slot(kind)), len(layout))
    return text_at(layout, at + 1)


def with_any_language(text: str) -> str:
    """Return the text with a place for any language, or none, where a Markdown fence names one."""
    return LANGUAGE_OF_FENCE.sub(ANY_WORD, text)


def with_outer_space_of(text: str, variant: str) -> str:
    """Return the variant with the outer white space of the text, unless it has its own."""
    core = text.strip()
    if variant != variant.strip() or not core:
        return variant
    lead, _, trail = text.partition(core)
    return lead + variant + trail


def unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def not_blank(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that contain more than white space, each once."""
    return unique(text for text in texts if text.strip())


def space_after_reasoning(ir: TemplateIR, parts: Collection[Part]) -> str:
    """Return the white space with a line break that alone ends reasoning in turns with these parts; "" if a marker
    does."""
    ends = [form.text for form in ir.forms if form.marker == "reasoning.end" and set(form.parts) == set(parts)]
    return next((end for end in ends if "\n" in end and not end.strip()), "")
