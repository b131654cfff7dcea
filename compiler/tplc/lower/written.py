r"""What the template writes around calls and content: for backends that constrain or describe output, not for parsers.

section "<calls>" call* "</calls>", call "<call>" NAME "\n" ARGUMENTS "</call>"
→  WrittenCalls(section_start="<calls>", section_end="</calls>", separator="", call=(Text("<call>"), Slot("name"), …))
"""

from __future__ import annotations

from dataclasses import dataclass

from tplc.ir.nodes import Layout, Slot, SlotKind, TemplateIR, Text, Tools
from tplc.lower.layouts import merged, text_after, text_at


@dataclass(frozen=True, slots=True)
class WrittenCalls:
    """Calls are `section_start` call (`separator` call)* `section_end`, each in the layout `call`."""

    section_start: str
    section_end: str
    separator: str
    call: Layout

    @property
    def opener(self) -> str:
        """Return the text before the first slot of a call."""
        return text_at(self.call, 0)

    @property
    def after_arguments(self) -> str:
        return text_after(self.call, "arguments")

    @property
    def after_name(self) -> str:
        return text_after(self.call, "name")

    @property
    def slot_order(self) -> tuple[SlotKind, ...]:
        """Return the kinds of a call's slots, each where it comes first."""
        return tuple(dict.fromkeys(item.kind for item in self.call if isinstance(item, Slot)))

    @property
    def last_text(self) -> str:
        """Return the text after the last slot of a call."""
        last = self.call[-1] if self.call else Text("")
        return last.text if isinstance(last, Text) else ""


def written_calls(tools: Tools) -> WrittenCalls:
    """Return the texts around calls as the template writes them."""
    return WrittenCalls(tools.section_start, tools.section_end, tools.separator, merged(tools.call))


def writes_reasoning_last(ir: TemplateIR) -> bool:
    """Return whether the template writes the reasoning of a turn after its content."""
    return ir.reasoning.after_content
