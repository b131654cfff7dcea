"""Tolerance files: how a model's real output may differ from what its template renders, as data.

{"tolerances": [{"kind": "variant", "marker": "<call>", "text": "<Call>", "reason": "seen …", "source": "…"},
                {"kind": "variant", "marker": "reasoning.start", "text": "<r>", "reason": "never rendered", …},
                {"kind": "python_literals", "enabled": false}]}

A variant's marker is a marker of the template, a distinctive piece of one, or a role (`tplc.ir.roles`).  A role stands
for the template's own marker; where it has none, the variant is the marker (both ends of reasoning, then).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace

from tplc.errors import SourceError, ToleranceError, did_you_mean
from tplc.ir.markers import holds_piece
from tplc.ir.nodes import ALWAYS_ACCEPTED, GENERAL_TOLERANCES, Json, Reasoning, TemplateIR, Tolerance
from tplc.ir.own_markers import own_markers
from tplc.ir.printed import quoted
from tplc.ir.roles import ROLES, marker_of

_TYPES = {field.name: bool if field.name == "enabled" else str for field in fields(Tolerance) if field.name != "entry"}
_MOST_SHOWN = 12
# Openers of parts of a turn: in the place of one of them, the others may come too.
_OPENERS = ("reasoning.start", "content.start", "tools.section_start")
# Where a format has none of these, a variant is one.
_TAKEN_ON = ("content.start", "content.end", "turn.ends")
_OF_CALLS = ("tools.section_start", "tools.section_end")
_REASONING = ("reasoning.start", "reasoning.end")


def tolerances_from(data: Json, name: str) -> list[Tolerance]:
    """Return the tolerances of a tolerance file.  `name` is the file's, for messages."""
    listed = data.get("tolerances") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        raise SourceError(name, 'is not a tolerance file: expected {"tolerances": [{"kind": …}, …]}')
    return [_tolerance(item, f"{name}: tolerances[{index}]") for index, item in enumerate(listed)]


def apply_tolerances(ir: TemplateIR, tolerances: Sequence[Tolerance]) -> TemplateIR:
    """Return the IR with these tolerances: each replaces the general one of its kind, and variants are added."""
    general = {tolerance.kind: tolerance for tolerance in (*ir.tolerances, *tolerances) if tolerance.kind != "variant"}
    variants = {_identity(ir, t): _resolved(ir, t) for t in (*ir.tolerances, *tolerances) if t.kind == "variant"}
    named = {tolerance.marker: tolerance.text for tolerance in reversed(tolerances) if tolerance.kind == "variant"}
    if ir.reasoning.mode == "none" and all(role in named for role in _REASONING):
        ir = replace(ir, reasoning=Reasoning("tag_based", named["reasoning.start"], named["reasoning.end"]))
    return replace(
        ir,
        turn=replace(ir.turn, ends=_with_variants(ir.turn.ends, variants.values())),
        tolerances=(*general.values(), *variants.values()),
    )


def _with_variants(ends: tuple[str, ...], variants: Iterable[Tolerance]) -> tuple[str, ...]:
    """Return the ends of the turn with variants: the list already allows several, so each variant is another end."""
    own = {end.strip() for end in ends}
    more = [v.text for v in variants if v.enabled and (v.marker == "turn.ends" or v.marker.strip() in own)]
    return (*ends, *(text for text in dict.fromkeys(more) if text.strip() not in own))


def _resolved(ir: TemplateIR, variant: Tolerance) -> Tolerance:
    marker = marker_of(ir, variant.marker)
    return replace(variant, marker=marker if marker.strip() else variant.marker)


def _identity(ir: TemplateIR, variant: Tolerance) -> tuple[str, str]:
    return _resolved(ir, variant).marker.strip(), variant.text


# Tolerances that do nothing


def check_tolerances(ir: TemplateIR, tolerances: Sequence[Tolerance]) -> None:
    """Raises for the first that would do nothing, or that says the same as another."""
    variants: dict[tuple[str, str], int] = {}
    kinds: dict[str, int] = {}
    opened: dict[str, str] = {}
    for index, tolerance in enumerate(tolerances):
        if tolerance.kind != "variant":
            other = kinds.setdefault(tolerance.kind, index)
            if tolerances[other].enabled != tolerance.enabled:
                raise ToleranceError(index, "enabled", "contradicts", other)
            if tolerance.kind in ALWAYS_ACCEPTED and not tolerance.enabled:
                raise ToleranceError(index, "enabled", f"parsers always accept {tolerance.kind}; remove this entry")
            if any(tolerance.kind == own.kind and own.enabled for own in ir.tolerances) and tolerance.enabled:
                raise ToleranceError(index, "kind", f"{tolerance.kind} is on by default; {_instead(tolerance.kind)}")
            continue
        for member, problem in (*_problems(ir, tolerance, tolerances, opened), *_problems_of_text(ir, tolerance)):
            raise ToleranceError(index, member, problem)
        other = variants.setdefault(_identity(ir, tolerance), index)
        if other != index:
            raise ToleranceError(index, "text", f"{quoted(tolerance.text)} is the same variant as", other)


def _instead(kind: str) -> str:
    return "remove this entry" if kind in ALWAYS_ACCEPTED else 'add "enabled": false to switch it off'


def _problems_of_text(ir: TemplateIR, variant: Tolerance) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a text that already means something else, or that occurs everywhere."""
    text = variant.text.strip()
    if not text:
        yield "text", f"{quoted(variant.text)} is only white space, which occurs in all text"
    own = own_markers(ir)
    role = variant.marker if variant.marker in ROLES else own.get(variant.marker.strip(), "tools")
    other = own.get(text, role)
    # Markers of calls may replace one another: what they mean depends on their place.
    if other.split(".")[0] != role.split(".")[0]:
        yield "text", f"{quoted(variant.text)} is a marker of this format ({other}): it cannot stand for {role} as well"


def means_something(ir: TemplateIR, tolerance: Tolerance) -> bool:
    """Return whether the tolerance changes how outputs of this format are read."""
    return tolerance.kind != "variant" or not any(_problems(ir, tolerance, (), {}))


def _problems(
    ir: TemplateIR, variant: Tolerance, others: Sequence[Tolerance], opened: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the members that are wrong; `opened` collects the texts that open parts of the turn."""
    marker, text = marker_of(ir, variant.marker), variant.text
    if not marker.strip():
        yield from _problems_of_role(ir, variant.marker, others)
    elif variant.marker not in ROLES and not any(holds_piece(own, marker.strip()) for own in own_markers(ir)):
        wrong = f"{quoted(variant.marker)} is not a marker of this format{_meant(variant.marker)}"
        yield "marker", f"{wrong}: {_existing(ir, variant.marker)}"
    if text.strip() == marker.strip():
        yield "text", f"{quoted(text)} is the marker itself"
    role = next((role for role in _OPENERS if variant.marker in (role, ROLES[role](ir))), None)
    if role is None:
        return
    for other in _OPENERS:
        if other != role and (text.strip() == ROLES[other](ir).strip() or opened.get(text.strip(), role) == other):
            yield "text", f"{quoted(text)} stands for {other} already: it cannot stand for {role} as well"
    opened.setdefault(text.strip(), role)


def _problems_of_role(ir: TemplateIR, role: str, others: Sequence[Tolerance]) -> Iterator[tuple[str, str]]:
    """Yield the problems of a variant for a role for which the format has no marker."""
    if role in _TAKEN_ON or (role in _OF_CALLS and ir.tools.format != "none"):
        return
    if role not in _REASONING:
        yield "marker", f"this format has no {role}: {_existing(ir, role)}"
        return
    other = _REASONING[role == "reasoning.start"]
    if others and not any(tolerance.marker == other for tolerance in others):
        yield "marker", f"this format has no reasoning: give a variant for {other} as well"


def _meant(marker: str) -> str:
    """Return the role that a misspelt one is like: roles are words with a dot."""
    return did_you_mean(marker, ROLES) if "." in marker else ""


def _existing(ir: TemplateIR, wanted: str) -> str:
    """Return the format's markers, those most like the wanted one first."""
    own = own_markers(ir)
    near = difflib.get_close_matches(wanted.strip(), own, n=_MOST_SHOWN, cutoff=0.5)
    shown = [*near, *(marker for marker in own if marker not in near)]
    named = [f"{quoted(marker)} ({own[marker]})" for marker in shown[:_MOST_SHOWN]]
    return "there are " + ", ".join(named) if named else "it has none"


def _tolerance(item: Json, path: str) -> Tolerance:
    if not isinstance(item, dict):
        raise SourceError(path, "expected an object")
    for member, value in item.items():
        if member not in _TYPES:
            raise SourceError(f"{path}.{member}", f"no such member; there are {', '.join(_TYPES)}")
        if type(value) is not _TYPES[member]:
            raise SourceError(
                f"{path}.{member}", "expected " + ("true or false" if member == "enabled" else "a string")
            )
    tolerance = Tolerance(**{"kind": "", **item})  # type: ignore[arg-type]
    if tolerance.kind not in (*GENERAL_TOLERANCES, "variant"):
        meant = did_you_mean(tolerance.kind, (*GENERAL_TOLERANCES, "variant"))
        raise SourceError(f"{path}.kind", f"expected variant, or one of {', '.join(GENERAL_TOLERANCES)}{meant}")
    missing = [member for member in ("marker", "text", "reason") if not getattr(tolerance, member)]
    if tolerance.kind == "variant" and missing:
        raise SourceError(f"{path}.{missing[0]}", "a variant needs it")
    return tolerance
