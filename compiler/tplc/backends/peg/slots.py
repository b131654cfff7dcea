"""The rules of a call's slots: each ends where the text after it begins.

"<call>" NAME "\\n" ARGUMENTS "</call>"
→  name       = ~r"\\S[^\\n]{0,511}?(?=\\s*+\\n)"s
   name_end   = ~r"\\s*+\\n?"s
   call_close = ~r"\\s*+</call>"s
"""

from __future__ import annotations

from tplc.backends.peg.arguments import arguments_ahead
from tplc.backends.peg.call_objects import call_object_of
from tplc.backends.peg.facts import CallShape, Facts, object_open
from tplc.backends.peg.known_tools import KnownTools
from tplc.backends.peg.patterns import either, exact, leaf, literal, marker, marker_core
from tplc.backends.peg.rules import Rule, rule
from tplc.ir.markers import pieces_of
from tplc.ir.nodes import PairArguments, Tools

NAME_LIMIT = 512
LINE_END = r"[^\S\n]*+\n"
IDENTIFIER = r"[^\W\d][\w.:-]{0,511}"


def closing(facts: Facts) -> str:
    """The call's closing marker; where that has pieces, each may come by itself."""
    if not facts.call_close:
        return ""
    return "(gap call_close)*" if "|" in facts.call_close else "(gap call_close)?"


def slot_rules(shape: CallShape, tools: Tools, facts: Facts, known: KnownTools) -> list[Rule]:
    rules: list[Rule] = []
    for index, (kind, text) in enumerate(shape.slots):
        if kind == "arguments":
            rules += [rule("arguments_end", leaf(marker(text.strip())))] if text.strip() else []
            continue
        stop = slot_stop(shape, index, tools, facts)
        if kind == "name":
            rules += name_rules(stop, known, bare=facts.bare)
        else:
            rules.append(rule(kind, leaf(slot_pattern(stop))))
        if text.strip():
            rules.append(rule(f"{kind}_end", leaf(rf"\s*+{marker(text.lstrip())}")))
    return rules


def name_rules(stop: str, known: KnownTools, *, bare: bool) -> list[Rule]:
    rules = [rule(f"name_for_{tool.rule}", f"{literal(tool.name)} name_stop") for tool in known.tools]
    if known:
        rules.append(rule("name_stop", "&" + leaf(stop)))
    if not known.closed:
        rules.append(rule("name", leaf(f"{IDENTIFIER}(?={stop})" if bare else slot_pattern(stop))))
    return rules


def slot_pattern(stop: str) -> str:
    """The shortest text on one line that what comes after it ends."""
    return rf"(?!{stop})\S[^\n]{{0,{NAME_LIMIT - 1}}}?(?={stop})"


def slot_stop(shape: CallShape, index: int, tools: Tools, facts: Facts) -> str:
    """What ends a slot: the text after it, or what the arguments begin with, or the line's end."""
    kind, text = shape.slots[index]
    if kind in shape.id_slots[-1:]:
        text = shape.id_suffix + text
    if call_object_of(tools) is not None:
        if index == len(shape.slots) - 1:
            text += object_open(tools)
    elif index == len(shape.slots) - 1 and shape.closer:
        # Its closing marker may have pieces, and the first is enough.
        text = next(iter(pieces_of(shape.closer[0] or "")), "")
    if text.strip():
        return r"\s*+" + marker_core(text)
    assert tools.dialect is not None
    if not isinstance(tools.arguments, PairArguments):
        return r"\s*+" + exact(tools.dialect.in_object.object_open.strip())
    ends = either([*arguments_ahead(tools.arguments), facts.call_close, facts.section_close])
    return (rf"\s*+(?:{ends})|" if ends else "") + LINE_END
