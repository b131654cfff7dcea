"""Run some thousands of outputs through every example's parser, and show that each property can fail."""

from __future__ import annotations

import random
import re
from textwrap import dedent

import pytest

from tests.fuzz.check import PROPERTIES
from tests.fuzz.formats import Format, formats, named, with_source
from tests.fuzz.outputs import KINDS
from tests.fuzz.run import fuzz

COUNT = 150  # for each parser


@pytest.mark.sweep(12)
@pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)
def test_any_output(form: Format) -> None:
    counters = fuzz(COUNT, seed=random.Random(form.name).randrange(1000), forms=[form])
    assert "\n".join(counters.failures) == ""
    assert counters.outputs == COUNT
    assert set(counters.kinds) == set(KINDS)
    assert form.ir.tools.format == "none" or counters.calls > 10


SABOTAGE = """
text is not passed on: tagged-json: lost
    emit = Transcript.emit
    Transcript.emit = lambda self, kind, text: emit(self, kind, text.replace("e", ""))
text is skipped: wrapped-content: lost
    until = Machine._until
    def skip(self, marks, kind):
        self._pos = min(self._pos + 1, len(self._buf))
        return until(self, marks, kind)
    Machine._until = skip
repetitions are not reported: addressed-parts: lost
    slots = StreamParser._slots
    StreamParser._slots = lambda self, *arguments: (slots(self, *arguments), self.diagnostics.clear())[0]
markers swallow what follows: channels: lost
    drop = Machine._drop
    def swallow(self, fresh=True):
        self._skip += 1
        drop(self, fresh)
    Machine._drop = swallow
names change: tagged-name-json: lost
    open_call = Machine._open_call
    Machine._open_call = lambda self, name, call_id=None: open_call(self, name[:-1] or "x", call_id)
ids are lost: sectioned-ids: lost
    open_call = Machine._open_call
    Machine._open_call = lambda self, name, call_id=None: open_call(self, name)
values of objects lose text: tagged-json: lost
    take = Reader.take
    Reader.take = lambda self: take(self).replace("a", "")
raw values lose text: parameter-tags: lost
    piece = StreamParser._piece
    StreamParser._piece = lambda self, text: piece(self, text.replace("a", ""))
objects that are no call vanish: bare-json: lost
    no_object = StreamParser._no_object
    def vanish(self, *arguments):
        self._raw = []
        return no_object(self, *arguments)
    StreamParser._no_object = vanish
an exception: key-value-tags: raised
    def fail(self, *note):
        raise IndexError(note)
    Machine._note = fail
a chunk is lost: recipient-lines: stream
    feed = StreamParser.feed
    StreamParser.feed = lambda self, chunk: feed(self, "" if chunk == "a" else chunk)
deltas are lost: forced-open: stream
    feed = StreamParser.feed
    StreamParser.feed = lambda self, chunk: feed(self, chunk)[:1]
arguments are no JSON: python-literals: json
    close = Reader.close
    Reader.close = lambda self: close(self) + ","
"""
CHANGES = re.findall(r"^(\S.*): (\S+): (\w+)\n((?:    .*\n)+)", SABOTAGE, re.M)


@pytest.mark.sweep(8)
@pytest.mark.parametrize(("title", "name", "broken", "change"), CHANGES, ids=[change[0] for change in CHANGES])
def test_what_breaks_is_seen(title: str, name: str, broken: str, change: str) -> None:
    """The checks catch a parser that is wrong in one way."""
    form = named(name)
    changed = with_source(form, f"{form.source}\n\n{dedent(change)}")
    # Some mistakes show in few outputs only.
    found = (fuzz(count, seed=1, forms=[changed], shrink=False).broken[broken] for count in (300, 1500))
    assert any(found), title


def test_every_property_is_seen_to_break() -> None:
    assert {change[2] for change in CHANGES} == set(PROPERTIES)
