"""Texts that hold no call stay as they are, in every example's format (`make prose` reads them in more)."""

from __future__ import annotations

import pytest

from tests.fuzz.formats import formats, named
from tests.kept.plain_text import Counts, read_all, texts
from tplc.backends.peg.engine import PegEngine

NAMES = [one.name for one in formats()]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", NAMES)
def test_no_call_is_read_and_nothing_is_lost(name: str) -> None:
    one, counts = named(name), Counts()
    read_all(name, one.ir, one.parser.parse, counts)
    assert counts.read > 80
    assert counts.shown == []


@pytest.mark.parametrize("name", ["addressed-parts", "bare-json", "forced-open", "string-delimiters", "plain-chat"])
def test_the_grammar_reads_them_so(name: str) -> None:
    one = named(name)
    engine = PegEngine(one.ir)
    for text in texts()[::4]:
        assert engine.parse(text) == one.parser.parse(text), text
