"""Notations of which no parser is made, and how a failed message shows them.

{"text": "Hi", "calls": [{"name": "f", …}]}<end>  →  the template writes the whole turn as one JSON object
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from tplc.ir.nodes import Json, ObjectArguments, Slot, TemplateIR
from tplc.ir.printed import quoted
from tplc.verify.battery import Case

Turns = Sequence[tuple[Case, str]]
_LONGEST = 160


def notations(ir: TemplateIR, failed: Turns) -> Iterator[str]:
    """Yield the notation that explains messages which do not come back."""
    yield from _whole_turn(failed)
    if not (isinstance(ir.tools.arguments, ObjectArguments) and ir.tools.arguments.lines):
        yield from _nested_lines(failed)
    yield from _opener_in_prompt(ir, failed)


def _whole_turn(failed: Turns) -> Iterator[str]:
    """Yield that turns are one JSON object: all that failed are, and one has its content as a member."""
    objects = [(case, turn, _object_in(turn)) for case, turn in failed]
    if not objects or any(found is None for _, _, found in objects):
        return
    for case, turn, found in objects:
        if found is not None and case.content and case.content in found.values():
            yield f"the template writes the whole turn as one JSON object: {quoted(turn[:_LONGEST])}"
            return


def _object_in(turn: str) -> dict[str, Json] | None:
    """Return the JSON object that a turn begins with; None if it is another value, or one of several objects."""
    text = turn.lstrip()
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not text[end:].lstrip().startswith("{") else None


def _nested_lines(failed: Turns) -> Iterator[str]:
    """Yield that values are indented lines: each item of a list is on a line of its own, after a dash."""
    for case, turn in failed:
        for call in case.calls:
            for _, value in call.arguments:
                if not isinstance(value, list) or len(value) < 2 or any(isinstance(one, list | dict) for one in value):
                    continue
                lines = "".join(rf"\n[ \t]*-[ \t]+{re.escape(_item(one))}" for one in value)
                found = re.search(lines, turn)
                if found is not None:
                    written = json.dumps(value, ensure_ascii=False)
                    yield f"the template writes lists and objects as indented lines: {written} is {quoted(found[0])}"
                    return


def _item(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _opener_in_prompt(ir: TemplateIR, failed: Turns) -> Iterator[str]:
    """Yield that only the generation prompt opens a call, and no turn of the history does."""
    head = opener_in_prompt(ir)
    if head and any(case.calls for case, _ in failed):
        yield f"the generation prompt opens a call with {quoted(head)}, and turns of the history have no such text"


def opener_in_prompt(ir: TemplateIR) -> str:
    """Return the text with which the generation prompt opens a call, if calls in turns of the history have no opener;
    "" if there is none."""
    call, heads = ir.tools.call, [prompt.head.strip() for prompt in ir.turn.prompts]
    closed = call[:1] == (Slot("name"),) and not ir.tools.section_start.strip()
    return next((head for head in heads if closed and head and head == ir.tools.separator.strip()), "")
