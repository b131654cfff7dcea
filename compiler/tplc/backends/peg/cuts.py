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

from tplc.backends.peg.facts import Facts, last_of
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
    some_suffix,
)
from tplc.backends.peg.rules import Rule, Section, external, rule, sequence
from tplc.backends.peg.styles import breaks_pattern
from tplc.lower import Acceptor, CallForm, PairForm, SlotEnd
from tplc.lower.lexemes import END, NOTHING, exact, first_characters, group
from tplc.lower.states import StateName, states
from tplc.lower.values import LEAST_CUT, NAME_LIMIT
from tplc_runtime.turn import CUT_KINDS


def cut_section(facts: Facts, known: KnownTools) -> Section:
    calls = facts.calls
    if not calls.openers:
        return Section("", ())
    rules = [] if facts.bare else [rule("trailing_for_opener", leaf(facts.begun_opener))]
    rules += _cut_call(facts)
    rules += [rule("calls_cut", f"gap ({' / '.join(cuts_after(facts))})")] if cuts_after(facts) else []
    rules += _next_rules(facts)
    if calls.turn_closers:
        rules.append(rule("after_turn_for_calls", leaf(_after_turn(facts))))
    rules += slot_cuts(
        calls.header,
        known,
        breaks_pattern(calls.breaks),
        opened=calls.object_open if calls.fields else "",
        alike=facts.alike,
    )
    rules += _tail_rules(calls, known)
    return Section("A call that the output's end cuts before it has a name, or before its last closer.", (*rules,))


def cut_names(facts: Facts) -> list[str]:
    """The parts of a turn that are cut calls."""
    if not facts.calls.openers:
        return []
    return ["cut_call"] if facts.bare else ["trailing_for_call"]


# In a turn


def cut_marker(facts: Facts, name: StateName) -> str:
    """The beginning of what ends the turn, or the part of it that this state reads, where the output ends."""
    state = next((state for state in states(facts.acceptor) if state.name == name), None)
    if state is None or "cut_markers" not in facts.acceptor.tolerances:
        return ""
    alike = any(one.kind in CUT_KINDS and one.respelled for one in state.lexemes.all)
    cores = [one.core for one in state.lexemes.all if one.kind in CUT_KINDS and not one.respelled]
    pattern = begun(cores, least=LEAST_CUT, alike=alike)
    leads = either([some_suffix(lead) for lead in state.lexemes.leads.split("\0") if lead])
    return rf"{group(leads)}(?=[\W_]*[^\W_])(?![^\W_]+\s*\Z){pattern}" if pattern != NOTHING else ""


def cut_marker_stops(facts: Facts, name: StateName) -> list[str]:
    """Where that may be: a short pattern to look for in text."""
    state = next((state for state in states(facts.acceptor) if state.name == name), None)
    if state is None or not cut_marker(facts, name):
        return []
    cores = [one.core for one in state.lexemes.all if one.kind in CUT_KINDS and not one.respelled]
    leads = either([some_suffix(lead) for lead in state.lexemes.leads.split("\0") if lead])
    first = either([first_characters(core, LEAST_CUT) for core in cores])
    return [rf"{group(leads)}{group(first)}(?=.{{0,{2 * max(map(len, cores))}}}\Z)"]


def _cut_call(facts: Facts) -> list[Rule]:
    opener = leaf("|".join(facts.call_starts))
    if facts.bare:
        indented = leaf(r"[^\S\n]*+(?:" + either(facts.call_starts) + ")")
        whole = _cut(facts, indented)
        rules = [rule("cut_call", "line_start cut_text")]
        if facts.calls.fields:
            rules += [rule("cut_text", "content_for_cut cut"), rule("content_for_cut", whole)]
        else:
            kept = leaf(r"[^\S\n]*+(?:" + either(facts.kept_starts) + ")")
            rules += [rule("cut_text", "cut_for_text content_for_cut"), rule("content_for_cut", kept)]
            rules.append(rule("cut_for_text", f"&({whole})"))
    else:
        rules = [rule("trailing_for_call", _cut(facts, opener))]
    rules.append(rule("header_cut", _rest(facts)))
    return [*rules, *([external("cut_object", facts)] if facts.calls.fields else [])]


def _rest(facts: Facts) -> str:
    """Of a call whose opener has come, up to the output's end."""
    calls = facts.calls
    prefix = literal(calls.shape.id_prefix) + "?" if _id_is_first(calls) else ""
    choices = _cuts_of(calls.header)
    if calls.fields:
        choices.append(sequence(*(f"whole_{name}" for name in _slot_names(calls.header)), "gap", "cut_object"))
    return sequence("gap", prefix, f"({' / '.join(choices)})")


def _id_is_first(calls: CallForm) -> bool:
    slots = calls.shape.slots
    return bool(calls.shape.id_prefix and slots and slots[0][0] in calls.shape.id_slots)


def _cut(facts: Facts, opener: str) -> str:
    """From the opener on."""
    return sequence(opener, _rest(facts))


# After a call


def cuts_after(facts: Facts) -> list[str]:
    calls = facts.calls
    # A separator alone opens no call: it is dropped in any case.
    names = [f"call_separator {_next_cut(facts)}_part"] if facts.apart else []
    names += [_next_cut(facts)] if _opens_next(facts) else []
    names += ["trailing_for_tail"] if calls.tail is not None else []
    names += ["trailing_for_whole"] if calls.longer_than_closers else []
    names += ["trailing_for_closer"] if _markers_after(calls) else []
    return [*names, *(["missing_closer"] if _missing(facts) else [])]


def _missing(facts: Facts) -> str:
    """Where calls stop without their last closer, or with a separator."""
    calls, last = facts.calls, last_of(facts.calls)
    if calls.ends_turn:
        return ""
    if last:
        return rf"(?<!{last}\s*)\Z"
    return rf"(?<={facts.separator}\s*)\Z" if facts.separator else ""


def _opens_next(facts: Facts) -> bool:
    return bool(facts.call_next or facts.calls.fields)


def _next_cut(facts: Facts) -> str:
    return "cut_for_next" if facts.bare else "trailing_for_next"


def _next_rules(facts: Facts) -> list[Rule]:
    calls, rules = facts.calls, []
    last = last_of(calls)
    for name, opener in ((_next_cut(facts), "call_next" * bool(facts.call_next)), (f"{_next_cut(facts)}_part", "")):
        whole = _cut(facts, opener)
        rules.append(rule(name, f"&({whole})" if facts.bare else whole))
    texts, enough = _markers_after(calls), rf"(?=(?:\S\s*){{{LEAST_CUT}}})"
    if texts:
        # With its last closer a call is whole: less than so much more may as well be text.
        least = f"(?:(?<!{last}\\s*)|{enough})" if last else enough
        marks = [*texts, *_markers_of_turn(facts.acceptor)]
        rules.append(rule("trailing_for_closer", leaf(no_whole(marks) + least + begun(texts, alike=facts.alike))))
    if longer := calls.longer_than_closers:
        whole = rf"(?!{group(either([marker_core(text) for text in calls.closers]))}\s*\Z)"
        rules.append(rule("trailing_for_whole", leaf(whole + begun(longer, least=LEAST_CUT, alike=facts.alike))))
    if _missing(facts):
        rules.append(rule("missing_closer", leaf(_missing(facts))))
    return rules


def _markers_after(calls: CallForm) -> list[str]:
    return [*dict.fromkeys(text.strip() for _, texts in calls.behind for text in texts if text.strip())]


def _after_turn(facts: Facts) -> str:
    """What is no part of a turn, after a call that is all of it."""
    calls = facts.calls
    last = either([marker_core(text) for text in calls.turn_closers])
    marks = [*_markers_after(calls), *calls.closers, *_markers_of_turn(facts.acceptor), *facts.acceptor.content_ends]
    return rf"(?<=(?:{last})\s*)" + no_whole([text for text in marks if text.strip()]) + ".+"


def _markers_of_turn(acceptor: Acceptor) -> list[str]:
    opened = [*acceptor.strays, *acceptor.reasoning_starts, *acceptor.content_starts]
    texts = [*acceptor.ends, *acceptor.headers, *(each.text for each in opened if each.where == "anywhere")]
    return [text.strip() for text in texts if text.strip()]


def _tail_rules(calls: CallForm, known: KnownTools) -> list[Rule]:
    if calls.tail is None:
        return []
    opened, slots = calls.tail
    return [
        rule("trailing_for_tail", f"{leaf(marker(opened.lstrip()))} ({' / '.join(_cuts_of(slots, '_for_tail'))})"),
        *slot_cuts(slots, known, "", "_for_tail"),
    ]


# Slots


def pair_cuts(pairs: PairForm, known: KnownTools, opened: str, *, alike: bool) -> list[Rule]:
    """A pair that is cut before its value, or a marker before or after it; `opened`: the rules before the key."""
    texts = [*dict.fromkeys(text.strip() for _, found in pairs.between for text in found)]
    marks = leaf(no_whole(texts) + begun(texts, alike=alike))
    header = sequence(opened, f"({' / '.join(_cuts_of(pairs.slots, '_for_pair'))})")
    return [rule("trailing_for_pair", marks, header), *slot_cuts(pairs.slots, known, "", "_for_pair", alike=alike)]


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
    slots: Sequence[SlotEnd], known: KnownTools, breaks: str, place: str = "", *, opened: str = "", alike: bool = False
) -> list[Rule]:
    """Each slot whole, with what ends it, and cut; `opened` is what the last ends with, the object's own."""
    rules = []
    for slot, name in zip(slots, _slot_names(slots), strict=True):
        guard = f"(?!{breaks})" if breaks and slot.kind != "key" else ""
        left = opened if slot is slots[-1] else ""
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
