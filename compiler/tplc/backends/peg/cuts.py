"""The rules of what an output's end cuts before a call has its name: it is no text, and the output is incomplete.

"<call>" NAME "\\n" ARGUMENTS "</call>"
→  trailing_for_opener = ~r"<ca(?:l(?:l(?:>)?)?)?\\Z"s
   trailing_for_call   = call_open gap begun_name
   begun_name          = ~r"\\s*+(?:(?!\\n)\\S){0,511}\\Z"s
   calls_cut           = gap (trailing_for_next / trailing_for_closer / missing_closer)

Where calls look like any text, it is text all the same, and followed by `cut`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tplc.backends.peg.form import FormPatterns
from tplc.backends.peg.known_tools import KnownTools
from tplc.backends.peg.patterns import (
    any_of,
    begun,
    either,
    leaf,
    literal,
    marker,
    marker_core,
    marker_word,
)
from tplc.backends.peg.rules import Rule, Section, rule, sequence
from tplc.lower import Acceptor, CallForm, PairForm, SlotEnd
from tplc.lower.lexemes import END, exact, group
from tplc.lower.values import LEAST_CUT, NAME_LIMIT


def cut_section(form: FormPatterns) -> Section:
    calls = form.calls
    if not calls.openers:
        return Section("", ())
    rules = [*form.leaves("trailing_for_opener"), *_cut_call(form)]
    rules += [rule("calls_cut", f"gap ({' / '.join(cuts_after(form))})")] if cuts_after(form) else []
    rules += _next_rules(form)
    if calls.turn_closers:
        rules.append(rule("after_turn_for_calls", leaf(_after_turn(form))))
    rules += slot_cuts(form, calls.header, guarded=True, alike=form.alike)
    rules += _tail_rules(form)
    return Section("A call that the output's end cuts before it has a name, or before its last closer.", (*rules,))


def _cut_call(form: FormPatterns) -> list[Rule]:
    opener = leaf("|".join(form.call_starts))
    if form.calls.at_lines:
        indented = leaf(r"[^\S\n]*+(?:" + either(form.call_starts) + ")")
        whole = _cut(form, indented)
        rules = [rule("cut_call", "line_start cut_text")]
        if form.calls.fields:
            rules += [rule("cut_text", "content_for_cut cut"), rule("content_for_cut", whole)]
        else:
            kept = leaf(r"[^\S\n]*+(?:" + either(form.kept_starts) + ")")
            rules += [rule("cut_text", "cut_for_text content_for_cut"), rule("content_for_cut", kept)]
            rules.append(rule("cut_for_text", f"&({whole})"))
    else:
        rules = [rule("trailing_for_call", _cut(form, opener))]
    rules.append(rule("header_cut", _rest(form)))
    return [*rules, *([form.external("cut_object")] if form.calls.fields else [])]


def _rest(form: FormPatterns) -> str:
    """Of a call whose opener has come, up to the output's end."""
    calls = form.calls
    prefix = literal(calls.shape.id_prefix) + "?" if _id_is_first(calls) else ""
    choices = _cuts_of(calls.header)
    if calls.fields:
        choices.append(sequence(*(f"whole_{name}" for name in _slot_names(calls.header)), "gap", "cut_object"))
    return sequence("gap", prefix, f"({' / '.join(choices)})")


def _id_is_first(calls: CallForm) -> bool:
    slots = calls.shape.slots
    return bool(calls.shape.id_prefix and slots and slots[0][0] in calls.shape.id_slots)


def _cut(form: FormPatterns, opener: str) -> str:
    """From the opener on."""
    return sequence(opener, _rest(form))


# After a call


def cuts_after(form: FormPatterns) -> list[str]:
    calls = form.calls
    # A separator alone opens no call: it is dropped in any case.
    names = [f"call_separator {_next_cut(form)}_part"] if form.calls.is_separated else []
    names += [_next_cut(form)] if _opens_next(form) else []
    names += ["trailing_for_tail"] if calls.tail is not None else []
    names += ["trailing_for_whole"] if calls.longer_than_closers else []
    names += ["trailing_for_closer"] if _markers_after(calls) else []
    return [*names, *(["missing_closer"] if _missing(form) else [])]


def _missing(form: FormPatterns) -> str:
    """Where calls stop without their last closer, or with a separator."""
    if form.calls.ends_turn:
        return ""
    if form.not_last:
        return rf"{form.not_last}\Z"
    separator = form["call_separator"]
    return rf"(?<={separator}\s*)\Z" if separator else ""


def _opens_next(form: FormPatterns) -> bool:
    return bool(form["call_next"] or form.calls.fields)


def _next_cut(form: FormPatterns) -> str:
    return "cut_for_next" if form.calls.at_lines else "trailing_for_next"


def _next_rules(form: FormPatterns) -> list[Rule]:
    calls, rules = form.calls, []
    for name, opener in ((_next_cut(form), "".join(form.named("call_next"))), (f"{_next_cut(form)}_part", "")):
        whole = _cut(form, opener)
        rules.append(rule(name, f"&({whole})" if form.calls.at_lines else whole))
    texts, enough = _markers_after(calls), rf"(?=(?:\S\s*){{{LEAST_CUT}}})"
    if texts:
        # With its last closer a call is whole: less than so much more may as well be text.
        least = f"(?:{form.not_last}|{enough})" if form.not_last else enough
        marks = [*texts, *_markers_of_turn(form.acceptor)]
        rules.append(rule("trailing_for_closer", leaf(no_whole(marks) + least + begun(texts, alike=form.alike))))
    if longer := calls.longer_than_closers:
        whole = rf"(?!{group(either([marker_core(text) for text in calls.closers]))}\s*\Z)"
        rules.append(rule("trailing_for_whole", leaf(whole + begun(longer, least=LEAST_CUT, alike=form.alike))))
    if _missing(form):
        rules.append(rule("missing_closer", leaf(_missing(form))))
    return rules


def _markers_after(calls: CallForm) -> list[str]:
    return [*dict.fromkeys(text.strip() for _, texts in calls.behind for text in texts if text.strip())]


def _after_turn(form: FormPatterns) -> str:
    """What is no part of a turn, after a call that is all of it."""
    calls = form.calls
    last = either([marker_core(text) for text in calls.turn_closers])
    marks = [*_markers_after(calls), *calls.closers, *_markers_of_turn(form.acceptor), *form.acceptor.content_ends]
    return rf"(?<=(?:{last})\s*)" + no_whole([text for text in marks if text.strip()]) + ".+"


def _markers_of_turn(acceptor: Acceptor) -> list[str]:
    opened = [*acceptor.strays, *acceptor.reasoning_starts, *acceptor.content_starts]
    texts = [*acceptor.ends, *acceptor.headers, *(each.text for each in opened if each.where == "anywhere")]
    return [text.strip() for text in texts if text.strip()]


def _tail_rules(form: FormPatterns) -> list[Rule]:
    if form.calls.tail is None:
        return []
    opened, slots = form.calls.tail
    return [
        rule("trailing_for_tail", f"{leaf(marker(opened.lstrip()))} ({' / '.join(_cuts_of(slots, '_for_tail'))})"),
        *slot_cuts(form, slots, "_for_tail"),
    ]


# Slots


def pair_cuts(form: FormPatterns, pairs: PairForm, opened: str) -> list[Rule]:
    """A pair that is cut before its value, or a marker before or after it; `opened`: the rules before the key."""
    texts = [*dict.fromkeys(text.strip() for _, found in pairs.between for text in found)]
    marks = leaf(no_whole(texts) + begun(texts, alike=form.alike))
    header = sequence(opened, f"({' / '.join(_cuts_of(pairs.slots, '_for_pair'))})")
    return [rule("trailing_for_pair", marks, header), *slot_cuts(form, pairs.slots, "_for_pair", alike=form.alike)]


def no_whole(texts: Sequence[str]) -> str:
    return f"(?!{either([marker_core(text) for text in texts])})"


def _slot_names(slots: Sequence[SlotEnd]) -> list[str]:
    kinds = [slot.kind for slot in slots]
    return [kind + "_again" * kinds[:index].count(kind) for index, kind in enumerate(kinds)]


def _cuts_of(slots: Sequence[SlotEnd], place: str = "") -> list[str]:
    """In the first slot; in the second; …"""
    names = _slot_names(slots)
    wholes = [[f"whole_{name}{place}" for name in names[:index]] for index in range(len(names))]
    return [sequence(*whole, f"begun_{name}{place}") for whole, name in zip(wholes, names, strict=True)]


def slot_cuts(
    form: FormPatterns, slots: Sequence[SlotEnd], place: str = "", *, guarded: bool = False, alike: bool = False
) -> list[Rule]:
    """Each slot whole, with what ends it, and cut.

    `guarded`: no marker that stands in no name; and the last slot leaves what opens the call's object.
    """
    rules, calls, known = [], form.calls, form.known
    for slot, name in zip(slots, _slot_names(slots), strict=True):
        guard = f"(?!{form.breaks})" if guarded and form.breaks else ""
        left = calls.object_open if guarded and calls.fields and slot is slots[-1] else ""
        rules.append(rule(f"whole_{name}{place}", leaf(_whole_slot(slot, guard, left, alike))))
        rules.append(rule(f"begun_{name}{place}", leaf(_begun_slot(slot, guard, known, alike))))
    return rules


def _ends_of(slot: SlotEnd) -> list[str]:
    return [text for text in (*slot.suffixes, *slot.nexts, *slot.bare) if text.strip()]


def _whole_slot(slot: SlotEnd, guard: str, left: str, alike: bool) -> str:
    ends = either([marker_word(text, alike=alike) for text in _ends_of(slot)])
    after = [_consumed(text, left, alike) for text in sorted(slot.suffixes, key=len, reverse=True) if text.strip()]
    ahead, bare = (either([marker_core(text) for text in texts if text.strip()]) for texts in (slot.nexts, slot.bare))
    after += [rf"(?=\s*+(?:{ahead}))"] if ahead else []
    after += [rf"(?={any_of(slot.stops)})"] if slot.stops else []
    char = rf"(?:{f'(?!{ends})' if ends else ''}{guard}[^\n])"
    whole = rf"\s*+(?=\S){char}{{1,{NAME_LIMIT}}}?(?:{either(after)})"
    # Without the text between, it is one word.
    return either([whole, rf"\s*+[\w.:/-]{{1,{NAME_LIMIT}}}(?=\s*+(?:{bare}))" if bare else ""])


def _consumed(text: str, left: str, alike: bool) -> str:
    if not left or not text.endswith(left):
        return rf"\s*+{marker(text.lstrip(), alike=alike)}"
    rest = text.removesuffix(left)
    return (rf"\s*+{marker(rest.lstrip())}" if rest.strip() else "") + rf"(?=\s*+{exact(left)})"


def _begun_slot(slot: SlotEnd, guard: str, known: KnownTools, alike: bool) -> str:
    ends = either([marker_word(text, alike=alike) for text in _ends_of(slot)])
    char = rf"(?:{f'(?!{ends})' if ends else ''}{guard}\S)"
    space = r"\s*+" if not slot.stops else r"[^\S\n]*+" if " " not in slot.stops else ""
    begins = [rf"\s*{begun(_ends_of(slot))}"] if ends else []
    word = rf"\s*+{char}{{0,{NAME_LIMIT - 1}}}" + group(either([space + END, *begins]))
    words = [tool.name for tool in known.tools if slot.kind == "name" and len(tool.name.split()) > 1]
    return either([word, *([rf"\s*+{begun(words)}"] if words else [])])
