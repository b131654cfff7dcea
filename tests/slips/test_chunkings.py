"""Outputs with slips give the same in every chunking, in formats with closers that begin like the end of a value."""

from __future__ import annotations

import pytest

from tests.slips.__main__ import authored, of_template

# Raw values whose closer begins with another character than the call's; a call's closer that begins with a brace;
# arguments in indented lines before an end of the turn that begins with a control character, which is white space.
FOUND = ("authored authored/heredoc-values", "authored authored/typed-json", "design 1700008")
KINDS = ("value closer missing", "one brace missing", "call closer missing")


def _differing(name: str) -> list[str]:
    _, found = of_template(name, which="issue", kinds=KINDS, two=0, unended=False)
    return [result.text for result in found if result.chunked]


@pytest.mark.parametrize("name", FOUND)
def test_a_missing_closer_is_found_in_every_chunking(name: str) -> None:
    assert _differing(name) == []


@pytest.mark.sweep(62)
@pytest.mark.parametrize("name", authored())
def test_missing_closers_of_authored_formats(name: str) -> None:
    assert _differing(name) == []
