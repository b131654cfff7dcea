"""What closes a call, or the section: whole, and the pieces of it that a model may write alone.

"</call></use-it>\\n"  →  "</call></use-it>\\n", "</call>", "</use-it>"
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tplc.ir.markers import (
    any_piece_ends_with,
    is_distinctive,
    is_unmistakable,
    is_word,
    parts_of,
    pieces_of,
    without_last_piece,
    without_space,
)
from tplc.lower.call_form import FENCE
from tplc.lower.layouts import not_blank, unique
from tplc.lower.tolerated import Tolerated

# The characters of what may be left over after a call (`LEFT_OVER` of the runtime), as written in a class of a pattern.
LEFT_OVER_CHARS = r"\"'`}\])|?>.,;"


def closers_of(texts: Sequence[str], tolerated: Tolerated, pair: Sequence[str] = ()) -> tuple[str, ...]:
    """Return closers, and their pieces that close by themselves: none that is also one of `pair`, the texts before a
    pair's value."""
    variants = [variant for text in texts for variant in tolerated.texts(text)]
    pieces = [piece for variant in variants for piece in [variant, *pieces_of(variant)]]
    pieces += _without_end_of_turn(texts, tolerated.forms["turn.end"])
    pieces += [part for piece in pieces for part in parts_of(piece)]
    pieces += [piece.removeprefix(FENCE) for piece in pieces if is_distinctive(piece.removeprefix(FENCE))]
    own = _pieces_and_parts(texts)
    # A piece that is only a word closes nothing, and neither does punctuation that the template doesn't write.  A text
    # that ends a turn by itself also ends it where a closer is longer: a turn may continue in one shape and end in
    # another.
    others = {end.strip() for end in tolerated.forms["turn.end"]} | _pieces_and_parts(pair)
    closing = {
        piece
        for piece in pieces
        if not is_word(piece) and piece not in others and (piece in own or is_distinctive(piece))
    }
    return not_blank(piece for piece in pieces if piece in variants or piece in closing)


def _without_end_of_turn(texts: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Return the closers of which the last piece ends turns as well, without that."""
    last = {piece for end in ends for piece in pieces_of(end)[-1:]}
    return [without_last_piece(text) for text in texts if not last.isdisjoint(pieces_of(text)[-1:])]


def _pieces_and_parts(texts: Sequence[str]) -> set[str]:
    return {piece for text in texts for whole in pieces_of(text) for piece in (whole, *parts_of(whole))}


def with_space(texts: Sequence[str], space: str) -> tuple[str, ...]:
    """Add white space after the calls to the last closer; otherwise nothing would show where that space ends."""
    return (*texts[:-1], "".join(texts[-1:]) + space)


def empty_calls(section: tuple[str, str], call: tuple[str, str]) -> tuple[str, ...]:
    """Return openers of calls directly followed by their closers: whole ones, and pairs of outer pieces.

    "<calls>" "</calls>", "<call>" "</call>"  →  "<calls>\\n</calls>", "<call>\\n</call>", …
    """
    found = []
    for opened, closed in (section, call, (section[0] + call[0], call[1] + section[1])):
        starts, ends = pieces_of(opened), pieces_of(closed)
        pairs = [(starts[:n], ends[-n:]) for n in range(1, len(starts)) if len(starts) == len(ends)]
        bracketed = re.match(r".*[>\])}»]", opened, re.DOTALL)
        found += [(opened, closed), (bracketed.group() if bracketed else "", closed)]
        found += [("".join(start), "".join(end)) for start, end in pairs]
    distinctive = [(start, end.strip()) for start, end in found if is_unmistakable(start)]
    return unique(f"{start.strip()}\n{end}" for start, end in distinctive if end)


def breaks_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the markers that are like nothing in a name or a value; of those that begin alike, the shortest."""
    distinctive = unique(text.strip() for text in texts if is_unmistakable(text))
    return tuple(
        text for text in distinctive if not any(text != other and text.startswith(other) for other in distinctive)
    )


def last_of(
    closers: Sequence[str], texts: Sequence[str], section_end: str, ends: Sequence[str], tolerated: Tolerated
) -> tuple[str, ...]:
    """Return the closers of a call after which none of its closers is missing; empty if it has no closer of its own.

    Nor where its last one ends the turn as well, for what ends the turn is often cut off.
    """
    last = _last_piece(texts)
    if not last or any(end.strip() == last for end in ends):
        return ()
    own = {piece for text in texts for piece in pieces_of(text)}
    after = {text.strip() for text in (section_end, *pieces_of(section_end))} - own
    lasts = tuple(text.strip() for text in tolerated.texts(last))
    return tuple(text for text in closers if text.strip().endswith(lasts) or text.strip() in after)


def last_pieces_of(texts: Sequence[str], others: Sequence[str], tolerated: Tolerated) -> tuple[str, ...]:
    """Return the last piece of a call's closers in its variants, without white space; empty if one of `others`, which
    the template writes after calls, ends like it."""
    last = _last_piece(texts)
    found = unique(without_space(text) for text in tolerated.texts(last) if text.strip())
    return () if any_piece_ends_with(others, found) else found


def _last_piece(texts: Sequence[str]) -> str:
    return next((piece for text in reversed(texts) for piece in reversed(pieces_of(text))), "")
