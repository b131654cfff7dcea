"""Which tolerances are in force, and how else a marker may be written: as a variant, or in turns of another shape.

variant "<Calls>" for "tools.section_start"   →   texts("<calls>\\n") = ("<calls>\\n", "<Calls>")
variant "<Do>" for "<do>"                     →   texts("<do>{") = ("<do>{", "<Do>{")
form (content, calls) content.start "<lead>"  →   usual("content.start") = "<lead>", where it is "" elsewhere
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from tplc.ir.forms import texts_of
from tplc.ir.markers import piece_at
from tplc.ir.nodes import GENERAL_TOLERANCES, FormMarker, TemplateIR
from tplc.ir.roles import marker_of
from tplc.ir.word_slots import slotted_markers
from tplc.lower.header_parts import header_parts
from tplc.lower.layouts import not_blank, with_outer_space_of


@dataclass(frozen=True, slots=True)
class Tolerated:
    kinds: frozenset[str]
    variants: Mapping[str, tuple[str, ...]]  # by what they stand for, without outer white space
    forms: Mapping[FormMarker, tuple[str, ...]]
    others: Mapping[str, tuple[str, ...]]  # forms by the usual one, without outer white space
    orders: Mapping[str, tuple[str, ...]]  # headers with their parts in other orders, by the usual one, as above
    name_ends: Mapping[str, tuple[str, ...]]  # the same for texts after a call's name
    like_words: bool  # what opens a call then is in text as well
    escapes: tuple[tuple[str, str], ...] = ()  # the texts that stand for characters in content, with those characters

    def cannot_be_content(self, marker: str) -> bool:
        """Return whether a marker has a character that content has after another one only: `", "calls": [` where
        quotes are written `\\"`.  The marker may begin with the end of an escape."""
        core = marker.strip()
        starts = {
            len(text) - at for text, _ in self.escapes for at in range(1, len(text)) if core.startswith(text[at:])
        }
        rests = [core[start:] for start in {0, *starts}]
        for text, _ in self.escapes:
            rests = [rest.replace(text, "") for rest in rests]
        characters = [char for text, char in self.escapes if char in text]
        return all(any(char in rest for char in characters) for rest in rests)

    def usual(self, marker: FormMarker) -> str:
        """Return a marker's first form that is more than white space; its other forms are variants of that."""
        forms = self.forms[marker]
        return next((form for form in forms if form.strip()), forms[0])

    def blank(self, marker: FormMarker) -> str:
        """Return a marker's form that is white space alone."""
        return next((form for form in self.forms[marker] if not form.strip()), "")

    def texts(self, marker: str) -> tuple[str, ...]:
        """Return a marker with its other forms and its variants, including variants of its pieces."""
        more = (with_outer_space_of(marker, text) for text in self.orders.get(marker.strip(), ()))
        return tuple(dict.fromkeys([*self._declared(marker), *more]))

    def _declared(self, marker: str) -> tuple[str, ...]:
        core = marker.strip()
        found = [marker, *self.others.get(core, ())]
        found += [with_outer_space_of(marker, text) for text in self.variants.get(core, ())]
        for piece, variants in self.variants.items():
            at = piece_at(marker, piece) if piece != core else -1
            if at >= 0:
                found += [marker[:at] + variant + marker[at + len(piece) :] for variant in variants]
        return tuple(dict.fromkeys(found))

    def ends_of_name(self, text: str) -> tuple[str, ...]:
        """Return the texts that end a name, with variants."""
        more = (with_outer_space_of(text, variant) for variant in self.name_ends.get(text.strip(), ()))
        return tuple(dict.fromkeys([*self._declared(text), *more]))

    def of_role(self, role: FormMarker) -> tuple[str, ...]:
        """Return the texts of a role that are more than white space; if it has no such marker, its variants alone."""
        return not_blank(self.texts(self.usual(role))) or self.declared(role)

    def declared(self, role: FormMarker) -> tuple[str, ...]:
        """Return the texts that a tolerance file gives a role for which the format has no marker."""
        return () if self.usual(role).strip() else self.variants.get(role, ())


def tolerated(ir: TemplateIR) -> Tolerated:
    variants: dict[str, tuple[str, ...]] = {}
    for tolerance in ir.tolerances:
        if tolerance.kind == "variant" and tolerance.enabled:
            # Of a role for which the format has no marker, by the role.
            marker = marker_of(ir, tolerance.marker).strip() or tolerance.marker
            variants[marker] = (*variants.get(marker, ()), tolerance.text)
    for marker, slotted in slotted_markers(ir).items():
        variants[marker] = (*variants.get(marker, ()), slotted)
    forms = {role: texts_of(ir, role) for role in get_args(FormMarker)}
    others: dict[str, tuple[str, ...]] = {}
    for usual, *more in (not_blank(texts) for texts in forms.values() if len(texts) > 1):
        others[usual.strip()] = (*others.get(usual.strip(), ()), *more)  # one text may be two markers
    off = {tolerance.kind for tolerance in ir.tolerances if not tolerance.enabled}
    parts = None if "header_parts" in off else header_parts(ir)
    orders = {} if parts is None else parts.variants(variants)
    name_ends = {} if parts is None else {parts.after_name.strip(): parts.name_ends(variants)}
    like_words = parts is not None and parts.like_words
    kinds = frozenset(GENERAL_TOLERANCES) - off
    escapes = tuple((one.text, one.char) for one in ir.escapes if one.slot == "content")
    return Tolerated(kinds, variants, forms, others, orders, name_ends, like_words, escapes)
