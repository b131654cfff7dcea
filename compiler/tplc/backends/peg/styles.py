"""What the readers of a format's values and calls need to know, for `tplc_runtime.peg_readers`.

styles_of(acceptor)  →  (at the top, inside lists, inside objects)
"""

from __future__ import annotations

from dataclasses import replace

from tplc.lower import Acceptor
from tplc.lower.call_form import CallForm, PairForm, PairValue, ValueEnd
from tplc.lower.following import after_quoted
from tplc.lower.garbled import garbled_closers
from tplc.lower.lexemes import Lexemes, lexemes_of
from tplc.lower.markerlike import damaged_arguments, end_of_cut_values, own_fields, own_keys
from tplc.lower.pairs import around_key, between_pairs, value_ends_and_markers, value_opener
from tplc.lower.states import respelled_kinds, states
from tplc.lower.values import style_of
from tplc_runtime.escapes import Escapes
from tplc_runtime.pattern import Pattern
from tplc_runtime.peg_form import (
    NEVER,
    NO_TEXTS,
    FormOfCalls,
    FormOfHeaders,
    FormOfObjects,
    FormOfPairs,
    FormOfValues,
    MarkersOfCalls,
    Styles,
)
from tplc_runtime.scanner import Scanner
from tplc_runtime.values import Style


def styles_of(acceptor: Acceptor) -> Styles:
    if acceptor.calls is None or acceptor.calls.arguments.styles is None:
        nothing = Style((), {})
        return nothing, nothing, nothing
    top, in_list, inside = map(style_of, acceptor.calls.arguments.styles)
    return top, in_list, inside


def form_of(acceptor: Acceptor) -> FormOfCalls:
    """Return the data about calls that readers need."""
    calls, kinds = acceptor.calls, acceptor.tolerances
    form = FormOfCalls(
        FormOfValues(styles_of(acceptor)),
        names_alike="tool_names" in kinds,
        reads_again="other_forms" in kinds,
        escapes={each.kind: Escapes(dict(each.replaced)) for each in acceptor.escapes} or None,
    )
    if calls is None:
        return form
    return replace(
        form,
        values=form.values if calls.pairs is None else _values(calls.pairs.value, calls.pairs.value_end, form),
        markers=_markers(acceptor, calls),
        header=_header(calls),
        objects=FormOfObjects(
            fields=dict((*calls.object.fields, *calls.object.wrapped)),
            own_keys=own_keys(calls),
            own_fields=own_fields(calls),
        ),
        pairs=form.pairs if calls.pairs is None else _pairs(acceptor, calls.pairs, calls),
        is_closed=calls.is_closed,
    )


def _values(value: PairValue, value_end: ValueEnd, form: FormOfCalls) -> FormOfValues:
    follow = (NEVER, NEVER)
    if value.quoted:
        before_end, at_end = (Pattern(after_quoted(value_end.following, over=over)) for over in (False, True))
        follow = (before_end, at_end)
    words = tuple(word for word, _ in value.words[1])
    return FormOfValues(form.values.styles, follow, words, value.literals)


def _markers(acceptor: Acceptor, calls: CallForm) -> MarkersOfCalls:
    found = {state.name: scanner(state.lexemes) for state in states(acceptor)}
    garbled = garbled_closers(acceptor)
    return MarkersOfCalls(
        breaks=scanner(lexemes_of([("mark", calls.breaks)])),
        in_content=found["content"],
        after_call=found["after_call"],
        closers=calls.closing.distinctive,
        garbled=NO_TEXTS if garbled is None else Pattern(garbled.pattern),
        are_juxtaposed=calls.pairs is not None and calls.calls_are_juxtaposed,
        are_distinct=not calls.opening.at_lines,
    )


def _header(calls: CallForm) -> FormOfHeaders:
    pieces = calls.pieces_before_name
    return FormOfHeaders(
        texts=Pattern(calls.header_pattern),
        name_is_first=calls.name_is_first,
        name_escapes=Escapes(dict(calls.replaced)),
        id_prefix=calls.shape.id_prefix,
        is_like_text=bool(calls.opening.begins),
        unopened=() if pieces is None else (Pattern(calls.opening.begins), "", *pieces),
    )


def _pairs(acceptor: Acceptor, pairs: PairForm, calls: CallForm) -> FormOfPairs:
    around = around_key(pairs)
    shows_pairs = pairs.value_end.marks and not pairs.value.quoted
    return FormOfPairs(
        between=scanner(between_pairs(pairs, respelled_kinds(acceptor))),
        have_openers=bool(pairs.opens),
        begin=_pattern(calls.pairs_begin or None),
        around_key=None if around is None else (Pattern(around[0]), Pattern(around[1])),
        key_escapes=Escapes(dict(pairs.replaced)),
        value_opener=_pattern(value_opener(pairs)),
        elements_first=bool(pairs.value_end.unprefixed),
        damaged=_pattern(damaged_arguments(acceptor)),
        call_end=end_of_cut_values(calls),
        markers=scanner(value_ends_and_markers(pairs)) if shows_pairs else None,
    )


def _pattern(text: str | None) -> Pattern | None:
    return None if text is None else Pattern(text)


def scanner(found: Lexemes) -> Scanner:
    return Scanner(*found.markers, **found.scanner)
