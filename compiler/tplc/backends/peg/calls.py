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

from tplc.backends.peg.arguments import argument_sections, arguments_ahead
from tplc.backends.peg.cuts import cut_section
from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.known_tools import KnownTools
from tplc.backends.peg.object_calls import object_call_section
from tplc.backends.peg.patterns import either, leaf, literal, truncated
from tplc.backends.peg.rules import Rule, Section, rule, sequence
from tplc.backends.peg.slots import CLOSING, closing, slot_rules
from tplc.backends.peg.whole_calls import whole_call
from tplc.lower import CallShape


def call_sections(form: FormPatterns, *, parallel: bool) -> list[Section]:
    return [
        section_section(form, parallel=parallel),
        object_call_section(form) if form.calls.object.fields else call_section(form),
        cut_section(form),
        Section("A call exactly as the template writes it.", (*whole_call(form),)),
        *argument_sections(form),
    ]


def section_section(form: FormPatterns, *, parallel: bool) -> Section:
    """Return the rules around and between the calls."""
    calls, apart = form.calls, form.calls.is_separated
    skipped = ["section_close", *["call_close"] * form.closes_only, *["call_separator"] * (not apart)]
    between = "between_calls" if form.named(*skipped, "left_bracket") else ""
    openers = form.named(*["call_separator"] * apart, "call_next", "call_next_for_object")
    opened = f"({' / '.join(openers)}) gap" if openers else ""
    if openers and calls.calls_are_juxtaposed:
        opened = f"({opened} / {leaf(form.not_after_section)})" if form.not_after_section else f"({opened})?"
    # A short opener may be completed by another opener.
    others = form.named("call_next", "call_next_for_short")
    whole = f"(gap ({' / '.join(others)}))? " if others else ""
    another = sequence(
        between, "gap", f"({sequence(opened, 'call')} / call_next_for_short {whole}gap call_for_known__)"
    )
    further = [
        f"({another})*" if parallel else "",
        between,
        # At the end of a text parsimonious tries nothing that `?` makes optional.
        '(calls_cut / "")',
        "(gap after_turn_for_calls)?",
        "(gap call_separator)?" if apart else "",
    ]
    opened = f"(call_open gap call / call_open_for_short {whole}gap call_for_known__)"
    is_shared = calls.opening.may_be_missing and bool(form.known)
    return Section(
        "Tool calls.",
        (
            rule("tool_calls", sequence(opened, *(["further_calls"] if is_shared else further))),
            rule("further_calls", *([sequence(*further)] if is_shared else [])),
            *form.leaves("call_open", "call_open_for_short", "call_next_for_short", "call_next"),
            # A piece of a closer may be all that the output has of the whole closer.
            rule("between_calls", f"(gap !trailing_for_whole ({' / '.join(skipped)}) / left_bracket)*"),
            rule("gap", leaf(r"\s*+")),
            *form.leaves("call_separator", "call_next_for_object", "left_bracket", "left_opener", "section_close"),
        ),
    )


def call_section(form: FormPatterns) -> Section:
    known, shape = form.known, form.calls.shape
    general = sequence(*_body(form, "", without=_no_arguments(form)), closing(form))
    rules = [rule("call", general)] if not known else []
    if known:
        names = [tool.rule for tool in known.tools]
        others = [f"!header_cut call_for_other__{name}" for name in names] + ["!header_cut other_calls"]
        of_tools = [*(f"call_for_{name}" for name in names), *others]
        rules.append(rule("call", *of_tools, "call_for_others"))
        if form["call_open_for_short"]:
            choices = ['call_for_known__ ""'] if known.closed else ["call_for_known__", "call_for_others"]
            rules = [rule("call", *choices), rule("call_for_known__", *of_tools)]
        called = '{} (gap {} / "")'
        rules += [
            rule(
                f"call_for_other__{name}",
                sequence(called.format(f"other_header_for_{name}", f"arguments_for_{name}"), closing(form)),
            )
            for name in names
        ]
        rules += [form.external(f"arguments_begin_for_{name}") for name in names if form.calls.opening.begins]
        if form.reads_again:
            rules += [form.external(f"other_header_for_{name}") for name in names] + [form.external("other_calls")]
        without = '""' if form.calls.pairs is None else ""
        bodies = {name: _body(form, f"_for_{name}", without=without) for name in names}
        rules += [rule(f"call_for_{name}", sequence(*body, closing(form))) for name, body in bodies.items()]
        rules.append(rule("call_for_others", *([] if known.closed else [general])))
    rules += [*id_rules(shape, known), *slot_rules(form), *form.leaves(*CLOSING)]
    return Section("One call.", (*rules,))


def _no_arguments(form: FormPatterns) -> str:
    """Return the text in place of the arguments of a call with an unknown name; for pairs, also the text before
    them."""
    named = form.named("call_close", "section_close", "call_separator", "turn_end")
    named += form.named("call_next") if form.calls.bare_call else []
    pairs = form.calls.pairs
    if pairs is None:
        return f"&(gap ({' / '.join(named)}))" if named else "cut"
    if not pairs.pairs_have_opener:
        return ""
    opened = [*arguments_ahead(form, pairs), *form.call_starts, form["call_next"]]
    names = [leaf(either([*opened, truncated([pairs.start, *pairs.opens])])), *named, "cut"]
    return f"&(gap ({' / '.join(names)}))"


def _body(form: FormPatterns, suffix: str, *, without: str) -> list[str]:
    """Return the slots of a call with the texts after them: name name_end arguments.  `without`: in place of an
    object."""
    items, shape = list[str](), form.calls.shape
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
            items += [f"&arguments_begin{suffix}"] if suffix and form.calls.opening.begins else []
            if form.calls.pairs is not None:
                return [*items, *([without] if without else []), f"arguments{suffix}", *later]
            first = "&(gap call_close) / " * bool(form.calls.bare_call)
            return [*items, f"({first}gap arguments{suffix} / {without})", *later]
        else:
            items += ["gap"] if items else []
            items.append(f"{kind}{suffix}" if kind in ("name", "arguments") else kind)
        items += [f"{kind}_end"] if text.strip() else []
    return items


def id_rules(shape: CallShape, known: KnownTools) -> list[Rule]:
    """Return an id that is composed of other slots, as in functions.NAME:0."""
    if not shape.id_slots:
        return []
    rules = []
    is_named = "name" in shape.id_slots
    suffixes = [f"_for_{tool.rule}" for tool in known.tools] if is_named else []
    for suffix in [*suffixes, *([] if is_named and known.closed else [""])]:
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
