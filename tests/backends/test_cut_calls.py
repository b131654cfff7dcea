"""Calls that the end of the output cuts: wherever that is, the message is incomplete, and no markup is content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fuzz.formats import Format, formats
from tests.peg.agreement import written
from tplc.ir.nodes import Text
from tplc.lower import CallForm, lower

LEAST = 3  # fewer characters of an opener, or a word, may as well be text
MOST = 6  # turns of a format


def rendered_calls(form: Format, calls: CallForm) -> Iterator[tuple[str, Any, str, range]]:
    """Turns that end with calls, their tools, and the cuts from the first opener to before the last closer."""
    own = [item.text.strip() for item in form.ir.tools.call if isinstance(item, Text) and item.text.strip()]
    found = 0
    for text, tools in written(form.ir):
        body = text.rstrip()
        for end in (*form.ir.turn.ends, form.ir.tools.section_end, form.ir.tools.section_end):
            body = body.removesuffix(end.strip()).rstrip() if end.strip() else body
        starts = [(at, opener.strip()) for opener in calls.openers if (at := text.find(opener.strip())) >= 0]
        if own and starts and body.endswith(own[-1]) and found < MOST and form.parser.parse(text)["tool_calls"]:
            found += 1
            start, opener = min(starts)
            word = len(re.match(r"[\w\s]*", opener)[0])  # type: ignore[index]
            if word == len(opener):
                continue  # it may as well open something else
            yield (
                text,
                tools,
                text[:start],
                range(start + max(LEAST, word + 1), len(body) - len(own[-1].split()[-1]) + 1),
            )


def goes_on(form: Format, calls: CallForm, text: str) -> bool:
    """Whether a cut here is inside a call and not between two; the first characters of an opener may be either."""
    closer = next(item.text.split()[-1] for item in reversed(form.ir.tools.call) if isinstance(item, Text))
    rest = text[text.rindex(closer) + len(closer) :].strip() if closer in text else "in the first"
    return len(rest) >= LEAST or rest in {piece.strip() for piece in calls.separators}


@pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)
def test_a_cut_call_is_incomplete(form: Format) -> None:
    calls, wrong = lower(form.ir).calls, []
    for text, tools, head, cuts in rendered_calls(form, calls) if calls is not None else ():
        before = (form.parser.parse(head, tools=tools)["content"] or "").rstrip()
        whole = form.parser.parse(text, tools=tools)["tool_calls"]
        for cut in cuts:
            stream = form.parser.StreamParser(tools=tools)
            stream.feed(text[:cut])
            stream.finish()
            content = (stream.message["content"] or "").rstrip()
            # One call a turn: its closer may be what ends the turn, which servers cut off.
            read = calls.ends_turn and stream.message["tool_calls"] == whole
            if goes_on(form, calls, text[:cut]) and not stream.incomplete and not read:
                wrong.append(f"{text[:cut]!r} passes for whole: {stream.message}")
            if goes_on(form, calls, text[:cut]) and calls.where == "anywhere" and content != before:
                wrong.append(f"{text[:cut]!r} gives content {content!r}")
    assert wrong == []
