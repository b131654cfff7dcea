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
    cores,
    either,
    leaf,
    literal,
    marker,
    marker_core,
    marker_word,
    truncated,
)
from tplc.backends.peg.rules import Rule, Section, rule, sequence
from tplc.lower import Acceptor, CallForm, PairForm, SlotEnd
from tplc.lower.call_form import FENCE
from tplc.lower.lexemes import END, exact, group
from tplc_runtime.pattern import LEAST_CUT, NAME_CHARACTERS, NAME_LIMIT


def cut_section(form: FormPatterns) -> Section:
    calls = form.calls
    if not calls.opening.openers:
        return Section("", ())
    following = "cut_for_next" if calls.opening.at_lines else "trailing_for_next"
    # A separator alone opens no call: it is dropped in any case.
    names = [f"call_separator {following}_part"] if calls.is_separated else []
    names += [
        following,
        "trailing_for_tail",
        "trailing_for_whole",
        "trailing_for_closer",
        "cut_marker_for_calls",
        "missing_closer",
    ]
    opens = "call_next " * bool(form["call_next"])
    nexts = {following: opens if opens or calls.object.fields else None, f"{following}_part": ""}
    return Section(
        "A call that the output's end cuts before it has a name, or before its last closer.",
        (
            *form.leaves("trailing_for_opener", "cut_marker_for_calls"),
            *_cut_call(form),
            rule("header_cut", _rest(form)),
            *([form.external("cut_object")] if calls.object.fields or not calls.header else []),
            rule("calls_cut", f"gap ({' / '.join(names)})"),
            # Where calls look like any text, what is cut of one is text as well.
            *(
                rule(name, f"&({opened}{_rest(form)})" if calls.opening.at_lines else opened + _rest(form))
                for name, opened in nexts.items()
                if opened is not None
            ),
            *_closer_cuts(form),
            rule("after_turn_for_calls", *([leaf(_after_turn(form))] if calls.closing.of_turn else [])),
            *slot_cuts(form, calls.header, guarded=True, any_spelling=form.any_spelling),
            *_tail_rules(form),
        ),
    )


def _cut_call(form: FormPatterns) -> list[Rule]:
    if not form.calls.opening.at_lines:
        return [rule("trailing_for_call", f"{leaf('|'.join(form.call_starts))} {_rest(form)}")]
    indented, kept = (leaf(rf"[^\S\n]*+(?:{either(starts)})") for starts in (form.call_starts, form.kept_starts))
    whole = f"{indented} {_rest(form)}"
    rules = [rule("cut_text", "content_for_cut cut"), rule("content_for_cut", whole)]
    if not form.calls.object.fields:
        rules = [rule("cut_text", "cut_for_text content_for_cut"), rule("content_for_cut", kept)]
        rules.append(rule("cut_for_text", f"&({whole})"))
    return [rule("cut_call", "line_start cut_text"), *rules]


def _rest(form: FormPatterns) -> str:
    """Return the pattern of a call after its opener, up to the output's end."""
    calls, shape = form.calls, form.calls.shape
    id_first = shape.id_prefix and shape.slots and shape.slots[0][0] in shape.id_slots
    choices = _cuts_of(calls.header)
    if calls.object.fields:
        choices.append(sequence(*(f"whole_{name}" for name in _slot_names(calls.header)), "gap", "cut_object"))
    if not calls.name_is_before_arguments:
        choices += ["cut_object", f"object gap (trailing_for_tail / {leaf(END)})"]
    return sequence("gap", literal(shape.id_prefix) + "?" if id_first else "", f"({' / '.join(choices)})")


# After a call


def _closer_cuts(form: FormPatterns) -> list[Rule]:
    """Return the beginning of a closer, of a longer one than has come, and calls that stop without their last
    closer."""
    calls, last, separator, rules = form.calls, form.not_last, form["call_separator"], []
    texts, enough = _markers_after(calls), rf"(?=(?:\S\s*){{{LEAST_CUT}}})"
    if texts:
        # With its last closer a call is whole: less than so much more may as well be text.
        least = f"(?:{last}|{enough})" if last else enough
        # A fence around the calls is closed there, rather than another one opened.
        least = rf"(?!{FENCE}\s*\Z)" * any(text.startswith(FENCE) for text in texts) + least
        marks = [*texts, *_markers_of_turn(form.acceptor)]
        cut = truncated(texts, any_spelling=form.any_spelling)
        rules.append(rule("trailing_for_closer", leaf(no_whole(marks) + least + cut)))
    if longer := calls.longer_than_closers:
        over = either([*map(marker_core, (*form.acceptor.ends, *form.acceptor.last_ends)), END])
        whole = rf"(?!{group(cores(calls.closing.closers))}\s*{group(over)})"
        cut = truncated(longer, least=LEAST_CUT, any_spelling=form.any_spelling)
        rules.append(rule("trailing_for_whole", leaf(whole + cut)))
    if (last or separator) and not calls.closing.ends_turn:
        last += _not_unwrapped(calls) if last else ""
        rules.append(rule("missing_closer", leaf(rf"{last}\Z" if last else rf"(?<={separator}\s*)\Z")))
    return rules


def _not_unwrapped(calls: CallForm) -> str:
    """Return a pattern before which no call is closed whose opener lacks its outer piece."""
    if calls.unwrapped is None:
        return ""
    outer, opener, closer = map(marker_core, calls.unwrapped)
    return rf"(?<!(?<!{outer}\s*){opener}(?:(?!{opener}).)*{closer}\s*)"


def _markers_after(calls: CallForm) -> list[str]:
    return [*dict.fromkeys(text.strip() for _, texts in calls.after_call_markers for text in texts if text.strip())]


def _after_turn(form: FormPatterns) -> str:
    """Return the rule of text after a turn that is one call."""
    calls = form.calls
    last = cores(calls.closing.of_turn)
    marks = [
        *_markers_after(calls),
        *calls.closing.closers,
        *_markers_of_turn(form.acceptor),
        *form.acceptor.content_ends,
    ]
    return rf"(?<=(?:{last})\s*)" + no_whole([text for text in marks if text.strip()]) + ".+"


def _markers_of_turn(acceptor: Acceptor) -> list[str]:
    opened = [*acceptor.ignorable_closers, *acceptor.reasoning_starts, *acceptor.content_starts]
    texts = [*acceptor.ends, *acceptor.headers, *(each.text for each in opened if each.where == "anywhere")]
    return [text.strip() for text in texts if text.strip()]


def _tail_rules(form: FormPatterns) -> list[Rule]:
    if form.calls.tail is None:
        return []
    opened, slots = form.calls.tail
    return [
        rule("trailing_for_tail", f"{leaf(marker(opened.lstrip()))} ({' / '.join(_cuts_of(slots, '_for_tail'))})"),
        *slot_cuts(form, slots, "_for_tail", guarded=True),
    ]


# Slots


def pair_cuts(form: FormPatterns, pairs: PairForm, opened: str) -> list[Rule]:
    """Return a pair that is cut before its value, or a marker before or after it; `opened`: the rules before the
    key."""
    texts = [*dict.fromkeys(text.strip() for _, found in pairs.between for text in found)]
    marks = leaf(no_whole(texts) + truncated(texts, any_spelling=form.any_spelling))
    header = sequence(opened, f"({' / '.join(_cuts_of(pairs.slots, '_for_pair'))})")
    return [
        rule("trailing_for_pair", marks, header),
        *slot_cuts(form, pairs.slots, "_for_pair", any_spelling=form.any_spelling),
    ]


def no_whole(texts: Sequence[str]) -> str:
    return f"(?!{cores(texts)})"


def _slot_names(slots: Sequence[SlotEnd]) -> list[str]:
    kinds = [slot.kind for slot in slots]
    return [kind + "_again" * kinds[:index].count(kind) for index, kind in enumerate(kinds)]


def _cuts_of(slots: Sequence[SlotEnd], place: str = "") -> list[str]:
    """Return the rules of a truncation in the first slot, in the second, and so on."""
    names = _slot_names(slots)
    wholes = [[f"whole_{name}{place}" for name in names[:index]] for index in range(len(names))]
    return [sequence(*whole, f"begun_{name}{place}") for whole, name in zip(wholes, names, strict=True)]


def slot_cuts(
    form: FormPatterns, slots: Sequence[SlotEnd], place: str = "", *, guarded: bool = False, any_spelling: bool = False
) -> list[Rule]:
    """Return the rules of each slot, whole with its end, and truncated.

    `guarded`: no marker that is in no name; and the last slot leaves what opens the call's object.
    """
    rules, calls, known = [], form.calls, form.known
    for slot, name in zip(slots, _slot_names(slots), strict=True):
        guard = f"(?!{form.breaks})" if guarded and form.breaks else ""
        left = calls.object.opener if guarded and calls.object.fields and slot is slots[-1] else ""
        rules.append(rule(f"whole_{name}{place}", leaf(_whole_slot(slot, guard, left, any_spelling))))
        rules.append(rule(f"begun_{name}{place}", leaf(_begun_slot(slot, guard, known, any_spelling))))
    return rules


def _ends_of(slot: SlotEnd) -> list[str]:
    return [text for text in (*slot.suffixes, *slot.nexts, *slot.bare) if text.strip()]


def _whole_slot(slot: SlotEnd, guard: str, left: str, any_spelling: bool) -> str:
    ends = either([marker_word(text, any_spelling=any_spelling) for text in _ends_of(slot)])
    after = [
        _consumed(text, left, any_spelling) for text in sorted(slot.suffixes, key=len, reverse=True) if text.strip()
    ]
    ahead, bare = (either([marker_core(text) for text in texts if text.strip()]) for texts in (slot.nexts, slot.bare))
    after += [rf"(?=\s*+(?:{ahead}))"] if ahead else []
    after += [rf"(?={any_of(slot.stops)})"] if slot.stops else []
    char = rf"(?:{f'(?!{ends})' if ends else ''}{guard}[^\n])"
    whole = rf"\s*+(?=\S){char}{{1,{NAME_LIMIT}}}?(?:{either(after)})"
    # Without the text between, it is one word.
    return either([whole, rf"\s*+[{NAME_CHARACTERS}]{{1,{NAME_LIMIT}}}(?=\s*+(?:{bare}))" if bare else ""])


def _consumed(text: str, left: str, any_spelling: bool) -> str:
    if not left or not text.endswith(left):
        return rf"\s*+{marker(text.lstrip(), any_spelling=any_spelling)}"
    rest = text.removesuffix(left)
    return (rf"\s*+{marker(rest.lstrip())}" if rest.strip() else "") + rf"(?=\s*+{exact(left)})"


def _begun_slot(slot: SlotEnd, guard: str, known: KnownTools, any_spelling: bool) -> str:
    ends = either([marker_word(text, any_spelling=any_spelling) for text in _ends_of(slot)])
    char = rf"(?:{f'(?!{ends})' if ends else ''}{guard}\S)"
    space = r"\s*+" if not slot.stops else r"[^\S\n]*+" if " " not in slot.stops else ""
    begins = [rf"\s*{truncated(_ends_of(slot))}"] if ends else []
    word = rf"\s*+{char}{{0,{NAME_LIMIT - 1}}}" + group(either([space + END, *begins]))
    words = [tool.name for tool in known.tools if slot.kind == "name" and len(tool.name.split()) > 1]
    return either([word, *([rf"\s*+{truncated(words)}"] if words else [])])
