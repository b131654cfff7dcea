"""The engine's way to load a PEG makes the grammar that parsimonious makes of the text."""

from __future__ import annotations

import pytest
import regex
from parsimonious.exceptions import BadGrammar, UndefinedLabel
from parsimonious.grammar import Grammar

from tests.example_case import EXAMPLES, load_example, load_examples
from tplc.backends.peg import generate
from tplc.backends.peg.engine import externals
from tplc.backends.peg.printed_grammar import PrintedGrammar
from tplc.driver import load_ir


def rules_of(grammar: Grammar, outside: object) -> dict[str, str]:
    return {name: rule.as_rule() for name, rule in grammar.items() if name not in outside}


@pytest.mark.sweep(9)
@pytest.mark.parametrize("name", [example.name for example in load_examples()])
def test_rules_are_those_of_parsimonious(name: str) -> None:
    example = load_example(EXAMPLES / name)
    ir = load_ir((example.out / "ir.json").read_text(encoding="utf-8"))
    for tools in (None, example.tools):
        text, outside = generate(ir, tools=tools), externals(ir, tools)
        printed, own = PrintedGrammar(text, **outside), Grammar(text, **outside)
        assert rules_of(printed, outside) == rules_of(own, outside)
        assert list(printed) == list(own)
        assert printed.default_rule.name == own.default_rule.name


RULES = """
# Comments may be anywhere.

start = one / "b" two
one   = ~r"A+|(?i:a)+"s
      / &"x" !one
# Between rules too.
two   = (one "," "\\"="? )* three+
three = &(one / "b c") !("#" one) (one (one / "d"))
"""


def test_rules_have_comments_and_several_lines() -> None:
    assert rules_of(PrintedGrammar(RULES), ()) == rules_of(Grammar(RULES), ())
    assert PrintedGrammar(RULES).parse('baA,"=aad').end == 9


def test_no_grammar_changes_another() -> None:
    text = 'start = one ","\none = '
    first, second = (PrintedGrammar(text + one) for one in ('"a"', '~r"b+"s'))
    assert first.parse("a,").end == 2
    assert second.parse("bb,").end == 3
    assert rules_of(first, ()) == rules_of(Grammar(text + '"a"'), ())


@pytest.mark.parametrize(
    "text", ['one "a"', 'one = ("a"', 'one = "a")', "one = ?", "one = 'a'", "one =", "one", "one = two"]
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises((BadGrammar, UndefinedLabel)):
        PrintedGrammar('start = "b"\n' + text)


def test_a_wrong_pattern_is_found_before_it_is_tried() -> None:
    grammar = PrintedGrammar('start = "a" / ~r"(b"s')
    assert grammar.parse("a").end == 1
    with pytest.raises(regex.error, match="missing \\)"):
        grammar.compile_all()
