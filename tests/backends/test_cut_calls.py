"""A call that the end of the output truncates anywhere makes the message incomplete, and no markup is content."""

from __future__ import annotations

import pytest

from tests.backends.cuts import Cuts, tally_of
from tests.conftest import ROOT
from tests.fuzz.formats import Format, formats, named
from tests.independent import TOKENS
from tplc.driver import compile_template


@pytest.mark.sweep(12)
@pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)
def test_a_cut_call_is_incomplete(form: Format) -> None:
    assert tally_of(form).wrong == []


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", ["name-after-arrow", "name-after-object", "object-e", "object-e-between-markers"])
def test_a_cut_call_of_an_unusual_format_is_incomplete(name: str) -> None:
    source = (ROOT / "tests" / "cases" / "invertible" / f"{name}.jinja").read_text(encoding="utf-8")
    tally = tally_of(Format(name, compile_template(source, name=name, special_tokens=TOKENS), (), []))
    # A part of a closer after escaped arguments stays in content, and the message is incomplete.
    assert (tally.tried > 200, [cut for cut in tally.wrong if "passes for whole" in cut]) == (True, [])


def test_cuts_are_tried() -> None:
    """Cuts are also tried in formats whose calls are opened by words: from the place where the name has been read."""
    assert all(tally_of(named(name)).tried > 200 for name in ("tagged-json", "parameter-tags", "addressed-parts"))
    assert tally_of(named("plain-chat")) == Cuts()
