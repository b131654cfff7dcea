"""Repair a format by the messages that did not come back.

    {"content": C, tool_calls}  →  "<lead>zqcontent0x</lead><call>…", and the format says "zqcontent0x<call>…"
    →  form (content, calls): content.start "<lead>", content.end "</lead>"

A render that failed is compared with what the format would have written of the same message.  Each repair is a format
to try: the driver verifies it and keeps it if fewer messages fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tplc.errors import BadMessage
from tplc.ir.forms import PARTS, in_form, marker_of, with_marker
from tplc.ir.markers import common_prefix, common_suffix, without_space
from tplc.ir.nodes import Form, FormMarker, GenerationPrompt, Part, Reasoning, TemplateIR, Tolerance, Turn
from tplc.ir.printed import quoted
from tplc.ir.write import write_message
from tplc.learn.align import cut_left, pieces, reads_well
from tplc.verify.battery import CONTENT, REASONING, Case
from tplc.verify.causes import Tried
from tplc.verify.compare import as_message

START: dict[Part, FormMarker] = {
    "reasoning": "reasoning.start",
    "content": "content.start",
    "calls": "tools.section_start",
}
END: dict[Part, FormMarker] = {
    "reasoning": "reasoning.end",
    "content": "content.end",
    "calls": "tools.section_end",
}


@dataclass(frozen=True, slots=True)
class Repair:
    """A format to try, and the reason: what the failed messages have in common."""

    reason: str
    ir: TemplateIR


@dataclass(frozen=True, slots=True)
class _Cut:
    """A turn divided at its parts: there is one more text before, between and after them than there are parts."""

    parts: tuple[Part, ...]
    gaps: tuple[str, ...]


def repairs(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[Repair]:
    """Yield formats that the failed messages suggest, the likeliest first."""
    shapes = list(_one_of_each_shape(tried))
    yield from _longer_header(ir, shapes)
    yield from _empty_content(ir, shapes)
    for repair in _forms(ir, shapes):
        yield repair
        yield from _opened_after_content(repair.ir)
    yield from _opened_after_content(ir)
    yield from _without_quotes_of_strings(ir, tried)


def with_unwritten(ir: TemplateIR, tried: Sequence[Tried]) -> tuple[Tried, ...]:
    """Return what was tried; of each shape of turn with content or calls, one turn has a problem if the format would
    write it differently, white space between parts apart.  A parser may tolerate the difference, a grammar does not."""
    problems = {}
    for one in _one_of_each_shape(tried):
        written, parts = _written(ir, one.case), _parts_of(one.case)
        if one.passed and parts != ("reasoning",) and not _is_alike(in_form(ir, parts), one, written):
            problems[one.case.title] = f"the format writes {quoted(written)}"
    return tuple(replace(one, problem=one.problem or problems.get(one.case.title, "")) for one in tried)


def _is_alike(ir: TemplateIR, one: Tried, written: str) -> bool:
    cut, other = _cut(ir, one.case, one.turn), _cut(ir, one.case, written)
    if cut is None or other is None or cut.parts != other.parts:
        return without_space(one.turn) == without_space(written)
    (first, *gaps, last), (usual, *usual_gaps, closing) = map(without_space, cut.gaps), map(without_space, other.gaps)
    start, end = without_space(ir.reasoning.start), without_space(ir.reasoning.end)
    ends = [without_space(text) for text in ir.turn.ends]
    bare = closing.removesuffix(ends[0]) if ends else closing
    # A conversation may end without the text that ends a turn.
    is_closed = last in (closing, *(bare + text for text in ends)) or (last == bare and not last.endswith(tuple(ends)))
    firsts = {usual, start + end + usual, end + usual, *(without_space(head) + usual for head in ir.turn.heads)}
    return first in firsts and gaps == usual_gaps and is_closed


# -- tolerances --------------------------------------------------------------------------------------------------------


def _without_quotes_of_strings(ir: TemplateIR, tried: Sequence[Tried]) -> Iterator[Repair]:
    """Read quotes around a raw value as the value's own if the template writes such values without adding quotes."""
    kind = "python_literals"
    in_force = any(tolerance.kind == kind and tolerance.enabled for tolerance in ir.tolerances)
    quoted_values = (
        value
        for one in tried
        if not one.passed
        for call in one.case.calls
        for _, value in call.arguments
        if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    )
    raw = ir.tools.dialect is not None and not ir.tools.dialect.top.strings
    value = next(quoted_values, "") if in_force and raw else ""
    if value:
        reason = f"the template writes {value} for a value that has the quotes itself"
        off = Tolerance(kind, enabled=False, reason=reason)
        yield Repair(reason, replace(ir, tolerances=tuple(off if one.kind == kind else one for one in ir.tolerances)))


def _one_of_each_shape(tried: Sequence[Tried]) -> Iterator[Tried]:
    seen: set[tuple[Part, ...]] = set()
    for one in tried:
        parts = _parts_of(one.case)
        if one.case.title == str(one.case.shape) and parts not in seen:
            seen.add(parts)
            yield one


def _parts_of(case: Case) -> tuple[Part, ...]:
    has = (case.reasoning, case.content, case.calls)
    return tuple(part for part, value in zip(PARTS, has, strict=True) if value)


# -- what every turn begins with ---------------------------------------------------------------------------------------


def _longer_header(ir: TemplateIR, shapes: Sequence[Tried]) -> Iterator[Repair]:
    """Move a text with which every turn of the history begins from a part into the turn's header."""
    turns = [one.turn for one in shapes]
    if len(turns) < 2 or any(one.passed for one in shapes):
        return
    lead = common_prefix(*turns)
    while lead and any(cut_left(turn, len(lead)) != len(lead) for turn in turns):
        lead = lead[:-1]
    if not lead.strip() or any(prompt.head.startswith(lead) for prompt in ir.turn.prompts):
        return
    prompts = tuple(GenerationPrompt(prompt.context, prompt.text, "") for prompt in ir.turn.prompts)
    anchors = (ir.turn.header + lead, *(prompt.text for prompt in prompts if prompt.text.strip()))
    turn = Turn("", tuple(dict.fromkeys(anchors)), prompts, ir.turn.ends)
    reason = f"every turn begins with {quoted(lead)}, and no prompt does"
    if not ir.reasoning.key:
        # Markers of reasoning that only prompts show were read from the prompts' part of the header.
        yield Repair(reason, replace(ir, turn=turn, reasoning=Reasoning()))
    yield Repair(reason, replace(ir, turn=replace(turn, prompts=ir.turn.prompts)))


def _empty_content(ir: TemplateIR, shapes: Sequence[Tried]) -> Iterator[Repair]:
    """Yield the format in which turns of calls have empty content, whose closer opens the calls.

    `{"say": "C", "do": []}<eot>`, `{"say": "", "do": [CALL]}<eot>`, `{"say": "C", "do": [CALL]}<eot>`
    """
    start, tools = ir.content.start, ir.tools
    turns = {_parts_of(one.case): one.turn for one in shapes}
    say, do, both = (turns.get(parts, "") for parts in (("content",), ("calls",), ("content", "calls")))
    opened = tools.section_start.removeprefix(start)
    if not start.strip() or opened == tools.section_start or CONTENT + opened not in both or CONTENT not in say:
        return
    closed = say.partition(CONTENT)[2]
    shared = common_suffix(closed, do)
    found = pieces(shared)
    end = shared[shared.rindex(found[-1]) :] if found else ""
    if not end.strip() or end == closed or not tools.section_end.endswith(end):
        return
    ends = (end, *(other for other in ir.turn.ends if other not in (end, ir.turn.ends[0])))
    shapes_of_calls: list[tuple[Part, ...]] = [("calls",), ("reasoning", "calls")]
    forms = [Form((*parts[:-1], "content", "calls"), "content.end", "") for parts in shapes_of_calls]
    forms += [Form(parts, "tools.section_start", start + opened) for parts in shapes_of_calls]
    yield Repair(
        "turns of calls have empty content, whose closer opens the calls",
        replace(
            ir,
            turn=replace(ir.turn, ends=ends),
            content=replace(ir.content, end=closed.removesuffix(end)),
            tools=replace(tools, section_start=opened, section_end=tools.section_end.removesuffix(end)),
            forms=tuple(form for form in forms if ir.reasoning.key or "reasoning" not in form.parts),
        ),
    )


# -- markers by shape --------------------------------------------------------------------------------------------------


def _forms(ir: TemplateIR, shapes: Sequence[Tried]) -> Iterator[Repair]:
    """Yield formats for turns of a shape whose parts have other texts around them."""
    found = [form for one in shapes if not one.passed for form in _forms_in(ir, one)]
    if not found:
        return
    inside = {form.parts for form in found if form.marker == "reasoning.end" and not form.text}
    kept = [
        form
        for form in found
        if form.text.strip() not in _taken(ir, form.marker) & _taken(_in_shape(ir, form, found), form.marker)
        or (form.parts in inside and _closes_reasoning_after_calls(ir, form))
    ]
    kept += _also_with_content(shapes, [form for form in kept if form.parts in inside], kept)
    kept += _divided_like_calls(ir, shapes, kept)
    if kept:
        reason = "; ".join(f"{' and '.join(form.parts)}: {form.marker} is {quoted(form.text)}" for form in kept)
        yield Repair(reason, _with_forms(ir, shapes, kept))


def _also_with_content(shapes: Sequence[Tried], inside: Sequence[Form], known: Sequence[Form]) -> list[Form]:
    """Return the forms of calls inside of reasoning for turns with content, which comes after such calls."""
    fails = any(_parts_of(one.case) == PARTS and not one.passed for one in shapes)
    new = fails and all(form.parts != PARTS for form in known)
    return [replace(form, parts=PARTS) for form in inside] if new else []


def _opened_after_content(ir: TemplateIR) -> Iterator[Repair]:
    """Yield the format in which the text between content and calls opens the calls, where a repair took it for what
    closes the content: calls without an opener of their own would look like content."""
    closing = {form.parts: form.text for form in ir.forms if form.marker == "content.end" and form.text.strip()}
    unopened = [
        form.parts
        for form in ir.forms
        if form.marker == "tools.section_start" and not form.text.strip() and form.parts in closing
    ]
    if not unopened or ir.content.end.strip():
        return
    replaced = [(parts, marker) for parts in unopened for marker in ("content.end", "tools.section_start")]
    kept = [form for form in ir.forms if (form.parts, form.marker) not in replaced]
    opened = [Form(parts, "tools.section_start", closing[parts]) for parts in unopened]
    yield Repair("what follows content opens the calls", replace(ir, forms=(*kept, *opened)))


def _divided_like_calls(ir: TemplateIR, shapes: Sequence[Tried], known: Sequence[Form]) -> Iterator[Form]:
    """Yield forms for content next to calls, which the template never shows, if each call has a header of its own: so
    has any other part."""
    header, separator = ir.turn.header.strip(), ir.tools.separator
    if not header or header not in separator or any({"content", "calls"} <= {*_parts_of(one.case)} for one in shapes):
        return
    closer = separator[: separator.index(header) + len(header)]
    yield Form(("content", "calls"), "content.end", closer)
    if ir.reasoning.key:
        yield Form(PARTS, "content.end", closer)
    yield from (replace(form, parts=PARTS) for form in known if form.parts == ("reasoning", "content"))


def _closes_reasoning_after_calls(ir: TemplateIR, form: Form) -> bool:
    return form.marker == "tools.section_end" and form.text.strip() == ir.reasoning.end.strip()


def _in_shape(ir: TemplateIR, form: Form, found: Sequence[Form]) -> TemplateIR:
    """Return the format with the markers of all forms for the same shape as this one."""
    for other in found:
        ir = with_marker(ir, other.marker, other.text) if other.parts == form.parts else ir
    return ir


def _taken(ir: TemplateIR, marker: FormMarker) -> set[str]:
    """Return the texts of the other markers: one text can't be two markers."""
    others = {*START.values(), *END.values(), "turn.end"} - {marker}
    return {text for other in others if (text := marker_of(ir, other).strip())}


def _with_forms(ir: TemplateIR, shapes: Sequence[Tried], forms: Sequence[Form]) -> TemplateIR:
    """Return the format with forms: a marker that is the same in every shape becomes the usual one."""
    for form in forms:
        owner = next((part for part in PARTS if form.marker in (START[part], END[part])), None)
        having = [_parts_of(one.case) for one in shapes if owner is None or owner in _parts_of(one.case)]
        alike = {other.parts for other in forms if (other.marker, other.text) == (form.marker, form.text)}
        if set(having) <= alike:
            ir = with_marker(ir, form.marker, form.text)
            continue
        if form.marker == "turn.end" and form.text not in ir.turn.ends:
            ir = replace(ir, turn=replace(ir.turn, ends=(*ir.turn.ends, form.text)))
        others = [old for old in ir.forms if (old.parts, old.marker) != (form.parts, form.marker)]
        ir = replace(ir, forms=(*others, form))
    return replace(ir, forms=tuple(form for form in ir.forms if form.text != marker_of(ir, form.marker)))


def _forms_in(ir: TemplateIR, one: Tried) -> Iterator[Form]:
    parts = _parts_of(one.case)
    usual = in_form(ir, parts)
    cut, written = _cut(usual, one.case, one.turn), _cut(usual, one.case, _written(usual, one.case))
    if cut is None or written is None or cut.parts != written.parts:
        return
    if cut.gaps[0] != written.gaps[0] and (closer := _blank_reasoning(usual, cut.gaps[0])):
        yield Form(parts, "reasoning.end", closer)
        if written.gaps[0].strip():
            yield Form(parts, START[cut.parts[0]], "")
        cut = replace(cut, gaps=(written.gaps[0], *cut.gaps[1:]))
    if cut.gaps[0] != written.gaps[0]:
        yield Form(parts, START[cut.parts[0]], cut.gaps[0])
    for at, (left, right) in enumerate(pairwise(cut.parts), 1):
        if cut.gaps[at] != written.gaps[at]:
            yield from _between(usual, parts, END[left], START[right], cut.gaps[at])
    if cut.gaps[-1] != written.gaps[-1]:
        yield from _after_last_part(usual, parts, END[cut.parts[-1]], cut.gaps[-1])


def _blank_reasoning(ir: TemplateIR, lead: str) -> str:
    """Return the closer of an empty reasoning block, with the white space after it, if a turn begins with that."""
    closer = ir.reasoning.end.strip()
    if not closer or closer not in lead:
        return ""
    rest = lead[lead.rindex(closer) :]
    return rest if not rest[len(closer) :].strip() else ""


def _between(ir: TemplateIR, parts: tuple[Part, ...], end: FormMarker, start: FormMarker, gap: str) -> Iterator[Form]:
    """Yield forms for a text between two parts, which is the closer of one and the opener of the other: their usual
    markers decide, otherwise all of it is the closer's."""
    closer, opener = marker_of(ir, end), marker_of(ir, start)
    if not gap.strip() and not closer.strip() and opener:
        yield Form(parts, start, gap)  # nothing but white space is left of what opens the part
        return
    shared = len(common_suffix(gap, opener))
    while shared and not (reads_well(gap, len(gap) - shared) and reads_well(opener, len(opener) - shared)):
        shared -= 1
    if closer.strip() and gap.startswith(closer.rstrip()) and gap[len(closer.rstrip()) :] != opener:
        # a header in between opens the turn again, and no part
        at = gap.find(ir.turn.header, len(closer.rstrip())) if ir.turn.header.strip() else -1
        stop = at + len(ir.turn.header) if at >= 0 else len(closer.rstrip())
        # White space alone opens nothing.
        is_blank = not gap[stop:].strip() and (at >= 0 or not opener.strip())
        stop = len(gap) if is_blank else stop
        if gap[:stop] != closer and (at >= 0 or is_blank):
            yield Form(parts, end, gap[:stop])
        yield Form(parts, start, gap[stop:])
        return
    own = gap[len(gap) - shared :] if gap[len(gap) - shared :].strip() else ""
    if own.strip() != opener.strip():
        yield Form(parts, start, own)
    if gap.removesuffix(own) != closer:
        yield Form(parts, end, gap.removesuffix(own))


def _after_last_part(ir: TemplateIR, parts: tuple[Part, ...], end: FormMarker, gap: str) -> Iterator[Form]:
    """Yield forms for the text after the last part: what closes it, and what ends the turn.  A section without an
    opener has nothing to close it."""
    closer = marker_of(ir, end)
    known = next((text for text in sorted(ir.turn.ends, key=len, reverse=True) if gap.endswith(text)), "")
    if known and gap.removesuffix(known) != closer:
        yield Form(parts, end, gap.removesuffix(known))
    if known and known != ir.turn.ends[0]:
        yield Form(parts, "turn.end", known)
    if known or not gap.strip():
        return
    if end == "tools.section_end" and ir.tools.section_start.strip() and not closer.strip():
        yield Form(parts, end, gap)
    elif gap.startswith(closer) and gap[len(closer) :].strip():
        yield Form(parts, "turn.end", gap[len(closer) :])


def _written(ir: TemplateIR, case: Case) -> str:
    try:
        return write_message(ir, as_message(ir, case))
    except BadMessage:
        return ""


def _cut(ir: TemplateIR, case: Case, turn: str) -> _Cut | None:
    """Return the turn divided at the parts of a case; None if they can't be found."""
    texts: dict[Part, str] = {"reasoning": REASONING, "content": CONTENT, "calls": _calls(ir, case)}
    found = []
    for part in _parts_of(case):
        text = texts[part]
        if not text or turn.count(text) != 1:
            return None
        found.append((turn.index(text), turn.index(text) + len(text), part))
    found.sort()
    edges = [0, *(edge for start, stop, _ in found for edge in (start, stop)), len(turn)]
    gaps = tuple(turn[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2))
    return _Cut(tuple(part for _, _, part in found), gaps)


def _calls(ir: TemplateIR, case: Case) -> str:
    """Return the text of the calls alone, without section and turn."""
    if not case.calls or ir.tools.format == "none":
        return ""
    bare = replace(
        ir,
        turn=replace(ir.turn, header="", ends=()),
        tools=replace(ir.tools, section_start="", section_end=""),
    )
    return _written(bare, Case(case.title, calls=case.calls)).strip()
