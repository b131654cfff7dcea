"""Answers that a tolerance could take for markup: they stay as they are."""

from __future__ import annotations

import pytest

from tests.fuzz.formats import formats, named

CODE = ("Like this:\n```py\nprint(1)\n```", "```\nx\n```", "```", "```json", "Write ```json\n")
# Not those that write such a fence, nor one whose prompt opens a call.
FORMATS = [
    form.name for form in formats() if "```" not in form.ir.tools.section_start and form.name != "recipient-lines"
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", FORMATS)
def test_fences_at_the_end_stay(name: str) -> None:
    """The end of a code block isn't the beginning of a fence around calls, if nothing ends the turn."""
    parser = named(name).parser
    read = {}
    for text in CODE:
        stream = parser.StreamParser()
        deltas = [delta for char in text for delta in stream.feed(char)] + stream.finish()
        streamed = "".join((delta.get("content") or "") + (delta.get("reasoning_content") or "") for delta in deltas)
        read[text] = (streamed, stream.trailing)
    assert read == {text: (text, "") for text in CODE}
