"""The markers of one shape of turn, where they are not the same in all.

content.start = "", form (content, calls) content.start = "<lead>"
→  in_form(ir, {"content", "calls"}).content.start = "<lead>"
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from tplc.ir import roles
from tplc.ir.nodes import FormMarker, Part, TemplateIR

PARTS: tuple[Part, ...] = ("reasoning", "content", "calls")


def marker_of(ir: TemplateIR, marker: FormMarker) -> str:
    """Return the text of a marker outside of special forms."""
    if marker == "turn.end":
        return ir.turn.ends[0] if ir.turn.ends else ""
    return roles.marker_of(ir, marker)


def with_marker(ir: TemplateIR, marker: FormMarker, text: str) -> TemplateIR:
    """Return the format with another text for a marker."""
    if marker == "turn.end":
        ends = tuple(dict.fromkeys((text, *ir.turn.ends))) if text else ()
        return replace(ir, turn=replace(ir.turn, ends=ends))
    name, _, field = marker.partition(".")
    node = replace(getattr(ir, name), **{field: text})
    mode = ir.content.mode
    if name == "content" and mode == "plain" and text.strip():
        node = replace(node, mode="always_wrapped")
    elif name == "content" and mode == "always_wrapped" and not (node.start + node.end).strip():
        node = replace(node, mode="plain")
    return replace(ir, **{name: node})


def in_form(ir: TemplateIR, parts: Collection[Part]) -> TemplateIR:
    """Return the format of turns with these parts, without forms of its own."""
    for form in ir.forms:
        if set(form.parts) == set(parts):
            ir = with_marker(ir, form.marker, form.text)
    return replace(ir, forms=()) if ir.forms else ir


def forms_with(ir: TemplateIR, part: Part) -> Iterator[TemplateIR]:
    """Yield the formats of turns with a part: the usual form, and those of other shapes."""
    shapes = dict.fromkeys(tuple(form.parts) for form in ir.forms if part in form.parts)
    yield replace(ir, forms=()) if ir.forms else ir
    for shape in shapes:
        yield in_form(ir, shape)


def texts_of(ir: TemplateIR, marker: FormMarker) -> tuple[str, ...]:
    """Return the texts that a marker has in any shape of turn, the usual one first.

    Those that differ in white space alone are one, with all the white space that any of them has.
    """
    found: dict[str, str] = {}
    for text in (marker_of(ir, marker), *(form.text for form in ir.forms if form.marker == marker)):
        core = text.strip()
        found[core] = _with_most_space(found.get(core, text), text)
    return tuple(found.values())


def blanks_of(ir: TemplateIR, marker: FormMarker) -> tuple[str, ...]:
    """Return the texts of white space alone that a marker has in any shape of turn."""
    found = (marker_of(ir, marker), *(form.text for form in ir.forms if form.marker == marker))
    return tuple(dict.fromkeys(text for text in found if text and not text.strip()))


def _with_most_space(first: str, second: str) -> str:
    core = first.strip()
    if not core:
        return max(second, first, key=len)  # the form's if both are as long: the usual text may be a turn's first
    leads = [text[: text.index(core)] for text in (first, second)]
    trails = [text[text.index(core) + len(core) :] for text in (first, second)]
    return max(leads, key=len) + core + max(trails, key=len)
