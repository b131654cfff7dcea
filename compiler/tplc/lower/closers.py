"""What closes a call, or the section: whole, and the pieces of it that a model may write alone.

"</call></use-it>\\n"  →  "</call></use-it>\\n", "</call>", "</use-it>"
"""

from __future__ import annotations

from collections.abc import Sequence

from tplc.ir.markers import is_word, parts_of, pieces_of
from tplc.lower.layouts import not_blank
from tplc.lower.tolerated import Tolerated


def closers_of(texts: Sequence[str], tolerated: Tolerated) -> tuple[str, ...]:
    variants = [variant for text in texts for variant in tolerated.texts(text)]
    pieces = [piece for variant in variants for piece in [variant, *pieces_of(variant)]]
    pieces += [part for piece in pieces for part in parts_of(piece)]
    # A piece that is a mere word closes nothing.
    return not_blank(piece for piece in pieces if piece in variants or not is_word(piece))


def with_space(texts: Sequence[str], space: str) -> tuple[str, ...]:
    """White space after the calls is the last closer's; otherwise nothing would show where it ends."""
    return (*texts[:-1], "".join(texts[-1:]) + space)


def last_of(closers: Sequence[str], texts: Sequence[str], section_end: str, ends: Sequence[str]) -> tuple[str, ...]:
    """Of a call's closers those after which nothing of it is missing; none where it has none of its own.

    Nor where its last one ends the turn as well, for what ends the turn is often cut off.
    """
    last = next((piece for text in reversed(texts) for piece in reversed(pieces_of(text))), "")
    if not last or any(end.strip() == last for end in ends):
        return ()
    behind = [text.strip() for text in (section_end, *pieces_of(section_end))]
    return tuple(text for text in closers if text.strip().endswith(last) or text.strip() in behind)
