"""Find what failures have in common, to report it before them.

    <calls 1>…, <calls 2>…    →  the number of calls (3) stands in tools.section_start "<calls 3>", …
    run forecast{city "Oslo"}{days 2}  →  a call ends with its id: nothing ends the id

Looked for when something failed: a format with a weak place may still come back whole.  There is always one: where
nothing better is known, it is the part of a message that every failure has, and the first of them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tplc.errors import BadMessage, TplcError
from tplc.ir.markers import common_prefix, common_suffix, holds_piece, without_space
from tplc.ir.nodes import Json, Layout, ObjectArguments, PairArguments, Slot, TemplateIR, Text
from tplc.ir.own_markers import own_markers
from tplc.ir.printed import quoted
from tplc.ir.tolerances import check_tolerances, tolerances_from
from tplc.ir.write import WrittenPart, write_parts
from tplc.transformations import is_contradicted, transformations
from tplc.verify.battery import KEY, OUTER_SPACE, Case, closer_of_values, id_of
from tplc.verify.compare import as_message
from tplc.verify.lengths import lengths
from tplc.verify.misplaced import misplaced
from tplc.verify.notations import notations
from tplc.verify.shortened import shortened

_AROUND = 24
_SAME = 8
_LEAST = 4  # a shorter word occurs by chance
_LONGEST = 160
_LONGEST_VARIANT = 80  # longer text contains values too
_MOST_VARIANTS = 3


@dataclass(frozen=True, slots=True)
class Tried:
    """A message, the turn that the template rendered of it, and what was wrong with what came back ("": nothing)."""

    case: Case
    turn: str
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem


def explained(ir: TemplateIR, tried: Sequence[Tried]) -> tuple[str, ...]:
    """Return the causes of failures, and possible remedies."""
    measured = tuple(lengths(ir, [(one.case, one.turn) for one in tried]))
    found = measured or tuple(dict.fromkeys(causes(ir, tried)))
    helps = () if measured else dict.fromkeys(_helps(ir, tried))
    return (*(f"cause: {cause}" for cause in found), *(f"help: {help}" for help in helps))


def causes(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    counted = [captured for captured in ir.captured if captured.by == "calls" and not captured.any_word]
    for captured in counted:
        place = f"{captured.marker} {quoted(captured.whole)}"
        yield f"the number of calls ({captured.text}) stands in {place}, and a marker is the same text for any number"
    # What came back with arguments all the same was none.
    read = any(one.passed and any(call.arguments for call in one.case.calls) for one in tried)
    weak = [] if read else list(_weak_places(ir))
    yield from weak
    if not counted and not weak:
        turns = [[(one.case, one.turn) for one in tried if one.passed == passed] for passed in (False, True)]
        found = [*_without_reasoning(ir, tried)] or [*_outer_space(tried)] or [*notations(ir, turns[0])]
        found = found or [*shortened([(*one, _written(ir, one[0])) for one in turns[0]])]
        found = found or [*_transformed(ir, tried)] or [*_single_call(ir, tried)] or [*_joined(ir, tried)]
        found = found or [*_inside_lines(ir, tried)] or [*misplaced(ir, *turns)]
        if not found:
            by_name = [*_by_name(tried)]
            # The calls of some names can also be the only ones without arguments: their names say more.
            found = [] if by_name else [*_by_type(tried), *_without_arguments(ir, tried)]
            found = found or by_name or [*_changed(ir, tried)][:1]
            found = found or ([] if read else [*_unopened(ir)])
            found = found or [*_weak_punctuation(ir, tried)]
            found = found or [*_escaped_ends(ir)] or [*_numbered(ir, tried)] or [*_without_tools(ir, tried)]
            found = found or [*_taken_for_markers(ir, tried), *_unexplained(ir, tried)]
        yield from found or [*_unopened(ir)] or _common(tried)


def _without_reasoning(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield why the format has no reasoning, if exactly the messages with reasoning do not come back."""
    failed = [one for one in tried if not one.passed]
    if ir.left_out and failed and all(one.case.reasoning for one in failed):
        yield from ir.left_out


def _outer_space(tried: Sequence[Tried]) -> Iterator[str]:
    """Yield that white space at the ends of a part is lost, if exactly such messages do not come back."""
    failed = [one.case.title for one in tried if not one.passed]
    if failed and all(title.endswith(OUTER_SPACE) for title in failed):
        for part in dict.fromkeys(title.partition(" ")[0].strip(":") for title in failed):
            yield (
                f"white space at the ends of {part} is lost: how much the template writes around {part} depends on "
                "the other parts of the turn"
            )


def _weak_places(ir: TemplateIR) -> Iterator[str]:
    """Yield the places where the end of a name, a key or an id is unknown."""
    pairs, call = ir.tools.arguments, ir.tools.call
    if isinstance(pairs, PairArguments):
        gap = _text_after(call, "name") + pairs.start + _text_before(pairs.pair, "key")
        if not gap:
            yield "no text separates the name from the first key"
        if not _text_after(pairs.pair, "key"):
            yield "no text separates a key from its value"
    if call[-1:] == (Slot("id"),):
        gap = _text_before(call, "id")
        if not gap.strip():
            yield f"only white space ({quoted(gap)}) between the arguments and the id: it reads as content"
        else:
            yield "a call ends with its id: nothing ends the id"


def _unopened(ir: TemplateIR) -> Iterator[str]:
    """Yield that calls begin with their name."""
    opened = ir.tools.section_start + _text_before(ir.tools.call, "name")
    if Slot("name") in ir.tools.call[:2] and not opened.strip():
        nothing = f"only white space ({quoted(opened)})" if opened else "no text"
        yield f"{nothing} precedes the name that begins a call: it reads as content"


def _text_after(layout: Layout, kind: str) -> str:
    at = next((i for i, item in enumerate(layout) if isinstance(item, Slot) and item.kind == kind), len(layout))
    return "".join(item.text for item in layout[at + 1 : at + 2] if isinstance(item, Text))


def _text_before(layout: Layout, kind: str) -> str:
    at = next((i for i, item in enumerate(layout) if isinstance(item, Slot) and item.kind == kind), 0)
    return "".join(item.text for item in layout[max(0, at - 1) : at] if isinstance(item, Text))


def _taken_for_markers(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield markers that end a part anywhere, and that occurred in the text of a part each time it failed."""
    failed = [one for one in tried if not one.passed]
    for path, marker in (("turn.end", end.strip()) for end in ir.turn.ends):
        if marker and failed and all(marker in text for text in map(_texts, failed)):
            yield f"{path} {quoted(marker)} is in the text itself and cannot be distinguished from the turn's end"
    opener = (ir.tools.section_start + _text_before(ir.tools.call, "name")).strip()
    if opener and failed and all(opener in one.case.reasoning + "\n" + one.case.content for one in failed):
        yield f"what opens calls ({quoted(opener)}) is in the text itself, and the text after it reads as a call"


def _single_call(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield that a single call has another form than several: all messages with one call fail, and no others, or only
    some with one, of which none is as the format writes it, while all with several are."""
    failed = [one for one in tried if not one.passed]
    single = [one for one in tried if len(one.case.calls) == 1]
    several = [one for one in tried if one.passed and len(one.case.calls) > 1]
    if not (failed and several) or any(one not in single for one in failed):
        return
    as_written = [_written(ir, one.case) in one.turn for one in (*single, *several)]
    if failed == single or as_written == [False] * len(single) + [True] * len(several):
        turns = (
            quoted(_short(min(found, key=lambda one: len(one.turn)).turn, _LONGEST)) for found in (failed, several)
        )
        yield f"the template writes a single call in another form than several: {' and '.join(turns)}"


def _inside_lines(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield why exactly the messages with calls after content that ends in a line fail: an opener like text counts at
    the start of a line only."""
    from tplc.lower import lower

    with_both = [one for one in tried if one.case.calls and one.case.content and one.case.content[-1] != "\n"]
    failed = [one for one in tried if not one.passed]
    calls = lower(ir).calls if failed and failed == with_both else None
    if calls is not None and calls.opening.where == "line start" and not calls.whole:
        opener = quoted((ir.tools.section_start + _text_before(ir.tools.call, "name")).strip())
        place = "counts only at the start of a line, and the template writes it after content"
        yield f"what opens calls ({opener}) {place}"


def _joined(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield why only messages with several calls fail: the next call begins like a further argument."""
    pairs, call = ir.tools.arguments, ir.tools.call
    if not isinstance(pairs, PairArguments) or any(len(one.case.calls) < 2 for one in tried if not one.passed):
        return
    opener, argument = (_text_before(layout, kind) for layout, kind in ((call, "name"), (pairs.pair, "key")))
    between = _text_after(call, "arguments") + ir.tools.separator + opener
    closer = _text_after(pairs.pair, "value")
    if opener.strip() and opener.strip() == closer.strip():
        yield f"what opens a call ({quoted(opener)}) closes an argument as well: a further call reads as an argument"
    elif opener.strip() and opener.strip() == argument.strip():
        yield f"what opens a call ({quoted(opener)}) opens an argument as well: a further call reads as an argument"
    elif not between.strip() and not argument.strip():
        gap = f"only white space ({quoted(between)})" if between else "no text"
        yield f"{gap} separates the arguments of a call from the name of the next, which reads as an argument"


def _transformed(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield the transformation of the texts in one part that explains the most messages which do not come back: the
    format writes these texts otherwise."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for one in tried:
        expected = "" if one.passed else _written(ir, one.case)
        for part, text in _texts_by_part(ir, one.case) if not one.passed else ():
            for name, written in transformations(text, one.turn):
                if written not in expected:
                    found.setdefault(part, {}).setdefault(name, []).append((text, written))
    if "arguments" in found:  # what is in them is changed with them
        found.pop("values", None)
        found.pop("keys", None)
    for part, names in found.items():
        failed = [one for one in tried if not one.passed]
        texts = [(text, one.turn) for one in failed for other, text in _texts_by_part(ir, one.case) if other == part]
        fits = {name: sum(not is_contradicted(name, text, turn) for text, turn in texts) for name in names}
        name = max(names, key=lambda name: (len(names[name]), fits[name]))
        text, written = names[name][0]
        yield f"the template {name} in {part}: {quoted(_short(text))} is written {quoted(_short(written))}"


def _written(ir: TemplateIR, case: Case) -> str:
    """Return the message as the format writes it; "" if it cannot."""
    try:
        return "".join(part.text for part in write_parts(ir, as_message(ir, case)))
    except BadMessage:
        return ""


def _texts_by_part(ir: TemplateIR, case: Case) -> Iterator[tuple[str, str]]:
    yield "reasoning", case.reasoning
    yield "content", case.content
    for index, call in enumerate(case.calls):
        if call.arguments:
            yield "arguments", json.dumps(dict(call.arguments), ensure_ascii=False)
        for _, value in call.arguments:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if isinstance(value, str) or len(text) >= _LEAST:
                yield "values", text
        words = [("names", call.name), *(("keys", key) for key, _ in call.arguments)]
        words += [("ids", id_of(ir, call, index))] if ir.tools.call_id.position != "none" else []
        yield from ((part, word) for part, word in words if len(word) >= _LEAST)


def _changed(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield the parts of which a text is in what the format writes, and not in the render."""
    found: dict[str, tuple[str, Tried]] = {}
    for one in tried:
        expected = "" if one.passed else _written(ir, one.case)
        for part, text in _texts_by_part(ir, one.case) if not one.passed else ():
            if text in expected and text not in one.turn:
                found.setdefault(part, (text, one))
    if len(found) > 1:
        found.pop("arguments", None)  # a key or a value in them says more
    for part, (text, one) in found.items():
        yield f"the template changes {part}: {quoted(_short(text))} is not in {quoted(_short(one.turn, 3 * _AROUND))}"


def _short(text: str, longest: int = 2 * _AROUND) -> str:
    return text if len(text) <= longest else text[:longest] + "…"


def _by_name(tried: Sequence[Tried]) -> Iterator[str]:
    """Yield a form of calls that depends on the tool's name: only messages with punctuation in such names fail, and
    none with the same punctuation comes back."""
    failed = [one for one in tried if not one.passed]
    read = {character for one in tried if one.passed for character in _punctuation_of_names(one.case)}
    if failed and all(_punctuation_of_names(one.case) - read for one in failed):
        one = min(failed, key=lambda one: len(one.turn))
        names = ", ".join(call.name for call in one.case.calls)
        yield f"calls of some names are written in another form: {names} in {quoted(one.turn[:_LONGEST])}"


def _punctuation_of_names(case: Case) -> set[str]:
    return {character for call in case.calls for character in call.name if not character.isalnum()} - {"_"}


def _by_type(tried: Sequence[Tried]) -> Iterator[str]:
    """Yield the texts around a string and around a number, if both the text before and the text after differ, or the
    text before the key."""
    found = {one.case.title: one for one in tried}
    shown = [found[title] for title in _STRING_AND_NUMBER if title in found]
    if len(shown) < len(_STRING_AND_NUMBER) or all(one.passed for one in shown):
        return
    turns = [one.turn for one in shown]
    start = len(common_prefix(*turns))
    end = len(common_suffix(*(turn[start:] for turn in turns)))
    # With one character more on both sides, which is mostly a bracket.
    texts = [turn[max(0, start - 1) : len(turn) - max(0, end - 1)] for turn in turns]
    around = [text[1:-1].split(value) for text, value in zip(texts, _STRING_AND_NUMBER.values(), strict=True)]
    if start and end and all(len(parts) == 2 and (all(parts) or KEY in parts[0]) for parts in around):
        yield f"the template writes values between texts that depend on their type: {' and '.join(map(quoted, texts))}"


# Messages of the battery with a string and a number in the same place.
_STRING_AND_NUMBER = {"string: a word": "Oslo", "value: an integer": "42"}


def _without_arguments(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield the form of calls without arguments: all failures hold such a call, and the format writes it otherwise."""
    failed = [one for one in tried if not one.passed]
    if not failed or not all(any(not call.arguments for call in one.case.calls) for one in failed):
        return
    places = [_place(ir, one) for one in sorted(failed, key=lambda one: len(one.turn))]
    place = next(filter(None, places), None)
    if place is not None:
        yield (
            f"the template writes calls without arguments in another form: {quoted(place.around_rendered)} where the "
            f"format says {quoted(place.around_written)}"
        )


def _weak_punctuation(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield what lists and objects lack in this dialect, if only messages with such values fail, and all of those."""
    dialect, arguments = ir.tools.dialect, isinstance(ir.tools.arguments, ObjectArguments)
    if dialect is None:
        return
    style = dialect.top
    nested = [(one, [*_nested(one.case, arguments)]) for one in tried]
    failed = [values for one, values in nested if not one.passed]
    if not failed or not all(failed):
        return
    if style.list_open.strip() == style.object_open.strip() != "" and not _pass(nested, dict, 1):
        alike = f"lists and objects begin alike, with {quoted(style.list_open)}"
        yield f"{alike}: which of them a value is shows too late"
    elif not style.list_separator.strip() and not _pass(nested, list, 2):
        yield f"only white space ({quoted(style.list_separator)}) separates the items of lists"
    elif not style.colon.strip() and not _pass(nested, dict, 1):
        yield f"only white space ({quoted(style.colon)}) separates keys in objects from their values"


def _nested(case: Case, arguments: bool) -> Iterator[Json]:
    """Yield the lists and objects in a message, also in others.  `arguments`: those of calls are objects, too."""
    found: list[Json] = [dict(call.arguments) for call in case.calls if arguments]
    found += [value for call in case.calls for _, value in call.arguments if not arguments]
    while found:
        value = found.pop()
        if isinstance(value, (list, dict)):
            yield value
            found += value.values() if isinstance(value, dict) else value


def _pass(
    nested: Sequence[tuple[Tried, Sequence[Json]]], kind: type[list[Json]] | type[dict[str, Json]], size: int
) -> bool:
    """Return whether a message with a list or an object of so many members came back."""
    return any(
        one.passed and any(isinstance(value, kind) and len(value) >= size for value in values) for one, values in nested
    )


def _escaped_ends(ir: TemplateIR) -> Iterator[str]:
    """Yield the escapes in values that contain what ends a value."""
    end = closer_of_values(ir)
    for one in ir.tools.replaced:
        if end and end in one.text and one.slot in ("value", "string"):
            written = f"is also in {quoted(one.text)}, which the template writes for {quoted(one.char)}"
            yield f"what ends a value ({quoted(end)}) {written}: the end of a value is unknown"


def _numbered(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield markers with numbers that count what they are around: most failed renders differ from the format in numbers
    alone."""
    failed = [one for one in tried if not one.passed]
    places = [place for one in failed if (place := _place(ir, one)) is not None and _differs_in_numbers(ir, one)]
    if len(places) * 2 > len(failed):
        yield (
            f"numbers in the markers depend on the message: {quoted(places[0].around_rendered)} where the format says "
            f"{quoted(places[0].around_written)}, and a marker is the same text for any number"
        )


def _differs_in_numbers(ir: TemplateIR, one: Tried) -> bool:
    written, rendered = (re.sub(r"\d+", "0", text) for text in (_written(ir, one.case), one.turn))
    return bool(written) and written in rendered


def _without_tools(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield that raw values contain text like markers, if messages fail only where no tools are given."""
    failed, dialect = [one for one in tried if not one.passed], ir.tools.dialect
    raw = isinstance(ir.tools.arguments, PairArguments) and dialect is not None and not dialect.top.strings
    if raw and failed and all(one.problem.startswith("without tools") for one in failed):
        where = "text in a value without quotes reads as a further argument or as the end of the call"
        yield f"if no tools are given, {where}; {_first(failed)}"


def _texts(one: Tried) -> str:
    values = (json.dumps(value, ensure_ascii=False) for call in one.case.calls for _, value in call.arguments)
    return "\n".join((one.case.reasoning, one.case.content, *values))


def _unexplained(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield the place at which most failed renders differ from the format, unless renders of the same parts that came
    back differ there too."""
    fine = {one.case.shape for one in tried if one.passed and _place(ir, one) is not None}
    found = [
        (place, one) for one in tried if not one.passed and one.case.shape not in fine and (place := _place(ir, one))
    ]
    if found:
        counted = Counter((place.rendered[:_SAME], place.written[:_SAME]) for place, _ in found)
        usual = counted.most_common(1)[0][0]
        place, one = next((p, o) for p, o in found if (p.rendered[:_SAME], p.written[:_SAME]) == usual)
        yield (
            f"the template writes {quoted(place.around_rendered)} where the format says {quoted(place.around_written)} "
            f"({one.case.title})"
        )


def _common(tried: Sequence[Tried]) -> Iterator[str]:
    """Yield the parts that all failed messages have and no other message has."""
    failed, fine = [one for one in tried if not one.passed], [one for one in tried if one.passed]
    if not failed:
        return
    for name, has in _PARTS.items():
        if all(map(has, failed)) and not any(map(has, fine)):
            yield f"{name} comes back; {_first(failed)}"
            return
    yield f"{len(failed)} of {len(tried)} messages do not come back; {_first(failed)}"


def _first(failed: Sequence[Tried]) -> str:
    one = min(failed, key=lambda one: len(one.turn))
    shown = one.turn if len(one.turn) <= _LONGEST else one.turn[:_LONGEST] + "…"
    return f"the shortest of them, {one.case.title}, is rendered {quoted(shown)}, and read as {one.problem}"


_PARTS: dict[str, Callable[[Tried], bool]] = {
    "no message": lambda one: True,
    "no message with more than one call": lambda one: len(one.case.calls) > 1,
    "no message with content and calls": lambda one: bool(one.case.content and one.case.calls),
    "no message with reasoning and calls": lambda one: bool(one.case.reasoning and one.case.calls),
    "no message with calls": lambda one: bool(one.case.calls),
    "no message with reasoning": lambda one: bool(one.case.reasoning),
    "no message without calls": lambda one: not one.case.calls,
    "no message without reasoning": lambda one: not one.case.reasoning,
}


def _helps(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[str]:
    """Yield inputs that the user can add. They are verified too, so nothing is promised."""
    for captured in ir.captured:
        if captured.by == "token":
            yield f"{captured.name} was not given, and it is in {captured.marker}: --token {captured.name}=TEXT"
    places = (place for one in tried if not one.passed and (place := _place(ir, one)) is not None)
    # What holds the words of a message is no marker.
    words = [text for one in tried for text in (one.case.reasoning, one.case.content) if len(text) >= _LEAST]
    places = (place for place in places if not any(text in place.in_its_place for text in words))
    found = dict.fromkeys(filter(None, (_variant(ir, place) for place in places)))
    complete = [variant for variant in found if variant.text and _is_accepted(ir, variant)][:_MOST_VARIANTS]
    if complete:
        file = json.dumps({"tolerances": [variant.declared() for variant in complete]}, ensure_ascii=False)
        yield f"if the model writes what is rendered: --tolerances FILE, and in FILE {file}"
    elif found:
        marker = quoted(next(iter(found)).marker)
        yield f"if the model writes what is rendered: a variant of {marker} in a tolerance file (--tolerances)"


@dataclass(frozen=True, slots=True)
class _Variant:
    """A marker of the format, and the text that a template writes in its place ("": unknown)."""

    marker: str
    text: str

    def declared(self) -> dict[str, Json]:
        """Return it as an entry of a tolerance file."""
        reason = "the template writes it in some messages"
        return {"kind": "variant", "marker": self.marker, "text": self.text, "reason": reason}


def _is_accepted(ir: TemplateIR, variant: _Variant) -> bool:
    try:
        check_tolerances(ir, tolerances_from({"tolerances": [variant.declared()]}, "help"))
    except TplcError:
        return False
    return True


def _variant(ir: TemplateIR, place: _Spot) -> _Variant | None:
    """Return the variant that a tolerance file could declare for what is rendered here; None without a marker."""
    whole, text = place.marker.strip(), place.in_its_place.strip()
    marker = existing_marker(ir, whole)
    if not marker or not text:  # white space is no variant
        return None
    before, _, after = whole.partition(marker)
    if not (text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after)):
        return _Variant(marker, "")
    text = text[len(before) : len(text) - len(after)].strip()
    return _Variant(marker, text if len(text) <= _LONGEST_VARIANT else "")


def existing_marker(ir: TemplateIR, written: str) -> str:
    """Return the marker of the format that a written text is, or the longest that it holds; "" if there is none.

    A written text may be several markers in a row, and a tolerance file may name only markers of the format.
    """
    text, own = written.strip(), own_markers(ir)
    if not text:
        return ""
    if any(holds_piece(marker, text) for marker in own):
        return text
    return max((marker for marker in own if marker in text), key=len, default="")


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a render and the format differ: the text of each, with its surroundings, the format's marker, and what
    is rendered in place of that ("": unknown)."""

    rendered: str
    written: str
    around_rendered: str
    around_written: str
    marker: str
    in_its_place: str


def _place(ir: TemplateIR, one: Tried) -> _Spot | None:
    try:
        parts = write_parts(ir, as_message(ir, one.case))
    except BadMessage:
        return None
    written = "".join(part.text for part in parts)
    if without_space(written) == without_space(one.turn):
        return None
    at = _first_difference(written, one.turn)
    in_turn = _first_difference(one.turn, written)
    number, start = _part_at(parts, at)
    part = parts[number] if number < len(parts) else None
    marker = part.text if part is not None and part.kind == "marker" else ""
    following = parts[number + 1].text.strip() if number + 1 < len(parts) else ""
    return _Spot(
        one.turn[in_turn:],
        written[at:],
        _around(one.turn, in_turn),
        _around(written, at),
        marker,
        _until(one.turn[_same_place(one.turn, written[:start]) :], following),
    )


def _around(text: str, at: int) -> str:
    return text[max(0, at - _AROUND) : at + _AROUND]


def _first_difference(text: str, other: str) -> int:
    """Return where `text` first differs from `other`, apart from white space."""
    visible = [(at, ch) for at, ch in enumerate(text) if not ch.isspace()]
    others = without_space(other)
    return next((at for (at, ch), other in zip(visible, others, strict=False) if ch != other), len(text))


def _part_at(parts: Sequence[WrittenPart], at: int) -> tuple[int, int]:
    """Return the number of the part in which a place of the written text is, and where that part begins."""
    start = 0
    for number, part in enumerate(parts):
        if at < start + len(part.text):
            return number, start
        start += len(part.text)
    return len(parts), start


def _same_place(text: str, written: str) -> int:
    """Return where `text` is as far as `written` is long, white space apart."""
    count = len(without_space(written))
    places = [at for at, ch in enumerate(text) if not ch.isspace()]
    return places[count] if count < len(places) else len(text)


def _until(text: str, following: str) -> str:
    """Return the text before what follows: all of it if nothing does, "" if that isn't there."""
    before, found, _ = text.partition(following) if following else (text, "", "")
    return before if found or not following else ""
