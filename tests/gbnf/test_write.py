"""Classes and literals, as every engine reads them."""

from __future__ import annotations

import pytest

from tests.gbnf.engine import accepts, needs_engine
from tests.gbnf.walk import unescaped
from tplc.backends.gbnf.lint import lint
from tplc.backends.gbnf.write import character_class, write_rules
from tplc.grammars.regular import codepoints
from tplc.grammars.regular.expressions import chars
from tplc.grammars.regular.nodes import Chars, Lit, Rep, Seq

CLASSES = [
    ("abc", "[a-c]"),
    ("ab", "[ab]"),
    ("a-", "[a-]"),
    ("+,-.", "[+-.]"),
    ("+-a", "[+a-]"),
    ("^_`", "[_`^]"),
    ("^-", "[\\x5E-]"),
    ("^\0", "[\\x00^]"),
    ("[]", "[[\\]]"),
    ('"\\', '["\\\\]'),
    ("\n\tx", "[\\t\\nx]"),
    ("\0\x01ab", "[ab\\x00\\x01]"),
    ("}~\x7fa", "[a}-\\x7F]"),
    ("é世", "[é世]"),
]


@pytest.mark.parametrize(("characters", "expected"), CLASSES)
def test_class(characters: str, expected: str) -> None:
    assert character_class(codepoints.of(characters)) == expected
    assert lint(f"root ::= {expected}\n") == []


@needs_engine
@pytest.mark.parametrize("characters", [characters for characters, _ in CLASSES])
@pytest.mark.parametrize("negated", [False, True])
def test_class_in_an_engine(characters: str, negated: bool) -> None:
    ranges = codepoints.of(characters)
    grammar = write_rules({"root": chars(codepoints.complement(ranges) if negated else ranges)})
    for character in 'abcdef09 -^[]\\"\n\t\x01\x7f+,._`{}~é世🎉':
        assert accepts(grammar, character) is ((character in characters) is not negated), (grammar, character)


@pytest.mark.parametrize("text", ['say "a\\b"', "\x01a\x1f9\x7fF", "a\nb\tc\r", "\x0b\x0bg", "[^-]"])
@needs_engine
def test_literal_in_an_engine(text: str) -> None:
    grammar = write_rules({"root": Seq((Lit(text), Rep(Lit(text), 0, 2)))})
    assert lint(grammar) == []
    assert accepts(grammar, text)
    assert accepts(grammar, text * 3)
    assert not accepts(grammar, text * 2 + text[:-1])


def test_a_number_before_a_digit_is_cut_off() -> None:
    assert write_rules({"root": Lit("\x01a")}) == 'root ::= "\\x01" "a"\n'
    assert write_rules({"root": Rep(Lit("\x01a"), 2, 3)}) == 'root ::= ("\\x01" "a"){2,3}\n'
    assert unescaped("\\x01") + unescaped("a") == "\x01a"


def test_any_character() -> None:
    assert write_rules({"root": Chars(codepoints.ALL)}) == "root ::= [^\\x00]\n"
