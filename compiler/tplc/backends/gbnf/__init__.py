"""Grammars that constrain a model's answer to what the parser reads: GBNF, for whoever reads that dialect."""

from tplc.backends.gbnf.build import (
    MOST_CHARACTERS,
    BadGrammar,
    GrammarNotExact,
    GrammarTooLarge,
    NothingAllowed,
    SchemaTooDeep,
    grammar,
)
from tplc.backends.gbnf.report import NotExpressed
from tplc.backends.gbnf.result import Grammar
from tplc.backends.gbnf.triggers import Trigger, fires_at

__all__ = [
    "MOST_CHARACTERS",
    "BadGrammar",
    "Grammar",
    "GrammarNotExact",
    "GrammarTooLarge",
    "NotExpressed",
    "NothingAllowed",
    "SchemaTooDeep",
    "Trigger",
    "fires_at",
    "grammar",
]
