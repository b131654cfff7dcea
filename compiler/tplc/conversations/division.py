"""Dividing a text that a template puts together before it writes it.

    {% set text = '<a>' + m.content + '<end>' %}{{ bos + text }}
    →  {% set text_end = m.content + '<end>' %}{% set text = '<a>' + text_end %}
       {{ (bos + text)[:(bos + text) | length - text_end | length] }}{{ text_end }}

Which operand begins the second part is found by trying: only a division with which all renders are the same is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tplc.conversations.generation import WritingPlace
from tplc.conversations.source import Segment, SegmentedSource, cut_literal, operands_of


def divisions(source: SegmentedSource, place: WritingPlace, cuts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield sources in which what this place writes comes in two pieces."""
    if not isinstance(place.item, Segment) or place.operand is None:
        return
    written = source.text[place.start : place.stop]
    names = [token.text for token in place.item.tokens if token.kind == "name"]
    for segment in source.segments:
        tokens = segment.tokens
        if segment.name == "set" and len(tokens) > 3 and tokens[2].text == "=" and tokens[1].text in names:
            name = tokens[1].text
            end = _free_name(source, f"{name}_end")
            shown = f"({written})[:({written}) | length - {end} | length] }}}}{{{{ {end}"
            for tail, rest in _tails(source, segment, end, *cuts[0]):
                first = f"{{%{segment.left} set {end} = {tail} %}}{{% set {name} = {rest}"
                yield _replaced(source.text, [(segment.start, segment.stop, first), (place.start, place.stop, shown)])
    # A text that is always cut at the same distance from its beginning, or from its end.
    for sizes in ({len(before) for before, _ in cuts}, {-len(after) for _, after in cuts}):
        if len(sizes) == 1:
            at = min(sizes)
            shown = f"({written})[:{at}] }}}}{{{{ ({written})[{at}:]"
            yield _replaced(source.text, [(place.start, place.stop, shown)])


def _tails(source: SegmentedSource, segment: Segment, end: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the ends of a statement's concatenation that may write `after`, each with the rest of it under a name."""
    found = operands_of(segment.tokens[3:])
    text = source.text
    closing = text[found[-1].stop : segment.stop]
    for index, operand in enumerate(found):
        head = text[found[0].start : found[index - 1].stop] + " + " if index else ""
        constant = operand.text or ""
        earlier = (found[index - 1].text or "") if index else ""
        for offset in range(len(constant) or 1):
            left, right = constant[:offset], constant[offset:]
            if not after.startswith(right) or not before.endswith(left or earlier) or not (head or left):
                continue
            tail = text[operand.start : found[-1].stop]
            if offset:
                first, second = cut_literal(text[operand.start : operand.stop], offset)
                yield second + text[operand.stop : found[-1].stop], f"{head}{first} + {end}{closing}"
            else:
                yield tail, f"{head}{end}{closing}"


def _free_name(source: SegmentedSource, name: str) -> str:
    while name in source.text:
        name += "_"
    return name


def _replaced(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text
