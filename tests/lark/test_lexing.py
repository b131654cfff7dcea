"""The check finds places where the longest match is the wrong one, as the engine shows."""

from __future__ import annotations

import pytest

from tests.lark.engine import accepts, needs_engine
from tplc.backends.lark.arrange import Arranged
from tplc.backends.lark.characters import in_characters
from tplc.backends.lark.disambiguate import disambiguated
from tplc.backends.lark.elimination import as_expression
from tplc.backends.lark.lexing import conflicts
from tplc.backends.lark.spelling import LarkSpelling
from tplc.backends.lark.write import HEADER, write_lines
from tplc.grammars.regular import codepoints
from tplc.grammars.regular.automaton import from_expr, matches, minimal
from tplc.grammars.regular.expressions import alt, chars, lit, rep, seq
from tplc.grammars.regular.nodes import Chars, Expr, Lit, Ref, Rep, Seq, Spelled
from tplc.grammars.regular.rules import ROOT
from tplc.grammars.regular.until import ending_in, stop_at

SMALL = Chars(codepoints.span("a", "z"))
WORD = Rep(SMALL, 1, None)


def grammar(made: Arranged) -> str:
    return HEADER + "".join(write_lines(made).values())


def two(first: Expr, second: Expr, *more: Expr) -> Arranged:
    """Return a grammar of one terminal and then the other, or the others."""
    terminals = {f"t-{place}": expr for place, expr in enumerate((first, second, *more))}
    body = seq(Ref("t-0"), alt(*(Ref(name) for name in terminals if name != "t-0")))
    return Arranged({ROOT: body}, terminals)


@needs_engine
@pytest.mark.parametrize(
    ("made", "text", "apart"),
    [
        (two(WORD, lit("!")), "ab!", True),
        (two(WORD, lit("end")), "abend", False),
        (two(lit("a"), lit("b")), "ab", True),
        (Arranged({ROOT: alt(Seq((lit("a"), lit("bx"))), Seq((lit("ab"), lit("cy"))))}), "abx", False),
        (Arranged({ROOT: alt(Seq((lit("a"), lit("x"))), Seq((lit("ab"), lit("cy"))))}), "ax", True),
        (two(rep(lit("-"), 0, 1), lit("-x"), lit("x")), "-x", False),
        # After a line end the same terminal may go on: it may be empty, and is not here.
        (two(rep(seq(WORD, lit("\n")), 0, None), WORD), "ab\ncd", False),
    ],
)
def test_conflicts(made: Arranged, text: str, apart: bool) -> None:
    assert (conflicts(made) == []) is apart
    if apart:
        assert accepts(grammar(made), text)
    divided = in_characters(made, {Ref(name) for name in made.terminals} | {lit("a"), lit("ab"), lit("bx")})
    assert accepts(grammar(divided), text)


@needs_engine
def test_the_engine_takes_the_longest_match() -> None:
    """This is why grammars are checked."""
    assert not accepts(grammar(two(WORD, lit("end"))), "abend")


@needs_engine
@pytest.mark.parametrize("marker", ["</p>", "aab", "\n<a>"])
def test_text_in_characters(marker: str) -> None:
    automaton = minimal(ending_in([stop_at(marker)]))
    # Its rules begin with themselves, so its length is free.
    made = in_characters(Arranged({ROOT: seq(Spelled("", automaton), lit("!"))}), set())
    for text in ("", "ab", "a<", marker[:-1], "x" * 3000):
        assert accepts(grammar(made), text + marker + "!") is matches(automaton, text + marker), text
        assert not accepts(grammar(made), text + "!")


@pytest.mark.parametrize("marker", ["</p>", "aab", "abab", "\n<a>"])
def test_an_automaton_as_an_expression(marker: str) -> None:
    automaton = minimal(ending_in([stop_at(marker)]))
    assert minimal(from_expr(as_expression(automaton, chars))) == automaton


@needs_engine
def test_rules_that_meet_are_disambiguated() -> None:
    """Text may begin like the text after it: both together become one terminal."""
    text = Spelled(r"/(?s:.*)<\/x>/ & ~/(?s:.*<\/x>.+)/", minimal(ending_in([stop_at("</x>")])))
    finished: dict[str, Expr] = {ROOT: alt(seq(Ref("text"), lit("1")), seq(lit("12"), Ref("text"))), "text": text}
    made = disambiguated("it", finished, LarkSpelling(()))
    assert made.rules == {ROOT: Ref("answer")}
    for turn, good in (("12</x>", True), ("1</x>1", True), ("12</x>1", True), ("1</x>", False)):
        assert accepts(grammar(made), turn) is good


def test_an_empty_match_is_none() -> None:
    assert conflicts(Arranged({ROOT: seq(Rep(SMALL, 0, None), Lit("!"))}, {})) == []
