r"""The Acceptor as lines of text, one fact a line, for tests, diffs and people.

    CallForm(openers=("<call>",), where="anywhere", …)  →  calls.opener = "<call>" anywhere, in reasoning at line start

Markers are JSON strings; what is empty is not printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tplc.ir.printed import printed_layout
from tplc.ir.spellings import Spelling
from tplc.ir.visible import one_line
from tplc.lower.acceptor import Acceptor, Marker
from tplc.lower.call_form import (
    LINE_END,
    WHITE_SPACE,
    CallForm,
    CallStep,
    Closing,
    Following,
    Opening,
    PairForm,
    SlotEnd,
)
from tplc.lower.lexemes import shown

_JSON_PUNCTUATION = "[ , ] { : , }"
_STOPS = {LINE_END: "line end", WHITE_SPACE: "white space"}


def printed(acceptor: Acceptor) -> str:
    return "".join(one_line(line) + "\n" for line in _facts(acceptor))


def _facts(acceptor: Acceptor) -> Iterator[str]:
    yield from _texts("turn.anchor", acceptor.anchors)
    yield from _texts("turn.head", acceptor.heads)
    yield from _texts("turn.header", acceptor.headers)
    yield from _texts("turn.end", acceptor.ends)
    yield from _texts("turn.end at the output's end", acceptor.last_ends)
    yield from _markers("reasoning.start", acceptor.reasoning_starts)
    yield from _texts("reasoning.end", acceptor.reasoning_ends)
    yield from _texts("reasoning.space", [acceptor.after_reasoning])
    yield from _texts("content.space", acceptor.content_spaces)
    yield from _markers("content.start", acceptor.content_starts)
    yield from _texts("content.end", acceptor.content_ends)
    yield from _markers("stray", acceptor.ignorable_closers)
    for escapes in acceptor.escapes:
        yield from (f"{escapes.kind}.escape {shown(text)} = {shown(char)}" for text, char in escapes.replaced)
    if acceptor.calls is not None:
        yield from _calls(acceptor.calls)
    if acceptor.in_messages:
        yield "turn = messages, each with its end"
    yield f"tolerances = {', '.join(sorted(acceptor.tolerances)) or 'none'}"


def _calls(calls: CallForm) -> Iterator[str]:
    yield f"calls.slots = {', '.join(calls.slot_order)}{_after(calls.last_text)}"
    yield from _opening(calls.opening)
    yield from (f"calls.separator = {shown(text)} after a call" for text in calls.closing.separators)
    yield from _slots("calls.header", calls.header)
    if calls.call_id:
        yield f"calls.id = {printed_layout(calls.call_id)}"
    if calls.object.fields:
        fields = (*calls.object.fields, *calls.object.wrapped)
        yield f"calls.object = {shown(calls.object.opener)}"
        yield from (f"calls.field {'.'.join(path)} = {role}" for path, role in fields)
    yield from _beginnings(calls)
    if calls.whole:
        yield f"calls.whole = {' '.join(map(_step, calls.whole))}"
    yield from _closing(calls.closing)
    yield from _texts("calls.space_after_reasoning", [calls.opening.after_reasoning])
    yield from _texts("calls.break", calls.breaks)
    yield from _texts("calls.argument_end", calls.arguments.ends)
    yield from _texts("calls.empty", calls.empty)
    yield from (f"calls.section_end = {shown(text)} no call follows" for text in calls.closing.section_ends)
    if calls.tail is not None:
        yield f"calls.tail = {shown(calls.tail[0])}"
        yield from _slots("calls.tail", calls.tail[1])
    yield from (f"calls.name {shown(text)} = {shown(char)}" for text, char in calls.replaced)
    yield from ["calls.arguments = an object inside a JSON string"] * calls.arguments.encoded
    if calls.arguments.lines is not None:
        yield f"calls.arguments = indented lines, with {calls.arguments.lines} spaces or more"
    if calls.pairs is not None:
        yield from _pairs(calls.pairs)
    yield from _styles(calls.arguments.styles or ())


def _opening(opening: Opening) -> Iterator[str]:
    reasoning = f", in reasoning at {opening.in_reasoning}" if opening.in_reasoning else ""
    yield from _texts("calls.section_start", opening.section_starts)
    yield from _texts("calls.start", opening.starts)
    yield from (f"calls.opener = {shown(text)} {opening.where}{reasoning}" for text in opening.openers)
    yield from (f"calls.opener = {shown(text)} line start, before a whole call" for text in opening.ordinary)
    if opening.may_be_missing:
        yield "calls.opener = none, before content, where the name of a tool shows that a whole call follows"
    yield from (f"calls.opener = {shown(text)} of a known tool" for text in opening.short)
    yield from (f"calls.opened_twice = {shown(text)} without white space" for text in opening.twice)
    if opening.ends_reasoning:
        yield "calls.end_reasoning = in what the template writes"
    yield from (f"calls.usual = {shown(text)} between two calls" for text in opening.usual_next)
    yield from (f"calls.inner = {shown(text)} after a call" for text in opening.inner)


def _closing(closing: Closing) -> Iterator[str]:
    yield from _texts("calls.closer", closing.of_call)
    yield from _texts("calls.section_closer", closing.of_section)
    yield from (f"calls.last = {shown(text)} ends a call" for text in closing.last)
    yield from (f"calls.last_piece = {shown(text)} comes once" for text in closing.last_pieces)
    if closing.ends_turn:
        yield "calls = one a turn: its last closer may end the turn"
    yield from (f"calls.joint = {shown(char)} before a further call" for char in closing.optional_separators)


def _step(step: CallStep) -> str:
    if step.kind == "pairs":
        between = " ".join(map(_step, step.between))
        return f"({' '.join(map(_step, step.pair))} {between}){'*+'[step.least]}"
    return f"{step.kind} {shown(step.pattern)}" if step.pattern else step.kind


def _pairs(pairs: PairForm) -> Iterator[str]:
    more = f"({shown(pairs.separator)} pair)*" if pairs.separator else "pair*"
    yield f"pairs = {_before(pairs.start)}pair {more}{_after(pairs.end)} or {shown(pairs.empty)}"
    yield f"pairs.pair = {printed_layout(pairs.pair)}"
    yield from _texts("pairs.opener", pairs.opens)
    yield from _slots("pairs.slot", pairs.slots)
    yield from _texts("pairs.close", [pairs.value_end.close])
    yield from (f"pairs.usual = {shown(text)} after a value" for text in pairs.value_end.usual)
    yield f"pairs.value = {value_end(pairs)}"
    yield from _texts("pairs.closer without a prefix", pairs.value_end.unprefixed)
    for kind, texts in pairs.between:
        yield f"pairs.between {kind} = {' '.join(map(shown, texts))}"
    yield from (f"pairs.key {shown(text)} = {shown(char)}" for text, char in pairs.replaced)
    yield from (f"pairs.{slot} {shown(text)} = {shown(char)}" for slot, text, char in pairs.value.escapes)
    if pairs.resumes:
        yield "pairs.other = content, up to a pair or the end"
    if pairs.value_end.next_pair is not None:
        before, after = pairs.value_end.next_pair
        yield f"pairs.value = ends before {' or '.join(map(shown, before))} known key {shown(after)}"
    if pairs.value_end.next_unopened:
        yield f"pairs.value = ends before a line that begins with a known key {shown(pairs.value_end.next_unopened)}"
    if pairs.value.spaced:
        yield "pairs.value = begins after white space if white space precedes the end of the key"
    if pairs.value.guessed and pairs.value.nested_quotes != '"':
        yield f"pairs.nested = strings in {pairs.value.nested_quotes or 'other quotes'}"
    yield from ["pairs.value = JSON, when its escapes are undone"] * pairs.value.json
    if pairs.value.words[1]:
        yield f"pairs.words = {', '.join(sorted(word for word, _ in pairs.value.words[1]))} only by a schema"
    if pairs.value.literals:
        yield f"pairs.literal = a string in {pairs.value.literals}"
    if pairs.value_end.bare is not None:
        yield "pairs.value without quotes = " + " ".join(line for line in _following(pairs.value_end.bare))
    if pairs.value.guessed or pairs.value.quoted:
        yield from _following(pairs.value_end.following)
    yield from (f"pairs.type {shown(word)} = {' or '.join(types)}" for word, types in pairs.value.types)
    for wrap in pairs.value.wraps:
        yield f"pairs.wrap {' or '.join(wrap.types)} = {shown(wrap.opened)} text {shown(wrap.close)}"
    yield from ["pairs open with the text before values of a type"] * pairs.types_open_pairs
    if pairs.value.wrap is not None:
        yield f"pairs.wrap = {' text '.join(map(shown, pairs.value.wrap))}"
    if pairs.value.items is not None:
        yield f"pairs.item = {' value '.join(map(shown, pairs.value.items))}"


def value_end(pairs: PairForm) -> str:
    """Print what ends a value."""
    if pairs.value.quoted:
        return "a value of the dialect"
    if pairs.value_end.around_key is not None:
        return f"raw, up to {shown(pairs.value_end.around_key[0])} key {shown(pairs.value_end.around_key[1])}"
    if pairs.value.guessed:
        return "raw, up to " + _before(pairs.value_end.following.close) + "what may follow"
    return "raw, up to " + " or ".join(map(shown, pairs.value_end.closers))


def _following(following: Following) -> Iterator[str]:
    lead = {
        "free": "any white space",
        "text": "no white space",
        "written": " or ".join(shown(space) for space in following.spaces[:2] if space),
        "blank": shown(following.blank),
    }[following.lead]
    yield f"following.lead = {lead}"
    indented = " (the key is indented)" if following.indented else ""
    yield f"following.pair = {_parts(following.pair)}{indented}"
    yield f"following.closer = {_parts(following.closer)}{' (anything may follow)' if following.closes else ''}"
    yield from _texts("following.after", following.after)
    yield from _texts("following.section_end", [following.section_end])
    if following.next_call:
        yield f"following.call = {_parts(following.next_call)}"
    yield from _texts("following.call without arguments", following.next_empty)


def _parts(parts: Sequence[str | None]) -> str:
    return " ".join("…" if part is None else shown(part) for part in parts)


def _beginnings(calls: CallForm) -> Iterator[str]:
    """Yield how calls and arguments begin if their opener is like text."""
    if calls.opening.begins:
        yield f"calls.begins = {calls.opening.begins} where a line begins, if no tools are given"
    if calls.pairs_begin:
        yield f"calls.pairs_begin = {calls.pairs_begin} after the name of a tool that is given"


def _slots(path: str, slots: Iterable[SlotEnd]) -> Iterator[str]:
    return (f"{path} {slot.kind} ends = {slot_ends(slot)}" for slot in slots)


def slot_ends(slot: SlotEnd) -> str:
    """Print the texts that end a slot."""
    ends = [*map(shown, slot.suffixes), *(f"before {shown(text)}" for text in slot.nexts)]
    ends += [f"a word before {shown(text)}" for text in slot.bare]
    ends += [_STOPS.get(slot.stops, shown(slot.stops))] if slot.stops else []
    return ", ".join(ends)


def _styles(styles: Sequence[Spelling]) -> Iterator[str]:
    names = ("top", "list", "object")
    for style in dict.fromkeys(styles):
        places = ", ".join(name for name, other in zip(names, styles, strict=True) if other == style)
        strings = " or ".join(f"{shown(start)} {shown(end)} ({escape})" for start, end, escape in style.strings)
        punctuation = " ".join(style.punctuation)
        yield (
            f"values in {places} = {strings or 'raw'}"
            + f", punctuation {punctuation}" * (punctuation != _JSON_PUNCTUATION)
            + (", bare keys" * style.bare_keys + ", as JSON" * style.as_json)
        )
        yield f"words in {places} = " + ", ".join(f"{word} {meaning}" for word, meaning in sorted(style.words))


def _texts(path: str, texts: Iterable[str]) -> Iterator[str]:
    return (f"{path} = {shown(text)}" for text in texts if text)


def _markers(path: str, markers: Iterable[Marker]) -> Iterator[str]:
    return (f"{path} = {shown(marker.text)} {marker.where}" for marker in markers)


def _before(text: str) -> str:
    return f"{shown(text)} " if text else ""


def _after(text: str) -> str:
    return f" {shown(text)}" if text else ""
