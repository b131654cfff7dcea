r"""Calls: one object, or a header and arguments.

"<call>" name "\n" arguments "</call>"  →  openers: "<call>"; the name ends at "\n"; closers: "</call>"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tplc.ir.forms import PARTS, in_form
from tplc.ir.markers import is_ordinary, lead_of, only_punctuation
from tplc.ir.nodes import Layout, ObjectArguments, PairArguments, Part, Slot, TemplateIR, Text, Tools
from tplc.ir.spellings import spellings_of
from tplc.lower.begun_call import begun_arguments_of, begun_call_of
from tplc.lower.bounds import KEY_OF_WORDS
from tplc.lower.call_form import ArgumentObject, CallForm, CallShape, Closing, ObjectForm, Opening, Where
from tplc.lower.call_objects import CallObject, object_head, object_of, opening_of, wrapped_fields
from tplc.lower.closers import breaks_of, closers_of, empty_calls, last_of, last_pieces_of, with_space
from tplc.lower.layouts import merged, not_blank, space_after_reasoning, text_at, unique
from tplc.lower.openers import is_unambiguous_opener, only_for_tools, openers_of, spaced, starts_of
from tplc.lower.pairs import pairs_of
from tplc.lower.shapes import object_shape, shape_of, with_id
from tplc.lower.slots import (
    after_arguments,
    after_empty,
    before_object,
    before_pairs,
    closing_of_bare,
    header_of,
    id_layout,
)
from tplc.lower.tolerated import Tolerated
from tplc.lower.unprefixed import prefix_of_closers, unprefixed, with_unprefixed, with_unprefixed_openers
from tplc.lower.whole_call import whole_call_of
from tplc.lower.written import WrittenCalls, written_calls

NOT_IN_JSON = re.compile(r"""[^\w\s\[\]{}:,.+'"-]""", re.ASCII)  # a character that is in JSON inside of strings only
WORD_END = re.compile(r"\w\Z")
# Models write these between calls of any template.
_OPTIONAL_SEPARATORS = ",;"
# What JSON itself is written with: a model that forgets to escape still writes these in the arguments.
_IN_JSON = '{}[]":,\\ \n'


def calls_of(ir: TemplateIR, tolerated: Tolerated) -> CallForm:
    called = object_of(ir.tools)
    form = _header_calls(ir, tolerated) if called is None else _object_calls(ir, called, tolerated)
    form = _continued(form, _cores(ir.turn.ends))
    form = replace(
        form,
        breaks=_breaks(ir, form),
        arguments=replace(form.arguments, ends=_argument_ends(ir, form)),
        closing=replace(form.closing, ends_turn=form.closing.ends_turn and ir.content.with_calls != "after"),
    )
    return _opened(ir, form, tolerated)


def _opened(ir: TemplateIR, form: CallForm, tolerated: Tolerated) -> CallForm:
    """Return the form with how its openers count in a turn."""
    opening = form.opening
    # Where the template writes content, and the calls in the same line, lines say nothing.
    in_line = ir.content.with_calls == "before" or any(map(is_unambiguous_opener, opening.openers))
    in_line = in_line and not any("\n" in lead_of(text) for text in opening.openers)
    after_reasoning = space_after_reasoning(ir, {"reasoning", "calls"})
    at_line: Where | None = "line start" if "\n" in after_reasoning else None
    keys_come_first = form.pairs is not None and not form.pairs.opens
    # Where calls are messages of their own, or in reasoning, what is left of an opener may end any turn, or open any
    # reasoning.
    others = _cores([*ir.turn.ends, ir.reasoning.start])
    sought = opening.ordinary or (opening.at_lines and in_line)
    whole = whole_call_of(ir, form, section=not opening.ordinary) if sought else ()
    opening = replace(
        opening,
        in_reasoning="anywhere" if _are_in_reasoning(ir, form) else opening.in_reasoning or at_line,
        ends_reasoning=_end_reasoning(ir),
        after_reasoning=after_reasoning,
        ordinary=opening.ordinary if whole else (),
        may_be_missing={"omitted_openers", "other_forms"} <= set(tolerated.kinds),
        short=tuple(text for text in opening.short if not text.strip().startswith(others)),
        begins=begun_call_of(ir, form) if opening.at_lines else "",
        usual_next=_usual_next(form, written_calls(ir.tools)),
    )
    pairs_begin = begun_arguments_of(ir, form, KEY_OF_WORDS) if opening.at_lines and keys_come_first else ""
    return replace(form, opening=opening, whole=whole, pairs_begin=pairs_begin)


def _continued(form: CallForm, ends: Sequence[str]) -> CallForm:
    """Return the form without separators that end the turn as well: only the opener of a further call shows that the
    turn continues."""
    both = [text for text in form.closing.separators if text.strip() in ends]
    if not both or not form.opening.inner:
        return form
    separators = tuple(text for text in form.closing.separators if text not in both)
    inner = (*form.opening.inner, *(text + opener for text in both for opener in form.opening.inner))
    opening, closing = replace(form.opening, inner=inner), replace(form.closing, separators=separators)
    return replace(form, opening=opening, closing=closing)


def _breaks(ir: TemplateIR, form: CallForm) -> tuple[str, ...]:
    breaks = breaks_of(_markers_around(ir, form))
    own = [
        text.strip()
        for text in form.opening.openers[:1]
        if form.pairs is None and form.header and not form.opening.ordinary
    ]
    # No name contains what opens its call, even where people write that as well; nor does JSON outside of strings.
    own = [text for text in own if NOT_IN_JSON.search(text) and not text[0].isalnum() and len(text) > 1]
    # Nor does either contain what closes the call: where a brace is missing, the object ends there.
    closers = [text.strip() for text in (*form.closing.closers, *ir.turn.ends) if form.pairs is None]
    own += [text for text in closers if NOT_IN_JSON.match(text) and (len(text) > 1 or not text.isascii())]
    return unique([*breaks, *(text for text in own if not breaks_of([text]))])


def _argument_ends(ir: TemplateIR, form: CallForm) -> tuple[str, ...]:
    """Return the markers that can't be inside of escaped arguments, even if JSON's own characters aren't escaped."""
    if not form.arguments.escapes:
        return ()
    chars = {char for _, char in form.arguments.escapes if char not in _IN_JSON}
    escapes = re.compile("|".join(re.escape(text) for text, _ in form.arguments.escapes))
    markers = unique(text.strip() for text in _markers_around(ir, form))
    return tuple(text for text in markers if not chars.isdisjoint(escapes.sub("", text)))


def _markers_around(ir: TemplateIR, form: CallForm) -> list[str]:
    """Return the markers that may follow a name or the arguments, up to those of the next call and the next turn."""
    tail = [form.tail[0]] if form.tail is not None else []
    return [
        *form.closing.closers,
        *form.closing.unprefixed,
        *tail,
        *form.opening.openers,
        *ir.turn.ends,
        ir.turn.header,
    ]


def _end_reasoning(ir: TemplateIR) -> bool:
    """Return whether the template writes calls in open reasoning, in turns of some shape."""
    shapes: tuple[tuple[Part, ...], ...] = (("reasoning", "calls"), PARTS)
    return ir.reasoning.mode != "none" and any(not in_form(ir, shape).reasoning.end.strip() for shape in shapes)


def _are_in_reasoning(ir: TemplateIR, form: CallForm) -> bool:
    """Return whether calls are inside of reasoning, so that nothing ends it before them."""
    inside = any(
        one.marker == "reasoning.end" and not one.text and {"reasoning", "calls"} <= set(one.parts) for one in ir.forms
    )
    inside = inside or (ir.reasoning.mode != "none" and bool(ir.reasoning.start.strip()) and not ir.reasoning.end)
    return inside and form.opening.where == "anywhere" and all(map(is_unambiguous_opener, form.opening.openers))


def _cores(markers: Iterable[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in markers if text.strip())


def _is_number(layout: Layout) -> bool:
    return layout in ((Slot("index"),), (Slot("count"),))


def _numbered(openers: Iterable[str]) -> Iterator[str]:
    """Yield openers with the first digit of the number that follows them, if a key could begin with their word."""
    for text in openers:
        yield from (f"{text}{digit}" for digit in range(10)) if is_ordinary(text) and WORD_END.search(text) else (text,)


def _object_calls(ir: TemplateIR, called: CallObject, tolerated: Tolerated) -> CallForm:
    """Lower a call that is one object, with or without slots before it."""
    tools, before = ir.tools, merged((*called.before, Text(called.opened)))
    shape = object_shape(called.before, called.after)
    form = _calls(tools, shape, "" if shape.slots else called.opened, tolerated)
    texts = with_space([called.after], tolerated.blank("tools.section_end"))
    closing = replace(form.closing, of_call=closers_of(texts, tolerated))
    return replace(
        form,
        closing=replace(
            closing,
            last=last_of(closing.closers, [called.after], tools.section_end, ir.turn.ends, tolerated),
            last_pieces=last_pieces_of([called.after], [*_section_ends(tolerated), tools.separator], tolerated),
        ),
        empty=_empty(form, tools, called.after),
        header=header_of(before[bool(text_at(before, 0)) :], before_object(tools, tolerated, ""), tolerated),
        object=ObjectForm(
            fields=called.fields,
            wrapped=wrapped_fields(called.fields) if form.opening.where == "anywhere" else (),
            opener=opening_of(tools),
            head=object_head(tools),
        ),
    )


def _header_calls(ir: TemplateIR, tolerated: Tolerated) -> CallForm:
    """Lower a call whose name, and perhaps more, comes before its arguments."""
    tools, layout = ir.tools, merged(ir.tools.call)
    at = layout.index(Slot("arguments"))
    shape = with_id(shape_of(layout), tools.call_id.layout)
    prefix = prefix_of_closers(ir, tolerated)
    form = _calls(tools, shape, text_at(layout, 0).removeprefix(shape.opener), tolerated, prefix)
    before, after = layout[bool(text_at(layout, 0)) : at], after_arguments(layout[at + 1 :])
    own = (*closing_of_bare(tools), *after.closing)
    closers = closers_of(with_space(own, tolerated.blank("tools.section_end")), tolerated, _texts_before_value(tools))
    # A piece of a closer that opens calls as well is an opener.
    openers = _cores((*form.opening.openers, *form.opening.inner))
    kept = (text for text in closers if text.strip() not in openers or text.strip() in _cores(own))
    form = replace(form, closing=replace(form.closing, of_call=tuple(kept)))
    ends = [*form.closing.closers, *([after.slots_open] if after.slots else [])]
    pairs, last = None, before_object(tools, tolerated, text_at(layout, at - 1))
    if isinstance(tools.arguments, PairArguments):
        # Where nothing closes a call, what opens the next one does.
        opens = [*form.opening.openers, *(form.opening.inner if not form.closing.of_call else ())]
        following = [*ends, tools.separator, *(_numbered(opens) if _is_number(layout[1:2]) else opens)]
        pairs = pairs_of(ir, tools.arguments, after.ends, following, tolerated)
        form, pairs = with_unprefixed(form, pairs, prefix)
        last = before_pairs(text_at(layout, at - 1), tools.arguments, pairs, ends or ir.turn.ends)
    closing, over = form.closing, _section_ends(tolerated)
    if not after.slots:
        last_closers = last_of(closing.closers, own, tools.section_end, ir.turn.ends, tolerated)
        pieces = last_pieces_of(own, [*over, tools.separator], tolerated)
        lasts = unique([*last_closers, *unprefixed(last_closers, prefix)])
        closing = replace(closing, last=lasts, last_pieces=pieces)
    return replace(
        form,
        closing=replace(closing, section_ends=not_blank(text for end in over for text in tolerated.texts(end))),
        empty=_empty(form, tools, "".join(after.closing)) if not after.slots else (),
        header=header_of(before, last, tolerated, after_empty(ir, form.closing.closers)),
        tail=after.tail,
        call_id=id_layout(tools, before),
        replaced=tools.replacements("name"),
        pairs=pairs,
        bare_call=tools.bare_call,
    )


def _calls(tools: Tools, shape: CallShape, first: str, tolerated: Tolerated, prefix: str = "") -> CallForm:
    """Return the common part of all calls.  `first`: the text that always follows the opener; `prefix`: with which all
    markers begin, or ""."""
    opening = _opening(tools, shape, first, tolerated, prefix)
    separators = not_blank(tolerated.texts(tools.separator))
    if "other_forms" in tolerated.kinds and not opening.inner and tools.json is None:
        other = {",": ";", ";": ","}.get(tools.separator.strip())
        separators = (*separators, *([other] if other else []))  # only it shows that another call follows
    # A closer of a call is none of them.
    own = (*separators, *closing_of_bare(tools), *(text or "" for text in shape.closer))
    punctuation = [char for char in _OPTIONAL_SEPARATORS if not any(text.strip() == char for text in own)]
    return CallForm(
        slot_order=written_calls(tools).slot_order,
        last_text=written_calls(tools).last_text,
        shape=shape,
        opening=opening,
        closing=Closing(
            of_section=closers_of(_section_ends(tolerated), tolerated, _texts_before_value(tools)),
            ends_turn=not (tools.parallel or tools.section_end.strip()),
            separators=separators,
            optional_separators="".join(punctuation) if opening.inner and "omitted_openers" in tolerated.kinds else "",
        ),
        object=ObjectForm(opener=opening_of(tools)),
        arguments=_arguments(tools, tolerated),
    )


def _arguments(tools: Tools, tolerated: Tolerated) -> ArgumentObject:
    also_python, repairs = ("python_literals" in tolerated.kinds, "json_repairs" in tolerated.kinds)
    styles = spellings_of(tools, also_python=also_python, repairs=repairs)
    if not isinstance(tools.arguments, ObjectArguments):
        return ArgumentObject(styles)
    lines = tools.arguments.lines
    return ArgumentObject(
        styles=styles,
        encoded=tools.arguments.encoded,
        lines=lines.first if lines is not None else None,
        escapes=tools.replacements("value"),
    )


def _opening(tools: Tools, shape: CallShape, first: str, tolerated: Tolerated, prefix: str) -> Opening:
    """Return the openers of sections, those of calls, and both together."""
    section = tolerated.usual("tools.section_start")
    sections = unique([*tolerated.forms["tools.section_start"], *spaced(section, tolerated.texts(section))])
    starts = starts_of(shape.opener, first, tolerated)
    name_end = shape.slots[0][1] if shape.slots else ""
    sections, own = with_unprefixed_openers(sections, prefix), [start + first for start in starts]
    starts = with_unprefixed_openers(starts, prefix)
    opening = openers_of(sections, starts, first, name_end, tolerated, tolerated.declared("tools.section_start"))
    opening = only_for_tools(opening, (start + first for start in starts[len(own) :]), own)
    return replace(opening, in_reasoning=_in_reasoning(opening, tolerated))


def _texts_before_value(tools: Tools) -> list[str]:
    """Return the texts that a pair has before its value."""
    pair = merged(tools.arguments.pair) if isinstance(tools.arguments, PairArguments) else ()
    return [item.text for item in pair[: pair.index(Slot("value")) if pair else 0] if isinstance(item, Text)]


def _section_ends(tolerated: Tolerated) -> tuple[str, ...]:
    """Return the closer of all calls, or those that a tolerance file gives a format without one."""
    return (tolerated.usual("tools.section_end"), *tolerated.declared("tools.section_end"))


def _empty(form: CallForm, tools: Tools, closing: str) -> tuple[str, ...]:
    return empty_calls((form.opening.section_start, tools.section_end), (form.opening.starts[0], closing))


def _usual_next(form: CallForm, written: WrittenCalls) -> tuple[str, ...]:
    closer = "".join(text or "" for text in form.shape.closer).strip()
    known = None not in form.shape.closer and closer in {text.strip() for text in (*form.closing.closers, "")}
    again = written.separator + written.opener
    opens = [
        text
        for text in map(str.strip, form.opening.inner or form.opening.openers)
        if written.opener.strip().startswith(text)
    ]
    return unique(((closer + again).lstrip(), again.lstrip(), again)) if known and opens and closer not in opens else ()


def _in_reasoning(opening: Opening, tolerated: Tolerated) -> Where | None:
    """Return the openers that count in reasoning: calls that count only at the start of a line could be reasoning,
    unless an opener begins a line and is no word."""
    lines = [
        text
        for text in opening.openers
        if "\n" in lead_of(text) and is_unambiguous_opener(text) and only_punctuation(text)
    ]
    ends = (opening.where == "anywhere" or lines) and "call_ends_reasoning" in tolerated.kinds
    return "line start" if ends else None
