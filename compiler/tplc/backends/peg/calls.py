"""The rules of tool calls whose name stands outside the arguments, and of the section around all calls.

"<call>" NAME "\\n" ARGUMENTS "</call>"
→  tool_calls  = call (between_calls call)* between_calls
   call        = call_open name name_end arguments call_close?
   call_open   = ~r"<call>"s
   name        = ~r"\\S[^\\n]{0,511}?(?=\\s*+\\n)"s
   name_end    = ~r"\\s*+\\n?"s
   call_close  = ~r"\\s*+</call>"s
"""

from __future__ import annotations

from functools import partial

from tplc.backends.peg.arguments import argument_sections, arguments_ahead
from tplc.backends.peg.cuts import cut_section, cuts_after
from tplc.backends.peg.facts import Facts
from tplc.backends.peg.known_tools import KnownTools
from tplc.backends.peg.object_calls import object_call_section
from tplc.backends.peg.patterns import begun, either, leaf, literal
from tplc.backends.peg.rules import Rule, Section, external, rule, sequence
from tplc.backends.peg.slots import closing, slot_rules
from tplc.backends.peg.whole_calls import whole_call
from tplc.ir.nodes import Dialect
from tplc.lower import CallShape


def call_sections(dialect: Dialect, facts: Facts, known: KnownTools, *, parallel: bool) -> list[Section]:
    if facts.calls.fields:
        call = object_call_section(dialect, facts, known)
    else:
        call = call_section(facts, known)
    return [
        section_section(facts, parallel=parallel, apart=facts.apart),
        call,
        cut_section(facts, known),
        Section("A call exactly as the template writes it.", (*whole_call(facts, dialect, known),)),
        *argument_sections(dialect, facts, known),
    ]


def section_section(facts: Facts, *, parallel: bool, apart: bool) -> Section:
    """Around and between the calls."""
    named = ["section_close"] if facts.section_close else []
    named += ["call_close"] if facts.call_close and facts.closes_only else []
    named += ["call_separator"] if facts.separator and not apart else []
    # A piece of a closer may be all that the output has of the whole closer.
    whole = "!trailing_for_whole " if facts.calls.longer_than_closers else ""
    skipped = [f"gap {whole}{_any(named)}"] * bool(named) + ["left_sign"] * bool(facts.left_sign)
    between = f"({' / '.join(skipped)})*" if skipped else ""
    openers = ["call_separator"] * apart + ["call_next"] * bool(facts.call_next)
    short = bool(facts.call_open_short and facts.names)
    openers += ["call_next_for_object"] * bool(facts.next_object)
    opened = f"{_any(openers)} gap" if openers else ""
    opened = f"({opened})?" if openers and facts.calls.unmarked else opened
    opened = f"({opened} call / call_next_for_short gap call_for_known__)" if short and opened else f"{opened} call"
    another = sequence("between_calls" if between else "", "gap", opened)
    more = f"({another})*" if parallel else ""
    rules = [
        rule(
            "tool_calls",
            sequence(
                "(call_open gap call / call_open_for_short gap call_for_known__)" if short else "call_open gap call",
                more,
                "between_calls" if between else "",
                # At the end of a text parsimonious tries nothing that `?` makes optional.
                '(calls_cut / "")' if cuts_after(facts) else "",
                "(gap after_turn_for_calls)?" if facts.calls.turn_closers else "",
                "(gap call_separator)?" if apart else "",
            ),
        )
    ]
    rules.append(rule("call_open", leaf(facts.call_open)))
    if short:
        rules.append(rule("call_open_for_short", leaf(facts.call_open_short)))
        rules.append(rule("call_next_for_short", leaf(facts.call_next_short)))
    rules += [rule("call_next", leaf(facts.call_next))] * bool(facts.call_next)
    rules += [rule("between_calls", between)] * bool(between)
    rules.append(rule("gap", leaf(r"\s*+")))
    patterns = {
        "call_separator": facts.separator,
        "call_next_for_object": facts.next_object,
        "left_sign": facts.left_sign,
        "left_opener": facts.left_opener,
        "section_close": facts.section_close,
    }
    rules += [rule(name, leaf(pattern)) for name, pattern in patterns.items() if pattern]
    return Section("Tool calls.", (*rules,))


def _any(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({' / '.join(names)})"


def call_section(facts: Facts, known: KnownTools) -> Section:
    shape, pairs = facts.calls.shape, facts.calls.pairs is not None
    closed = [closing(facts)]
    suffixes = [f"_for_{tool.rule}" for tool in known.tools]
    body = partial(_body, shape, pairs=pairs, empty=bool(facts.calls.bare_call and facts.call_close))
    general = sequence(*body("", without=_no_arguments(facts)), *closed)
    if known:
        others = [f"!header_cut call_for_other__{tool.rule}" for tool in known.tools] + ["!header_cut other_calls"]
        others = others if facts.reads_again else []
        named = [f"call{suffix}" for suffix in suffixes]
        rules = [rule("call", *named, *others, *([] if known.closed else ["call_for_others"]))]
        if facts.call_open_short:
            of_tools = rule("call_for_known__", *named, *others)
            choices = [f'{of_tools.name} ""'] if known.closed else [of_tools.name, "call_for_others"]
            rules = [rule("call", *choices), of_tools]
        if others:
            rules += [
                rule(
                    f"call_for_other__{tool.rule}",
                    sequence(f"other_header_for_{tool.rule}", f'(gap arguments_for_{tool.rule} / "")', *closed),
                )
                for tool in known.tools
            ]
            rules += [external(f"other_header_for_{tool.rule}", facts) for tool in known.tools]
            rules.append(external("other_calls", facts))
        without = "" if pairs else '""'
        rules += [rule(f"call{suffix}", sequence(*body(suffix, without=without), *closed)) for suffix in suffixes]
        rules += [] if known.closed else [rule("call_for_others", general)]
    else:
        rules = [rule("call", general)]
    rules += [*id_rules(shape, known), *slot_rules(facts, known)]
    if facts.call_close:
        rules.append(rule("call_close", leaf(facts.call_close)))
    return Section("One call.", (*rules,))


def _no_arguments(facts: Facts) -> str:
    """What comes in place of the arguments of a call that is no tool's; of pairs, what comes before them or at once."""
    ends = ["call_close", "section_close", "call_separator", "turn_end"]
    present = (facts.call_close, facts.section_close, facts.separator, facts.turn_end)
    named = [name for name, pattern in zip(ends, present, strict=True) if pattern]
    named += ["call_next"] * bool(facts.calls.bare_call and facts.call_next)
    pairs = facts.calls.pairs
    if pairs is None:
        return f"&(gap ({' / '.join(named)}))" if named else "cut"
    if not pairs.opens_at_once:
        return ""
    opened = [*arguments_ahead(facts, pairs), *facts.call_starts, facts.call_next]
    names = [leaf(either([*opened, begun([pairs.start, *pairs.opens])])), *named, "cut"]
    return f"&(gap ({' / '.join(names)}))"


def _body(shape: CallShape, suffix: str, *, pairs: bool, without: str, empty: bool) -> list[str]:
    """The slots of a call with the texts after them: name name_end arguments.  `without`: in place of an object.

    `empty`: a call without arguments may close at once.
    """
    items: list[str] = []
    kinds = [kind for kind, _ in shape.slots]
    for index, (kind, text) in enumerate(shape.slots):
        if kind in shape.id_slots[1:]:
            continue
        if kind in shape.id_slots:
            items.append("id" + (suffix if "name" in shape.id_slots else ""))
            kind, text = shape.slots[index + len(shape.id_slots) - 1]
        elif kind == "arguments" and "name" not in kinds[index:]:
            # With the name of a tool this is a call, with any arguments.
            later = [f"(gap arguments_end gap {other})?" for other in kinds[index + 1 :]]
            if pairs:
                return [*items, *([without] if without else []), f"arguments{suffix}", *later]
            first = "&(gap call_close) / " * empty
            return [*items, f"({first}gap arguments{suffix} / {without})", *later]
        else:
            items += ["gap"] if items else []
            items.append(f"{kind}{suffix}" if kind in ("name", "arguments") else kind)
        items += [f"{kind}_end"] if text.strip() else []
    return items


def id_rules(shape: CallShape, known: KnownTools) -> list[Rule]:
    """An id that is composed of other slots, as in functions.NAME:0."""
    if not shape.id_slots:
        return []
    rules = []
    suffixes = [f"_for_{tool.rule}" for tool in known.tools] if "name" in shape.id_slots else []
    for suffix in [*suffixes, *([] if known.closed else [""])]:
        items = [f"({literal(shape.id_prefix)} gap)?"] if shape.id_prefix else []
        for kind, text in shape.slots:
            if kind in shape.id_slots:
                items += ["gap"] if kind != shape.id_slots[0] else []
                items.append(f"{kind}{suffix}" if kind == "name" else kind)
                items += [f"{kind}_end"] if text.strip() and kind != shape.id_slots[-1] else []
        items += [literal(shape.id_suffix)] if shape.id_suffix else []
        items += ['""'] if len(items) == 1 else []  # a rule that is no more than another one's name loses its own
        rules.append(rule(f"id{suffix}", sequence(*items)))
    return rules
