"""The lint finds text that some engine refuses or reads differently from the others."""

from __future__ import annotations

import pytest

from tplc.backends.gbnf.lint import lint

GOOD = [
    'root ::= "a"\n',
    "# a comment\n\nroot ::= [a-z-]+ [^\\x00] {2}\n".replace(" {2}", "{2}"),
    'root ::= ("a" | "b"){2,5} "" x?\nx ::= [^"\\\\\\n] | "\\"\\x1F"\n',
    'root ::= item\nitem ::= "(" item? ")"\n',
    'root ::= ws "a" root | ""\nws ::= " "?\n',
]
BAD = [
    ("item ::= [a]\n", ['no rule "root"', 'line 1: the rule "item" is not used']),
    ('root ::= a_b\na_b ::= "x"\n', ['line 2: the name "a_b" is not portable']),
    ('root ::= start\nstart ::= "x"\n', ['line 2: the name "start" is not portable']),
    ('root ::= 1st\n1st ::= "x"\n', ['line 2: the name "1st" is not portable']),
    ('root ::= "a" |\n', ['line 1: an empty alternative: write ""']),
    ('root ::= "a"\n  | "b"\n', ["line 2: a rule has to be one line: name ::= …"]),
    ("root ::= .\n", ["line 1: not GBNF: ."]),
    ('root ::= "\\u00e9"\n', ["line 1: an escape that is not portable in: \\u00e9"]),
    ('root ::= "\\x1Fa"\n', ["line 1: an escape that is not portable in: \\x1Fa"]),
    ("root ::= [\\x1Fa]\n", ["line 1: an escape that is not portable in: \\x1Fa"]),
    ('root ::= "\\["\n', ["line 1: an escape that is not portable in: \\["]),
    ("root ::= [a\\-z]\n", ["line 1: an escape that is not portable in: a\\-z"]),
    ("root ::= [-a]\n", ["line 1: the class [-a] is not portable"]),
    ("root ::= <[5]>\n", ["line 1: not GBNF: <[5]>"]),
    ("root ::= [a]{0,2001}\n", ["line 1: a repetition of 2001 times 2 symbols: at most 2000"]),
    ('root ::= "abc"{700}\n', ["line 1: a repetition of 700 times 3 symbols: at most 2000"]),
    ('root ::= ("a" [b]{0,60}){0,40}\n', ["line 1: a repetition of 40 times 61 symbols: at most 2000"]),
    ('root ::= ("a" x{0,1999})?\nx ::= "c"\n', ["line 1: a repetition of 1 times 2001 symbols: at most 2000"]),
    ('root ::= "a"{0}\n', ["line 1: a repetition of nothing: {0}"]),
    ('root ::= "a"{3,1}\n', ["line 1: the bounds of a repetition are the wrong way round: {3,1}"]),
    ('root ::= ("a"*)*\n', ["line 1: something that may be empty is repeated"]),
    ('root ::= x+\nx ::= "a"?\n', ["line 1: something that may be empty is repeated"]),
    ('root ::= root "a" | "b"\n', ['the rule "root" begins with itself']),
    ('root ::= x\nx ::= ws y\ny ::= x "a" | "b"\nws ::= " "?\n', ['the rule "x" begins with itself']),
    ('root ::= x\n', ['line 1: the rule "x" is missing']),
    ('root ::= ("a"\n', ["line 1: a parenthesis that is not closed"]),
    ('root ::= "a")\n', ["line 1: a parenthesis that was not opened"]),
    ('root ::= "a\n', ['line 1: not GBNF: "a']),
    ('root ::= "a"\nroot ::= "b"\n', ['line 2: the rule "root" is defined again']),
    (f'root ::= {"(" * 70}"a"{")" * 70}\n', ["line 1: groups nested more than 60 deep"] * 9),
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_portable(text: str) -> None:
    assert lint(text) == []


@pytest.mark.parametrize(("text", "problems"), BAD)
def test_not_portable(text: str, problems: list[str]) -> None:
    assert lint(text) == problems
