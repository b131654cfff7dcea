"""What the readers of a format's values and calls need to know, for `tplc_runtime.peg_readers`.

styles_of(acceptor)  →  (at the top, inside lists, inside objects)
"""

from __future__ import annotations

from tplc.lower import Acceptor
from tplc.lower.following import after_quoted
from tplc.lower.garbled import garbled_closers
from tplc.lower.lexemes import Lexemes, lexemes_of
from tplc.lower.markerlike import damaged_arguments, own_fields, own_keys
from tplc.lower.pairs import around_key, between_pairs, value_ends_and_markers, value_opener
from tplc.lower.states import respelled_kinds, states
from tplc.lower.values import style_of
from tplc_runtime.escapes import Escapes
from tplc_runtime.pattern import Pattern
from tplc_runtime.peg_readers import NEVER, OtherSpelling
from tplc_runtime.scanner import Scanner
from tplc_runtime.values import Style

Styles = tuple[Style, Style, Style]


def styles_of(acceptor: Acceptor) -> Styles:
    if acceptor.calls is None or acceptor.calls.arguments.styles is None:
        nothing = Style((), {})
        return nothing, nothing, nothing
    top, in_list, inside = map(style_of, acceptor.calls.arguments.styles)
    return top, in_list, inside


def spelled_of(acceptor: Acceptor) -> OtherSpelling:
    """Return the data about calls that readers need."""
    calls, kinds = acceptor.calls, acceptor.tolerances
    spelled = OtherSpelling(
        styles_of(acceptor),
        names_alike="tool_names" in kinds,
        reads_again="other_forms" in kinds,
        escapes={each.kind: Escapes(dict(each.replaced)) for each in acceptor.escapes} or None,
    )
    if calls is None:
        return spelled
    found = {state.name: scanner(state.lexemes) for state in states(acceptor)}
    spelled.breaks, spelled.after_call = scanner(lexemes_of([("mark", calls.breaks)])), found["after_call"]
    spelled.in_content = found["content"]
    spelled.is_distinct = not calls.opening.at_lines
    spelled.fields = dict((*calls.object.fields, *calls.object.wrapped))
    spelled.closers, spelled.header_texts = calls.closing.distinctive, Pattern(calls.header_pattern)
    spelled.id_prefix, spelled.name_escapes = calls.shape.id_prefix, Escapes(dict(calls.replaced))
    spelled.own_fields = own_fields(calls)
    spelled.own_keys, spelled.begins = own_keys(calls), bool(calls.opening.begins)
    spelled.name_is_first = calls.name_is_first
    if (pieces := calls.pieces_before_name) is not None:
        spelled.own_header, spelled.may_close = (Pattern(calls.opening.begins), "", *pieces), calls.is_closed
    pairs = calls.pairs
    garbled = garbled_closers(acceptor)
    spelled.garbled = spelled.garbled if garbled is None else Pattern(garbled.pattern)
    spelled.is_closed = not calls.object.fields and calls.is_closed
    if pairs is not None:
        spelled.between = scanner(between_pairs(pairs, respelled_kinds(acceptor)))
        value, value_end = pairs.value, pairs.value_end
        follows = [after_quoted(value_end.following, over=over) for over in (False, True)] if value.quoted else []
        spelled.follow = (Pattern(follows[0]), Pattern(follows[1])) if follows else (NEVER, NEVER)
        damaged, around = damaged_arguments(acceptor), around_key(pairs)
        spelled.damaged = None if damaged is None else Pattern(damaged)
        spelled.pair_markers = scanner(value_ends_and_markers(pairs)) if value_end.marks and not value.quoted else None
        spelled.elements_first, spelled.juxtaposed = bool(value_end.unprefixed), calls.calls_are_juxtaposed
        spelled.pairs_open, spelled.literals = bool(pairs.opens), value.literals
        spelled.text_words = tuple(word for word, _ in value.words[1])
        spelled.arguments_begin = Pattern(calls.pairs_begin) if calls.pairs_begin else None
        spelled.key_escapes = Escapes(dict(pairs.replaced))
        spelled.around_key = None if around is None else (Pattern(around[0]), Pattern(around[1]))
        opener = value_opener(pairs)
        spelled.value_opener = None if opener is None else Pattern(opener)
    return spelled


def scanner(found: Lexemes) -> Scanner:
    return Scanner(*found.markers, **found.scanner)
