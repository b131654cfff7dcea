"""Find what opens every turn, independent of its parts.

prompt      "{bot}{r}"                       both begin with "{bot}"
answered    "{bot}zqcontent0x{end}"          →  header "{bot}"
prompt      "{bot}{say}", answered the same  and reasoning follows it with no opener of its own
→  header "{bot}": "{say}" is the opener of reasoning

It is decided here alone: what the prompts and the answers share, less what turns out to open a part.
"""

from __future__ import annotations

from dataclasses import replace

from tplc.ir.markers import common_suffix
from tplc.ir.nodes import ObjectArguments
from tplc.learn.align import cut_right, pieces, reads_well, token_spans
from tplc.learn.arguments import ArgumentFacts
from tplc.learn.conversation import CallSetup
from tplc.learn.outline import Outline, learn_outline
from tplc.learn.probe import Prober, Setup, after_content, asks
from tplc.learn.reasoning import ReasoningMarkers
from tplc.learn.turn import TURN, TurnFacts, user_header


@asks("turn", TURN)
def learn_header(
    prober: Prober,
    base: Setup,
    turn: TurnFacts,
    markers: ReasoningMarkers,
    called: CallSetup | None,
    arguments: ArgumentFacts | None,
) -> tuple[TurnFacts, ReasoningMarkers]:
    """Return the turn without the part of its header that opens a part, and the reasoning with that opener."""
    if markers and not markers.start.strip():
        size = _mark_at_the_end(prober, base, turn.header)
        if size < len(turn.header):
            markers = markers.with_opener(turn.header[size:])
            turn = turn.with_header_until(size)
    if called is not None and arguments is not None:
        opener = _opener_of_calls(prober, turn, markers, called, arguments)
        turn = turn.with_header_until(len(turn.header) - len(opener))
        if after_content(prober, base) is not None:
            # content has it as well: it was in the header of every turn
            markers = replace(markers, lead=markers.blank + opener + markers.opens_content)
    return turn, markers


def _opener_of_calls(
    prober: Prober, turn: TurnFacts, markers: ReasoningMarkers, called: CallSetup, arguments: ArgumentFacts
) -> str:
    """Return the end of the header, where calls have no other opener."""
    found, _ = learn_outline(prober, turn, markers, called, arguments)
    if found.mids and found.mids[0].endswith(turn.header) and _is_name_and_object(found, arguments):
        return ""  # content has the same header
    return _reach_back(turn.header, found.mids[0]) if found.mids and not found.pre.strip() else ""


def _is_name_and_object(found: Outline, arguments: ArgumentFacts) -> bool:
    """Return whether a call is its name, white space and an object: that is read without an opener."""
    is_object = isinstance(arguments.arguments, ObjectArguments)
    return is_object and found.kinds == ("name", "arguments") and not (found.pre + found.inner[0][0]).strip()


def _mark_at_the_end(prober: Prober, base: Setup, header: str) -> int:
    """Return where the header ends before an opening that every turn and prompt has: the header's last piece, if it is
    a marker that the user's header doesn't end with."""
    found = pieces(header)
    # The role stands directly before the last marker in `<|h|>assistant<|eh|>`.
    mark = found[-1][_word_at(found[-1]) :] if found else ""
    if len(found) < 2 or not mark or user_header(prober, base).rstrip().endswith(mark):
        return len(header)
    return header.rindex(found[-1])


def _word_at(text: str) -> int:
    """Return where the word ends that a text begins with."""
    return next((at for at, char in enumerate(text) if not char.isalnum()), len(text))


def _reach_back(header: str, mid: str) -> str:
    """Return the common end of the header and of the text between calls: the first call then opens inside the
    header."""
    shared = common_suffix(header, mid)
    if shared != mid:
        shared = header[cut_right(header, len(header) - len(shared)) :]
    while shared and not reads_well(mid, len(mid) - len(shared)):
        shared = shared[1:]
    if shared == header:
        # every call repeats the whole header: its last mark is what opens a call
        found, spans = pieces(header), token_spans(header)
        if spans and spans[-1][1] == len(header):
            shared = header[spans[-1][0] :]
        else:
            shared = header[header.rindex(found[-1]) :] if len(found) > 1 and not found[-1].isalnum() else ""
    return shared if shared.strip() and len(shared) < len(header) else ""
