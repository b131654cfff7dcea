"""All markers of a format, each with the place where the IR has it.

tools.call = "<call>" name "\\n" arguments "</call>"   →   {"<call>": "tools.call", "\\n": "tools.call", …}
"""

from __future__ import annotations

from collections.abc import Iterator

from tplc.ir.nodes import Layout, PairArguments, TemplateIR, Text, Tools
from tplc.ir.roles import ROLES


def own_markers(ir: TemplateIR) -> dict[str, str]:
    """Map each marker's text, without outer white space, to its place; a text in several places belongs to the
    first."""
    found: dict[str, str] = {}
    for place, text in _texts(ir):
        if text.strip():
            found.setdefault(text.strip(), place)
    return found


def opening_of_calls(tools: Tools) -> str:
    """Return the opener of a turn's calls without outer white space: the section's marker, or the first text of a
    call."""
    first = tools.call[0] if tools.call else None
    return tools.section_start.strip() or (first.text.strip() if isinstance(first, Text) else "")


def _texts(ir: TemplateIR) -> Iterator[tuple[str, str]]:
    for role, marker in ROLES.items():
        yield role, marker(ir)
    yield from (("turn.ends", text) for text in ir.turn.ends)
    yield from (("turn.anchors", text) for text in ir.turn.anchors)
    tools = ir.tools
    if tools.json is not None:  # what is inside of the object is its own, not the template's
        yield from (("tools.call", text) for text in (tools.json.prefix, tools.json.suffix))
    else:
        yield from _of_layout("tools.call", tools.call)
    if isinstance(tools.arguments, PairArguments):
        yield from _of_layout("tools.arguments.pair", tools.arguments.pair)
        pairs = tools.arguments
        yield from (("tools.arguments", text) for text in (pairs.start, pairs.separator, pairs.end, pairs.empty))
        words = tools.dialect.types if tools.dialect is not None else ()
        are_markers = pairs.types_open_pairs or any(word.close for word in words)
        texts = (text for word in words if are_markers for text in (word.word, word.close))
        yield from (("tools.dialect.types", text) for text in texts)


def _of_layout(place: str, layout: Layout) -> Iterator[tuple[str, str]]:
    return ((place, item.text) for item in layout if isinstance(item, Text))
