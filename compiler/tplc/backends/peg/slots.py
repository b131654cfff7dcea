"""The rules of a call's slots: each ends where the text after it begins.

"<call>" NAME "\\n" ARGUMENTS "</call>"
→  name       = ~r"\\S[^\\n]{0,511}?(?=\\s*+\\n)"s
   name_end   = ~r"\\s*+\\n?"s
   call_close = ~r"\\s*+</call>"s
"""

from __future__ import annotations

from tplc.backends.peg.arguments import arguments_ahead
from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.patterns import any_of, either, leaf, literal, longest_first, marker, marker_word, truncated
from tplc.backends.peg.rules import Rule, rule
from tplc.ir.markers import pieces_of
from tplc.ir.nodes import SlotKind
from tplc.lower import CallForm
from tplc.lower.call_form import WHITE_SPACE
from tplc.lower.lexemes import exact, group
from tplc_runtime.pattern import IDENTIFIER, NAME_CHARACTERS, NAME_LIMIT
from tplc_runtime.slots import NEVER_IN_NAMES, NUMBERS

CLOSING = ("left_bracket_for_note", "content_for_closing", "call_close")
LINE_END = r"[^\S\n]*+\n"
BLANK = r"\s"
BOUNDED_IDENTIFIER = IDENTIFIER.removesuffix("*") + f"{{0,{NAME_LIMIT - 1}}}"


def closing(form: FormPatterns) -> str:
    """Return the call's closing marker; if it has pieces, each may come alone."""
    if not form["call_close"]:
        return ""
    text = "(left_bracket* gap (left_bracket_for_note / content_for_closing))? "
    if not form.closes_only:
        return "(left_bracket* " + text + "gap !trailing_for_whole call_close)? (gap left_opener)?"
    return text + "(gap !trailing_for_whole call_close)* (gap left_opener)?"


def slot_rules(form: FormPatterns) -> list[Rule]:
    rules: list[Rule] = []
    for index, (kind, text) in enumerate(form.calls.shape.slots):
        if kind == "arguments":
            rules += [rule("arguments_end", leaf(r"\s*+" + marker(text.strip())))] if text.strip() else []
            continue
        stop, start = slot_stop(index, form), slot_start(index, form)
        if kind == "name" and text.strip() and form.calls.shape.slots[index + 1 : index + 2]:
            stop = before_counter(stop, slot_stop(index + 1, form), index + 1, form)
        if kind == "name":
            rules += name_rules(stop, start, form)
        else:
            rules.append(rule(kind, leaf(slot_pattern(stop, start, form.breaks))))
        ends = [
            marker(each.lstrip(), any_spelling=form.any_spelling)
            for each in longest_first([text, *variants_after(kind, form.calls)])
        ]
        if text.strip():
            others = rf"|(?=\s*+{start})" if start else ""
            nothing = [marker_word(each) for each in before_nothing(index, form)]
            others += rf"|(?=\s*+{group(either(nothing))}{at_line_end(index, form)})" if nothing else ""
            rules.append(rule(f"{kind}_end", leaf(rf"\s*+{group(either(ends))}" + others)))
    return rules


def before_counter(stop: str, after: str, index: int, form: FormPatterns) -> str:
    """Return the end of a name before a counter: the name may contain that text too, and the one before the number
    counts."""
    if form.calls.shape.slots[index][0] not in NUMBERS:
        return stop
    inner = f"(?:(?!{either([after, form.breaks])})[^\\n]){{0,{NAME_LIMIT}}}?"
    number = rf"\s*+[0-9]++(?={after})"
    return rf"(?:{stop}(?={number})|{stop}(?!{inner}(?:{stop}){number}))"


def slot_start(index: int, form: FormPatterns) -> str:
    """Return the opening of the arguments, for a slot after which the text may be left out."""
    calls, (kind, _) = form.calls, form.calls.shape.slots[index]
    if kind in calls.shape.id_slots and (kind != calls.shape.id_slots[-1] or calls.shape.id_suffix):
        return ""
    slot = next((slot for slot in calls.header if slot.kind == kind), None)
    if slot is None or not slot.bare:
        return ""
    # At the output's end it may also be the beginning of that text.
    return rf"(?!{truncated(slot.suffixes)}){group(either([exact(text.strip()) for text in slot.bare]))}"


def name_rules(stop: str, start: str, form: FormPatterns) -> list[Rule]:
    known, breaks = form.known, form.breaks
    ends = stop + (rf"|\s*+{start}" if start else "")
    if known and "tool_names" in form.acceptor.tolerances:
        others = [(f"name_for_{tool.rule}", f"other_name_for_{tool.rule}", tool.name) for tool in known.tools]
        rules = [rule(name, f"{literal(text)} name_stop", other) for name, other, text in others]
        rules += [rule(other, "!any_name any_name") for _, other, _ in others]  # the engine has a reader for it
        rules.append(rule("any_name", leaf(slot_pattern(stop, start, form.breaks))))
    else:
        rules = [rule(f"name_for_{tool.rule}", f"{literal(tool.name)} name_stop") for tool in known.tools]
    if known:
        rules.append(rule("name_stop", "&" + leaf(ends + _before_other_markers(form))))
    if not known.closed:
        # With tools, no other name contains what is in markup.
        guarded = either([breaks, any_of("".join(sorted(NEVER_IN_NAMES)))]) if known else breaks
        word = f"{BOUNDED_IDENTIFIER}?(?={ends})"  # the first end counts
        # With tools, only the name of one is a name where the text after it is missing.
        whole = slot_pattern(stop, "" if known else start, guarded)
        rules.append(rule("name", leaf(word if form.calls.only_tools else whole)))
    return rules


def _before_other_markers(form: FormPatterns) -> str:
    """Return what may follow the name of a known tool that is the last slot, if its end is missing."""
    shape = form.calls.shape
    if form.calls.name_is_before_arguments or [kind for kind, _ in shape.slots] != ["arguments", "name"]:
        return ""
    cut = truncated([shape.closer[0] or ""])
    return rf"|\s*+{group(either([form.breaks, cut, chr(92) + 'Z']))}"


def slot_pattern(stop: str, start: str = "", breaks: str = "") -> str:
    """Return the shortest text on one line before the text that ends it, or one word before `start`, without
    `breaks`."""
    guard = f"(?!{breaks})" if breaks else ""
    if start:
        text = rf"(?:(?!{start}){guard}[^\n])"
        whole = rf"(?!{stop})(?=\S){text}{{1,{NAME_LIMIT}}}?(?={stop})"
        return rf"{whole}|(?:(?!{stop})[{NAME_CHARACTERS}]){{1,{NAME_LIMIT}}}(?=\s*+{start})"
    char = f"(?:{guard}[^\\n])" if guard else r"[^\n]"
    return rf"(?!{stop}){guard}\S{char}{{0,{NAME_LIMIT - 1}}}?(?={stop})"


def variants_after(kind: SlotKind, calls: CallForm) -> tuple[str, ...]:
    """Return other texts that end a slot."""
    return next((slot.suffixes[1:] for slot in calls.header if slot.kind == kind), ())


def slot_stop(index: int, form: FormPatterns) -> str:
    """Return the end of a slot: the text after it, the beginning of the arguments, or the line's end."""
    calls, shape = form.calls, form.calls.shape
    kind, text = shape.slots[index]
    if kind in shape.id_slots[-1:]:
        text = shape.id_suffix + text
    if calls.object.fields:
        if index == len(shape.slots) - 1:
            text += calls.object.opener
    elif index == len(shape.slots) - 1 and shape.closer:
        # Its closing marker may have pieces, and the first is enough.
        text = next(iter(pieces_of(shape.closer[0] or "")), "")
    if text.strip():
        texts = longest_first([text, *variants_after(kind, calls)])
        found = [marker_word(each, any_spelling=form.any_spelling) for each in [*texts, *before_nothing(index, form)]]
        return r"\s*+" + group(either(found)) + at_line_end(index, form)
    if text and shape.slots[index + 1 : index + 2] and shape.slots[index + 1][0] != "arguments":
        return LINE_END if "\n" in text else BLANK  # another slot follows
    if calls.pairs is None:
        quoted = [exact(each) for each in calls.header[-1].nexts if each == '"' + calls.object.opener]
        found = [exact(calls.object.opener), *quoted, *(marker_word(each) for each in before_nothing(index, form))]
        return r"\s*+" + group(either(found)) + at_line_end(index, form)
    slot = next((slot for slot in calls.header if slot.kind == kind), None)
    # Where nothing closes a call, the turn's end ends a name without arguments.
    closers = [form["call_close"], form["section_close"]]
    ends = either([*arguments_ahead(form, calls.pairs, after=slot), *(closers if any(closers) else [form["turn_end"]])])
    is_one_word = slot is not None and slot.stops == WHITE_SPACE
    return (rf"\s*+(?:{ends})|" if ends else "") + (BLANK if is_one_word else LINE_END)


def before_nothing(index: int, form: FormPatterns) -> tuple[str, ...]:
    """Return the texts after the last slot before the arguments in a call without any, if that has another form."""
    calls = form.calls
    if not calls.bare_call or [kind for kind, _ in calls.shape.slots[index + 1 : index + 2]] != ["arguments"]:
        return ()
    return tuple(text for text in calls.header[-1].nexts if not text.endswith(calls.object.opener))


def at_line_end(index: int, form: FormPatterns) -> str:
    return f"|{LINE_END}" if before_nothing(index, form) and form.calls.header[-1].stops else ""
