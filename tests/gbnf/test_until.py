"""Text up to a marker, as rules and as an automaton: the same texts."""

from __future__ import annotations

import itertools

import pytest

from tests.gbnf.engine import accepts, needs_engine
from tplc.backends.gbnf.lint import lint
from tplc.backends.gbnf.spelling import GBNF, text_through
from tplc.backends.gbnf.write import write_rules
from tplc.grammars.regular.automaton import matches
from tplc.grammars.regular.nodes import Ref
from tplc.grammars.regular.rules import Rules
from tplc.grammars.regular.until import ending_in, stop_at

# Their first characters come again in the last ones.
MARKERS = ["<", "</", "<a>", "\n</a>", " <a", "<<", "<a<", "\n<a<a>"]
LONG = "<" + "abcdefghij" * 6 + ">"


def _written(marker: str) -> str:
    rules = Rules(GBNF)
    made = text_through(rules, "text", stop_at(marker))
    assert isinstance(made, Ref)
    text = write_rules(rules.finished(made))
    assert lint(text) == []
    return text


@needs_engine
@pytest.mark.parametrize("marker", MARKERS)
def test_rules_and_automaton_agree(marker: str) -> None:
    grammar, automaton = _written(marker), ending_in([stop_at(marker)])
    letters = sorted({*marker, "<", "x"})
    verdicts = set()
    for length in range(5):
        for letters_before in itertools.product(letters, repeat=length):
            for text in ("".join(letters_before), "".join(letters_before) + marker):
                expected = matches(automaton, text)
                assert accepts(grammar, text) is expected, text
                verdicts.add(expected)
    assert verdicts == {True, False}


@needs_engine
def test_long_marker() -> None:
    grammar = _written(LONG)
    for cut in range(len(LONG)):
        assert accepts(grammar, LONG[:cut] + LONG)
        assert accepts(grammar, LONG[:cut] + "!" + LONG)
        assert not accepts(grammar, LONG[:cut] + "!")
    assert not accepts(grammar, LONG + LONG)


def test_text_up_to_a_short_marker_can_be_read() -> None:
    assert _written("</p>") == (
        "root ::= text\n"
        'text ::= [^<]* ("<" ([^/<] rest | "/" ([^<p] rest | "p" ([^<>] rest)?)?)?)* "</p>"\n'
        "rest ::= [^<]*\n"
    )
