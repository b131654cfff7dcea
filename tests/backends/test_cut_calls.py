"""A call that the end of the output truncates anywhere makes the message incomplete, and no markup is content."""

from __future__ import annotations

import pytest

from tests.backends.cuts import Cuts, tally_of
from tests.fuzz.formats import Format, formats, named


@pytest.mark.sweep(5)
@pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)
def test_a_cut_call_is_incomplete(form: Format) -> None:
    assert tally_of(form).wrong == []


def test_cuts_are_tried() -> None:
    """Cuts are also tried in formats whose calls are opened by words: from the place where the name has been read."""
    assert all(tally_of(named(name)).tried > 200 for name in ("tagged-json", "parameter-tags", "addressed-parts"))
    assert tally_of(named("plain-chat")) == Cuts()
