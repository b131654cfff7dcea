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
from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.known_tools import KnownTools
from tplc.backends.peg.object_calls import object_call_section
from tplc.backends.peg.patterns import begun, either, leaf, literal
from tplc.backends.peg.rules import Rule, Section, rule, sequence
from tplc.backends.peg.slots import closing, slot_rules
from tplc.backends.peg.whole_calls import whole_call
from tplc.lower import CallShape


def call_sections(form: FormPatterns, *, parallel: bool) -> list[Section]:
    return [
        section_section(form, parallel=parallel),
        object_call_section(form) if form.calls.fields else call_section(form),
        cut_section(form),
        Section("A call exactly as the template writes it.", (*whole_call(form),)),
        *argument_sections(form),
    ]


def section_section(form: FormPatterns, *, parallel: bool) -> Section:
    """Around and between the calls."""
    apart = form.calls.is_separated
    named = form.named("section_close", *["call_close"] * form.closes_only, *["call_separator"] * (not apart))
    # A piece of a closer may be all that the output has of the whole closer.
    whole = "!trailing_for_whole " if form.calls.longer_than_closers else ""
    skipped = [f"gap {whole}{_any(named)}"] * bool(named) + form.named("left_sign")
    between = f"({' / '.join(skipped)})*" if skipped else ""
    openers = ["call_separator"] * apart + form.named("call_next", "call_next_for_object")
    short = bool(form["call_open_for_short"] and form.known)
    opened = f"{_any(openers)} gap" if openers else ""
    opened = f"({opened})?" if openers and form.calls.unmarked else opened
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
                '(calls_cut / "")' if cuts_after(form) else "",
                "(gap after_turn_for_calls)?" if form.calls.turn_closers else "",
                "(gap call_separator)?" if apart else "",
            ),
        )
    ]
    rules.append(rule("call_open", leaf(form["call_open"])))
    rules += form.leaves(*["call_open_for_short", "call_next_for_short"] * short, "call_next")
    rules += [rule("between_calls", between)] * bool(between)
    rules.append(rule("gap", leaf(r"\s*+")))
    rules += form.leaves("call_separator", "call_next_for_object", "left_sign", "left_opener", "section_close")
    return Section("Tool calls.", (*rules,))


def _any(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({' / '.join(names)})"


def call_section(form: FormPatterns) -> Section:
    known, shape, pairs = form.known, form.calls.shape, form.calls.pairs is not None
    closed = [closing(form)]
    suffixes = [f"_for_{tool.rule}" for tool in known.tools]
    body = partial(_body, shape, pairs=pairs, empty=bool(form.calls.bare_call and form["call_close"]))
    general = sequence(*body("", without=_no_arguments(form)), *closed)
    if known:
        others = [f"!header_cut call_for_other__{tool.rule}" for tool in known.tools] + ["!header_cut other_calls"]
        others = others if form.reads_again else []
        named = [f"call{suffix}" for suffix in suffixes]
        rules = [rule("call", *named, *others, *([] if known.closed else ["call_for_others"]))]
        if form["call_open_for_short"]:
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
            rules += [form.external(f"other_header_for_{tool.rule}") for tool in known.tools]
            rules.append(form.external("other_calls"))
        without = "" if pairs else '""'
        rules += [rule(f"call{suffix}", sequence(*body(suffix, without=without), *closed)) for suffix in suffixes]
        rules += [] if known.closed else [rule("call_for_others", general)]
    else:
        rules = [rule("call", general)]
    rules += [*id_rules(shape, known), *slot_rules(form), *form.leaves("call_close")]
    return Section("One call.", (*rules,))


def _no_arguments(form: FormPatterns) -> str:
    """What comes in place of the arguments of a call that is no tool's; of pairs, what comes before them or at once."""
    named = form.named("call_close", "section_close", "call_separator", "turn_end")
    named += form.named("call_next") if form.calls.bare_call else []
    pairs = form.calls.pairs
    if pairs is None:
        return f"&(gap ({' / '.join(named)}))" if named else "cut"
    if not pairs.opens_at_once:
        return ""
    opened = [*arguments_ahead(form, pairs), *form.call_starts, form["call_next"]]
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
